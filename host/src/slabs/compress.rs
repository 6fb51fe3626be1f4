//! Compression of a field in host memory by several machines.

use crate::cpu::sink::Sink;
use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::{Room, Uploaded};
use crate::gpu::tiles::slab::Others;
use crate::parts::{Group, Threads};
use crate::slabs::Slab;
use crate::slabs::entries::{Place, move_entries};
use crate::slabs::machines::{Call, Machines};
use crate::stream_layout::StreamLayout;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element, with_element};
use std::marker::PhantomData;

/// [`compress_of`] an element type.
type Compress = fn(&Machines, &[Slab], &StreamLayout, Bound, &[u8]) -> Result<Vec<Vec<u8>>, Error>;

/// Compresses a field to a stream, each machine a slab.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; those of the machines and of the sink.
pub(crate) fn compress<T: Element>(
    machines: &Machines,
    slabs: &[Slab],
    layout: &StreamLayout,
    bound: Bound,
    field: &[T],
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut streams = with_element!(T::DTYPE, E => {
        compiled_here!(compress: Compress = compress_of::<E>);
        compress()(machines, slabs, layout, bound, bytemuck::cast_slice(field))?
    });
    assemble(slabs, layout, bound, &mut streams, sink)
}

/// Writes the stream of a field, given those of its slabs, whose tables become parts of that of the field.
///
/// # Errors
///
/// [`Error::Format`] if a stream is none; those of the sink.
pub(crate) fn assemble(
    slabs: &[Slab],
    layout: &StreamLayout,
    bound: Bound,
    streams: &mut [Vec<u8>],
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let (header, owns) = join(slabs, layout, bound, streams)?;
    let header = header.to_bytes();
    let of_slabs = || slabs.iter().zip(&*streams).zip(&owns);
    let tables = of_slabs().map(|((slab, stream), own)| {
        let first = HEADER_BYTES + ENTRY_BYTES * own.skipped as usize;
        &stream[first..slab.payload_start()]
    });
    let payloads = of_slabs()
        .map(|((slab, stream), own)| &stream[slab.payload_start() + own.start as usize..]);
    let parts = [&header[..]].into_iter().chain(tables).chain(payloads);
    sink.append_all(&parts.collect::<Vec<&[u8]>>())
}

/// The part of a slab's stream that becomes a part of that of the field.
struct Own {
    /// Entries before it: those that all slabs have, but in the first slab, which gives them to the field.
    skipped: u64,
    /// Bytes of the payload before it.
    start: u64,
}

/// Makes the entries in the streams of slabs those of the field, whose payloads follow each other. Returns the header of the
/// field.
///
/// # Errors
///
/// [`Error::Format`] if a stream is none.
fn join(
    slabs: &[Slab],
    layout: &StreamLayout,
    bound: Bound,
    streams: &mut [Vec<u8>],
) -> Result<(Header, Vec<Own>), Error> {
    let headers = streams.iter().map(|stream| Header::read(stream));
    let headers: Vec<Header> = headers.collect::<Result<_, _>>()?;
    // The slabs have one quantiser.
    let error_bits = headers.first().map_or(0, |header| header.error_bits);
    let mut header = layout.layout.header(layout.dtype(), bound, error_bits);
    let (identity, split) = (header.identity(), layout.layout.split());
    let mut owns = Vec::new();
    for ((number, slab), (stream, of_slab)) in
        (0..).zip(slabs).zip(streams.iter_mut().zip(&headers))
    {
        let skipped = if number == 0 { 0 } else { slab.shared };
        let table = stream.get_mut(HEADER_BYTES..slab.payload_start());
        let table = table.unwrap_or_default().as_chunks_mut::<ENTRY_BYTES>().0;
        let entries = table.get_mut(skipped as usize..).unwrap_or_default();
        // Chunks follow each other in the order of their entries.
        let own = match (skipped, entries.first()) {
            (1.., Some(entry)) => {
                (Entry::from_bytes(entry, split).start).min(of_slab.payload_bytes)
            }
            _ => 0,
        };
        let start = header.payload_bytes;
        header.payload_bytes += of_slab.payload_bytes - own;
        let from = Place {
            identity: of_slab.identity(),
            first: skipped,
            bytes: own..of_slab.payload_bytes,
        };
        let to = Place {
            identity,
            first: slab.chunks.start - slab.shared + skipped,
            bytes: start..header.payload_bytes,
        };
        move_entries(entries, split, &from, &to);
        owns.push(Own {
            skipped,
            start: own,
        });
    }
    Ok((header, owns))
}

