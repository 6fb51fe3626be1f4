//! Decompression to host memory by several machines.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::{Target, decode_by};
use crate::slabs::entries::{Place, extent, move_entries};
use crate::slabs::machines::{Call, Machines};
use crate::slabs::{Part, Slab};
use crate::stream_layout::StreamLayout;
use crate::stream_ref::StreamRef;
use crate::table::Table;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::container::tiles::prologue_bytes;
use ferrosz_codec::error::FormatError;
use ferrosz_codec::{Bound, Element, with_element};
use std::marker::PhantomData;
use std::ops::Range;
use std::thread;

/// [`decompress_of`] an element type.
type Decompress = fn(&Machines, &[SlabStream<'_>], bool, Target<'_>) -> Result<(), Error>;

/// The stream of a slab: header and table are its own, the payload is in parts of that of the field's stream.
pub(crate) struct SlabStream<'a> {
    pub(crate) slab: &'a Slab,
    /// The layout of the field's stream.
    layout: StreamLayout,
    /// Header and table.
    pub(crate) head: Vec<u8>,
    /// The chunks that all slabs have, and those of the slab.
    pub(crate) payload: [&'a [u8]; 2],
}

/// Decodes a stream without updates and records, each machine a slab. The values go to the target in their order.
///
/// # Errors
///
/// [`Error::Format`]; [`Error::OutOfMemory`]; those of the machines and of the target.
pub(crate) fn decompress<T: Element>(
    machines: &Machines,
    slabs: &[Slab],
    stream: &StreamRef<'_>,
    verify: bool,
    target: Target<'_>,
) -> Result<(), Error> {
    let streams = split(slabs, stream)?;
    with_element!(T::DTYPE, E => {
        compiled_here!(decompress: Decompress = decompress_of::<E>);
        decompress()(machines, &streams, verify, target)
    })
}

/// The streams of the slabs of a stream's field.
///
/// # Errors
///
/// [`Error::Bound`]: none, as the header has been read.
pub(crate) fn split<'a>(
    slabs: &'a [Slab],
    stream: &StreamRef<'a>,
) -> Result<Vec<SlabStream<'a>>, Error> {
    let bound = Bound::abs(stream.header.absolute_error())?;
    let streams = slabs
        .iter()
        .map(|slab| SlabStream::new(slab, stream, bound));
    Ok(streams.collect())
}

impl<'a> SlabStream<'a> {
    /// The stream of a slab, given that of the field and its absolute bound.
    fn new(slab: &'a Slab, stream: &StreamRef<'a>, bound: Bound) -> Self {
        let (header, payload) = (&stream.header, stream.payload());
        let layout = StreamLayout {
            value_type: header.value_type,
            ..header.layout().into()
        };
        let (split, length) = (layout.layout.split(), payload.len() as u64);
        let part =
            |entries: Range<u64>| &stream.table()[entries.start as usize..entries.end as usize];
        let (shared, own) = (
            part(0..slab.shared),
            part(slab.chunks.start..slab.chunks.end + slab.chunks_behind),
        );
        let of_shared = of_shared(&layout, shared, payload);
        let of_own = extent(own, split, length);
        let shared_bytes = of_shared.end;
        let bytes = shared_bytes + of_own.end - of_own.start;
        let header = Header {
            payload_bytes: bytes,
            ..match &slab.part {
                Part::Field(layout) => layout.header(header.dtype, bound, header.error_bits),
                Part::Tiles(_) => *header,
            }
        };
        let [from, to] = [&stream.header, &header].map(Table::of);
        let place = |table, first, bytes| Place {
            table,
            first,
            bytes,
        };
        let [mut shared, mut own] = [shared, own].map(<[_]>::to_vec);
        let [here, there] = [from, to].map(|table| place(table, 0, 0..shared_bytes));
        move_entries(&mut shared, split, &here, &there);
        let here = place(from, slab.chunks.start, of_own.clone());
        let there = place(to, slab.shared, shared_bytes..bytes);
        move_entries(&mut own, split, &here, &there);
        let bytes = |range: Range<u64>| &payload[range.start as usize..range.end as usize];
        let start = &header.to_bytes()[..];
        Self {
            slab,
            layout,
            head: [start, shared.as_flattened(), own.as_flattened()].concat(),
            payload: [bytes(of_shared), bytes(of_own)],
        }
    }
}

