//! Updates of streams in the memory of a machine that runs kernels. The chunks that a part touches travel to the host, which
//! codes them again, and come back behind the stream: so the bytes are those of an update in host memory. All other chunks stay
//! where they are.

use crate::error::Error;
use crate::gpu::boxes::{BoxMemory, enqueue_read};
use crate::gpu::executor::Executor;
use crate::memory::try_zeroed;
use crate::part::Part;
use crate::read_at::ReadAt;
use crate::stream_at::StreamAt;
use crate::stream_ref::StreamRef;
use crate::update::without_updates;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{FormatError, Value};
use ferrosz_gpu_kernels::primitives::read_boxes::{BOX_NUMBERS, BoxToRead};
use ferrosz_simt::View;
use std::io;
use std::ops::Range;

/// Memory of a machine that holds a stream. All sections and chunks of a stream begin and end at whole words, as copies do.
struct MachineBytes<'a, E> {
    executor: &'a E,
    words: View<u32>,
}

impl<E: Executor> ReadAt for MachineBytes<'_, E> {
    fn byte_len(&self) -> io::Result<u64> {
        Ok(4 * self.words.len())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let end = self.byte_len()?;
        let read = |range: &Range<u64>| {
            let start = range.start.min(end);
            let mut bytes = try_zeroed(range.end.min(end).saturating_sub(start))?;
            if !bytes.is_empty() {
                self.executor.download(self.words, start, &mut bytes)?;
            }
            Ok::<_, Error>(bytes)
        };
        let found: Result<_, Error> = ranges.iter().map(read).collect();
        found.map_err(io::Error::other)
    }
}

/// Replaces a part of the field of the stream at the start of `memory`; the length of the new stream. Waits for the work so far.
///
/// # Errors
///
/// Those of [`StreamAt::update`], [`Error::OutputTooSmall`] if the memory has no room for the update, and errors of the machine.
/// The stream is the old one then.
pub(crate) fn update<V: Value, E: Executor>(
    executor: &E,
    memory: View<u32>,
    part: &Part,
    values: &[V],
) -> Result<u64, Error> {
    let place = MachineBytes {
        executor,
        words: memory,
    };
    let update = StreamAt::open(place)?.update(part, values)?;
    let needed = update.append_at + update.appended.len() as u64;
    check_room(memory, needed)?;
    if update.chunks > 0 {
        executor.upload(&update.appended, memory.from(update.append_at / 4))?;
        executor.upload(&update.header, memory)?;
    }
    Ok(needed)
}

/// Copies the stream at the start of `memory` to `output`, without the chunks that updates replaced; the length of the copy.
/// Its bytes are those of [`compact`](crate::stream::compact). The table and the updates travel to the host; checksums of chunks
/// are not compared. Waits for the work so far.
///
/// # Errors
///
/// [`Error::Format`] if the stream is damaged, [`Error::OutputTooSmall`], [`Error::OutOfMemory`], and errors of the machine.
pub(crate) fn compact<E: Executor>(
    executor: &E,
    memory: View<u32>,
    output: View<u32>,
) -> Result<u64, Error> {
    let place = MachineBytes {
        executor,
        words: memory,
    };
    let mut stream = StreamAt::open(place)?;
    let image = stream.read_places()?;
    let stream = StreamRef::read(image)?;
    let (needed, found) = (stream.header.stream_bytes(), 4 * memory.len());
    if needed > found {
        return Err(FormatError::Truncated { needed, found }.into());
    }
    let header = without_updates(&stream)?;
    // Its payload is not known here, and is copied where it is.
    let mut places = stream.rewrite(header, stream.records, 0..header.chunks())?;
    let sections = places.len();
    stream.copy_sections(&mut places)?;
    check_room(output, places.len() as u64)?;
    let start = header.payload_start();
    executor.upload(&places[..start as usize], output)?;
    let mut moves = Moves::new(start);
    for number in 0..header.chunks() {
        let bytes = stream.chunk(number)?.bytes;
        let from = (bytes.as_ptr().addr() - image.as_ptr().addr()) as u64;
        moves.add(from..from + bytes.len() as u64);
    }
    moves.run(executor, memory, output)?;
    executor.upload(&places[sections..], output.from(sections as u64 / 4))?;
    Ok(places.len() as u64)
}

fn check_room(memory: View<u32>, needed: u64) -> Result<(), Error> {
    let found = 4 * memory.len();
    match needed <= found {
        true => Ok(()),
        false => Err(Error::OutputTooSmall {
            needed,
            found,
            unit: "bytes",
        }),
    }
}

