//! The codec of a dataset's last chunk, which the next chunk gets, too: a choice for each chunk would take most of the time.
//!
//! The preset chooses for the first, the fourth, the sixteenth chunk and so on. It also chooses for a chunk whose stream has
//! more than 5/4 or less than 4/5 of the bytes of the last stream: its values are of another kind. At each choice the old
//! codec is tried, too. If its stream is more than 5 % longer than that of the chosen codec at two choices, the preset chooses
//! for each chunk from then on. So a stream depends on the chunks that were written before its chunk, as in Zarr.
//!
//! HDF5 does not tell the filter which dataset a chunk is of. Datasets with the same parameters follow each other as if they
//! were one, but a dataset that is created begins anew.

use crate::failure::Failure;
use crate::parameters::{Parameters, Request};
use ferrosz::codec::mapping::axes::Axes;
use ferrosz::{Choice, Codec, Compressor, Info, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Datasets of different parameters that are remembered.
const MOST_RUNS: usize = 64;

/// The choice takes little of the time of longer chunks.
const MOST_BYTES: usize = 8 << 20;

/// A chunk that becomes so much shorter tells nothing of others: it is constant, or missing.
const EMPTY: usize = 200;

/// What one codec was so many times too long for is left to the preset.
const MOST_FAILURES: u32 = 2;

/// The latest ones last.
static RUNS: Mutex<Vec<Run>> = Mutex::new(Vec::new());

/// The chunks of a dataset.
struct Run {
    of: Parameters,
    chunks: u64,
    /// The settings of the next chunk; none if the preset chooses for it.
    settings: Option<Settings>,
    /// The length of the last stream.
    bytes: usize,
    failures: u32,
}

/// The settings that a preset decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    codec: Codec,
    rank: u8,
    axes: Axes,
    chunk_tiles: u32,
}

impl Settings {
    fn of(info: &Info) -> Self {
        Self {
            codec: info.codec,
            rank: info.rank,
            axes: info.axes,
            chunk_tiles: info.chunk_tiles.unwrap_or_default(),
        }
    }

    /// A request with these settings in place of the preset, and the axes.
    pub const fn in_request(&self, request: Request) -> (Request, Axes) {
        let request = Request {
            choice: Choice::Codec(self.codec),
            rank: self.rank,
            chunk_tiles: self.chunk_tiles,
            ..request
        };
        (request, self.axes)
    }
}

/// The stream of a chunk. `compressor` has some settings, or those of the request.
///
/// # Errors
///
/// Those of the compressor and of the compression.
pub fn compress<V: Value>(
    parameters: &Parameters,
    values: &[V],
    compressor: impl Fn(Option<Settings>) -> Result<Compressor, Failure>,
) -> Result<Vec<u8>, Failure> {
    let stream = |settings| Ok(compressor(settings)?.compress(values)?);
    let request = &parameters.request;
    let bytes = size_of_val(values);
    // With `written_once` the preset may choose a codec with splines, which needs a mask for a chunk that has zeros or signs to
    // keep. Settings of another chunk say nothing of that mask.
    if !matches!(request.choice, Choice::Preset(_)) || request.written_once || bytes > MOST_BYTES {
        return stream(None);
    }
    let mut run = take(parameters);
    let made = run.compress(bytes, stream);
    runs().push(run);
    made
}

/// Begins anew for a dataset with these parameters.
pub fn forget(parameters: &Parameters) {
    runs().retain(|run| run.of != *parameters);
}

/// The run of a dataset, which is missing until it is put back.
fn take(parameters: &Parameters) -> Run {
    let mut runs = runs();
    if let Some(at) = runs.iter().position(|run| run.of == *parameters) {
        return runs.remove(at);
    }
    if runs.len() >= MOST_RUNS {
        runs.remove(0);
    }
    Run {
        of: parameters.clone(),
        chunks: 0,
        settings: None,
        bytes: 0,
        failures: 0,
    }
}

fn runs() -> MutexGuard<'static, Vec<Run>> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// The stream of the next chunk, which has so many bytes; `stream` makes one with some settings.
    fn compress(
        &mut self,
        bytes: usize,
        stream: impl Fn(Option<Settings>) -> Result<Vec<u8>, Failure>,
    ) -> Result<Vec<u8>, Failure> {
        let number = self.chunks + 1;
        let as_before = match self.settings.map(|it| stream(Some(it))).transpose()? {
            Some(made) if !is_power_of_four(number) && is_like(made.len(), self.bytes) => {
                (self.chunks, self.bytes) = (number, made.len());
                return Ok(made);
            }
            made => made.map_or(0, |made| made.len()),
        };
        let chosen = stream(None)?;
        if chosen.len() * EMPTY < bytes {
            return Ok(chosen);
        }
        let settings = Settings::of(&ferrosz::info(&chosen)?);
        if self.settings != Some(settings) && 100 * as_before > 105 * chosen.len() {
            self.failures += 1;
        }
        (self.chunks, self.bytes) = (number, chosen.len());
        self.settings = (self.failures < MOST_FAILURES).then_some(settings);
        Ok(chosen)
    }
}

