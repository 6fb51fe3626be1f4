//! The Lorenzo predictor, a tile at a time.
//!
//! The field is quantised first, all of it by one [`Quantizer`], and each code is predicted by those of its
//! neighbours in the tile: see [`predict::lorenzo`](crate::predict::lorenzo), whose blocks are larger here.
//! What remains is small where the field is smooth, and what does not fit in 16 bits is stored as it is;
//! after J. Tian et al., "cuSZ" (PACT'20), and B. Zhang et al., "FZ-GPU" (HPDC'23).
//!
//! A position that is stored as it is counts as predicted rightly, so that its neighbours suffer little from a
//! spike, and decoding is sums along each dimension, nothing more. A tile's first position alone counts as
//! what it is: it may be far from 0, and all others with it.

use crate::element::Element;
use crate::quantize::field::Quantizer;
use crate::tile;
use crate::tile::code::RADIUS;

/// Positions of a row.
pub const ROW: usize = tile::ROW as usize;

/// What a tile's first position counts as if its value is `value`: its code, or 0 if it has none.
#[inline(always)]
pub fn origin<T: Element>(quantizer: &Quantizer<T>, value: T) -> i32 {
    quantizer.quantize(value).unwrap_or(0)
}

/// Whether a residual fits in a code.
#[inline(always)]
pub const fn fits(residual: i32) -> bool {
    residual.unsigned_abs() < RADIUS
}