/// The bytes of the chunks that all slabs of a stream have: of the prologue, which has its length in its contents, and of the
/// chunks of the coarse field.
fn of_shared(layout: &StreamLayout, entries: &[[u8; ENTRY_BYTES]], payload: &[u8]) -> Range<u64> {
    let (Some(tiles), Some((_, chunks))) = (layout.layout.tiles(), entries.split_first()) else {
        return 0..0;
    };
    let length = payload.len() as u64;
    let prologue = prologue_bytes(&tiles, layout.dtype(), payload).unwrap_or(0);
    let of_chunks = extent(chunks, layout.layout.split(), length);
    0..prologue.min(length).max(of_chunks.end)
}

fn decompress_of<T: Element>(
    machines: &Machines,
    streams: &[SlabStream<'_>],
    verify: bool,
    target: Target<'_>,
) -> Result<(), Error> {
    machines.run(DecompressSlabs {
        streams,
        verify,
        target,
        element: PhantomData::<T>,
    })
}

/// The values of all slabs.
struct DecompressSlabs<'a, 't, T> {
    streams: &'a [SlabStream<'a>],
    verify: bool,
    target: Target<'t>,
    element: PhantomData<T>,
}

impl<T: Element> Call for DecompressSlabs<'_, '_, T> {
    type Output = Result<(), Error>;

    fn on<E: Executor + Sync>(self, executors: &[E]) -> Self::Output {
        let machines = || executors.iter().zip(self.streams);
        let bytes_of = |slab: &Slab| slab.count() * T::BYTES as u64;
        match self.target {
            Target::Memory(mut values) => {
                let places = machines().map(|(executor, stream)| {
                    let (own, rest) =
                        std::mem::take(&mut values).split_at_mut(bytes_of(stream.slab) as usize);
                    values = rest;
                    (executor, stream, own)
                });
                let decoded = each(places.collect(), |(executor, stream, own)| {
                    let memory = stream.decode::<T, E>(executor, self.verify)?;
                    Target::Memory(own).take(executor, &memory)
                });
                decoded.into_iter().collect()
            }
            Target::Pieces(_, take) => {
                let decoded = each(machines().collect(), |(executor, stream)| {
                    stream.decode::<T, E>(executor, self.verify)
                });
                let decoded = decoded.into_iter().collect::<Result<Vec<_>, _>>()?;
                for ((executor, stream), memory) in machines().zip(decoded) {
                    Target::Pieces(bytes_of(stream.slab), take).take(executor, &memory)?;
                }
                Ok(())
            }
        }
    }
}

/// The results of work, each on a thread of its own, in their order.
fn each<W: Send, R: Send>(work: Vec<W>, run: impl Fn(W) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let run = &run;
        let start = |item| scope.spawn(move || run(item));
        let threads: Vec<_> = work.into_iter().map(start).collect();
        let results = threads
            .into_iter()
            .map(|thread| (thread.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.collect()
    })
}

impl SlabStream<'_> {
    /// Decodes the slab in the memory of a machine, where there may be values behind it.
    fn decode<T: Element, E: Executor>(
        &self,
        executor: &E,
        verify: bool,
    ) -> Result<E::Memory, Error> {
        let values = (self.slab.count() + self.slab.behind) * T::BYTES as u64;
        let cells = self.slab.workspace_cells(&self.layout);
        let [shared, own] = self.payload;
        let decoded = decode_by(
            executor,
            &[&self.head, shared, own],
            [values, cells],
            |places| {
                self.slab
                    .enqueue_decompress::<T, E>(executor, &self.layout, verify, places)
            },
        );
        decoded.map_err(|error| in_field(error, self.slab))
    }
}

/// The error of a slab as one of the field.
pub(crate) fn in_field(error: Error, slab: &Slab) -> Error {
    let in_field = |chunk| match chunk < slab.shared {
        true => chunk,
        false => chunk - slab.shared + slab.chunks.start,
    };
    match error {
        Error::Format(FormatError::ChunkChecksum { chunk }) => FormatError::ChunkChecksum {
            chunk: in_field(chunk),
        }
        .into(),
        Error::Format(FormatError::InvalidChunk { chunk, what }) => FormatError::InvalidChunk {
            chunk: in_field(chunk),
            what,
        }
        .into(),
        error => error,
    }
}