fn is_power_of_four(number: u64) -> bool {
    number.is_power_of_two() && number.ilog2().is_multiple_of(2)
}

/// Whether streams are of chunks with similar values: neither is more than a quarter longer.
const fn is_like(one: usize, other: usize) -> bool {
    4 * one <= 5 * other && 4 * other <= 5 * one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Stored;
    use crate::parameters::{Dataset, FillRequest};
    use ferrosz::{Bound, Preset, ValueType};
    use std::cell::Cell;

    const BYTES: usize = 4000;

    /// A stream of 1,000 values, which a codec makes `factor` times as long.
    fn stream(codec: Codec, factor: usize) -> Vec<u8> {
        let values: Vec<f32> = (0..BYTES / 4).map(|i| (i * i % 1009) as f32).collect();
        let compressor = Compressor::new(codec, Bound::abs(0.1).unwrap());
        let mut stream = compressor.compress(&values).unwrap();
        stream.resize(stream.len() * factor, 0);
        stream
    }

    fn new_run() -> Run {
        Run {
            of: parameters(),
            chunks: 0,
            settings: None,
            bytes: 0,
            failures: 0,
        }
    }

    fn parameters() -> Parameters {
        Parameters {
            request: Request {
                bound: Bound::abs(0.5).unwrap(),
                choice: Preset::Fast.into(),
                rank: 0,
                chunk_tiles: 0,
                preference: ferrosz::Preference::Ratio,
                fill: FillRequest::None,
                written_once: false,
            },
            dataset: Dataset {
                stored: Stored::new(ValueType::F32, 4, false).unwrap(),
                fill: Vec::new(),
                extents: vec![10, 100],
            },
        }
    }

    /// The numbers of the chunks, of so many, for which the preset chooses. `chosen` and `before` give the streams of its
    /// choice and of the codec before, by the chunk's number.
    fn choices(
        chunks: usize,
        chosen: impl Fn(usize) -> Vec<u8>,
        before: impl Fn(usize) -> Vec<u8>,
    ) -> Vec<usize> {
        let (mut run, mut found) = (new_run(), Vec::new());
        for number in 1..=chunks {
            let is_chosen = Cell::new(false);
            let made = run.compress(BYTES, |settings| {
                is_chosen.set(settings.is_none());
                Ok(match settings {
                    None => chosen(number),
                    Some(_) => before(number),
                })
            });
            assert!(!made.unwrap().is_empty());
            found.extend(is_chosen.get().then_some(number));
        }
        found
    }

    #[test]
    fn the_preset_chooses_for_chunks_whose_numbers_are_powers_of_four() {
        let same = |_| stream(Codec::OUTLIER, 1);
        assert_eq!(choices(70, same, same), [1, 4, 16, 64]);
    }

    #[test]
    fn the_preset_chooses_for_a_chunk_of_another_length_than_the_one_before() {
        let of = |number| stream(Codec::OUTLIER, if number < 6 { 1 } else { 2 });
        assert_eq!(choices(10, of, of), [1, 4, 6]);
    }

    #[test]
    fn the_preset_chooses_for_each_chunk_if_one_codec_is_twice_too_long() {
        let chosen = |number| stream([Codec::OUTLIER, Codec::LORENZO_RANS][number / 4 % 2], 1);
        let found = choices(20, chosen, |_| stream(Codec::OUTLIER, 2));
        assert_eq!(found[..2], [1, 2]);
        assert_eq!(
            found[found.len() - 10..],
            [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
        );
    }

    #[test]
    fn chunks_that_are_nearly_empty_tell_nothing() {
        let empty = |_| vec![0; BYTES / EMPTY - 1];
        assert_eq!(choices(3, empty, empty), [1, 2, 3]);
    }

    #[test]
    fn a_dataset_that_is_created_begins_anew() {
        let parameters = parameters();
        let values = [1.5f32; 1000].map(|value| value + 1.0);
        let count = Cell::new(0);
        let compressor = |settings: Option<Settings>| {
            count.set(count.get() + u32::from(settings.is_none()));
            Ok(Compressor::new(Codec::FIXED, Bound::abs(1e-3).unwrap()))
        };
        let values: Vec<f32> = values
            .iter()
            .enumerate()
            .map(|(i, it)| it * i as f32)
            .collect();
        for (chosen, forgets) in [(1, false), (1, false), (2, true), (2, false)] {
            if forgets {
                forget(&parameters);
            }
            compress(&parameters, &values, compressor).unwrap();
            assert_eq!(count.get(), chosen);
        }
    }
}
