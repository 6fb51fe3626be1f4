//! Valid values that are close to a fill value, in plain loops (FORMAT.md, section 23).

use crate::quantize::field::is_within;
use crate::value::Value;
use alloc::vec::Vec;

/// Moves each value that is close to a fill value, by `reach`, to the number beside the fill value; the bits of the numbers
/// that were taken, in the order of the fill values, the smaller one first. `reach` gives how far from a value a fill value is
/// close.
pub(super) fn apart<V: Value>(
    fills: &[u64],
    reach: impl Fn(f64) -> f64,
    values: &mut [V],
) -> Vec<u64> {
    let is_close = |x: f64, fill: f64| x != fill && is_within(x, fill, reach(x));
    let numbers: Vec<f64> = fills
        .iter()
        .map(|bits| V::from_value_bits(*bits).to_number())
        .collect();
    let mut taken = Vec::new();
    for (bits, fill) in fills
        .iter()
        .zip(&numbers)
        .filter(|(_, fill)| fill.is_finite())
    {
        for is_above in [false, true] {
            let mut is_taken = false;
            for value in values.iter() {
                let x = value.to_number();
                is_taken |= is_close(x, *fill) && (x > *fill) == is_above;
            }
            if is_taken {
                taken.extend(beside::<V>(*bits, is_above));
            }
        }
    }
    for value in values.iter_mut() {
        let x = value.to_number();
        for (bits, fill) in fills.iter().zip(&numbers) {
            if x == *fill {
                *value = V::from_value_bits(*bits);
                break;
            }
            if fill.is_finite() && is_close(x, *fill) {
                if let Some(next) = beside::<V>(*bits, x > *fill) {
                    *value = V::from_value_bits(next);
                }
                break;
            }
        }
    }
    taken
}

/// The bits of the number of the type that is next to one.
fn beside<V: Value>(bits: u64, is_above: bool) -> Option<u64> {
    let number = V::from_value_bits(bits).to_number();
    if V::TYPE.is_integer() {
        let next = number + if is_above { 1.0 } else { -1.0 };
        return V::from_number(next).map(V::to_value_bits);
    }
    let sign = 1u64 << (8 * V::TYPE.bytes() - 1);
    let next = match (number == 0.0, bits & sign != 0) {
        (true, _) if is_above => 1,
        (true, _) => sign | 1,
        (false, is_negative) if is_negative == is_above => bits - 1,
        (false, _) => bits + 1,
    };
    let is_finite = V::from_value_bits(next).to_number().is_finite();
    is_finite.then_some(next)
}
