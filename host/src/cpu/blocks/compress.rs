//! Compression: tasks of a few chunks run in parallel, and their bytes are put into the stream in order.

use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::cpu::tiles;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::memory;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::{BlockLayout, Family, HEADER_BYTES, Header, Layout};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Element};
use rayon::prelude::*;
use std::ops::Range;

/// Chunks of a task: enough that its start is cheap, and few enough that its bytes stay in a cache until they are put
/// into the stream.
const TASK_CHUNKS: u64 = 4;

/// Tasks for each thread in a wave: enough that little time is lost at the end of the wave, where threads wait.
const WAVE_TASKS: u64 = 16;

/// Values of a task of the search for extremes.
const SCAN: usize = 1 << 17;

/// The destination of a stream.
pub(crate) trait Sink: Send {
    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error>;
    /// Replaces the first bytes.
    fn set_start(&mut self, bytes: &[u8]);
    /// Reserves memory for the bytes that are expected to follow.
    fn expect(&mut self, _bytes: u64) {}
    /// Takes a whole stream.
    ///
    /// # Errors
    ///
    /// As [`Sink::append`].
    fn take(&mut self, stream: Vec<u8>) -> Result<(), Error> {
        self.append(&stream)
    }
}

impl Sink for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        memory::append(self, bytes)
    }

    fn set_start(&mut self, bytes: &[u8]) {
        self[..bytes.len()].copy_from_slice(bytes);
    }

    fn expect(&mut self, bytes: u64) {
        memory::reserve(self, usize::try_from(bytes).unwrap_or(0));
    }

    fn take(&mut self, stream: Vec<u8>) -> Result<(), Error> {
        *self = stream;
        Ok(())
    }
}

/// The quantiser of a bound on a field.
pub(crate) fn resolve<T: Element>(version: Version, bound: Bound, values: &[T]) -> Quantizer<T> {
    let mut found = Extremes::default();
    if bound.needs_extremes() {
        found = extremes(version, values);
    }
    bound.resolve(&found)
}

/// Smallest and largest finite value of a field.
pub fn extremes<T: Element>(version: Version, values: &[T]) -> Extremes<T> {
    values
        .par_chunks(SCAN)
        .map(|values| version.extremes(values))
        .reduce(Extremes::default, Extremes::union)
}

/// Compresses a field whose extents have been checked.
pub(crate) fn compress<T: Element>(
    version: Version,
    layout: Layout,
    bound: Bound,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let job = (version, layout, bound, progress);
    // A static is compiled in this crate. A generic function would be compiled in each crate that calls it, with all
    // functions that it calls.
    with_element!(T::DTYPE, E => {
        static COMPRESS: fn(Job<'_>, &[E], &mut dyn Sink) -> Result<(), Error> = compress_of::<E>;
        COMPRESS(job, bytemuck::cast_slice(values), sink)
    })
}

/// The arguments without the field and the destination.
type Job<'a> = (Version, Layout, Bound, Progress<'a>);

