//! Compression of a field in host memory by several machines.

use crate::cpu::sink::Sink;
use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::Uploaded;
use crate::parts::{Group, Threads, agree};
use crate::slabs::Slab;
use crate::slabs::entries::{Place, move_entries};
use crate::slabs::machines::{Call, Machines};
use crate::stream_layout::StreamLayout;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::mapping::ValueMapping;
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
    // A static; see `cpu::compress`.
    let mut streams = with_element!(T::DTYPE, E => {
        static COMPRESS: Compress = compress_of::<E>;
        COMPRESS(machines, slabs, layout, bound, bytemuck::cast_slice(field))?
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
    let header = join(slabs, layout, bound, streams)?.to_bytes();
    let of_slabs = || slabs.iter().zip(&*streams);
    let tables = of_slabs().map(|(slab, stream)| &stream[HEADER_BYTES..slab.payload_start()]);
    let payloads = of_slabs().map(|(slab, stream)| &stream[slab.payload_start()..]);
    let parts = [&header[..]].into_iter().chain(tables).chain(payloads);
    sink.append_all(&parts.collect::<Vec<&[u8]>>())
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
) -> Result<Header, Error> {
    let headers = streams.iter().map(|stream| Header::read(stream));
    let headers: Vec<Header> = headers.collect::<Result<_, _>>()?;
    // The slabs have one quantiser.
    let error_bits = headers.first().map_or(0, |header| header.error_bits);
    let mut header = layout.layout.header(layout.dtype(), bound, error_bits);
    let identity = header.identity();
    for ((slab, stream), own) in slabs.iter().zip(streams).zip(&headers) {
        let start = header.payload_bytes;
        header.payload_bytes += own.payload_bytes;
        let from = Place {
            identity: own.identity(),
            first: 0,
            bytes: 0..own.payload_bytes,
        };
        let to = Place {
            identity,
            first: slab.chunks.start,
            bytes: start..header.payload_bytes,
        };
        let table = stream.get_mut(HEADER_BYTES..slab.payload_start());
        move_entries(table.unwrap_or_default().as_chunks_mut().0, &from, &to);
    }
    Ok(header)
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
            let layout = slab.stream_layout(self.layout);
            let field = slab.bytes(self.field, T::BYTES);
            compress_slab::<T, E>(&executors[group.rank()], group, &layout, bound, field)
        });
        // The members that did not fail say that another one did.
        let is_cause = |error: &Error| !matches!(error, Error::Group { .. });
        let mut errors = streams.iter().filter_map(|stream| stream.as_ref().err());
        match errors
            .clone()
            .find(|error| is_cause(error))
            .or(errors.next())
        {
            Some(error) => Err(error.clone()),
            None => streams.into_iter().collect(),
        }
    }
}

/// The stream of a slab, with the bound of the whole field.
fn compress_slab<T: Element, E: Executor>(
    executor: &E,
    group: &dyn Group,
    layout: &StreamLayout,
    mut bound: Bound,
    field: &[u8],
) -> Result<Vec<u8>, Error> {
    let uploaded = agree(group, Uploaded::new(executor, layout, field))?;
    if bound.needs_extremes() {
        let mut cells = agree(group, uploaded.extremes::<T>())?;
        group.max(&mut cells)?;
        bound = absolute::<T>(bound, cells)?;
    }
    uploaded.compress::<T>(bound, &ValueMapping::default())
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
