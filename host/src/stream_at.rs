//! Streams in places that are read by ranges.

use crate::decompress::Decompressor;
use crate::error::Error;
use crate::info::{Info, info};
use crate::number::Number;
use crate::part::Part;
use crate::partial::PartialStream;
use crate::read_at::ReadAt;
use crate::statistics::{Searched, Statistics};
use crate::update::Update;
use ferrosz_codec::container::update::Tail;
use ferrosz_codec::{FormatError, Value, ValueType};
use std::ops::{Range, RangeBounds};
use std::slice;

/// The most bytes behind a stream that are read at once.
const BLOCK: u64 = 1 << 16;

/// A stream in a place that is read by ranges. It reads the bytes that are needed, and those between needed ones that are
/// near each other. Bytes that were read stay known.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
/// use ferrosz::stream::StreamAt;
///
/// let field: Vec<f32> = (0..200 * 200 * 20).map(|i| (i as f32).sqrt()).collect();
/// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?).extents(&[200, 200, 20])?;
/// let place = compressor.compress(&field)?;
///
/// let mut stream = StreamAt::open(&place[..])?;
/// assert_eq!(stream.extents(), [200, 200, 20]);
/// let part = Part::Box(vec![150..152, 0..10, 3..9]);
/// let values: Vec<f32> = stream.decompress_part(&Decompressor::new(), &part)?;
/// assert_eq!(values, Decompressor::new().decompress_part::<f32>(&place, &part)?);
/// assert!(stream.traffic().bytes < place.len() as u64 / 5);
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamAt<R> {
    place: R,
    stream: PartialStream,
    traffic: Traffic,
}

/// The reading that a [`StreamAt`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Calls of [`ReadAt::read_ranges`], each of which waits for the one before.
    pub rounds: u64,
    /// Ranges of all calls.
    pub ranges: u64,
    /// Bytes of all ranges.
    pub bytes: u64,
}

impl<R: ReadAt> StreamAt<R> {
    /// Reads the first bytes of a stream, in one round.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the place cannot be read; [`Error::Format`] if no stream begins there.
    pub fn open(place: R) -> Result<Self, Error> {
        let mut traffic = Traffic::default();
        let mut wanted = PartialStream::FIRST_BYTES as u64;
        loop {
            let mut first = read(&place, slice::from_ref(&(0..wanted)), &mut traffic)?;
            let first = first.pop().unwrap_or_default();
            match PartialStream::new(&first) {
                // The records are longer than is usual.
                Err(Error::Format(FormatError::Truncated { needed, .. }))
                    if needed > wanted && first.len() as u64 == wanted =>
                {
                    wanted = needed;
                }
                stream => {
                    return Ok(Self {
                        place,
                        stream: stream?,
                        traffic,
                    });
                }
            }
        }
    }

    /// The type of the field's values.
    pub fn dtype(&self) -> ValueType {
        self.stream.dtype()
    }

    /// Whether the values are the parts of complex numbers.
    pub fn is_complex(&self) -> bool {
        self.stream.is_complex()
    }

    /// The field's extents, slowest dimension first.
    pub fn extents(&self) -> Vec<u64> {
        self.stream.extents()
    }

    /// The reading that was done.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The place of the stream.
    pub fn place(&self) -> &R {
        &self.place
    }