fn compress_of<T: Element>(
    (version, layout, bound, progress): Job<'_>,
    values: &[T],
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let quantizer = resolve(version, bound, values);
    let BlockLayout { codec, grid } = match layout.family() {
        Family::Blocks(blocks) => blocks,
        Family::Tiles(tiles) => {
            return tiles::compress(layout, &tiles, bound, &quantizer, values, sink, progress);
        }
    };
    let encoder = Encoder {
        version,
        codec,
        quantizer: &quantizer,
        grid,
        field: values,
        progress,
    };
    let chunks = encoder.grid.chunk_count();
    let mut start = memory::try_zeroed(HEADER_BYTES as u64 + chunks * ENTRY_BYTES as u64)?;
    sink.append(&start)?;
    let header = layout.header(T::DTYPE, bound, quantizer.error().to_bits64());
    let mut table = Table {
        entries: (0..).zip(start[HEADER_BYTES..].as_chunks_mut().0),
        identity: header.identity(),
        payload_bytes: 0,
    };
    let wave = WAVE_TASKS * TASK_CHUNKS * rayon::current_num_threads() as u64;
    let mut now = Vec::new();
    let mut before = Vec::new();
    for first in (0..chunks).step_by(wave as usize) {
        let range = first..chunks.min(first + wave);
        // While a wave is encoded, one of the threads puts the wave before it into the stream.
        let (placed, ()) = rayon::join(
            || table.position(&before, sink),
            || encoder.encode_wave(range, &mut now),
        );
        placed?;
        std::mem::swap(&mut now, &mut before);
        if first == 0 {
            // Extrapolates the first wave to the whole field, with a small reserve.
            let bytes: usize = before.iter().map(|task| task.length).sum();
            let waves = chunks.div_ceil(wave);
            sink.expect((bytes as u64).saturating_mul(waves + waves.div_ceil(16)));
        }
    }
    table.position(&before, sink)?;
    let header = Header {
        payload_bytes: table.payload_bytes,
        ..header
    };
    start[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
    sink.set_start(&start);
    Ok(())
}

/// The chunk table while it is filled; `I` gives the number and the position of each entry.
struct Table<I> {
    entries: I,
    identity: Identity,
    payload_bytes: u64,
}

impl<'a, I: Iterator<Item = (u64, &'a mut [u8; ENTRY_BYTES])> + Send> Table<I> {
    /// Appends the chunks of a wave to the stream.
    fn position(&mut self, wave: &[Task], sink: &mut dyn Sink) -> Result<(), Error> {
        for task in wave {
            for (entry, (number, position)) in task.entries.iter().zip(&mut self.entries) {
                let seed = self.identity.seed(number, entry.form);
                let entry = Entry {
                    start: self.payload_bytes + entry.start,
                    checksum: seed.wrapping_add(entry.checksum),
                    ..*entry
                };
                *position = entry.to_bytes();
            }
            sink.append(&task.bytes[..task.length])?;
            self.payload_bytes += task.length as u64;
        }
        Ok(())
    }
}

/// The encoded chunks of a task. The positions in their entries are counted from the task's first byte; their checksums
/// have no seed.
#[derive(Default)]
struct Task {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    length: usize,
}

/// The data that all tasks share.
struct Encoder<'a, T> {
    version: Version,
    codec: BlockCodec,
    quantizer: &'a Quantizer<T>,
    grid: Grid,
    field: &'a [T],
    progress: Progress<'a>,
}

impl<T: Element> Encoder<'_, T> {
    /// Encodes chunks into tasks, whose memory is reused.
    fn encode_wave(&self, chunks: Range<u64>, tasks: &mut Vec<Task>) {
        let count = (chunks.end - chunks.start).div_ceil(TASK_CHUNKS);
        tasks.resize_with(count as usize, Task::default);
        tasks.par_iter_mut().enumerate().for_each(|(index, task)| {
            let first = chunks.start + index as u64 * TASK_CHUNKS;
            self.encode(first..chunks.end.min(first + TASK_CHUNKS), task);
        });
    }

    fn encode(&self, chunks: Range<u64>, task: &mut Task) {
        let needed = (TASK_CHUNKS as usize - 1) * CHUNK * T::BYTES + IMAGE_BYTES;
        if task.bytes.len() < needed {
            task.bytes = vec![0; needed];
        }
        task.entries.clear();
        task.length = 0;
        for chunk in chunks {
            let source = Source {
                field: self.field,
                grid: &self.grid,
                chunk,
            };
            let image = &mut task.bytes[task.length..];
            let (form, bytes, sum) = self
                .version
                .encode(self.codec, self.quantizer, source, image);
            (task.entries).push(Entry::new(task.length as u64, bytes as u64, form, sum));
            task.length += bytes;
            (self.progress)(u64::from(self.grid.chunk(chunk).elements()));
        }
    }
}
