//! `ferrosz-lab short`: values of 16 bits in the memory of a GPU, beside the same numbers as `f32`.

use super::device_call::{Buffers, Measured, OnDevice, open};
use super::synthetic::Kind;
use clap::Args;
use ferrosz::{Bf16, Bound, Codec, Compressor, Device, F16, Shape, Value};
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::output;

/// The bounds that are measured, relative to the range.
const BOUNDS: [f64; 2] = [1e-2, 1e-3];

/// The codecs that are measured.
const CODECS: [Codec; 4] = [Codec::PLAIN, Codec::OUTLIER, Codec::LORENZO, Codec::INTERP];

/// The integers of integer types span as much.
const INTEGERS: f64 = 20_000.0;

/// `ferrosz-lab short`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Elements along each of the three edges of the field
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub edge: u64,
}

/// Measures types and codecs on a GPU, and prints a table. Every stream and every value is compared with those of the
/// CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    let smooth = Kind::Waves.cube(flags.edge as usize);
    let head =
        "10^9 values a second, medians; of f32: as many times as many as of the same numbers";
    output::print(&format!("{head}\n{HEADING}\n"))?;
    for bound in BOUNDS {
        for codec in CODECS {
            let case = Case {
                flags,
                device: common.device,
                codec,
                bound,
            };
            case.compare::<F16>(&smooth, 1.0)?;
            case.compare::<Bf16>(&smooth, 1.0)?;
            case.compare::<i16>(&smooth, INTEGERS)?;
            case.compare::<u16>(&smooth, INTEGERS)?;
        }
    }
    Ok(())
}

const HEADING: &str = "\
| type | codec | bound | ratio | compress | of f32 | decompress | of f32 |
| --- | --- | --- | --- | --- | --- | --- | --- |";

/// A codec and a bound.
struct Case<'a> {
    flags: &'a Flags,
    device: Device,
    codec: Codec,
    bound: f64,
}

impl Case<'_> {
    /// A row: values of `V` and the same numbers as `f32`.
    fn compare<V: OnDevice>(&self, smooth: &[f32], scale: f64) -> Result<(), Failure> {
        let values: Vec<V> = smooth
            .iter()
            .map(|x| rounded(f64::from(*x), scale))
            .collect();
        let numbers: Vec<f32> = values
            .iter()
            .map(|value| value.to_number() as f32)
            .collect();
        let (short, wide) = (self.measure(&values)?, self.measure(&numbers)?);
        let rates = |row: &Measured| {
            [row.compress, row.decompress].map(|times| times.rate(values.len() as u64))
        };
        let ([compress, decompress], [of_compress, of_decompress]) = (rates(&short), rates(&wide));
        output::print(&format!(
            "| {} | {} | {:e} | {:.2} | {compress:.0} | {:.2} | {decompress:.0} | {:.2} |\n",
            V::TYPE,
            self.codec,
            self.bound,
            size_of_val(&values[..]) as f64 / short.stream_bytes as f64,
            compress / of_compress,
            decompress / of_decompress,
        ))?;
        Ok(())
    }

    fn measure<V: OnDevice>(&self, values: &[V]) -> Result<Measured, Failure> {
        let (gpu, stream) = open(self.device)?;
        let bound = Bound::range(self.bound).map_err(Failure::failed)?;
        let compressor = Compressor::new(self.codec, bound)
            .device(Device::Cpu)
            .extents(&[self.flags.edge; 3])?
            .with_rank(Shape::Cube.rank())?;
        Buffers::new(&gpu, &stream, &compressor, values, self.flags.repeat)?.measure()
    }
}

/// The value nearest to `scale` times a number, moved above 0 for types without a sign.
fn rounded<V: Value>(number: f64, scale: f64) -> V {
    let scaled = if V::TYPE.is_half() {
        number * scale
    } else {
        (number * scale).round()
    };
    V::from_number(scaled)
        .or_else(|| V::from_number(scaled + INTEGERS))
        .unwrap_or_default()
}
