//! Streams in places that are read by ranges.

use crate::decompress::Decompressor;
use crate::error::Error;
use crate::info::{Info, info};
use crate::part::Part;
use crate::partial::PartialStream;
use crate::read_at::ReadAt;
use ferrosz_codec::{FormatError, Value, ValueType};
use std::ops::Range;
use std::slice;

/// A stream in a place that is read by ranges. It reads the bytes that are needed, and those between needed ones that are
/// near each other. Bytes that were read stay known.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part, StreamAt};
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
        loop {
            let missing = self.stream.missing(part)?;
            if missing.is_empty() {
                return decompressor.decompress_part(self.stream.bytes(), part);
            }
            self.fetch(&missing)?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Codec, Compressor, Fill};
    use std::io;

    fn compressed(codec: Codec, extents: &[u64]) -> (Vec<f32>, Vec<u8>) {
        let field: Vec<f32> = (0..extents.iter().product::<u64>())
            .map(|i| (i as f32 * 1e-3).sin() + (i % 977) as f32 * 1e-3)
            .collect();
        let compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"));
        let compressor = compressor.extents(extents).expect("extents");
        let stream = compressor.compress(&field).expect("memory");
        (field, stream)
    }

    #[test]
    fn a_file_is_read_as_memory_is() {
        let extents = [20u64, 90, 80];
        for codec in [Codec::PLAIN, Codec::LORENZO_RANS, Codec::INTERP] {
            let (_, stream) = compressed(codec, &extents);
            let mut file = tempfile();
            io::Write::write_all(&mut file, &stream).expect("a temporary file");
            let part = Part::Box(vec![3..9, 60..70, 7..8]);
            let mut of_file = StreamAt::open(&file).expect("a stream");
            let mut of_memory = StreamAt::open(&stream[..]).expect("a stream");
            let decompressor = Decompressor::new();
            let values: Vec<f32> = of_file
                .decompress_part(&decompressor, &part)
                .expect("sound");
            let expected = decompressor.decompress_part::<f32>(&stream, &part);
            assert_eq!(values, expected.expect("sound"));
            let again: Vec<f32> = of_memory
                .decompress_part(&decompressor, &part)
                .expect("sound");
            assert_eq!(values, again);
            assert_eq!(of_file.traffic(), of_memory.traffic());
            assert!(of_file.traffic().rounds <= 3);
            assert_eq!(
                of_file.info().expect("a stream"),
                info(&stream).expect("a stream")
            );
            assert_eq!(of_file.read_all().expect("a stream"), stream);
            let rounds = of_file.traffic().rounds;
            assert_eq!(of_file.read_all().expect("a stream"), stream);
            assert_eq!(of_file.traffic().rounds, rounds);
            assert_eq!(file.byte_len().expect("a file"), stream.len() as u64);
        }
    }

    /// A file without a name, which the system deletes with its last handle.
    fn tempfile() -> std::fs::File {
        let name = format!(
            "ferrosz-stream-at-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let path = std::env::temp_dir().join(name);
        let mut options = std::fs::OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        let file = file.expect("a temporary file");
        let _ = std::fs::remove_file(path);
        file
    }

    #[test]
    fn a_place_that_is_cut_off_is_an_error() {
        let (_, stream) = compressed(Codec::PLAIN, &[300_000]);
        for length in [0, 10, 1000, 70_000, stream.len() - 1] {
            let part = Part::Elements(0..300_000);
            let found = StreamAt::open(&stream[..length])
                .and_then(|mut at| at.decompress_part::<f32>(&Decompressor::new(), &part));
            assert!(matches!(found, Err(Error::Format(_))), "{length}");
        }
    }

    #[test]
    fn failures_of_the_place_are_reported() {
        #[derive(Debug)]
        struct Broken;
        impl ReadAt for Broken {
            fn byte_len(&self) -> io::Result<u64> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
            fn read_ranges(&self, _: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        let error = StreamAt::open(Broken).expect_err("a broken place");
        assert!(matches!(
            error,
            Error::Io {
                kind: io::ErrorKind::ConnectionReset,
                ..
            }
        ));
    }

    #[test]
    fn streams_with_a_mask_are_read() {
        let mut field: Vec<f32> = (0..100_000).map(|i| (i as f32 * 1e-3).sin()).collect();
        field[5000..9000].fill(-999.0);
        let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3).expect("a bound"));
        let compressor = compressor.fill(Fill::Value(-999.0)).expect("a fill value");
        let stream = compressor.compress(&field).expect("memory");
        let mut at = StreamAt::open(&stream[..]).expect("a stream");
        let part = Part::Elements(8_990..9_010);
        let values: Vec<f32> = at
            .decompress_part(&Decompressor::new(), &part)
            .expect("sound");
        assert_eq!(values[..10], [-999.0; 10]);
        assert!(values[10] > -2.0);
    }
}
