//! The CPU backend: the codec's own functions, chunks in parallel.

use crate::error::Error;
use crate::stream::StreamRef;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::encode::chunk::{self, IMAGE_BYTES, Source, Stored};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::stream::chunk::CHUNK;
use ferrosz_codec::stream::container::{Header, Layout};
use ferrosz_codec::stream::grid::Grid;
use ferrosz_codec::stream::region::Region;
use ferrosz_codec::stream::table::Entry;
use ferrosz_codec::{Bound, Codec, Element, FormatError};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Chunks that one task encodes: enough to make a task's start and its buffer cheap.
const TASK_CHUNKS: u64 = 16;

/// Told how many more elements are done.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// What a task has encoded: entries whose places count from the task's own payload, and that.
struct Encoded {
    entries: Vec<Entry>,
    payload: Vec<u8>,
}

/// Smallest and largest finite value.
pub(crate) fn extremes<T: Element>(values: &[T]) -> Extremes<T> {
    values
        .par_chunks(TASK_CHUNKS as usize * CHUNK)
        .map(|values| {
            let mut extremes = Extremes::default();
            for value in values {
                extremes.see(*value);
            }
            extremes
        })
        .reduce(Extremes::default, Extremes::union)
}

/// The quantiser of a bound on a field.
pub(crate) fn resolve<T: Element>(bound: Bound, values: &[T]) -> Quantizer<T> {
    if bound.needs_extremes() {
        bound.resolve(&extremes(values))
    } else {
        bound.resolve(&Extremes::default())
    }
}

/// Compresses a field whose extents have been checked.
pub(crate) fn compress<T: Element>(
    layout: Layout,
    bound: Bound,
    values: &[T],
    progress: Progress<'_>,
) -> Vec<u8> {
    let quantizer = resolve(bound, values);
    let grid = layout.grid();
    let chunks = grid.chunk_count();
    let tasks: Vec<Encoded> = (0..chunks.div_ceil(TASK_CHUNKS))
        .into_par_iter()
        .map(|task| {
            let first = task * TASK_CHUNKS;
            let chunks = first..chunks.min(first + TASK_CHUNKS);
            encode(layout.codec, &quantizer, &grid, values, chunks, progress)
        })
        .collect();
    let header = Header {
        payload_bytes: tasks.iter().map(|task| task.payload.len() as u64).sum(),
        ..layout.header(T::DTYPE, bound, quantizer.error().to_bits64())
    };
    assemble(&header, &tasks)
}

fn encode<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    grid: &Grid,
    field: &[T],
    chunks: Range<u64>,
    progress: Progress<'_>,
) -> Encoded {
    let mut image = vec![0; IMAGE_BYTES];
    let mut encoded = Encoded {
        entries: Vec::with_capacity(TASK_CHUNKS as usize),
        payload: Vec::new(),
    };
    for chunk in chunks {
        let source = Source { field, grid, chunk };
        let (form, bytes, sum) = chunk::encode(codec, quantizer, source, &mut image);
        let start = encoded.payload.len() as u64;
        encoded.entries.push(Entry::new(start, form, sum));
        encoded.payload.extend_from_slice(&image[..bytes]);
        progress(u64::from(grid.chunk(chunk).elements()));
    }
    encoded
}

fn assemble(header: &Header, tasks: &[Encoded]) -> Vec<u8> {
    let mut stream = Vec::with_capacity(header.stream_bytes() as usize);
    stream.extend_from_slice(&header.to_bytes());
    let mut start = 0;
    for task in tasks {
        for entry in &task.entries {
            let placed = Entry {
                start: start + entry.start,
                ..*entry
            };
            stream.extend_from_slice(&placed.to_bytes());
        }
        start += task.payload.len() as u64;
    }
    for task in tasks {
        stream.extend_from_slice(&task.payload);
    }
    stream
}

/// Decodes the elements of a region, which lies within the field, into `values`, which has as many
/// places.
pub(crate) fn decompress<T: Element>(
    stream: &StreamRef<'_>,
    region: &Region,
    verify: bool,
    values: &mut [T],
    progress: Progress<'_>,
) -> Result<(), Error> {
    let grid = stream.header.grid();
    let decoder = ChunkDecoder {
        stream,
        quantizer: stream.header.quantizer::<T>()?,
        grid,
        verify,
    };
    let output = Output::new(values);
    let chunks = region.chunks(&grid);
    let [depth, height, width] = chunks.each_ref().map(|range| range.end - range.start);
    // Of several faults, the one in the lowest chunk is reported, whoever finds his first.
    let fault = (0..depth * height * width)
        .into_par_iter()
        .filter_map(|index| {
            let at = [
                index / width / height,
                index / width % height,
                index % width,
            ];
            let at: [u64; 3] = std::array::from_fn(|i| chunks[i].start + at[i]);
            let [_, rows, columns] = grid.chunks();
            let chunk = (at[0] * rows + at[1]) * columns + at[2];
            let result = decoder.decode_into(chunk, region, &output, progress);
            result.err().map(|fault| (chunk, fault))
        })
        .min_by_key(|(chunk, _)| *chunk);
    match fault {
        None => Ok(()),
        Some((_, fault)) => Err(Error::Format(fault)),
    }
}

