//! Compression: tasks of a few chunks run in parallel, and their bytes are put into the stream in order.

use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::cpu::mapping::mask::Mask;
use crate::cpu::sink::Sink;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::BlockLayout;
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use std::ops::Range;

/// Chunks of a task: enough that its start is cheap, and few enough that its bytes stay in a cache until they are put
/// into the stream.
const TASK_CHUNKS: u64 = 4;

/// Tasks for each thread in a wave: enough that little time is lost at the end of the wave, where threads wait.
const WAVE_TASKS: u64 = 16;

/// Compresses a coded field with this header, in which the payload's length is missing.
#[expect(
    clippy::too_many_arguments,
    reason = "the parts of a stream, and where it goes"
)]
pub(crate) fn compress<T: Element>(
    version: Version,
    BlockLayout { codec, grid }: BlockLayout,
    header: Header,
    mask: &Mask,
    quantizer: &Quantizer<T>,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let chunks = 0..grid.chunk_count();
    let mut writer = Writer::new(header, &mask.records, sink)?;
    let encoder = Encoder {
        version,
        codec,
        quantizer,
        grid,
        field: values,
        progress,
    };
    encoder.encode(chunks, &mut |wave, waves| {
        for entry in wave.iter().flat_map(Task::entries) {
            writer.enter(entry.form, entry.bytes, entry.checksum);
        }
        let parts: Vec<&[u8]> = wave.iter().map(Task::bytes).collect();
        writer.append(&parts)?;
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        writer.expect(bytes as u64, waves);
        Ok(())
    })?;
    writer.append_chunks(&mask.chunks)?;
    writer.finish()
}

/// Called with the tasks of a wave in the order of their chunks, and with the number of waves that have about as many
/// bytes, or 0 if that is not known.
pub(crate) type Put<'a> = &'a mut (dyn FnMut(&[Task], u64) -> Result<(), Error> + Send);

/// The encoded chunks of a task. The positions in their entries are counted from the task's first byte; their checksums
/// have no seed.
#[derive(Default)]
pub(crate) struct Task {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl Task {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The data that all tasks share.
pub(crate) struct Encoder<'a, T> {
    pub(crate) version: Version,
    pub(crate) codec: BlockCodec,
    pub(crate) quantizer: &'a Quantizer<T>,
    pub(crate) grid: Grid,
    pub(crate) field: &'a [T],
    pub(crate) progress: Progress<'a>,
}

impl<T: Element> Encoder<'_, T> {
    /// Encodes chunks in waves.
    pub(crate) fn encode(&self, chunks: Range<u64>, put: Put<'_>) -> Result<(), Error> {
        let wave = WAVE_TASKS * TASK_CHUNKS * parallel::thread_count() as u64;
        let waves = (chunks.end - chunks.start).div_ceil(wave);
        let (mut now, mut before) = (Vec::new(), Vec::new());
        for number in 0..waves {
            let first = chunks.start + number * wave;
            let range = first..chunks.end.min(first + wave);
            // While a wave is encoded, threads that are free put the wave before it into the stream.
            let (placed, ()) = parallel::join(
                || put(&before, if number == 1 { waves } else { 0 }),
                || self.encode_wave(range, &mut now),
            );
            placed?;
            std::mem::swap(&mut now, &mut before);
        }
        put(&before, 0)
    }

    /// Encodes chunks into tasks, whose memory is reused.
    fn encode_wave(&self, chunks: Range<u64>, tasks: &mut Vec<Task>) {
        let count = (chunks.end - chunks.start).div_ceil(TASK_CHUNKS);
        tasks.resize_with(count as usize, Task::default);
        // Tasks keep what chunks need, and not what they may need: new memory takes longer than a copy of few bytes.
        let image = || vec![0; IMAGE_BYTES];
        let tasks = tasks.iter_mut().enumerate();
        parallel::map_with(tasks, image, |image, (index, task)| {
            let first = chunks.start + index as u64 * TASK_CHUNKS;
            self.encode_task(first..chunks.end.min(first + TASK_CHUNKS), image, task);
        });
    }

    fn encode_task(&self, chunks: Range<u64>, image: &mut [u8], task: &mut Task) {
        task.entries.clear();
        task.bytes.clear();
        for chunk in chunks {
            let source = Source {
                field: self.field,
                grid: &self.grid,
                chunk,
            };
            let (form, bytes, sum) = self
                .version
                .encode(self.codec, self.quantizer, source, image);
            let first = task.bytes.len() as u64;
            (task.entries).push(Entry::new(first, bytes as u64, form, sum));
            task.bytes.extend_from_slice(&image[..bytes]);
            (self.progress)(u64::from(self.grid.chunk(chunk).elements()));
        }
    }
}
