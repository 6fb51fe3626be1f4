//! A canvas: rectangles, text, PNG.

use crate::image::{self, Pixels};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use std::io::{self, Write};

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// Pixels, row by row from the top. Anything drawn beyond the border is ignored.
///
/// ```
/// use ferrosz_report::Canvas;
///
/// let mut canvas = Canvas::new(40, 20, [255, 255, 255]);
/// canvas.fill(10, 5, 20, 10, [0, 114, 178]);
/// let mut png = Vec::new();
/// canvas.write_png(&mut png)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Rgb>,
}

/// Size, weight and colour of text.
#[derive(Debug, Clone, Copy)]
pub struct Font {
    /// Height of a line.
    pub height: RasterHeight,
    /// Weight.
    pub weight: FontWeight,
    /// Colour.
    pub colour: Rgb,
}

impl Font {
    /// Width of a text in pixels.
    pub fn width(&self, text: &str) -> u32 {
        (get_raster_width(self.weight, self.height) * text.chars().count()) as u32
    }
}

impl Canvas {
    /// A canvas of one colour.
    pub fn new(width: u32, height: u32, colour: Rgb) -> Self {
        Self {
            width,
            height,
            pixels: vec![colour; width as usize * height as usize],
        }
    }

    fn pixel(&mut self, x: u32, y: u32) -> Option<&mut Rgb> {
        if x >= self.width {
            return None;
        }
        let at = y as usize * self.width as usize + x as usize;
        self.pixels.get_mut(at)
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, left: u32, top: u32, width: u32, height: u32, colour: Rgb) {
        for y in top..top.saturating_add(height) {
            for x in left..left.saturating_add(width) {
                if let Some(pixel) = self.pixel(x, y) {
                    *pixel = colour;
                }
            }
        }
    }

    /// Writes a line of text with its top left corner at a position; characters that the font lacks become `?`.
    pub fn text(&mut self, left: u32, top: u32, text: &str, font: Font) {
        let step = get_raster_width(font.weight, font.height) as u32;
        let mut left = left;
        for character in text.chars() {
            self.character(left, top, character, font);
            left += step;
        }
    }

    fn character(&mut self, left: u32, top: u32, character: char, font: Font) {
        let glyph = get_raster(character, font.weight, font.height)
            .or_else(|| get_raster('?', font.weight, font.height));
        let Some(glyph) = glyph else { return };
        for (y, row) in (top..).zip(glyph.rows()) {
            for (x, ink) in (left..).zip(row.iter()) {
                if let Some(pixel) = self.pixel(x, y) {
                    *pixel = blend(*pixel, font.colour, *ink);
                }
            }
        }
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    ///
    /// If the PNG cannot be written.
    pub fn write_png(&self, writer: &mut dyn Write) -> io::Result<()> {
        let pixels = Pixels::Rgb(self.pixels.as_flattened());
        Ok(image::write(writer, self.width, self.height, &pixels)?)
    }
}

fn blend(under: Rgb, over: Rgb, opacity: u8) -> Rgb {
    let mix = |under: u8, over: u8| {
        let sum =
            u16::from(under) * u16::from(255 - opacity) + u16::from(over) * u16::from(opacity);
        (sum / 255) as u8
    };
    [0, 1, 2].map(|channel| mix(under[channel], over[channel]))
}