fn compress_of<T: Element>(
    machines: &Machines,
    slabs: &[Slab],
    layout: &StreamLayout,
    bound: Bound,
    field: &[u8],
) -> Result<Vec<Vec<u8>>, Error> {
    machines.run(CompressSlabs {
        slabs,
        layout,
        bound,
        field,
        element: PhantomData::<T>,
    })
}

/// The streams of all slabs.
struct CompressSlabs<'a, T> {
    slabs: &'a [Slab],
    layout: &'a StreamLayout,
    bound: Bound,
    field: &'a [u8],
    element: PhantomData<T>,
}

impl<T: Element> Call for CompressSlabs<'_, T> {
    type Output = Result<Vec<Vec<u8>>, Error>;

    fn on<E: Executor + Sync>(self, executors: &[E]) -> Self::Output {
        let Self { slabs, bound, .. } = self;
        let streams = Threads::run(slabs.len(), std::io::empty(), |group| {
            let slab = &slabs[group.rank()];
            let field = slab.bytes(self.field, T::BYTES);
            let executor = &executors[group.rank()];
            compress_slab::<T, E>(executor, group, slab, self.layout, bound, &[field])
        });
        all_or_cause(streams)
    }
}

/// The results of all members, or the error that caused the others: members that did not fail report that another one did.
pub(crate) fn all_or_cause<R>(results: Vec<Result<R, Error>>) -> Result<Vec<R>, Error> {
    let is_cause = |error: &&Error| !matches!(error, Error::Group { .. });
    let errors = || results.iter().filter_map(|result| result.as_ref().err());
    match errors().find(is_cause).or(errors().next()) {
        Some(error) => Err(error.clone()),
        None => results.into_iter().collect(),
    }
}

/// The stream of a slab, with the bound of the whole field, whose values are in parts of whole words. If it fails, the member
/// must end, or tell the others: they wait for it.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; [`Error::Group`]; the machine's own.
pub(crate) fn compress_slab<T: Element, E: Executor>(
    executor: &E,
    group: &dyn Group,
    slab: &Slab,
    layout: &StreamLayout,
    mut bound: Bound,
    field: &[&[u8]],
) -> Result<Vec<u8>, Error> {
    let room = Room {
        stream: slab.max_stream_bytes(layout).unwrap_or(u64::MAX),
        field: (slab.count() + slab.behind) * T::BYTES as u64,
        cells: slab.workspace_cells(layout),
    };
    let uploaded = Uploaded::new(executor, &room, field)?;
    if bound.needs_extremes() {
        let mut cells = uploaded.extremes::<T>(slab.count())?;
        group.max(&mut cells)?;
        bound = absolute::<T>(bound, cells)?;
    }
    uploaded.compress(|places| {
        slab.enqueue_compress::<T, E>(executor, layout, bound, places, Others(Some(group)))
    })
}

/// The absolute bound of a field with these extremes, as [`Extremes::to_cells`] has them. Its quantiser is that of the
/// relative bound.
///
/// # Errors
///
/// None: the error is finite and not negative.
pub(crate) fn absolute<T: Element>(bound: Bound, cells: [u64; 2]) -> Result<Bound, Error> {
    let quantizer: Quantizer<T> = bound.resolve(&Extremes::from_cells(cells));
    Ok(Bound::abs(quantizer.error().to_f64())?)
}
