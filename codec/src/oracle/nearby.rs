//! Valid values that are close to a fill value, in plain loops (FORMAT.md, section 23).

use crate::quantize::field::is_within;
use crate::value::Value;
use alloc::vec::Vec;

/// Moves each value that is close to a fill value, by `reach`, to the number beside the fill value; the bits of the numbers
/// that were taken, in the order of the fill values, the smaller one first. `reach` gives how far from a value a fill value is
/// close. If there is room for fewer numbers, those above the fill values are taken for both sides.
pub(super) fn apart<V: Value>(
    fills: &[u64],
    reach: impl Fn(f64) -> f64,
    room: usize,
    values: &mut [V],
) -> Vec<u64> {
    let both = taken(fills, &reach, false, values);
    let is_one_sided = both.len() > room;
    let found = match is_one_sided {
        true => taken(fills, &reach, true, values),
        false => both,
    };
    for value in values.iter_mut() {
        let x = value.to_number();
        for bits in fills {
            let fill = V::from_value_bits(*bits).to_number();
            if x == fill {
                *value = V::from_value_bits(*bits);
                break;
            }
            if is_close(&reach, x, fill) {
                let next = beside::<V>(*bits, x > fill, is_one_sided).map(V::from_value_bits);
                if let Some(next) = next.filter(|next| is_within(x, next.to_number(), reach(x))) {
                    *value = next;
                }
                break;
            }
        }
    }
    found
}

fn is_close(reach: &impl Fn(f64) -> f64, x: f64, fill: f64) -> bool {
    fill.is_finite() && x != fill && is_within(x, fill, reach(x))
}

/// The bits of the numbers beside fill values that values are close to.
fn taken<V: Value>(
    fills: &[u64],
    reach: &impl Fn(f64) -> f64,
    is_one_sided: bool,
    values: &[V],
) -> Vec<u64> {
    let mut taken = Vec::new();
    for bits in fills {
        let fill = V::from_value_bits(*bits).to_number();
        for is_above in [false, true] {
            let mut numbers = values.iter().map(|value| value.to_number());
            if numbers.any(|x| is_close(reach, x, fill) && (x > fill) == is_above) {
                let next = beside::<V>(*bits, is_above, is_one_sided);
                taken.extend(next.filter(|next| !taken.contains(next)));
            }
        }
    }
    taken
}

/// The number beside another on a side; on one side only, above it, or below the largest number.
fn beside<V: Value>(bits: u64, is_above: bool, is_one_sided: bool) -> Option<u64> {
    match is_one_sided {
        true => next::<V>(bits, true).or(next::<V>(bits, false)),
        false => next::<V>(bits, is_above),
    }
}

/// The bits of the number of the type that is next to one.
fn next<V: Value>(bits: u64, is_above: bool) -> Option<u64> {
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
