//! The parameters of the filter, `cd_values`: a list of words of 32 bits that HDF5 stores in the file.
//! docs/book/hdf5.md defines it.
//!
//! A user gives the request, five or seven words. `set_local` adds what it learns of the dataset. Tools give the whole list
//! of one dataset to another, so `set_local` reads the request alone, and replaces all that follows.

use crate::datatype::Stored;
use crate::failure::Failure;
use ferrosz::codec::pipeline::CodecId;
use ferrosz::{Bound, BoundMode, Choice, Codec, Preference, Preset, ValueType};
use std::iter;

/// The version of the list that this plugin writes and reads.
const VERSION: u32 = 1;

/// Words of a request without a fill value.
const LEAST_WORDS: usize = 5;

/// Words of a request with a fill value.
pub const REQUEST_WORDS: usize = 7;

/// In the word of the rank: the first bit of the tiles of a chunk.
const CHUNK_TILES_AT: u32 = 8;

/// Words of the bits of a fill value, or of each part of one.
const FILL_WORDS: usize = 2;

/// In the word of the type: its values are swapped.
const SWAPPED: u32 = 1 << 8;

/// In the word of the type: the dataset has a fill value.
const HAS_FILL: u32 = 1 << 9;

/// In the word of the type: the dataset has integers of 8 bits.
const OF_8_BITS: u32 = 1 << 10;

/// In the word of the type: the dataset has integers of 64 bits.
const OF_64_BITS: u32 = 1 << 11;

/// In the word of the type: its values are the parts of complex numbers.
const COMPLEX: u32 = 1 << 12;

/// In the last byte of the first word: each chunk is written once.
const WRITTEN_ONCE: u8 = 1;

/// In the same byte: quality is preferred.
const PREFERS_QUALITY: u8 = 2;

/// The most axes of a field. HDF5 has up to 32.
const MOST_AXES: usize = 8;

/// What a user asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The error bound: absolute, or relative to each value, so that it is the same in every chunk.
    pub bound: Bound,
    /// The preset or codec.
    pub choice: Choice,
    /// Dimensions of blocks or tiles; 0 to have them chosen.
    pub rank: u8,
    /// Tiles of a chunk of a codec of tiles; 0 for those of the preset or codec.
    pub chunk_tiles: u32,
    /// Few bytes, or small errors.
    pub preference: Preference,
    /// The values that stand for missing elements.
    pub fill: FillRequest,
    /// Whether each chunk is written once. If not, a chunk may be decoded and encoded again any number of times, as HDF5 does
    /// when a part of it is written, and only codecs without splines keep the bound then.
    pub written_once: bool,
}

/// Which values stand for missing elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FillRequest {
    /// The fill value of the dataset, and values that are found in a chunk.
    Auto,
    /// None.
    None,
    /// This one.
    Value(f64),
}

/// What `set_local` learns of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Its values.
    pub stored: Stored,
    /// The bits of its fill value, if the user gave one: of complex numbers those of both parts.
    pub fill: Vec<u64>,
    /// The extents of its chunks, as [`axes`] gives them: of complex numbers with one of 2 for the parts.
    pub extents: Vec<u64>,
}

/// The whole list.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// What the user asked for.
    pub request: Request,
    /// What the dataset is.
    pub dataset: Dataset,
}

