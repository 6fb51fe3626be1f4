//! The oracle of tiles without prediction (FORMAT.md, section 17): position by position.

use crate::element::Element;
use crate::oracle::order::{code_of, z_of};
use crate::quantize::field::Quantizer;
use alloc::vec::Vec;

/// The codes of a field.
pub(super) fn direct<T: Element>(quantizer: &Quantizer<T>, values: &[T]) -> Vec<u16> {
    let code = |value: &T| match quantizer.is_hole(*value) {
        true => Some(0),
        false => quantizer.quantize(*value),
    };
    let codes = values.iter().map(code);
    codes
        .map(|code| z_of(code.filter(|code| code.unsigned_abs() < 32_768)))
        .collect()
}

/// The values of codes, and those that are stored.
pub(super) fn of_codes<T: Element>(quantizer: &Quantizer<T>, codes: &[u16], raw: &[T]) -> Vec<T> {
    let value = |(z, raw): (&u16, &T)| code_of(*z).map_or(*raw, |code| quantizer.dequantize(code));
    codes.iter().zip(raw).map(value).collect()
}
