//! Compression of a field in host memory by several machines.

use crate::cpu::sink::Sink;
use crate::cpu::writer::Writer;
use crate::encoded::{EncodedChunks, Listing};
use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::host_slices::{Room, Uploaded};
use crate::gpu::tiles::slab::Others;
use crate::peers::{Group, Threads};
use crate::slabs::Slab;
use crate::slabs::machines::{Call, Machines};
use crate::stream_layout::StreamLayout;
use crate::table::Table;
use crate::tolerance::Tolerance;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::error::{ChunkFault, FormatError};
use ferrosz_codec::{Bound, Element, with_element};
use std::marker::PhantomData;
use std::ops::Range;

/// [`compress_of`] an element type.
type Compress =
    fn(&Machines, &[Slab], &StreamLayout, Tolerance, &[u8]) -> Result<Vec<Vec<u8>>, Error>;

/// Compresses a field to a stream, each machine a slab.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; those of the machines and of the sink.
pub(crate) fn compress<T: Element>(
    machines: &Machines,
    slabs: &[Slab],
    layout: &StreamLayout,
    tolerance: Tolerance,
    field: &[T],
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let streams = with_element!(T::DTYPE, E => {
        compiled_here!(compress: Compress = compress_of::<E>);
        compress()(machines, slabs, layout, tolerance, bytemuck::cast_slice(field))?
    });
    assemble(slabs, layout, tolerance.bound, &streams, sink)
}

/// Writes the stream of a field, given those of its slabs.
///
/// # Errors
///
/// [`Error::Format`] if a stream is none; those of the sink.
pub(crate) fn assemble(
    slabs: &[Slab],
    layout: &StreamLayout,
    bound: Bound,
    streams: &[Vec<u8>],
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    // The slabs have one quantiser.
    let first = streams.first().map(|stream| Header::read(stream));
    let error_bits = first.transpose()?.map_or(0, |header| header.error_bits);
    let header = layout.layout.header(layout.dtype(), bound, error_bits);
    let mut writer = Writer::new(header, &[], sink)?;
    let chunks = slabs.iter().zip(streams).enumerate();
    let chunks = chunks.map(|(number, (slab, stream))| slab.chunks_of(stream, number == 0));
    writer.append(&chunks.collect::<Result<Vec<_>, Error>>()?)?;
    writer.finish()
}

impl Slab {
    /// The chunks of the slab's stream, as those of the stream of the field; the chunks that all slabs have are of the first one.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if it is none.
    pub(crate) fn chunks_of<'a>(
        &self,
        stream: &'a [u8],
        is_first: bool,
    ) -> Result<EncodedChunks<&'a [u8]>, Error> {
        let header = Header::read(stream)?;
        let table = Table::of(&header);
        let cut_off = FormatError::Truncated {
            needed: header.stream_bytes(),
            found: stream.len() as u64,
        };
        let split = stream.split_at_checked(self.payload_start());
        let (start, payload) = split.ok_or(cut_off)?;
        let entries = start[HEADER_BYTES..].as_chunks().0;
        let entry = |bytes| Entry::from_bytes(bytes, table.split);
        // Chunks follow each other in the order of their entries.
        let ends = entries.iter().skip(1).map(|bytes| entry(bytes).start);
        let ends = ends.chain([header.payload_bytes]);
        let skipped = if is_first { 0 } else { self.shared };
        let own = (0..).zip(entries.iter().zip(ends)).skip(skipped as usize);
        let (mut listings, mut range) = (Vec::new(), None);
        for (number, (bytes, end)) in own {
            let entry = entry(bytes);
            let length = end.checked_sub(entry.start);
            let length = length.ok_or(ChunkFault::Place.in_chunk(number))?;
            let listing = table.listing(number, &entry, length);
            listings.push(Listing {
                number: self.chunks.start - self.shared + number,
                ..listing
            });
            range = Some(range.map_or(entry.start, |range: Range<u64>| range.start)..end);
        }
        let range = range.unwrap_or(0..0);
        let bytes = payload.get(range.start as usize..range.end as usize);
        let bytes = bytes.ok_or(cut_off)?;
        Ok(EncodedChunks { listings, bytes })
    }
}

fn compress_of<T: Element>(
    machines: &Machines,
    slabs: &[Slab],
    layout: &StreamLayout,
    tolerance: Tolerance,
    field: &[u8],
) -> Result<Vec<Vec<u8>>, Error> {
    machines.run(CompressSlabs {
        slabs,
        layout,
        tolerance,
        field,
        element: PhantomData::<T>,
    })
}

/// The streams of all slabs.
struct CompressSlabs<'a, T> {
    slabs: &'a [Slab],
    layout: &'a StreamLayout,
    tolerance: Tolerance,
    field: &'a [u8],
    element: PhantomData<T>,
}

impl<T: Element> Call for CompressSlabs<'_, T> {
    type Output = Result<Vec<Vec<u8>>, Error>;

    fn on<E: Executor + Sync>(self, executors: &[E]) -> Self::Output {
        let Self {
            slabs, tolerance, ..
        } = self;
        let streams = Threads::run(slabs.len(), std::io::empty(), |group| {
            let slab = &slabs[group.rank()];
            let field = slab.bytes(self.field, T::BYTES);
            let executor = &executors[group.rank()];
            compress_slab::<T, E>(executor, group, slab, self.layout, tolerance, &[field])
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

/// The stream of a slab, with the tolerance of the whole field, whose values are in parts of whole words. If it fails, the member
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
    mut tolerance: Tolerance,
    field: &[&[u8]],
) -> Result<Vec<u8>, Error> {
    let room = Room {
        stream: slab.max_stream_bytes(layout).unwrap_or(u64::MAX),
        field: (slab.count() + slab.behind) * T::BYTES as u64,
        cells: slab.workspace_cells(layout),
    };
    let uploaded = Uploaded::new(executor, &room, field)?;
    if tolerance.needs_extremes() {
        let mut cells = uploaded.extremes::<T>(slab.count())?;
        group.max(&mut cells)?;
        tolerance = tolerance.absolute(&Extremes::<T>::from_cells(cells))?;
    }
    uploaded.compress(|places| {
        slab.enqueue_compress::<T, E>(executor, layout, tolerance, places, Others(Some(group)))
    })
}