/// The output of a region, into which all threads write, each into the places of its chunks.
struct Output<'a, T> {
    values: *mut T,
    length: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: threads only write through `part`, whose contract keeps them apart.
unsafe impl<T: Send> Sync for Output<'_, T> {}

impl<'a, T: Element> Output<'a, T> {
    fn new(values: &'a mut [T]) -> Self {
        Self {
            values: values.as_mut_ptr(),
            length: values.len(),
            borrow: PhantomData,
        }
    }

    /// `count` elements from `at` on, or as many as there are.
    ///
    /// # Safety
    ///
    /// No two parts with common elements may live at the same time.
    #[expect(
        clippy::mut_from_ref,
        reason = "the contract is that of `split_at_mut`"
    )]
    unsafe fn part(&self, at: u64, count: u64) -> &mut [T] {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.length);
        let count = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(self.length - at);
        // SAFETY: within the slice that is borrowed; nobody else has these elements.
        unsafe { std::slice::from_raw_parts_mut(self.values.add(at), count) }
    }
}

/// Decodes the chunks of one stream.
pub(crate) struct ChunkDecoder<'a, T> {
    pub(crate) stream: &'a StreamRef<'a>,
    pub(crate) quantizer: Quantizer<T>,
    pub(crate) grid: Grid,
    pub(crate) verify: bool,
}

impl<T: Element> ChunkDecoder<'_, T> {
    /// Decodes a chunk, if it has an element of the region, into its places of the region's output.
    fn decode_into(
        &self,
        chunk: u64,
        region: &Region,
        output: &Output<'_, T>,
        progress: Progress<'_>,
    ) -> Result<(), FormatError> {
        let places = self.grid.chunk(chunk);
        let elements = u64::from(places.elements());
        let first = self.grid.flat(places.origin);
        if self.grid.shape() == Shape::Line && region.holds_run(first, first + elements - 1) {
            let at = region.place_of(first).unwrap_or(u64::MAX);
            // SAFETY: the chunk's elements, which no other chunk has.
            let part = unsafe { output.part(at, elements) };
            let result = self.decode(chunk, part);
            progress(elements);
            return result;
        }
        let mut pieces = Vec::new();
        self.for_pieces(chunk, region, |from, at| pieces.push((from, at)));
        if pieces.is_empty() {
            return Ok(());
        }
        let mut whole = vec![T::ZERO; elements as usize];
        let result = self.decode(chunk, &mut whole);
        for (from, at) in pieces {
            progress((from.end - from.start) as u64);
            // SAFETY: elements of this chunk, which no other chunk has.
            let part = unsafe { output.part(at, (from.end - from.start) as u64) };
            part.copy_from_slice(&whole[from]);
        }
        result
    }

    /// Gives `take` the pieces that a region has of a chunk: elements of the chunk, and the place of the
    /// first in the region.
    pub(crate) fn for_pieces(
        &self,
        chunk: u64,
        region: &Region,
        mut take: impl FnMut(Range<usize>, u64),
    ) {
        let places = self.grid.chunk(chunk);
        let [depth, height, width] = places.extents.map(u64::from);
        for row in 0..depth * height {
            let [z, y, x] = places.origin;
            let first = self.grid.flat([z + row / height, y + row % height, x]);
            region.cut(first, width, |run, at| {
                let start = (row * width) as usize;
                take(start + run.start as usize..start + run.end as usize, at);
            });
        }
    }

    /// Decodes a chunk.
    pub(crate) fn decode(&self, chunk: u64, values: &mut [T]) -> Result<(), FormatError> {
        let (entry, bytes) = self
            .stream
            .chunk(chunk)
            .ok_or(ChunkFault::Place.in_chunk(chunk))?;
        chunk::decode(
            self.stream.header.codec,
            &self.quantizer,
            &self.grid,
            Stored {
                chunk,
                entry,
                bytes,
            },
            self.verify,
            values,
        )
        .map_err(|fault| fault.in_chunk(chunk))
    }
}
