//! Values that look as if their bytes were of another type, of another byte order, or shifted.
//!
//! Such bytes give exponents of all kinds: many different values are far larger or far smaller than any that is measured or
//! computed. A fill value is one value, however often it occurs.

use ferrosz::Value;
use std::collections::BTreeSet;

/// Values that are looked at, spread over the array.
const SAMPLE: usize = 1 << 14;

/// The share of these that must be strange, as one of so many.
const SHARE: usize = 32;

/// The magnitudes of ordinary values, by the exponent's bits of the type: about 1e-30 to 1e30 of 8, 1e-150 to 1e150 of 11.
fn is_strange<V: Value>(magnitude: f64) -> bool {
    let largest = match size_of::<V>() {
        8 => 1e150,
        _ => 1e30,
    };
    magnitude != 0.0 && !(1.0 / largest..=largest).contains(&magnitude)
}

/// The strangest of many strange values; none if there are few. Integers and f16 have no such values.
pub fn find<V: Value>(values: &[V]) -> Option<f64> {
    let step = (values.len() / SAMPLE).max(1);
    let mut seen = 0;
    let mut strange = BTreeSet::new();
    for value in values.iter().step_by(step) {
        let value = value.to_number();
        seen += 1;
        if value.is_finite() && is_strange::<V>(value.abs()) {
            strange.insert(value.to_bits());
        }
    }
    if strange.len() < 8 || strange.len() * SHARE < seen {
        return None;
    }
    let values = strange.into_iter().map(f64::from_bits);
    values.max_by(|one, other| {
        one.abs()
            .log10()
            .abs()
            .total_cmp(&other.abs().log10().abs())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of another type with the same bytes.
    fn read_as<V: Value>(bytes: Vec<u8>) -> Vec<V> {
        let values = bytes.chunks_exact(size_of::<V>()).map(|bytes| {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            V::from_value_bits(u64::from_le_bytes(all))
        });
        values.collect()
    }

    fn waves() -> impl Iterator<Item = f64> {
        (0..20_000).map(|i| 280.0 + 10.0 * (f64::from(i) * 0.01).sin())
    }

    #[test]
    fn bytes_of_another_type_are_strange() {
        let of_f64: Vec<u8> = waves().flat_map(f64::to_le_bytes).collect();
        assert!(find(&read_as::<f32>(of_f64)).is_some());
        let turned: Vec<u8> = waves().flat_map(|x| (x as f32).to_be_bytes()).collect();
        assert!(find(&read_as::<f32>(turned)).is_some());
        let turned: Vec<u8> = waves().flat_map(f64::to_be_bytes).collect();
        assert!(find(&read_as::<f64>(turned)).is_some());
    }

    #[test]
    fn ordinary_values_with_fill_values_are_not() {
        let mut values: Vec<f32> = waves().map(|x| x as f32).collect();
        assert_eq!(find(&values), None);
        values[..10_000].fill(9.969_21e36);
        values[15_000..].fill(-1e35);
        assert_eq!(find(&values), None);
        let small: Vec<f64> = waves().map(|x| x * 1e-40).collect();
        assert_eq!(find(&small), None);
        assert_eq!(find(&[0i16, -3, 7]), None);
        assert_eq!(find::<f32>(&[]), None);
    }
}
