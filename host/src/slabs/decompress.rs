//! Decompression to host memory by several machines.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::{Source, Target, decode};
use crate::gpu::mapping::decompress::Wanted;
use crate::slabs::Slab;
use crate::slabs::entries::{Place, extent, move_entries};
use crate::slabs::machines::{Call, Machines};
use crate::stream::StreamRef;
use crate::stream_layout::StreamLayout;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::error::FormatError;
use ferrosz_codec::{Bound, Element, with_element};
use std::marker::PhantomData;
use std::thread;

/// [`decompress_of`] an element type.
type Decompress = fn(&Machines, &[SlabStream<'_>], bool, Target<'_>) -> Result<(), Error>;

/// The stream of a slab: header and table are its own, the payload is a part of that of the field's stream.
pub(crate) struct SlabStream<'a> {
    slab: &'a Slab,
    layout: StreamLayout,
    /// Header and table.
    pub(crate) head: Vec<u8>,
    pub(crate) payload: &'a [u8],
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
        static DECOMPRESS: Decompress = decompress_of::<E>;
        DECOMPRESS(machines, &streams, verify, target)
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
    let header = &stream.header;
    let bound = Bound::abs(header.absolute_error())?;
    let streams = slabs.iter().map(|slab| {
        let [first, end] = [slab.chunks.start, slab.chunks.end].map(|chunk| chunk as usize);
        let mut table = stream.table()[first..end].to_vec();
        let bytes = extent(&table, stream.payload().len() as u64);
        let own = Header {
            payload_bytes: bytes.end - bytes.start,
            ..slab.layout.header(header.dtype, bound, header.error_bits)
        };
        let to = Place {
            identity: own.identity(),
            first: 0,
            bytes: 0..own.payload_bytes,
        };
        let from = Place {
            identity: header.identity(),
            first: slab.chunks.start,
            bytes: bytes.clone(),
        };
        move_entries(&mut table, &from, &to);
        SlabStream {
            slab,
            layout: StreamLayout {
                value_type: header.value_type,
                ..slab.layout.into()
            },
            head: [&own.to_bytes()[..], table.as_flattened()].concat(),
            payload: &stream.payload()[bytes.start as usize..bytes.end as usize],
        }
    });
    Ok(streams.collect())
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
        let bytes_of = |slab: &Slab| (slab.elements.end - slab.elements.start) * T::BYTES as u64;
        match self.target {
            Target::Memory(mut values) => {
                let places = machines().map(|(executor, stream)| {
                    let (own, rest) =
                        std::mem::take(&mut values).split_at_mut(bytes_of(stream.slab) as usize);
                    values = rest;
                    (executor, stream, own)
                });
                let decoded = each(places.collect(), |(executor, stream, own)| {
                    let memory = stream.decode::<T, E>(executor, self.verify, own.len() as u64)?;
                    Target::Memory(own).take(executor, &memory)
                });
                decoded.into_iter().collect()
            }
            Target::Pieces(_, take) => {
                let decoded = each(machines().collect(), |(executor, stream)| {
                    stream.decode::<T, E>(executor, self.verify, bytes_of(stream.slab))
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
    /// Decodes the slab in the memory of a machine.
    fn decode<T: Element, E: Executor>(
        &self,
        executor: &E,
        verify: bool,
        value_bytes: u64,
    ) -> Result<E::Memory, Error> {
        let source = Source {
            layout: &self.layout,
            parts: &[&self.head, self.payload],
            wanted: &Wanted::of(&self.layout, None)?,
            verify,
        };
        let decoded = decode::<T, E>(executor, &source, value_bytes);
        decoded.map_err(|error| in_field(error, self.slab.chunks.start))
    }
}

/// The error of a slab as one of the field, of which the slab has the chunks from number `first` on.
pub(crate) fn in_field(error: Error, first: u64) -> Error {
    match error {
        Error::Format(FormatError::ChunkChecksum { chunk }) => FormatError::ChunkChecksum {
            chunk: chunk + first,
        }
        .into(),
        Error::Format(FormatError::InvalidChunk { chunk, what }) => FormatError::InvalidChunk {
            chunk: chunk + first,
            what,
        }
        .into(),
        error => error,
    }
}
