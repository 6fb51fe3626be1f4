//! Fields that are larger than memory: streams and values that are written while others are still coded.
//!
//! The field that is compressed is a slice, so it may be a mapped file, whose pages the operating system reads and drops.

use crate::compress::Compressor;
use crate::cpu::sink::Sink;
use crate::cpu::{self, Progress, Version};
use crate::decompress::{Decompressor, read};
use crate::error::Error;
use crate::memory::try_zeroed;
use crate::number::Number;
use crate::overlapped::Behind;
use crate::part::Part;
use crate::progress::SILENT;
use crate::reading::Reading;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::tile::{self, ChunkLength};
use ferrosz_codec::{Shape, Value, with_value};
use std::cmp::Ordering;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Mutex;
use std::thread;

/// Bytes of the elements of a window. Two windows are in memory: one is decoded, the other is written. Converted values have no
/// more bytes.
const WINDOW: u64 = 1 << 25;

/// [`Decompressor::write_all`] of a type of values.
type WriteAll = fn(
    &Decompressor,
    u64,
    &[u8],
    &StreamRef<'_>,
    &mut ValueWriter<'_>,
    Progress<'_>,
) -> Result<(), Error>;

impl Compressor {
    /// Compresses a field and writes the stream from the writer's position on, while the rest of the field is still to be
    /// compressed; returns the length of the stream. The header is written last. If the call fails, the written bytes have
    /// no header, and every reader refuses them.
    ///
    /// On a CPU the memory beside the field is bounded: 64 MiB, 12 MiB for each thread (20 MiB for values of 64 bits),
    /// 16 bytes for each chunk, the mask, and with interpolation the coarse field. A field that has fill values, an order
    /// of axes, logarithms or a conversion is copied, and a preset may choose an order of axes. Copies of 64 MiB and more
    /// are temporary files without names in the folder of [`std::env::temp_dir`], on Unix that of the variable `TMPDIR`;
    /// where that folder is in memory, as `/tmp` may be, so are the copies. On a GPU the whole stream is in memory before
    /// it is written.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor};
    /// use std::io::Cursor;
    ///
    /// let field: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3)?);
    /// let mut file = Cursor::new(Vec::new());
    /// let bytes = compressor.compress_seek(&field, &mut file)?;
    /// assert_eq!(bytes, file.get_ref().len() as u64);
    /// assert_eq!(*file.get_ref(), compressor.compress(&field)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from the writer, [`Error::TemporaryFile`], and as [`Compressor::compress`].
    pub fn compress_seek<N: Number>(
        &self,
        field: &[N],
        writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        self.write_stream((field, None), writer, SILENT)
    }

    pub(crate) fn write_stream<N: Number>(
        &self,
        (field, bounds): (&[N], Option<&[f64]>),
        mut writer: impl Write + Seek + Send,
        progress: Progress<'_>,
    ) -> Result<u64, Error> {
        let mut sink = Written::new(&mut writer)?;
        let bounded = self.for_numbers::<N>()?.bounded_memory();
        let field: &[N::Part] = bytemuck::cast_slice(field);
        bounded.run_bounded(Version::best(), (field, bounds), &mut sink, progress)?;
        sink.finish()
    }
}

/// The error of a write of a stream.
const WRITE_STREAM: fn(std::io::Error) -> Error = |error| Error::io("write the stream")(error);

/// A stream that is written to a place.
pub(crate) struct Written<W> {
    writer: W,
    /// The position of its first byte.
    start: u64,
    length: u64,
}

impl<W: Write + Seek> Written<W> {
    /// A stream that is written from the writer's position on.
    pub(crate) fn new(mut writer: W) -> Result<Self, Error> {
        let start = writer.stream_position().map_err(WRITE_STREAM)?;
        Ok(Self {
            writer,
            start,
            length: 0,
        })
    }

    /// Ends the stream; returns its length.
    pub(crate) fn finish(mut self) -> Result<u64, Error> {
        self.writer.flush().map_err(WRITE_STREAM)?;
        Ok(self.length)
    }
}

impl<W: Write + Seek + Send> Sink for Written<W> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.length += bytes.len() as u64;
        self.writer.write_all(bytes).map_err(WRITE_STREAM)
    }

    fn append_all(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        parts.iter().try_for_each(|part| self.append(part))
    }

    fn set_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut set = || {
            // A buffer may still hold chunks, which must be written before the header.
            self.writer.flush()?;
            self.writer.seek(SeekFrom::Start(self.start))?;
            self.writer.write_all(bytes)?;
            self.writer.seek(SeekFrom::Start(self.start + self.length))
        };
        set().map(drop).map_err(WRITE_STREAM)
    }
}

