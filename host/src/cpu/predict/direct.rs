//! Tiles without prediction: each value has a code of its own, or is stored. Their shape is the line.

use ferrosz_codec::Element;
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::{RAW, unzigzag, zigzag};
use ferrosz_codec::tile::{ROW, ROWS, TILE, TileBox, index};

/// Encodes a tile. Its codes are zigzag or [`RAW`], in the order of steps and lanes, and 0 outside the field.
///
/// `read` fills a slice with the values of the field along x from a position on.
pub(crate) fn encode<T: Element>(
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    mut read: impl FnMut([u64; 3], &mut [T]),
    codes: &mut [u16; TILE],
) {
    codes.fill(0);
    let mut values = [T::ZERO; ROW as usize];
    for first in rows(tile) {
        let count = count(tile, first);
        read(tile.at([0, 0, first]), &mut values[..count]);
        for (x, value) in (first..).zip(&values[..count]) {
            codes[index(Shape::Line, [0, 0, x]) as usize] = match quantizer.quantize(*value) {
                Some(code) if fits(code) => zigzag(code),
                None if quantizer.is_hole(*value) => 0,
                _ => RAW,
            };
        }
    }
}

/// Decodes a tile.
///
/// `raw` gives the value at the index of a code that is [`RAW`]; `write` is called with the values along x from a position on.
pub(crate) fn decode<T: Element>(
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    codes: &[u16; TILE],
    raw: impl Fn(u32) -> T,
    mut write: impl FnMut([u64; 3], &[T]),
) {
    let mut values = [T::ZERO; ROW as usize];
    for first in rows(tile) {
        let count = count(tile, first);
        for (x, value) in (first..).zip(&mut values[..count]) {
            let at = index(Shape::Line, [0, 0, x]);
            *value = match codes[at as usize] {
                RAW => raw(at),
                code => quantizer.dequantize(unzigzag(code)),
            };
        }
        write(tile.at([0, 0, first]), &values[..count]);
    }
}

/// The first positions of the rows of a tile that are in the field.
fn rows(tile: &TileBox) -> impl Iterator<Item = u32> + use<> {
    let end = tile.left[2].min(ROW * ROWS);
    (0..end).step_by(ROW as usize)
}

/// The positions of the row with this first one.
fn count(tile: &TileBox, first: u32) -> usize {
    (tile.left[2] - first).min(ROW) as usize
}
