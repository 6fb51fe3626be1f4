//! The codecs of tiles on the CPU: tiles and chunks in parallel, in the phases that statistics of the whole field
//! require.

pub(crate) mod chunks;
pub(crate) mod coder;
pub(crate) mod codes;
pub(crate) mod compress;
mod decompress;
mod estimate;
pub(crate) mod holder;
pub(crate) mod kept;
mod level;
mod lines;
mod rows;
mod salvage;
mod strided;

pub(crate) use decompress::{Reader, entries};
#[cfg(all(test, feature = "cuda", feature = "emulator"))]
pub(crate) use estimate::reference::{bits_on_cpu, measures_on_cpu};
pub(crate) use estimate::{
    Sampler, TileSample, exact_bytes, weighed_for_tuning, weighed_of, zeros_to_holes,
};
pub(crate) use level::{LevelField, LevelReader, entries_of_level, every};
pub(crate) use salvage::{check, salvage};