impl Request {
    /// The request at the start of a list.
    ///
    /// # Errors
    ///
    /// If a word is not a number that the request has at its place.
    pub fn read(words: &[u32]) -> Result<Self, Failure> {
        let [first, choice, blocks, low, high, fill @ ..] = words else {
            return Err(Failure::new(format_args!(
                "cd_values has {} words, but at least {LEAST_WORDS} are needed: version, codec, rank, and two of the bound",
                words.len()
            )));
        };
        let [version, mode, fill_mode, rest] = first.to_le_bytes();
        if u32::from(version) != VERSION || rest & !(WRITTEN_ONCE | PREFERS_QUALITY) != 0 {
            return Err(Failure::new(format_args!(
                "cd_values[0]: {first:#x} is not of version {VERSION}, the only one that this plugin knows"
            )));
        }
        let mode = BoundMode::from_id(mode)
            .filter(|mode| matches!(mode, BoundMode::Abs | BoundMode::Pwrel))
            .ok_or_else(|| {
                Failure::new(format_args!(
                    "cd_values[0]: mode {mode} of the bound; it must be 0 (abs) or 3 (pwrel), as a bound relative to \
                     the range would be another one in each chunk"
                ))
            })?;
        let bound = Bound::new(mode, number([*low, *high]));
        let (rank, chunk_tiles) = (*blocks & 0xff, *blocks >> CHUNK_TILES_AT);
        let rank = u8::try_from(rank).ok().filter(|rank| *rank <= 3);
        let fill = match (fill_mode, fill) {
            (0, _) => FillRequest::Auto,
            (1, _) => FillRequest::None,
            (2, [low, high, ..]) => FillRequest::Value(number([*low, *high])),
            _ => {
                return Err(Failure::new(
                    "cd_values[0]: the fill mode must be 0 (auto), 1 (none), or 2 with the value in cd_values[5] and [6]",
                ));
            }
        };
        Ok(Self {
            bound: bound.map_err(|error| {
                Failure::new(format_args!("cd_values[3] and [4], the bound: {error}"))
            })?,
            choice: choice_of(*choice)?,
            rank: rank.ok_or_else(|| Failure::new("cd_values[2]: the rank must be 0 to 3"))?,
            chunk_tiles,
            preference: match rest & PREFERS_QUALITY {
                0 => Preference::Ratio,
                _ => Preference::Quality,
            },
            fill,
            written_once: rest & WRITTEN_ONCE != 0,
        })
    }

    /// The preset or codec that chunks are encoded with: without splines, unless each chunk is written once.
    ///
    /// # Errors
    ///
    /// If a codec with splines was asked for by its name.
    pub fn encoder(&self) -> Result<Choice, Failure> {
        match self.choice {
            choice if self.written_once => Ok(choice),
            Choice::Preset(Preset::Small) => Ok(Preset::Balanced.into()),
            Choice::Codec(codec) if has_splines(codec) => Err(Failure::new(format_args!(
                "cd_values[1]: the codec {codec} has splines, and each time that a part of a chunk is written the errors would \
                 add; set bit 24 of cd_values[0] if each chunk is written once, or take a codec without splines"
            ))),
            choice => Ok(choice),
        }
    }

    fn words(&self) -> [u32; REQUEST_WORDS] {
        let (fill_mode, fill) = match self.fill {
            FillRequest::Auto => (0, 0.0),
            FillRequest::None => (1, 0.0),
            FillRequest::Value(value) => (2, value),
        };
        let mode = u32::from(self.bound.mode().id());
        let once = if self.written_once { WRITTEN_ONCE } else { 0 };
        let quality = match self.preference {
            Preference::Ratio => 0,
            Preference::Quality => PREFERS_QUALITY,
        };
        let [low, high] = halves(self.bound.value().to_bits());
        let [fill_low, fill_high] = halves(fill.to_bits());
        [
            VERSION | mode << 8 | fill_mode << 16 | u32::from(once | quality) << 24,
            number_of(self.choice),
            u32::from(self.rank) | self.chunk_tiles << CHUNK_TILES_AT,
            low,
            high,
            fill_low,
            fill_high,
        ]
    }
}

impl Parameters {
    /// The parameters of a dataset, from the whole list.
    ///
    /// # Errors
    ///
    /// If the list is not one that [`Parameters::words`] gives.
    pub fn read(words: &[u32]) -> Result<Self, Failure> {
        let request = Request::read(words)?;
        let missing = || {
            Failure::new(
                "cd_values has no words about the dataset, which HDF5 adds when it creates one",
            )
        };
        let about = words.get(REQUEST_WORDS..).unwrap_or_default();
        let (of_type, rest) = about.split_first().ok_or_else(missing)?;
        let parts = if of_type & COMPLEX == 0 { 1 } else { 2 };
        let (fill, extents) = (rest.split_at_checked(parts * FILL_WORDS)).ok_or_else(missing)?;
        let value_type = u8::try_from(of_type & 0xff)
            .ok()
            .and_then(ValueType::from_id);
        let stored = value_type.and_then(|value_type| {
            let size = match of_type & (OF_8_BITS | OF_64_BITS) {
                0 => value_type.bytes(),
                OF_8_BITS => 1,
                _ => 8,
            };
            let real = Stored::new(value_type, size, of_type & SWAPPED != 0);
            match of_type & COMPLEX {
                0 => real,
                _ => real.and_then(Stored::complex),
            }
        });
        let stored = stored.ok_or_else(|| {
            Failure::new(format_args!(
                "cd_values[7]: {of_type} is not the number of a type"
            ))
        })?;
        let (fill, _) = fill.as_chunks::<FILL_WORDS>();
        let fill = fill.iter().filter(|_| of_type & HAS_FILL != 0);
        Ok(Self {
            request,
            dataset: Dataset {
                stored,
                fill: fill.copied().map(bits).collect(),
                extents: extents.iter().copied().map(u64::from).collect(),
            },
        })
    }

