//! The parameters of the filter, `cd_values`: a list of words of 32 bits that HDF5 stores in the file. README.md defines
//! it.
//!
//! A user gives the request, five or seven words. `set_local` adds what it learns of the dataset. Tools give the whole list
//! of one dataset to another, so `set_local` reads the request alone, and replaces all that follows.

use crate::datatype::Stored;
use crate::failure::Failure;
use ferrosz::codec::pipeline::CodecId;
use ferrosz::{Bound, BoundMode, Choice, Codec, Preset, ValueType};

/// The version of the list that this plugin writes and reads.
const VERSION: u32 = 1;

/// Words of a request without a fill value.
const LEAST_WORDS: usize = 5;

/// Words of a request with a fill value.
pub const REQUEST_WORDS: usize = 7;

/// The first word of the extents.
const EXTENTS: usize = 10;

/// In the word of the type: its values are swapped.
const SWAPPED: u32 = 1 << 8;

/// In the word of the type: the dataset has a fill value.
const HAS_FILL: u32 = 1 << 9;

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
    /// The values that stand for missing elements.
    pub fill: FillRequest,
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
    /// The bits of its fill value, if the user gave one.
    pub fill: Option<u64>,
    /// The extents of its chunks, as [`axes`] gives them.
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
        let [first, choice, rank, low, high, fill @ ..] = words else {
            return Err(Failure::new(format_args!(
                "cd_values has {} words, but at least {LEAST_WORDS} are needed: version, codec, rank, and two of the bound",
                words.len()
            )));
        };
        let [version, mode, fill_mode, rest] = first.to_le_bytes();
        if u32::from(version) != VERSION || rest != 0 {
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
        let rank = u8::try_from(*rank).ok().filter(|rank| *rank <= 3);
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
            fill,
        })
    }

    fn words(&self) -> [u32; REQUEST_WORDS] {
        let (fill_mode, fill) = match self.fill {
            FillRequest::Auto => (0, 0.0),
            FillRequest::None => (1, 0.0),
            FillRequest::Value(value) => (2, value),
        };
        let mode = u32::from(self.bound.mode().id());
        let [low, high] = halves(self.bound.value().to_bits());
        let [fill_low, fill_high] = halves(fill.to_bits());
        [
            VERSION | mode << 8 | fill_mode << 16,
            number_of(self.choice),
            self.rank.into(),
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
        let (Some([of_type, low, high]), Some(extents)) =
            (words.get(REQUEST_WORDS..EXTENTS), words.get(EXTENTS..))
        else {
            return Err(Failure::new(
                "cd_values has no words about the dataset, which HDF5 adds when it creates one",
            ));
        };
        let value_type = u8::try_from(of_type & 0xff)
            .ok()
            .and_then(ValueType::from_id);
        let value_type = value_type.ok_or_else(|| {
            Failure::new(format_args!(
                "cd_values[7]: {of_type} is not the number of a type"
            ))
        })?;
        let fill = u64::from(*high) << 32 | u64::from(*low);
        Ok(Self {
            request,
            dataset: Dataset {
                stored: Stored {
                    value_type,
                    is_swapped: of_type & SWAPPED != 0,
                },
                fill: (of_type & HAS_FILL != 0).then_some(fill),
                extents: extents.iter().copied().map(u64::from).collect(),
            },
        })
    }

    /// The whole list.
    pub fn words(&self) -> Vec<u32> {
        let Dataset { stored, fill, .. } = self.dataset;
        let swapped = if stored.is_swapped { SWAPPED } else { 0 };
        let has_fill = fill.map_or(0, |_| HAS_FILL);
        let mut words = self.request.words().to_vec();
        words.push(u32::from(stored.value_type.id()) | swapped | has_fill);
        words.extend(halves(fill.unwrap_or_default()));
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

fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

fn number([low, high]: [u32; 2]) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
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
                fill: FillRequest::Auto,
            },
            dataset: Dataset {
                stored: Stored {
                    value_type: ValueType::F32,
                    is_swapped: true,
                },
                fill: Some(0x60ad_78ec),
                extents: vec![4, 1, 100],
            },
        }
    }

    /// The numbers of the README, written out: they must never change.
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
                    bound: Bound::pwrel(0.01).unwrap(),
                };
                given.dataset.fill = None;
                let read = Parameters::read(&given.words());
                assert_eq!(read, Ok(given.clone()));
                assert_eq!(Request::read(&given.request.words()), Ok(given.request));
            }
        }
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
            (0, 0x100_0001),
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
