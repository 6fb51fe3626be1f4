//! Grids as PNG.

use crate::canvas::Rgb;
use crate::colours::Scale;
use crate::planes::Grid;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use png::{BitDepth, ColorType, EncodingError};
use std::io::Write;

/// The index of a point without a value. It is transparent, so that what is behind the picture tells it.
const MISSING: u8 = 255;

/// The colours of a picture.
pub enum Pixels<'a> {
    /// Red, green and blue of each pixel.
    Rgb(&'a [u8]),
    /// The number of each pixel's colour among these. The last of 256 is transparent.
    Indexed(&'a [u8], Vec<u8>),
}

/// Writes a picture.
///
/// # Errors
///
/// If it cannot be written.
pub fn write(
    writer: impl Write,
    width: u32,
    height: u32,
    pixels: &Pixels<'_>,
) -> Result<(), EncodingError> {
    let mut encoder = png::Encoder::new(writer, width, height);
    encoder.set_depth(BitDepth::Eight);
    let data = match pixels {
        Pixels::Rgb(data) => {
            encoder.set_color(ColorType::Rgb);
            data
        }
        Pixels::Indexed(data, palette) => {
            encoder.set_color(ColorType::Indexed);
            encoder.set_palette(palette.clone());
            let mut opacities = vec![u8::MAX; usize::from(MISSING)];
            opacities.push(0);
            encoder.set_trns(opacities);
            data
        }
    };
    let mut encoder = encoder.write_header()?;
    encoder.write_image_data(data)?;
    encoder.finish()
}

/// A grid in the colours of a scale as the address of a picture that the address itself contains.
pub fn data_url(grid: &Grid, scale: &Scale) -> String {
    let position = |point| scale.position(point);
    coloured_url(grid, position, |position| scale.colour(position))
}

/// As [`data_url`], in the colours of the positions from 0 to 1 that points have.
pub fn coloured_url(
    grid: &Grid,
    position: impl Fn(f64) -> f64,
    colour: impl Fn(f64) -> Rgb,
) -> String {
    let index = |point: &f64| match point.is_finite() {
        // There are as many colours as indices before that of a missing value.
        true => (position(*point).clamp(0.0, 1.0) * f64::from(MISSING - 1)).round() as u8,
        false => MISSING,
    };
    let indices: Vec<u8> = grid.points.iter().map(index).collect();
    let colours = (0..=MISSING).flat_map(|i| colour(f64::from(i) / f64::from(MISSING - 1)));
    let pixels = Pixels::Indexed(&indices, colours.collect());
    let mut bytes = Vec::new();
    match write(&mut bytes, grid.columns as u32, grid.rows() as u32, &pixels) {
        Ok(()) => format!("data:image/png;base64,{}", STANDARD.encode(bytes)),
        // A grid without points is no picture.
        Err(_) => "data:,".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_back() {
        let grid = Grid {
            columns: 3,
            points: vec![0.0, 1.0, f64::NAN, 0.5, 2.0, -1.0],
        };
        let scale = Scale::between(0.0, 1.0);
        let url = data_url(&grid, &scale);
        let bytes = STANDARD.decode(url.strip_prefix("data:image/png;base64,").unwrap());
        let bytes = bytes.unwrap();
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let found = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((found.width, found.height), (3, 2));
        let pixel = |at: usize| &pixels[4 * at..4 * at + 4];
        for (at, position) in [(0, 0.0), (1, 1.0), (3, 0.5), (4, 1.0), (5, 0.0)] {
            assert_eq!(pixel(at)[..3], scale.colour(position), "{at}");
            assert_eq!(pixel(at)[3], 255);
        }
        assert_eq!(pixel(2)[3], 0);
    }
}