    /// The whole list.
    pub fn words(&self) -> Vec<u32> {
        let Dataset { stored, fill, .. } = &self.dataset;
        let swapped = if stored.is_swapped { SWAPPED } else { 0 };
        let complex = if stored.is_complex { COMPLEX } else { 0 };
        let has_fill = if fill.is_empty() { 0 } else { HAS_FILL };
        let width = match stored.size {
            size if size == stored.value_type.bytes() => 0,
            1 => OF_8_BITS,
            _ => OF_64_BITS,
        };
        let mut words = self.request.words().to_vec();
        words.push(u32::from(stored.value_type.id()) | swapped | complex | has_fill | width);
        let parts = if stored.is_complex { 2 } else { 1 };
        let fill = fill.iter().copied().chain(iter::repeat(0)).take(parts);
        words.extend(fill.flat_map(halves));
        words.extend(self.dataset.extents.iter().map(|length| *length as u32));
        words
    }
}

/// The extents of a chunk as those of a field: its first dimensions become one axis if a field cannot have so many. None if
/// one of them is too large for a word; then the chunk is a line.
pub fn axes(chunk: &[u64]) -> Vec<u64> {
    let merged = (chunk.len() + 1).saturating_sub(MOST_AXES).max(1);
    let (merged, rest) = chunk.split_at(merged.min(chunk.len()));
    let first = merged.iter().copied().fold(1, u64::saturating_mul);
    let axes = [&[first], rest].concat();
    match axes.iter().all(|length| u32::try_from(*length).is_ok()) {
        true => axes,
        false => Vec::new(),
    }
}

/// Whether the decoded values of a codec are other ones when they are encoded again.
fn has_splines(codec: Codec) -> bool {
    let tiles = codec.tiles();
    tiles.is_some_and(|tiles| tiles.predictor.geometry().is_some())
}

fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

