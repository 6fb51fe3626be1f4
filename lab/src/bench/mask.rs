//! `ferrosz-lab mask`: the time of a mask, beside the same field without one.

use super::device_call::{Buffers, Measured, open};
use super::synthetic::Kind;
use super::times::sample;
use clap::Args;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Fill, Shape};
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::output;
use std::time::Instant;

/// The value of missing elements.
const FILL: f32 = 1e20;

/// The share of missing elements.
const SHARE: f64 = 0.3;

/// The bound, relative to the range of the elements that are not missing.
const BOUND: f64 = 1e-3;

/// The codecs that are measured.
const CODECS: [Codec; 6] = [
    Codec::PLAIN,
    Codec::OUTLIER,
    Codec::LORENZO,
    Codec::LORENZO_RANS,
    Codec::INTERP,
    Codec::STENCIL,
];

/// `ferrosz-lab mask`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Elements along each of the three edges of the field
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub edge: u64,
}

/// Where elements are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// Nowhere, and there is no mask.
    None,
    /// In a ball in the middle.
    Ball,
    /// At random.
    Random,
}

impl Missing {
    const ALL: [Self; 3] = [Self::None, Self::Ball, Self::Random];

    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ball => "a ball",
            Self::Random => "random",
        }
    }

    /// Whether an element of a cube is missing.
    fn has(self, edge: usize, element: usize) -> bool {
        match self {
            Self::None => false,
            Self::Ball => {
                let at = [element / edge / edge, element / edge % edge, element % edge];
                let from_middle = at.map(|at| (at as f64 + 0.5) / edge as f64 - 0.5);
                let squares: f64 = from_middle.iter().map(|x| x * x).sum();
                // The volume of a ball is 4 / 3 pi times the third power of its radius.
                squares.powf(1.5) * 4.0 / 3.0 * std::f64::consts::PI < SHARE
            }
            Self::Random => {
                let mixed = (element as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                ((mixed >> 11) as f64) < SHARE * (1u64 << 53) as f64
            }
        }
    }
}

/// Measures codecs and masks on a GPU, or with `--device cpu` on the CPU, and prints a table. Every stream and every value is
/// compared with those of the CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    let gpu = match common.device {
        Device::Cpu => None,
        device => Some(open(device)?),
    };
    let edge = flags.edge as usize;
    let smooth = Kind::Waves.cube(edge);
    let head = match &gpu {
        Some(_) => "GB/s of the field, medians; us: of a call".to_owned(),
        None => format!(
            "CPU, {} threads: GB/s of the field, medians; ns: of a value",
            rayon::current_num_threads()
        ),
    };
    output::print(&format!("{head}\n{HEADING}\n"))?;
    for missing in Missing::ALL {
        let mut field = smooth.clone();
        for (element, value) in field.iter_mut().enumerate() {
            if missing.has(edge, element) {
                *value = FILL;
            }
        }
        for codec in CODECS {
            let compressor = Compressor::new(codec, Bound::range(BOUND).map_err(Failure::failed)?)
                .device(Device::Cpu)
                .extents(&[flags.edge; 3])?
                .with_rank(Shape::Cube.rank())?;
            let compressor = match missing {
                Missing::None => compressor,
                Missing::Ball | Missing::Random => {
                    compressor.fill(Fill::Bits(u64::from(FILL.to_bits())))?
                }
            };
            let (per, row) = match &gpu {
                Some((gpu, stream)) => {
                    let mut buffers = Buffers::new(gpu, stream, &compressor, &field, flags.repeat)?;
                    (1e6, buffers.measure()?)
                }
                None => (
                    1e9 / field.len() as f64,
                    on_cpu(&compressor, &field, flags.repeat)?,
                ),
            };
            let bytes = size_of_val(&field[..]) as u64;
            let [compress, decompress] =
                [row.compress, row.decompress].map(|times| times.median * per);
            output::print(&format!(
                "| {} | {codec} | {:.2} | {:.3} | {compress:.1} | {:.3} | {decompress:.1} |\n",
                missing.name(),
                bytes as f64 / row.stream_bytes as f64,
                row.compress.rate(bytes),
                row.decompress.rate(bytes),
            ))?;
        }
    }
    Ok(())
}

/// Times of calls on host memory.
fn on_cpu(compressor: &Compressor, field: &[f32], repeat: u32) -> Result<Measured, Failure> {
    let mut out = vec![0f32; field.len()];
    let mut stream = Vec::new();
    let compress = sample(1, repeat, || {
        let start = Instant::now();
        stream = compressor.compress(field)?;
        Ok::<_, ferrosz::Error>(start.elapsed().as_secs_f64())
    })?;
    let decompress = sample(1, repeat, || {
        let start = Instant::now();
        Decompressor::new()
            .device(Device::Cpu)
            .decompress_into(&stream, &mut out)?;
        Ok::<_, ferrosz::Error>(start.elapsed().as_secs_f64())
    })?;
    Ok(Measured {
        stream_bytes: stream.len() as u64,
        compress,
        decompress,
    })
}

const HEADING: &str = "\
| missing | codec | ratio | compress | us, ns | decompress | us, ns |
| --- | --- | --- | --- | --- | --- | --- |";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tenths_are_missing() {
        let edge = 64;
        for missing in [Missing::Ball, Missing::Random] {
            let count = (0..edge * edge * edge)
                .filter(|i| missing.has(edge, *i))
                .count();
            let share = count as f64 / (edge * edge * edge) as f64;
            assert!((share - SHARE).abs() < 0.01, "{missing:?}: {share}");
        }
        assert!(!Missing::None.has(edge, 5));
    }
}