    /// The properties of the stream, as [`info()`]: reads the chunk table, in at most one round.
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`].
    pub fn info(&mut self) -> Result<Info, Error> {
        self.fetch(&self.stream.missing_table())?;
        info(self.stream.bytes())
    }

    /// The values of a part of the field: reads the bytes that it needs, in at most two rounds.
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`] and of [`Decompressor::decompress_part`].
    pub fn decompress_part<V: Value>(
        &mut self,
        decompressor: &Decompressor,
        part: &Part,
    ) -> Result<Vec<V>, Error> {
        self.fetch_missing(|stream| stream.missing(part))?;
        decompressor.decompress_part(self.stream.bytes(), part)
    }

    /// The values of a level, in a box of the field or in all of it, as [`Decompressor::level`] and
    /// [`Decompressor::level_of_box`]: reads the bytes that it needs, in at most two rounds. What was read for a higher level
    /// is not read again.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    /// use ferrosz::stream::StreamAt;
    ///
    /// let field: Vec<f32> = (0..700 * 700).map(|i| (i as f32 * 0.7).sin() + (i % 91) as f32).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3)?).extents(&[700, 700])?;
    /// let place = compressor.levels_apart(4)?.compress(&field)?;
    ///
    /// let mut stream = StreamAt::open(&place[..])?;
    /// let preview: Vec<f32> = stream.level(&Decompressor::new(), 2, None)?;
    /// assert_eq!(preview.len(), 175 * 175);
    /// assert!(stream.traffic().bytes < place.len() as u64 / 4);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`] and of [`Decompressor::level_of_box`].
    pub fn level<N: Number>(
        &mut self,
        decompressor: &Decompressor,
        level: u32,
        ranges: Option<&[Range<u64>]>,
    ) -> Result<Vec<N>, Error> {
        self.fetch_missing(|stream| stream.missing_of_level(level, ranges))?;
        decompressor.level_in(self.stream.bytes(), level, ranges)
    }

    /// The statistics of the stream, if it has some, as [`Statistics::of`]: reads them in at most four rounds.
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`] and of [`Statistics::of`].
    pub fn statistics(&mut self) -> Result<Option<Statistics>, Error> {
        self.fetch_missing(PartialStream::missing_statistics)?;
        Statistics::of(self.stream.bytes())
    }

    /// Finds the wanted values of the stream, as [`Decompressor::find`]: reads the statistics, and then the bytes of the chunks
    /// that may have some.
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`] and of [`Decompressor::find`].
    pub fn find(
        &mut self,
        decompressor: &Decompressor,
        wanted: impl RangeBounds<f64>,
        take: impl FnMut(u64, f64),
    ) -> Result<Searched, Error> {
        self.fetch_missing(PartialStream::missing_statistics)?;
        self.fetch_missing(|stream| stream.missing_to_find(&wanted))?;
        decompressor.find(self.stream.bytes(), wanted, take)
    }

    /// The update that replaces a part of the field by `values`: reads the bytes that it needs, in at most two rounds. The place
    /// stays as it is until the update is written there; then it is to be opened again.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Part};
    /// use ferrosz::stream::{StreamAt, Update};
    ///
    /// let place = Compressor::new(Codec::PLAIN, Bound::abs(0.01)?).compress(&vec![1.0f32; 100_000])?;
    /// let part = Part::Elements(40_000..40_003);
    /// let update = StreamAt::open(&place[..])?.update(&part, &[5.0f32, 6.0, 7.0])?;
    /// assert_eq!(update, Update::new(&place, &part, &[5.0f32, 6.0, 7.0])?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`] and of [`Update::new`].
    pub fn update<V: Value>(&mut self, part: &Part, values: &[V]) -> Result<Update, Error> {
        self.fetch_missing(|stream| stream.missing_to_update(part))?;
        Update::new(self.stream.bytes(), part, values)
    }

    /// Checks that the place has all bytes of the stream, and behind them nothing but what an interrupted update left. Who
    /// writes an update there checks this first: all other bytes behind the stream would be lost. They are read until they
    /// are known to be others; none are if there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is cut off or other bytes follow it; [`Error::Io`] if the place cannot be read.
    pub fn check_end(&mut self) -> Result<(), Error> {
        let needed = self.stream.bytes().len() as u64;
        let found = self.place.byte_len().map_err(Error::io("read"))?;
        if found < needed {
            return Err(FormatError::Truncated { needed, found }.into());
        }
        for start in (needed..found).step_by(BLOCK as usize) {
            let block = start..found.min(start + BLOCK);
            let bytes = read(&self.place, slice::from_ref(&block), &mut self.traffic)?;
            match Tail::of(&bytes.concat()) {
                Some(Tail::UnfinishedUpdate) if start == needed => break,
                Some(Tail::Nothing | Tail::Zeros) => {}
                _ => return Err(FormatError::TrailingBytes(found - needed).into()),
            }
        }
        Ok(())
    }

    /// All bytes of the stream: reads those that are not known, in one round.
    ///
    /// # Errors
    ///
    /// Those of [`StreamAt::open`].
    pub fn read_all(&mut self) -> Result<&[u8], Error> {
        self.fetch(&self.stream.missing_all())?;
        Ok(self.stream.bytes())
    }

    /// Reads the bytes that say where the chunks are: of the stream, with zeros in place of others.
    #[cfg(any(feature = "cuda", all(test, feature = "emulator")))]
    pub(crate) fn read_places(&mut self) -> Result<&[u8], Error> {
        self.fetch_missing(PartialStream::missing_places)?;
        Ok(self.stream.bytes())
    }

    /// Reads bytes until none is missing.
    fn fetch_missing(&mut self, missing: impl Fn(&PartialStream) -> Missing) -> Result<(), Error> {
        loop {
            let missing = missing(&self.stream)?;
            if missing.is_empty() {
                return Ok(());
            }
            self.fetch(&missing)?;
        }
    }

    fn fetch(&mut self, ranges: &[Range<u64>]) -> Result<(), Error> {
        if ranges.is_empty() {
            return Ok(());
        }
        let found = read(&self.place, ranges, &mut self.traffic)?;
        for (range, bytes) in ranges.iter().zip(found) {
            let end = range.start + bytes.len() as u64;
            if end < range.end {
                return Err(FormatError::Truncated {
                    needed: range.end,
                    found: end,
                }
                .into());
            }
            self.stream.put(range.start, &bytes)?;
        }
        Ok(())
    }
}

/// Ranges of bytes that are to be read.
type Missing = Result<Vec<Range<u64>>, Error>;

fn read(
    place: &impl ReadAt,
    ranges: &[Range<u64>],
    traffic: &mut Traffic,
) -> Result<Vec<Vec<u8>>, Error> {
    let found = place.read_ranges(ranges).map_err(Error::io("read"))?;
    traffic.rounds += 1;
    traffic.ranges += ranges.len() as u64;
    traffic.bytes += found.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
    Ok(found)
}
