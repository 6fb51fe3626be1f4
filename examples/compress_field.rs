//! Compresses a field, inspects the stream, and decompresses all of it and a part.
//!
//! ```text
//! cargo run --release --example compress_field
//! ```

use ferrosz::{Bound, Compressor, Decompressor, Element, Error, Preset, info};

fn main() -> Result<(), Error> {
    // A wave on a slope, 64 x 200 x 300, slowest dimension first.
    let extents = [64usize, 200, 300];
    let field: Vec<f32> = (0..64 * 200 * 300)
        .map(|i| (i as f32 * 0.003).sin() + i as f32 * 1e-6)
        .collect();

    // The bound is a thousandth of the field's range; the codec is the one whose stream of a sample is shortest. The
    // device is chosen automatically, too: the one that is expected to be faster, with the same bytes.
    let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).extents(&extents)?;
    let chosen = compressor.choose(&field)?;
    let device = chosen.device_for(field.len() as u64, f32::DTYPE)?;
    let stream = chosen.compress(&field)?;

    let info = info(&stream)?;
    println!(
        "{} values by {} on {device}, {:.2} bits each, ratio {:.1}, absolute error {:.3e}",
        info.elements,
        info.codec,
        info.bits_per_value(),
        info.ratio(),
        info.absolute_error
    );

    let decompressor = Decompressor::new();
    let back: Vec<f32> = decompressor.decompress(&stream)?;
    let errors = field.iter().zip(&back);
    let errors = errors.map(|(x, y)| (f64::from(*x) - f64::from(*y)).abs());
    let largest = errors.fold(0.0, f64::max);
    println!("largest error {largest:.3e}");
    assert!(largest <= info.absolute_error);

    // Only the chunks that hold these elements are read.
    let part: Vec<f32> = decompressor.decompress_range(&stream, 1_000_000..1_000_004)?;
    println!("elements 1000000 to 1000003: {part:?}");
    Ok(())
}
