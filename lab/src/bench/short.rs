//! `ferrosz-lab short`: values of 16 bits in the memory of a GPU, beside the same numbers as `f32`.

use super::{
    container, flags::Cube, gpu, gpu::OnDevice, machine::Machine, markdown, synthetic::Kind,
};
use ferrosz::{Bf16, Bound, Codec, Compressor, Device, F16, Shape, Value};
use ferrosz_cli::{common::Common, failure::Failure, output};

/// The bounds that are measured, relative to the range.
const BOUNDS: [f64; 2] = [1e-2, 1e-3];

/// The codecs that are measured.
const CODECS: [Codec; 4] = [Codec::PLAIN, Codec::OUTLIER, Codec::LORENZO, Codec::INTERP];

/// The integers of integer types span as much.
const INTEGERS: f64 = 20_000.0;

/// Measures types and codecs on a GPU, and prints a table. Every stream and every value is compared with those of the CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(cube: &Cube, common: &Common) -> Result<(), Failure> {
    let device = Device::Cuda(gpu::ordinal(common.device)?);
    let machine = Machine::new(device, cube.repeat, false)?;
    let smooth = Kind::Waves.cube(cube.edge as usize);
    output::print(
        "10^9 values a second, medians; of f32: as many times as many as of the same numbers\n",
    )?;
    markdown::heading("type | codec | bound | ratio | compress | of f32 | decompress | of f32")?;
    for bound in BOUNDS {
        for codec in CODECS {
            let bound = Bound::range(bound).map_err(Failure::failed)?;
            let compressor = (Compressor::new(codec, bound).extents(&[cube.edge; 3])?)
                .with_rank(Shape::Cube.rank())?;
            compare::<F16>(&machine, &compressor, codec, &smooth, 1.0)?;
            compare::<Bf16>(&machine, &compressor, codec, &smooth, 1.0)?;
            compare::<i16>(&machine, &compressor, codec, &smooth, INTEGERS)?;
            compare::<u16>(&machine, &compressor, codec, &smooth, INTEGERS)?;
        }
    }
    Ok(())
}

/// Prints a row: values of `V` and the same numbers as `f32`.
fn compare<V: OnDevice>(
    machine: &Machine,
    compressor: &Compressor,
    codec: Codec,
    smooth: &[f32],
    scale: f64,
) -> Result<(), Failure> {
    let values = smooth.iter().map(|x| rounded(f64::from(*x), scale));
    let values: Vec<V> = values.collect();
    let numbers = values.iter().map(|value| value.to_number() as f32);
    let numbers: Vec<f32> = numbers.collect();
    let (stream_bytes, short) = container::both_ways(machine, compressor, &values)?;
    let (_, wide) = container::both_ways(machine, compressor, &numbers)?;
    let rates = short.map(|times| times.rate(values.len() as u64));
    let [of_compress, of_decompress] = wide.map(|times| times.rate(values.len() as u64));
    markdown::row(format_args!(
        "{} | {codec} | {:e} | {:.2} | {:.0} | {:.2} | {:.0} | {:.2}",
        V::TYPE,
        compressor.bound().value(),
        size_of_val(&values[..]) as f64 / stream_bytes as f64,
        rates[0],
        rates[0] / of_compress,
        rates[1],
        rates[1] / of_decompress,
    ))
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