impl Decompressor {
    /// Decompresses a whole field and writes its values, as they lie in memory, from the writer's position on; returns
    /// their number. They are decoded and written in windows, boxes of the field of up to 32 MiB: one is written while the
    /// next one is decoded.
    ///
    /// On a CPU the memory beside the stream is bounded: up to 250 MB and the coarse field, which is 1/4096 of the field
    /// in cubes, 1/256 in planes. On a GPU the values are in its memory before they are
    /// written.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    /// use std::io::Cursor;
    ///
    /// let field: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let stream = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?).compress(&field)?;
    /// let mut file = Cursor::new(Vec::new());
    /// assert_eq!(Decompressor::new().decompress_seek::<f32>(&stream, &mut file)?, 100_000);
    /// let first = f32::from_ne_bytes(file.get_ref()[..4].try_into()?);
    /// assert!((first - field[0]).abs() <= 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] from the writer, and as [`Decompressor::decompress`].
    pub fn decompress_seek<V: Value>(
        &self,
        stream: &[u8],
        writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        self.write_values::<V>(stream, writer, SILENT)
    }

    pub(crate) fn write_values<V: Value>(
        &self,
        stream: &[u8],
        writer: impl Write + Seek + Send,
        progress: Progress<'_>,
    ) -> Result<u64, Error> {
        self.write_values_by::<V>(WINDOW, stream, writer, progress)
    }

    /// Writes values in windows of up to so many bytes.
    pub(crate) fn write_values_by<V: Value>(
        &self,
        window: u64,
        stream: &[u8],
        mut writer: impl Write + Seek + Send,
        progress: Progress<'_>,
    ) -> Result<u64, Error> {
        let read = read::<V>(stream)?;
        let layout = read.header.layout();
        let elements = layout.extents.elements();
        let lengths = read.order.user_extents(&layout.extents);
        let mut place = ValueWriter {
            start: writer.stream_position().map_err(WRITE_VALUES)?,
            lengths: lengths.lengths(),
            writer: &mut writer,
        };
        with_value!(V::TYPE, W => {
            compiled_here!(write_all: WriteAll = Decompressor::write_all::<W>);
            write_all()(self, window, stream, &read, &mut place, progress)?;
        });
        writer.flush().map_err(WRITE_VALUES)?;
        Ok(elements)
    }

    /// Writes all values of a stream.
    fn write_all<V: Value>(
        &self,
        window: u64,
        bytes: &[u8],
        stream: &StreamRef<'_>,
        place: &mut ValueWriter<'_>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let mut write = |bytes: &[u8]| {
            progress((bytes.len() / size_of::<V>()) as u64);
            place.writer.write_all(bytes).map_err(WRITE_VALUES)
        };
        // Windows of decoded values are mended where they lie.
        let has_safeguards = stream.is_mended();
        let is_written =
            !has_safeguards && self.run_pieces_on_gpu::<V>(bytes, stream, &mut write)?;
        if stream.header.elements() > 0 && !is_written {
            let most = window / size_of::<V::Coded>() as u64;
            self.write_windows::<V>(stream, most, place, progress)?;
        }
        Ok(())
    }

    /// Decodes a field in windows of up to so many elements; a thread writes each while the next one is decoded.
    fn write_windows<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        most: u64,
        place: &mut ValueWriter<'_>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let layout = stream.header.layout();
        let parts = windows(&layout, &stream.order, most);
        let write = |(number, values): &mut (usize, Vec<V>)| {
            let bytes = bytemuck::cast_slice(values);
            place.write(&parts[*number], size_of::<V>() as u64, bytes)
        };
        let write = Mutex::new(write);
        thread::scope(|scope| {
            let mut writing = Behind::begin(scope, &write);
            let decoded = cpu::with_reader::<V::Coded>(
                Version::best(),
                stream,
                self.verifies_checksums(),
                progress,
                &mut |read| {
                    for (number, part) in parts.iter().enumerate() {
                        let reading = Reading::new(&layout, &stream.order, Some(part))?;
                        let elements = reading.elements();
                        let (_, mut values) = writing.spare().unwrap_or_default();
                        match (values.len() as u64).cmp(&elements) {
                            Ordering::Less => values = try_zeroed(elements)?,
                            _ => values.truncate(elements as usize),
                        }
                        self.read_values(stream, (part, &reading), read, &mut values)?;
                        if !writing.hand((number, values)) {
                            break;
                        }
                    }
                    Ok(())
                },
            );
            writing.end().and(decoded)
        })
    }
}

/// The error of a write of values.
const WRITE_VALUES: fn(std::io::Error) -> Error = |error| Error::io("write the values")(error);

/// A writer of values. Code that takes one as an object is compiled once for all types of writers.
trait Destination: Write + Seek + Send {}

impl<W: Write + Seek + Send> Destination for W {}

/// A field whose values are written to a place.
struct ValueWriter<'a> {
    writer: &'a mut dyn Destination,
    /// The position of the first value.
    start: u64,
    /// The extents of the field.
    lengths: &'a [u64],
}

