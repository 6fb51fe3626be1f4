//! Exponentials from below, by sums and products alone: the same on every machine.

/// A number below e^x, closer than 2^-40 of it where it is normal; 0 for NaN.
///
/// x = n ln 2 + f. The series of e^f has 18 terms, and n powers of two are multiplied.
#[inline(always)]
pub fn exp_below(x: f64) -> f64 {
    if x.is_nan() || x < -745.0 {
        return 0.0;
    }
    let x = if x > 709.0 { 709.0 } else { x };
    let n = nearest(x * core::f64::consts::LOG2_E);
    // The high part has 32 bits, so that its product with n is exact.
    let f = (x - n * 0.693_147_180_369_123_8) - n * 1.908_214_929_270_587_7e-10;
    let mut sum = 1.0;
    let mut term = 18.0;
    while term > 0.5 {
        sum = 1.0 + sum * f / term;
        term -= 1.0;
    }
    let half = nearest(n * 0.5);
    sum * power(half) * power(n - half) * (1.0 - 4.547_473_508_864_641e-13)
}

/// The nearest integer of a number below 2^51 in magnitude.
#[inline(always)]
fn nearest(x: f64) -> f64 {
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    (x + MAGIC) - MAGIC
}

/// 2^n, for an integer from -1000 to 1000.
#[inline(always)]
fn power(n: f64) -> f64 {
    f64::from_bits(((1023 + n as i64) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_close_and_below() {
        for i in -70_000..70_800 {
            let x = f64::from(i) * 0.01;
            let [found, exact] = [exp_below(x), x.exp()];
            assert!(found < exact && found > exact * (1.0 - 1e-12), "{x}");
        }
        assert_eq!((exp_below(-1e9), exp_below(f64::NAN)), (0.0, 0.0));
        assert!(exp_below(1e9).is_finite());
    }
}