fn bits([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn number(halves: [u32; 2]) -> f64 {
    f64::from_bits(bits(halves))
}

/// The number of a preset or codec: presets from 0, codecs by predictor and coder in the stream.
fn number_of(choice: Choice) -> u32 {
    match choice {
        Choice::Codec(codec) => {
            let CodecId { predictor, coder } = codec.id();
            u32::from(predictor) << 8 | u32::from(coder)
        }
        Choice::Preset(Preset::Balanced) => 1,
        Choice::Preset(Preset::Fast) => 2,
        _ => 0,
    }
}

fn choice_of(number: u32) -> Result<Choice, Failure> {
    let presets = Preset::ALL.map(Choice::from);
    let codecs = Codec::ALL.map(Choice::from);
    let mut all = presets.into_iter().chain(codecs);
    all.find(|choice| number_of(*choice) == number).ok_or_else(|| {
        Failure::new(format_args!(
            "cd_values[1]: {number} is neither a preset (0 small, 1 balanced, 2 fast) nor 256 times the predictor plus the \
             coder of a codec"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            request: Request {
                bound: Bound::abs(1e-3).unwrap(),
                choice: Preset::Small.into(),
                rank: 0,
                chunk_tiles: 0,
                preference: Preference::Ratio,
                fill: FillRequest::Auto,
                written_once: false,
            },
            dataset: Dataset {
                stored: Stored {
                    value_type: ValueType::F32,
                    size: 4,
                    is_swapped: true,
                    is_complex: false,
                },
                fill: vec![0x60ad_78ec],
                extents: vec![4, 1, 100],
            },
        }
    }

    /// The numbers of docs/book/hdf5.md, written out: they must never change.
    #[test]
    fn words_do_not_change() {
        let words = [
            1,
            0,
            0,
            0xd2f1_a9fc,
            0x3f50_624d,
            0,
            0,
            0x301,
            0x60ad_78ec,
            0,
            4,
            1,
            100,
        ];
        assert_eq!(parameters().words(), words);
        let numbers =
            [Codec::PLAIN, Codec::LORENZO_RANS, Codec::INTERP].map(|codec| number_of(codec.into()));
        assert_eq!(numbers, [513, 4112, 4880]);
    }

    #[test]
    fn lists_come_back() {
        for choice in Codec::ALL
            .map(Choice::from)
            .into_iter()
            .chain(Preset::ALL.map(Choice::from))
        {
            for fill in [
                FillRequest::Auto,
                FillRequest::None,
                FillRequest::Value(-9999.0),
            ] {
                let mut given = parameters();
                given.request = Request {
                    choice,
                    fill,
                    rank: 2,
                    chunk_tiles: 16,
                    preference: [Preference::Ratio, Preference::Quality]
                        [usize::from(fill == FillRequest::None)],
                    bound: Bound::pwrel(0.01).unwrap(),
                    written_once: choice == Codec::INTERP.into(),
                };
                given.dataset.fill = Vec::new();
                let read = Parameters::read(&given.words());
                assert_eq!(read, Ok(given.clone()));
                assert_eq!(Request::read(&given.request.words()), Ok(given.request));
            }
        }
    }

    #[test]
    fn integers_of_8_and_64_bits_come_back() {
        for (value_type, size, word) in [
            (ValueType::I16, 1, 0x500),
            (ValueType::U16, 1, 0x500),
            (ValueType::I32, 8, 0x900),
            (ValueType::U32, 8, 0x900),
        ] {
            let mut given = parameters();
            given.dataset.stored = Stored::new(value_type, size, true).unwrap();
            given.dataset.fill = Vec::new();
            assert_eq!(given.words()[7], u32::from(value_type.id()) | word);
            assert_eq!(Parameters::read(&given.words()), Ok(given.clone()));
            let mut words = given.words();
            words[7] = u32::from(ValueType::F32.id()) | word;
            assert!(Parameters::read(&words).is_err());
        }
    }

    #[test]
    fn complex_numbers_come_back() {
        let mut given = parameters();
        given.dataset.stored = given.dataset.stored.complex().unwrap();
        given.dataset.fill = vec![0x60ad_78ec, 7];
        assert_eq!(
            given.words()[7..],
            [0x1301, 0x60ad_78ec, 0, 7, 0, 4, 1, 100]
        );
        assert_eq!(Parameters::read(&given.words()), Ok(given.clone()));
        let mut words = given.words();
        words[7] = u32::from(ValueType::I32.id()) | 0x1000;
        assert!(Parameters::read(&words).is_err());
    }

    #[test]
    fn splines_are_for_chunks_that_are_written_once() {
        let request = |choice, written_once| Request {
            choice,
            written_once,
            ..parameters().request
        };
        assert_eq!(
            request(Preset::Small.into(), false).encoder(),
            Ok(Preset::Balanced.into())
        );
        for preset in Preset::ALL.map(Choice::from) {
            assert_eq!(request(preset, true).encoder(), Ok(preset));
        }
        for codec in Codec::ALL {
            let is_safe = Preset::Balanced.codecs().contains(&codec);
            assert_eq!(request(codec.into(), false).encoder().is_ok(), is_safe);
            assert_eq!(request(codec.into(), true).encoder(), Ok(codec.into()));
        }
        let first = request(Codec::INTERP.into(), true).words()[0];
        assert_eq!(first, 0x100_0001);
    }

    #[test]
    fn extents_become_at_most_eight_axes() {
        assert_eq!(axes(&[5]), [5]);
        assert_eq!(axes(&[1, 5]), [1, 5]);
        assert_eq!(axes(&[1]), [1]);
        assert_eq!(axes(&[1, 2, 3, 4, 5, 6, 7, 8]), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            axes(&[2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
            [24, 5, 6, 7, 8, 9, 10, 11]
        );
        assert_eq!(axes(&[1 << 33, 2]), [0u64; 0]);
        assert_eq!(axes(&[1 << 40; 20]), [0u64; 0]);
    }

    #[test]
    fn requests_that_mean_nothing_are_refused() {
        let good = [1, 0, 0, 0, 0x3ff0_0000];
        assert!(Request::read(&good).is_ok());
        for (word, bad) in [
            (0, 2),
            (0, 0x101),
            (0, 0x401),
            (0, 0x3_0001),
            (0, 0x2_0001),
            (0, 0x400_0001),
            (1, 3),
            (1, 515),
            (2, 4),
            (4, 0xbff0_0000),
            (4, 0x7ff8_0000),
        ] {
            let mut words = good;
            words[word] = bad;
            let failure = Request::read(&words).unwrap_err().to_string();
            assert!(failure.contains("cd_values["), "{failure}");
        }
        assert!(Request::read(&good[..4]).is_err());
        assert!(Parameters::read(&good).is_err());
    }
}