impl ValueWriter<'_> {
    /// Writes the values of a part, of so many bytes each, to their positions.
    fn write(&mut self, part: &Part, value_bytes: u64, values: &[u8]) -> Result<(), Error> {
        let mut rest = values;
        for run in part.runs(self.lengths) {
            let (own, behind) = rest.split_at(((run.end - run.start) * value_bytes) as usize);
            let position = SeekFrom::Start(self.start + run.start * value_bytes);
            let written = self.writer.seek(position);
            let written = written.and_then(|_| self.writer.write_all(own));
            written.map_err(WRITE_VALUES)?;
            rest = behind;
        }
        Ok(())
    }
}

/// The parts in which a field is decoded, of up to so many elements, but for a part that is a unit of the codec. Each is as
/// cubic as it can be, because codecs of tiles also decode the tiles behind a part.
fn windows(layout: &Layout, order: &Order, most: u64) -> Vec<Part> {
    let user = order.user_extents(&layout.extents);
    let lengths = user.lengths();
    if layout.shape == Shape::Line {
        let most = most.next_multiple_of(ChunkLength::SixtyFour.elements() as u64);
        let starts = (0..user.elements()).step_by(most as usize);
        let parts = starts.map(|start| Part::Elements(start..user.elements().min(start + most)));
        return parts.collect();
    }
    // 1. Begin with a chunk of blocks, or with a tile: parts of them are decoded more slowly. Of several axes that are one
    //    dimension, the last one is divided.
    let unit = match layout.family() {
        Family::Blocks(blocks) => blocks.grid.chunk(0).extents,
        Family::Tiles(_) => tile::extents(layout.shape),
    };
    let mut units = vec![1; lengths.len()];
    let dimensions = layout.extents.axes_of_dimensions();
    for (axes, extent) in dimensions.iter().zip(unit) {
        if let Some(last) = axes.clone().last() {
            units[usize::from(order.axes()[last])] = u64::from(extent);
        }
    }
    let mut steps: Vec<u64> = units
        .iter()
        .zip(lengths)
        .map(|(unit, length)| *unit.min(length))
        .collect();
    // 2. Double the axis that has the fewest units, as long as there is room; the last axis first, whose elements are a run.
    let last = steps.len() - 1;
    loop {
        let elements: u64 = steps.iter().product();
        let can_grow = |axis: &usize| steps[*axis] < lengths[*axis] && 2 * elements <= most;
        let count = |axis: &usize| match *axis == last {
            true => 0,
            false => steps[*axis] / units[*axis],
        };
        let grown = (0..=last).rev().filter(can_grow).min_by_key(count);
        let Some(axis) = grown else { break };
        steps[axis] = lengths[axis].min(2 * steps[axis]);
    }
    // 3. The boxes of this size.
    let mut boxes: Vec<Vec<Range<u64>>> = vec![Vec::new()];
    for (length, step) in lengths.iter().zip(&steps) {
        let ranges = (0..*length).step_by(*step as usize);
        let ranges: Vec<_> = ranges
            .map(|start| start..*length.min(&(start + step)))
            .collect();
        boxes = (boxes.iter())
            .flat_map(|before| {
                ranges
                    .iter()
                    .map(|range| [&before[..], std::slice::from_ref(range)].concat())
            })
            .collect();
    }
    boxes.into_iter().map(Part::Box).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Codec};

    #[test]
    fn windows_are_the_field_and_small() {
        let cases: [(&[u64], u8, Option<&str>); 7] = [
            (&[100_000], 1, None),
            (&[3, 5, 7, 11], 3, None),
            (&[40, 70, 90], 3, None),
            (&[40, 70, 90], 3, Some("x,z,y")),
            (&[40, 70, 90], 2, Some("s,y,x")),
            (&[2, 3, 40, 70, 90], 3, Some("s,s,z,y,x")),
            (&[700, 900], 2, None),
        ];
        for (lengths, rank, axes) in cases {
            let compressor = Compressor::new(Codec::INTERP, Bound::abs(1.0).expect("a bound"));
            let mut compressor = compressor
                .extents(lengths)
                .expect("extents")
                .with_rank(rank)
                .expect("a rank");
            if let Some(axes) = axes {
                compressor = compressor.axes(axes.parse().expect("axes"));
            }
            let elements = lengths.iter().product();
            let layout = compressor.layout_for(elements).expect("chosen");
            let order = compressor.order_for(elements).expect("an order");
            for most in [1, 20_000, 100_000, u64::MAX / 4] {
                let mut seen = vec![0; elements as usize];
                let parts = windows(&layout, &order, most);
                for part in &parts {
                    let count: u64 = part.extents().iter().product();
                    let largest = if rank == 1 { 1 << 20 } else { 1 << 14 };
                    assert!(count <= most.max(largest), "{lengths:?} {part:?}");
                    for run in part.runs(lengths) {
                        seen[run.start as usize..run.end as usize]
                            .iter_mut()
                            .for_each(|seen| *seen += 1);
                    }
                }
                assert!(
                    seen.iter().all(|seen| *seen == 1),
                    "{lengths:?} {axes:?} {most}"
                );
                assert!(parts.len() == 1 || most < elements, "{lengths:?} {most}");
            }
        }
    }
}
