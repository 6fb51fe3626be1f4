//! The reading of a part of a chunk by ranges of bytes, without a store: it says which bytes it needs.

use crate::chunk::Chunk;
use crate::error::codec_error;
use ferrosz::stream::PartialStream;
use ferrosz::{Decompressor, Error, FormatError, Part};
use zarrs::array::{ArrayBytes, ArrayBytesRaw, CodecError, Indexer};
use zarrs::storage::byte_range::ByteRange;

/// A part with more than one of so many elements of a chunk is read with the whole chunk: in one request.
const WHOLE_FROM: u64 = 2;

/// A stream that claims to be longer than so many times its values is read whole: then the store says how long it is.
const LONGEST: u64 = 4;

/// The reading of the elements of an indexer.
pub struct Reading<'a> {
    chunk: &'a Chunk,
    indexer: &'a dyn Indexer,
    decompressor: Decompressor,
    state: State,
}

/// The bytes of the stream that have been read.
enum State {
    /// None. The whole stream is needed.
    Unread,
    /// The whole stream.
    Whole(Vec<u8>),
    /// First bytes of the stream, the number of those that are needed, and the part to decode.
    First(Vec<u8>, u64, Part),
    /// The header and other ranges, and the part to decode.
    Part(Box<PartialStream>, Part),
}

/// The next step.
pub enum Step {
    /// Read these ranges of the stream, and put them in.
    Read(Vec<ByteRange>),
    /// These are the elements.
    Done(ArrayBytes<'static>),
}

impl<'a> Reading<'a> {
    /// The reading of the elements of an indexer; of the whole chunk if the stream cannot be read by ranges.
    ///
    /// # Errors
    ///
    /// [`CodecError::IncompatibleIndexer`] if they are not those of the chunk.
    pub fn new(
        chunk: &'a Chunk,
        indexer: &'a dyn Indexer,
        decompressor: Decompressor,
        has_ranges: bool,
    ) -> Result<Self, CodecError> {
        // It is refused here if it is not within the chunk.
        indexer.iter_contiguous_linearised_indices(chunk.shape())?;
        let is_small = chunk.field_bytes() <= PartialStream::FIRST_BYTES as u64;
        let is_most = indexer.len() > chunk.elements() / WHOLE_FROM;
        let part = indexer
            .as_array_subset()
            .filter(|_| has_ranges && !is_small && !is_most);
        let state = match part {
            None => State::Unread,
            Some(subset) => {
                // A range beyond the end of a stream, whose length is not known, is an error of most stores.
                let least = PartialStream::least_bytes(chunk.elements());
                let first = least.min(PartialStream::FIRST_BYTES as u64);
                let part = chunk.part_of_values(Part::Box(subset.to_ranges()));
                State::First(Vec::new(), first, part)
            }
        };
        Ok(Self {
            chunk,
            indexer,
            decompressor,
            state,
        })
    }

    /// The next step of the reading.
    ///
    /// # Errors
    ///
    /// If the stream is damaged, or not one of such a chunk.
    pub fn step(&self) -> Result<Step, CodecError> {
        match &self.state {
            State::Unread => Ok(Step::Read(vec![ByteRange::FromStart(0, None)])),
            State::Whole(stream) => {
                let values = self.chunk.decompress(&self.decompressor, stream)?;
                let values = ArrayBytes::from(values);
                let (shape, data_type) = (self.chunk.shape(), self.chunk.data_type());
                let elements = values.extract_array_subset(self.indexer, shape, data_type)?;
                Ok(Step::Done(elements.into_owned()))
            }
            State::First(bytes, needed, _) => Ok(Step::Read(vec![ByteRange::new(
                bytes.len() as u64..*needed,
            )])),
            State::Part(stream, part) => {
                let missing = stream.missing(part).map_err(codec_error)?;
                if !missing.is_empty() {
                    return Ok(Step::Read(
                        missing.into_iter().map(ByteRange::new).collect(),
                    ));
                }
                let values =
                    self.chunk
                        .decompress_part(&self.decompressor, stream.bytes(), part)?;
                Ok(Step::Done(values.into()))
            }
        }
    }

