//! The oracle of Lorenzo tiles (FORMAT.md, section 17): a whole field, position by position.

use crate::element::Element;
use crate::oracle::order::{Field, code_of, first_axis, tile_extents, z_of};
use crate::quantize::field::Quantizer;
use alloc::vec;
use alloc::vec::Vec;

/// The prediction of a position: the sum of the codes of the positions of the same tile one step back in one or more
/// dimensions, negative for two.
fn lorenzo_prediction(field: &Field, at: [u64; 3], known: &[i32]) -> i32 {
    let tile = tile_extents(field.shape);
    let of_slice = field.in_slice(at);
    let mut sum = 0i32;
    for steps in 1..8u64 {
        let back = [steps >> 2 & 1, steps >> 1 & 1, steps & 1];
        let is_of_shape = (0..first_axis(field.shape)).all(|axis| back[axis] == 0);
        let is_in_tile = (0..3).all(|axis| of_slice[axis] % tile[axis] >= back[axis]);
        if is_of_shape && is_in_tile {
            let code = known[field.flat(core::array::from_fn(|axis| at[axis] - back[axis]))];
            let sign = if steps.count_ones() == 2 { -1 } else { 1 };
            sum = sum.wrapping_add(code.wrapping_mul(sign));
        }
    }
    sum
}

/// Whether a position is the first one of its tile.
fn is_first(field: &Field, at: [u64; 3]) -> bool {
    let (tile, at) = (tile_extents(field.shape), field.in_slice(at));
    (0..3).all(|axis| at[axis].is_multiple_of(tile[axis]))
}

/// The codes of a field, in C order.
pub(super) fn lorenzo<T: Element>(
    field: &Field,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> Vec<u16> {
    let mut known = vec![0i32; values.len()];
    let mut codes = Vec::new();
    for (flat, value) in values.iter().enumerate() {
        let at = field.position(flat);
        let prediction = lorenzo_prediction(field, at, &known);
        let code = quantizer.quantize(*value);
        let residual = match quantizer.is_hole(*value) {
            true => Some(0),
            false => code.map(|code| code.wrapping_sub(prediction)),
        };
        let fits = residual.filter(|residual| residual.unsigned_abs() < 32_768);
        known[flat] = match fits {
            Some(residual) => prediction.wrapping_add(residual),
            None if is_first(field, at) => code.unwrap_or(0),
            None => prediction,
        };
        codes.push(z_of(fits));
    }
    codes
}

pub(super) fn unpredicted<T: Element>(
    field: &Field,
    quantizer: &Quantizer<T>,
    codes: &[u16],
    raw: &[T],
) -> Vec<T> {
    let mut known = vec![0i32; codes.len()];
    let mut values = raw.to_vec();
    for (flat, z) in codes.iter().enumerate() {
        let at = field.position(flat);
        let prediction = lorenzo_prediction(field, at, &known);
        known[flat] = match code_of(*z) {
            Some(residual) => prediction.wrapping_add(residual),
            None if is_first(field, at) => quantizer.quantize(raw[flat]).unwrap_or(0),
            None => prediction,
        };
        if code_of(*z).is_some() {
            values[flat] = quantizer.dequantize(known[flat]);
        }
    }
    values
}
