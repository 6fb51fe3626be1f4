//! `ferrosz-lab mask`: the time of a mask, beside the same field without one.

use super::{container, flags::Cube, gpu, machine::Machine, markdown, synthetic::Kind};
use ferrosz::{Bound, Codec, Compressor, Device, Fill, Shape};
use ferrosz_cli::{common::Common, failure::Failure, output};

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

    /// The compressor of a cube.
    fn compressor(self, codec: Codec, edge: u64) -> Result<Compressor, Failure> {
        let bound = Bound::range(BOUND).map_err(Failure::failed)?;
        let compressor =
            (Compressor::new(codec, bound).extents(&[edge; 3])?).with_rank(Shape::Cube.rank())?;
        Ok(match self {
            Self::None => compressor,
            Self::Ball | Self::Random => compressor.fill(Fill::Bits(u64::from(FILL.to_bits())))?,
        })
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

/// Measures codecs and masks on a GPU, or with `--device cpu` on the CPU, and prints a table. Every stream and every value is compared with those of the CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(cube: &Cube, common: &Common) -> Result<(), Failure> {
    let device = match common.device {
        Device::Cpu => Device::Cpu,
        device => Device::Cuda(gpu::ordinal(device)?),
    };
    let machine = Machine::new(device, cube.repeat, false)?;
    let edge = cube.edge as usize;
    let smooth = Kind::Waves.cube(edge);
    let (head, per) = match machine.about.threads {
        None => ("GB/s of the field, medians; us: of a call".to_owned(), 1e6),
        Some(threads) => (
            format!("CPU, {threads} threads: GB/s of the field, medians; ns: of a value"),
            1e9 / smooth.len() as f64,
        ),
    };
    output::print(&format!("{head}\n"))?;
    markdown::heading("missing | codec | ratio | compress | us, ns | decompress | us, ns")?;
    for missing in Missing::ALL {
        let mut field = smooth.clone();
        for (element, value) in field.iter_mut().enumerate() {
            if missing.has(edge, element) {
                *value = FILL;
            }
        }
        for codec in CODECS {
            let compressor = missing.compressor(codec, cube.edge)?;
            let (stream_bytes, times) = container::both_ways(&machine, &compressor, &field)?;
            let bytes = size_of_val(&field[..]) as u64;
            let [compress, decompress] = times.map(|times| times.rate(bytes));
            let [compress_time, decompress_time] = times.map(|times| times.median * per);
            markdown::row(format_args!(
                "{} | {codec} | {:.2} | {compress:.3} | {compress_time:.1} | {decompress:.3} | {decompress_time:.1}",
                missing.name(),
                bytes as f64 / stream_bytes as f64,
            ))?;
        }
    }
    Ok(())
}

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
