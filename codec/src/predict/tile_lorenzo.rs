//! The Lorenzo predictor of tiles.
//!
//! The whole field is quantised first, by one [`Quantizer`]. Each code is predicted by the codes of its neighbours in
//! the tile: see [`predict::lorenzo`](crate::predict::lorenzo), whose blocks are larger here. The residuals are small
//! where the field is smooth; a value whose residual does not fit in 16 bits is stored raw. After J. Tian et al.,
//! "cuSZ" (PACT'20), and B. Zhang et al., "FZ-GPU" (HPDC'23).
//!
//! A raw position counts as correctly predicted, so that a spike has little effect on its neighbours, and decoding
//! consists only of sums along each dimension. A tile's first position is the exception and counts with its own code,
//! which, like all codes of the tile, may be far from 0.

use crate::element::Element;
use crate::quantize::field::Quantizer;
use crate::tile;
use crate::tile::code::RADIUS;

/// Positions of a row.
pub const ROW: usize = tile::ROW as usize;

/// The code with which a tile's first position counts if its value is `value`; 0 if the value has no code.
#[inline(always)]
pub fn origin<T: Element>(quantizer: &Quantizer<T>, value: T) -> i32 {
    quantizer.quantize(value).unwrap_or(0)
}

/// Whether a residual fits in a code.
#[inline(always)]
pub const fn fits(residual: i32) -> bool {
    residual.unsigned_abs() < RADIUS
}
