//! Decompression: chunks run in parallel, each writes its own positions.

use crate::cpu::code::fixed_length::Stored;
use crate::cpu::output::Output;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::parallel;
use crate::stream_ref::{StoredChunk, StreamRef};
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::container::layout::BlockLayout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Element, FormatError};
use std::ops::Range;

/// Decodes the chunks of one stream of blocks.
pub(crate) struct ChunkDecoder<'a, T> {
    pub(crate) version: Version,
    pub(crate) stream: &'a StreamRef<'a>,
    pub(crate) quantizer: Quantizer<T>,
    pub(crate) layout: BlockLayout,
    pub(crate) verify: bool,
}

impl<'a, T: Element> ChunkDecoder<'a, T> {
    /// A decoder of a stream of this layout.
    ///
    /// # Errors
    ///
    /// [`FormatError::WrongDtype`] if the stream does not hold `T`.
    pub(crate) fn new(
        version: Version,
        stream: &'a StreamRef<'a>,
        layout: BlockLayout,
        verify: bool,
    ) -> Result<Self, FormatError> {
        Ok(Self {
            version,
            stream,
            quantizer: stream.header.quantizer::<T>()?,
            layout,
            verify,
        })
    }

    /// Decodes the elements of a region, which is within the field, into `values`, which has as many positions.
    ///
    /// # Errors
    ///
    /// Of several faults, the one in the lowest chunk, whatever the order of the threads.
    pub(crate) fn read(
        &self,
        region: &Region,
        values: &mut [T],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        match self.faults(region, values, progress).into_iter().next() {
            None => Ok(()),
            Some((_, fault)) => Err(Error::Format(fault)),
        }
    }

    /// Decodes a region; returns the faults of the chunks that cannot be decoded, in the order of their numbers. The
    /// `values` of these chunks are unspecified.
    pub(crate) fn faults(
        &self,
        region: &Region,
        values: &mut [T],
        progress: Progress<'_>,
    ) -> Vec<(u64, FormatError)> {
        let grid = &self.layout.grid;
        let output = Output::new(values);
        let chunks = region.chunks(grid);
        let [depth, height, width] = chunks.each_ref().map(|range| range.end - range.start);
        let faults =
            parallel::map_with(0..depth * height * width, chunk_buffer, |buffer, index| {
                let at = [
                    index / width / height,
                    index / width % height,
                    index % width,
                ];
                let at: [u64; 3] = std::array::from_fn(|i| chunks[i].start + at[i]);
                let [_, rows, columns] = grid.chunks();
                let chunk = (at[0] * rows + at[1]) * columns + at[2];
                let result = self.decode_into(chunk, region, &output, buffer, progress);
                result.err().map(|fault| (chunk, fault))
            });
        faults.into_iter().flatten().collect()
    }

    /// Decodes all chunks without output; returns the faults of the chunks that cannot be decoded, in the order of
    /// their numbers.
    pub(crate) fn check(&self, progress: Progress<'_>) -> Vec<(u64, FormatError)> {
        let grid = &self.layout.grid;
        let faults = parallel::map_with(0..grid.chunk_count(), chunk_buffer, |buffer, chunk| {
            let elements = grid.chunk(chunk).elements();
            let result = self.decode(chunk, &mut buffer[..elements as usize]);
            progress(u64::from(elements));
            result.err().map(|fault| (chunk, fault))
        });
        faults.into_iter().flatten().collect()
    }

    /// Decodes a chunk into its positions of the region's output, if it has an element of the region. The buffer holds
    /// a chunk that is not a run of the output.
    fn decode_into(
        &self,
        chunk: u64,
        region: &Region,
        output: &Output<'_, T>,
        buffer: &mut [T],
        progress: Progress<'_>,
    ) -> Result<(), FormatError> {
        let positions = self.layout.grid.chunk(chunk);
        let elements = u64::from(positions.elements());
        let first = self.layout.grid.flat(positions.origin);
        if self.layout.grid.shape() == Shape::Line && region.holds_run(first, first + elements - 1)
        {
            let at = region.position_of(first).unwrap_or(u64::MAX);
            // SAFETY: these are the chunk's elements, which no other chunk has.
            let part = unsafe { output.part(at, elements) };
            let result = self.decode(chunk, part);
            progress(elements);
            return result;
        }
        let whole = &mut buffer[..elements as usize];
        if region.holds(&positions) {
            let result = self.decode(chunk, whole);
            Self::copy_rows(&positions, whole, region, output);
            progress(elements);
            return result;
        }
        let mut pieces = Vec::new();
        self.for_pieces(chunk, region, |from, at| pieces.push((from, at)));
        if pieces.is_empty() {
            return Ok(());
        }
        let result = self.decode(chunk, whole);
        for (from, at) in pieces {
            progress((from.end - from.start) as u64);
            // SAFETY: these are elements of this chunk, which no other chunk has.
            let part = unsafe { output.part(at, (from.end - from.start) as u64) };
            part.copy_from_slice(&whole[from]);
        }
        result
    }

    /// Copies the rows of a chunk that is inside the region, without the divisions that pieces of a general region
    /// need.
    fn copy_rows(positions: &ChunkBox, values: &[T], region: &Region, output: &Output<'_, T>) {
        let [_, height, width] = positions.extents;
        for (row, values) in (0u32..).zip(values.chunks_exact(width as usize)) {
            let [z, y, x] = positions.origin;
            let at = [z + u64::from(row / height), y + u64::from(row % height), x];
            let at = region.position(at).unwrap_or(u64::MAX);
            // SAFETY: these are elements of this chunk, which no other chunk has.
            let part = unsafe { output.part(at, u64::from(width)) };
            part.copy_from_slice(values);
        }
    }

    /// Calls `take` with the pieces of a chunk that are in a region: the range of the chunk's elements, and the
    /// position of the first in the region.
    pub(crate) fn for_pieces(
        &self,
        chunk: u64,
        region: &Region,
        mut take: impl FnMut(Range<usize>, u64),
    ) {
        let positions = self.layout.grid.chunk(chunk);
        let [depth, height, width] = positions.extents.map(u64::from);
        for row in 0..depth * height {
            let [z, y, x] = positions.origin;
            let first = self
                .layout
                .grid
                .flat([z + row / height, y + row % height, x]);
            region.cut(first, width, |run, at| {
                let start = (row * width) as usize;
                take(start + run.start as usize..start + run.end as usize, at);
            });
        }
    }

    /// Decodes a chunk.
    pub(crate) fn decode(&self, chunk: u64, values: &mut [T]) -> Result<(), FormatError> {
        let StoredChunk { entry, seed, bytes } = self.stream.chunk(chunk)?;
        let stored = Stored {
            chunk,
            entry,
            seed,
            bytes,
        };
        let (codec, quantizer) = (self.layout.codec, &self.quantizer);
        self.version
            .decode(
                codec,
                quantizer,
                &self.layout.grid,
                stored,
                self.verify,
                values,
            )
            .map_err(|fault| fault.in_chunk(chunk))
    }
}

/// Room for the values of a chunk. It is not on the stack: compilers merge a closure's frame with those of rayon's
/// recursion, and a thread's stack would hold the array once for each level.
fn chunk_buffer<T: Element>() -> Vec<T> {
    vec![T::ZERO; CHUNK]
}