/// Bytes that are copied within a machine's memory, one range behind the other.
struct Moves {
    ranges: Vec<Range<u64>>,
    /// The first byte that they are copied to.
    start: u64,
}

impl Moves {
    /// The most words that the blocks of one box copy.
    const PIECE: u64 = 1 << 15;

    fn new(start: u64) -> Self {
        Self {
            ranges: Vec::new(),
            start,
        }
    }

    /// The next range.
    fn add(&mut self, range: Range<u64>) {
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => self.ranges.push(range),
        }
    }

    /// Copies all of them.
    fn run<E: Executor>(
        self,
        executor: &E,
        memory: View<u32>,
        output: View<u32>,
    ) -> Result<(), Error> {
        let mut to = self.start / 4;
        let mut list = Vec::new();
        for range in &self.ranges {
            let words = range.start / 4..range.end / 4;
            for from in words.clone().step_by(Self::PIECE as usize) {
                let count = (words.end - from).min(Self::PIECE);
                let piece = BoxToRead {
                    from,
                    to,
                    extents: [1, 1, count as u32],
                };
                list.extend(piece.to_list());
                to += count;
            }
        }
        let count = (list.len() / BOX_NUMBERS) as u64;
        if count == 0 {
            return Ok(());
        }
        let mut boxes = BoxMemory::default();
        let places = boxes.memory(executor, size_of_val(&*list) as u64)?;
        executor.upload(bytemuck::cast_slice(&list), places)?;
        let grid = Grid::new(Shape::Line, &Extents::line(memory.len()));
        // Bits are copied, whatever they are.
        enqueue_read::<f32, E>(executor, memory, &grid, (places.pairs(), count), output)?;
        // The list is in use until then.
        let mut last = [0; 4];
        executor.download(output, 0, &mut last)
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::compress::Compressor;
    use crate::decompress::Decompressor;
    use crate::device::Device;
    use crate::gpu::executor::emulator;
    use crate::gpu::host_slices::{Source, Target, decompress_host};
    use crate::gpu::mapping::decompress::Wanted;
    use crate::reading::Reading;
    use crate::stream_layout::StreamLayout;
    use crate::update::Update;
    use ferrosz_codec::{Bound, Codec};

    /// Decodes a part of the field of a stream, or all of it, on the emulator.
    fn decoded(stream: &[u8], part: Option<&Part>) -> Result<Vec<f32>, Error> {
        let layout = StreamLayout::of_start(stream)?;
        let reading = Reading::new(&layout.layout, &layout.order, part)?;
        let wanted = Wanted::new(&reading)?;
        let mut values = vec![f32::NAN; wanted.elements() as usize];
        let source = Source {
            layout: &layout,
            parts: &[stream],
            wanted: &wanted,
            verify: true,
            mending: None,
        };
        let target = Target::Memory(bytemuck::cast_slice_mut(&mut values));
        decompress_host::<f32, _>(&emulator::new(), &source, target)?;
        Ok(values)
    }

    /// Replaces parts of a field, one after the other, in memory of the emulator. After each, the stream and its copy without the
    /// replaced chunks have the bytes of the host's, and kernels decode the values that the host decodes.
    fn check(codec: Codec, lengths: &[u64], fill: Option<f64>, parts: &[Part]) {
        let count: u64 = lengths.iter().product();
        let field: Vec<f32> = (0..count).map(|i| (i as f32 * 0.01).sin()).collect();
        let bound = Bound::range(1e-3).unwrap();
        let mut compressor = Compressor::new(codec, bound).extents(lengths).unwrap();
        if let Some(fill) = fill {
            compressor = compressor.fill(fill).unwrap();
        }
        let mut stream = compressor.compress(&field).unwrap();
        let executor = emulator::new();
        let room = 2 * stream.len() as u64 + 8 * count;
        let [memory, output] = [(); 2].map(|()| executor.allocate(room).unwrap());
        let [memory, output] = [&memory, &output].map(|memory| executor.view(memory));
        executor.upload(&stream, memory).unwrap();
        let read = |view: View<u32>, length: u64| {
            let mut bytes = vec![0; length as usize];
            executor.download(view, 0, &mut bytes).unwrap();
            bytes
        };
        for (number, part) in parts.iter().enumerate() {
            let elements: u64 = part.extents().iter().product();
            let value = |i: u64| number as f32 - (i as f32).sqrt();
            let values: Vec<f32> = (0..elements).map(value).collect();
            Update::new(&stream, part, &values)
                .unwrap()
                .apply(&mut stream);
            let length = update(&executor, memory, part, &values).unwrap();
            assert!(
                read(memory, length) == stream,
                "{codec} {lengths:?} {part:?}"
            );
            let on_host = Decompressor::new().device(Device::Cpu);
            let all: Vec<f32> = on_host.decompress(&stream).unwrap();
            assert!(decoded(&stream, None).unwrap() == all, "{codec} {part:?}");
            let some: Vec<f32> = on_host.decompress_part(&stream, part).unwrap();
            assert!(
                decoded(&stream, Some(part)).unwrap() == some,
                "{codec} {part:?}"
            );
            let length = compact(&executor, memory, output).unwrap();
            let compacted = crate::update::compact(&stream).unwrap();
            assert!(
                read(output, length) == compacted,
                "{codec} {lengths:?} {part:?}"
            );
        }
    }

    #[test]
    fn updates_in_memory_of_a_machine_are_those_of_the_host() {
        let elements = |range| Part::Elements(range);
        for codec in Codec::BLOCKS {
            let parts = [
                elements(0..1),
                elements(8190..16_400),
                elements(70_000..70_000),
            ];
            check(codec, &[70_000], None, &parts);
            let rows = Part::Box(vec![3..90, 40..41]);
            check(
                codec,
                &[150, 333],
                None,
                &[rows.clone(), rows, elements(0..49_950)],
            );
            let some = Part::Box(vec![5..40, 0..3, 60..64]);
            let slice = Part::Box(vec![12..13, 0..40, 0..80]);
            check(codec, &[50, 40, 80], None, &[some.clone(), slice.clone()]);
            check(codec, &[50, 40, 80], Some(0.0), &[slice, some]);
        }
    }

    #[test]
    fn kernels_find_each_wrong_update() {
        let field: Vec<f32> = (0..300_000).map(|i| (i as f32 * 0.01).sin()).collect();
        let compressor = Compressor::new(Codec::OUTLIER, Bound::abs(1e-3).unwrap());
        let mut stream = compressor.compress(&field).unwrap();
        let start = stream.len();
        let mut starts = Vec::new();
        // More updates than warps check them.
        for number in 0..9 {
            starts.push(stream.len() - start);
            let part = Part::Elements(40_000 * (number % 4)..40_000 * (number % 4) + 30_000);
            let update = Update::new(&stream, &part, &[number as f32; 30_000]).unwrap();
            update.apply(&mut stream);
        }
        let on_host = Decompressor::new().device(Device::Cpu);
        let expected: Vec<f32> = on_host.decompress(&stream).unwrap();
        assert!(decoded(&stream, None).unwrap() == expected);
        // Heads, and the entries of four or five chunks.
        for at in starts {
            for byte in (0..160).step_by(3) {
                let mut damaged = stream.clone();
                damaged[start + at + byte] ^= 1 << (byte % 8);
                let found = decoded(&damaged, None).unwrap_err();
                let on_host = on_host.decompress::<f32>(&damaged).unwrap_err();
                let expected = FormatError::InvalidUpdate { at: at as u64 };
                assert_eq!(
                    [&found, &on_host],
                    [&Error::Format(expected); 2],
                    "{at} {byte}"
                );
            }
        }
        let cut = decoded(&stream[..start + 64], None);
        assert!(
            matches!(cut, Err(Error::Format(FormatError::InvalidUpdate { .. }))),
            "{cut:?}"
        );
    }

    #[test]
    fn a_stream_without_room_stays_as_it_is() {
        let field: Vec<f32> = (0..20_000).map(|i| i as f32).collect();
        let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).unwrap());
        let stream = compressor.compress(&field).unwrap();
        let executor = emulator::new();
        let memory = executor.allocate(stream.len() as u64 + 64).unwrap();
        let view = executor.view(&memory);
        executor.upload(&stream, view).unwrap();
        let found = update(&executor, view, &Part::Elements(9..11), &[1e9f32; 2]);
        assert!(
            matches!(found, Err(Error::OutputTooSmall { .. })),
            "{found:?}"
        );
        let found = compact(&executor, view, view.first(40));
        assert!(
            matches!(found, Err(Error::OutputTooSmall { .. })),
            "{found:?}"
        );
        let found = compact(&executor, view.first(stream.len() as u64 / 4 - 4), view);
        assert!(
            matches!(found, Err(Error::Format(FormatError::Truncated { .. }))),
            "{found:?}"
        );
        let found = update(
            &executor,
            view,
            &Part::Elements(19_999..20_001),
            &[0.0f32; 2],
        );
        assert!(
            matches!(found, Err(Error::RangeOutside { .. })),
            "{found:?}"
        );
        let mut after = vec![0; stream.len()];
        executor.download(view, 0, &mut after).unwrap();
        assert!(after == stream);
    }
}
