//! Missing elements in a comparison: those with a fill value of the stream.
//!
//! They count neither in the range nor in any error, but must come back bit for bit. So they become NaN in the original,
//! and in the decoded array if they came back, before the two are compared.

use crate::quality::Kept;
use ferrosz::Element;
use rayon::prelude::*;

/// Elements in a task of one thread.
const PART: usize = 1 << 16;

/// Replaces finite fill values by NaN in an array and its reconstruction; the number of the original ones, and of those
/// that came back. NaNs are compared bit for bit as they are.
pub fn remove<T: Element>(fills: &[f64], original: &mut [T], decoded: &mut [T]) -> Kept {
    let fills: Vec<u64> = (fills.iter())
        .filter(|fill| fill.is_finite())
        .map(|fill| T::from_f64(*fill).to_bits64())
        .collect();
    let mut all = Kept { count: 0, kept: 0 };
    if fills.is_empty() {
        return all;
    }
    let parts = original
        .par_chunks_mut(PART)
        .zip(decoded.par_chunks_mut(PART));
    let counts: Vec<(u64, u64)> = parts
        .map(|(original, decoded)| {
            let (mut count, mut kept) = (0, 0);
            for (x, y) in original.iter_mut().zip(decoded) {
                if fills.contains(&x.to_bits64()) {
                    count += 1;
                    if x.to_bits64() == y.to_bits64() {
                        kept += 1;
                        *y = T::NAN;
                    }
                    *x = T::NAN;
                }
            }
            (count, kept)
        })
        .collect();
    for (count, kept) in counts {
        all.count += count;
        all.kept += kept;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_fill_values_stay_in_the_decoded_array() {
        let mut original = [1.0f32, 1e20, 1e20, 3.0];
        let mut decoded = [1.1, 1e20, 9e19, 3.0];
        let kept = remove(&[1e20, f64::NAN], &mut original, &mut decoded);
        assert_eq!((kept.count, kept.kept), (2, 1));
        assert!(original[1].is_nan() && original[2].is_nan());
        assert!(decoded[1].is_nan() && decoded[2] == 9e19);
        let kept = remove(&[], &mut original, &mut decoded);
        assert_eq!((kept.count, kept.kept), (0, 0));
    }
}