    /// Puts in the bytes of the ranges of the last step.
    ///
    /// # Errors
    ///
    /// If they are fewer, or the header of the stream is damaged.
    pub fn put(
        &mut self,
        read: &[ByteRange],
        bytes: Vec<ArrayBytesRaw<'_>>,
    ) -> Result<(), CodecError> {
        if bytes.len() != read.len() {
            let (wanted, found) = (read.len(), bytes.len());
            let text = format!("codec ferrosz: the store has read {found} ranges of {wanted}");
            return Err(CodecError::Other(text));
        }
        for (range, bytes) in read.iter().zip(bytes) {
            let start = range.start(0);
            let found = start + bytes.len() as u64;
            match &mut self.state {
                State::Unread => self.state = State::Whole(bytes.into_owned()),
                _ if found < range.end(found) => {
                    let needed = range.end(found);
                    return Err(codec_error(FormatError::Truncated { needed, found }));
                }
                State::First(first, _, _) => first.extend_from_slice(&bytes),
                State::Part(stream, _) => stream.put(start, &bytes).map_err(codec_error)?,
                State::Whole(_) => {}
            }
        }
        self.begin()
    }

    /// Reads the header if the first bytes have it.
    fn begin(&mut self) -> Result<(), CodecError> {
        let State::First(first, needed, part) = &mut self.state else {
            return Ok(());
        };
        match PartialStream::new(first) {
            Ok(stream) => {
                let longest = self.chunk.field_bytes().saturating_mul(LONGEST);
                let is_of_chunk = stream.dtype() == self.chunk.value_type()
                    && stream.is_complex() == self.chunk.is_complex()
                    && stream.extents() == self.chunk.extents();
                self.state = match is_of_chunk && stream.bytes().len() as u64 <= longest {
                    true => State::Part(Box::new(stream), part.clone()),
                    false => State::Unread,
                };
                Ok(())
            }
            // The records behind the header are longer.
            Err(Error::Format(FormatError::Truncated { needed: more, .. }))
                if more > *needed && more <= PartialStream::FIRST_BYTES as u64 =>
            {
                *needed = more;
                Ok(())
            }
            Err(error) => Err(codec_error(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz::codec::container::header::{HEADER_BYTES, Header};
    use ferrosz::{Bound, Codec, Compressor};
    use std::num::NonZeroU64;
    use zarrs::array::{ArraySubset, FillValue, data_type};

    /// A store may take memory for a range before it finds that its file is shorter.
    #[test]
    fn a_claimed_length_is_never_asked_for() {
        let shape = [NonZeroU64::new(300).unwrap(); 2];
        let chunk = Chunk::new(&shape, &data_type::float32(), &FillValue::from(-1f32)).unwrap();
        let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1.0).unwrap());
        let values: Vec<f32> = (0..90_000).map(|i| (i as f32).sqrt()).collect();
        let sound = chunk.compress(&compressor, bytemuck::cast_slice(&values));
        let sound = sound.unwrap();
        let header = Header::read(&sound).unwrap();
        let subset = ArraySubset::new_with_ranges(&[100..101, 5..9]);
        for (update_bytes, is_whole) in [(0, false), (1 << 28, true)] {
            let forged = Header {
                update_bytes,
                ..header
            };
            let stream = [&forged.to_bytes(), &sound[HEADER_BYTES..]].concat();
            let mut reading = Reading::new(&chunk, &subset, Decompressor::new(), true).unwrap();
            let Step::Read(first) = reading.step().unwrap() else {
                panic!("nothing is known");
            };
            let bytes = &stream[first[0].to_range_usize(stream.len() as u64)];
            reading.put(&first, vec![bytes.into()]).unwrap();
            let Step::Read(next) = reading.step().unwrap() else {
                panic!("no chunk is known");
            };
            let wanted = next == [ByteRange::FromStart(0, None)];
            assert_eq!(wanted, is_whole, "{next:?}");
        }
    }

    #[test]
    fn fewer_bytes_than_asked_for_are_an_error() {
        let shape = [NonZeroU64::new(300).unwrap(); 2];
        let chunk = Chunk::new(&shape, &data_type::float32(), &FillValue::from(0f32)).unwrap();
        let subset = ArraySubset::new_with_ranges(&[100..101, 5..9]);
        let mut reading = Reading::new(&chunk, &subset, Decompressor::new(), true).unwrap();
        let range = [ByteRange::FromStart(0, Some(192))];
        let failure = reading.put(&range, vec![vec![0; 100].into()]).unwrap_err();
        assert!(
            failure.to_string().contains("100 bytes of 192"),
            "{failure}"
        );
        assert!(reading.put(&range, Vec::new()).is_err());
    }
}
