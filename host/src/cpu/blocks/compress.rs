//! Compression: tasks of a few chunks run in parallel, and their bytes are put into the stream in order.

use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::cpu::numbers::Numbers;
use crate::cpu::{Progress, Version};
use crate::encoded::{EncodedChunks, Put, in_waves};
use crate::error::Error;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::layout::BlockLayout;
use ferrosz_codec::quantize::field::Quantizer;
use std::ops::Range;

/// Chunks of a task: enough that its start is cheap, and few enough that its bytes stay in a cache until they are put
/// into the stream.
const TASK_CHUNKS: u64 = 4;

/// Tasks for each thread in a wave: enough that little time is lost at the end of the wave, where threads wait.
const WAVE_TASKS: u64 = 16;

/// The values of the chunks of a field of blocks.
pub(crate) trait ChunkValues<T>: Sync {
    /// A chunk in the field, or alone in memory that is lent.
    fn source<'a>(&'a self, chunk: u64, lent: &'a mut Lent<T>) -> Source<'a, T>;
}

/// Memory for a chunk that is a field of its own.
pub(crate) struct Lent<T> {
    pub(crate) values: Vec<T>,
    pub(crate) grid: Grid,
}

/// All values of a field.
pub(crate) struct WholeValues<'a, T> {
    pub(crate) grid: Grid,
    pub(crate) field: &'a [T],
}

impl<T: Element> ChunkValues<T> for WholeValues<'_, T> {
    fn source<'a>(&'a self, chunk: u64, _: &'a mut Lent<T>) -> Source<'a, T> {
        Source {
            field: self.field,
            grid: &self.grid,
            chunk,
        }
    }
}

/// Encodes chunks of a field in waves.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; those of `put`.
pub(crate) fn encode<T: Element>(
    version: Version,
    layout: BlockLayout,
    quantizer: &Quantizer<T>,
    values: &dyn ChunkValues<T>,
    numbers: Numbers<'_>,
    progress: Progress<'_>,
    put: Put<'_>,
) -> Result<(), Error> {
    let encoder = Encoder {
        version,
        layout,
        quantizer,
        values,
        numbers,
        progress,
    };
    let wave = WAVE_TASKS * TASK_CHUNKS * parallel::thread_count() as u64;
    in_waves(encoder.numbers.count(), wave, put, |chunks, tasks| {
        encoder.encode_wave(chunks, tasks)
    })
}

/// The data that all tasks share.
struct Encoder<'a, T> {
    version: Version,
    layout: BlockLayout,
    quantizer: &'a Quantizer<T>,
    values: &'a dyn ChunkValues<T>,
    numbers: Numbers<'a>,
    progress: Progress<'a>,
}

impl<T: Element> Encoder<'_, T> {
    /// Encodes the chunks with these indices into tasks, whose memory is reused.
    fn encode_wave(&self, chunks: Range<u64>, tasks: &mut Vec<EncodedChunks>) -> Result<(), Error> {
        let count = (chunks.end - chunks.start).div_ceil(TASK_CHUNKS);
        tasks.resize_with(count as usize, EncodedChunks::default);
        // Tasks keep what chunks need, and not what they may need: new memory takes longer than a copy of few bytes.
        let scratch = || {
            let (values, grid) = (Vec::new(), self.layout.grid);
            (Lent { values, grid }, vec![0; IMAGE_BYTES])
        };
        let tasks = tasks.iter_mut().enumerate();
        let encoded = parallel::map_with(tasks, scratch, |scratch, (index, task)| {
            let first = chunks.start + index as u64 * TASK_CHUNKS;
            self.encode_task(first..chunks.end.min(first + TASK_CHUNKS), scratch, task)
        });
        encoded.into_iter().collect()
    }

    fn encode_task(
        &self,
        chunks: Range<u64>,
        (lent, image): &mut (Lent<T>, Vec<u8>),
        task: &mut EncodedChunks,
    ) -> Result<(), Error> {
        task.clear();
        let BlockLayout { codec, grid } = &self.layout;
        for chunk in chunks.map(|index| self.numbers.get(index)) {
            let source = self.values.source(chunk, lent);
            let (form, bytes, sum) = self.version.encode(*codec, self.quantizer, source, image);
            task.push_summed(chunk, form, &image[..bytes], sum)?;
            (self.progress)(u64::from(grid.chunk(chunk).elements()));
        }
        Ok(())
    }
}
