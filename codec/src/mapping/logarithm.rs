//! The logarithm of magnitudes, for bounds relative to each value (FORMAT.md, section 25).
//!
//! The coded field has y = log2 |x|, with an absolute error e. A decoder computes 2^y'. As |y - y'| <= e, the quotient of
//! the decoded and the original magnitude is between 2^-e and 2^e, but for the roundings of both functions. [`error`]
//! leaves room for them: with it, |x - x'| <= E |x| in exact arithmetic for every finite x.
//!
//! Both functions consist of integer operations and of sums, products and one quotient of IEEE 754, each rounded to
//! nearest even. So every machine computes the same bits. No function of a mathematical library is called.
//!
//! Values without a logarithm are represented by numbers that no logarithm reaches, so that they have no code and come
//! back bit for bit: NaNs and infinities by themselves, subnormal numbers by their mantissa with the largest finite
//! exponent.

use crate::element::{Dtype, Element};

/// (2 / ln 2) / (2 k + 1): log2 s is the sum of these times t^(2 k + 1), with t = (s - 1) / (s + 1).
const LOGARITHM: [f64; 11] = [
    2.885_390_081_777_926_8,
    0.961_796_693_925_975_6,
    0.577_078_016_355_585_3,
    0.412_198_583_111_132_4,
    0.320_598_897_975_325_2,
    0.262_308_189_252_538_8,
    0.221_953_083_213_686_67,
    0.192_359_338_785_195_12,
    0.169_728_828_339_878_04,
    0.151_862_635_883_048_77,
    0.137_399_527_703_710_8,
];

/// (ln 2)^k / k!: 2^f is the sum of these times f^k.
const POWER: [f64; 14] = [
    1.0,
    core::f64::consts::LN_2,
    0.240_226_506_959_100_72,
    0.055_504_108_664_821_58,
    0.009_618_129_107_628_477,
    0.001_333_355_814_642_844_3,
    0.000_154_035_303_933_816_1,
    1.525_273_380_405_984_1e-5,
    1.321_548_679_014_431e-6,
    1.017_808_600_923_97e-7,
    7.054_911_620_801_123e-9,
    4.445_538_271_870_811_6e-10,
    2.567_843_599_348_820_6e-11,
    1.369_148_885_390_412_8e-12,
];

/// Terms of the sums, and the room for their roundings.
struct Precision {
    logarithm: usize,
    power: usize,
    /// More than the error of [`to_coded`] and one and a half times the relative error of [`from_coded`].
    slack: f64,
}

/// The largest logarithms are below 2^7 and 2^10, so their last places are 2^-17 and 2^-43.
const fn precision(dtype: Dtype) -> Precision {
    match dtype.bytes() {
        4 => Precision {
            logarithm: 5,
            power: 8,
            slack: 1.25 / (1u64 << 18) as f64,
        },
        _ => Precision {
            logarithm: 11,
            power: 14,
            slack: 1.25 / (1u64 << 44) as f64,
        },
    }
}

/// The bits of the magnitude.
#[inline(always)]
fn magnitude<T: Element>(value: T) -> u64 {
    value.to_bits64() & (T::SIGN_BIT - 1)
}

/// The first bits of numbers with the largest finite exponent: these stand for subnormal numbers.
const fn subnormals<T: Element>() -> u64 {
    T::SIGN_BIT - (2 << T::MANTISSA_BITS)
}

/// The coded value of an element: log2 of its magnitude, or what stands for a value without a logarithm.
#[inline(always)]
pub fn to_coded<T: Element>(value: T) -> T {
    let bits = magnitude(value);
    if !value.is_finite() {
        return value;
    }
    if bits >> T::MANTISSA_BITS == 0 {
        return T::from_bits64(subnormals::<T>() | bits);
    }
    // 1. |x| = 2^n s, with s from sqrt(1/2) to sqrt(2). The numbers are not negative, which saves a GPU operations.
    let one = T::ONE.to_bits64();
    let biased = (bits + (one - T::SQRT_HALF.to_bits64())) >> T::MANTISSA_BITS;
    let s = T::from_bits64(bits + one - (biased << T::MANTISSA_BITS));
    let exponent = biased as i32 - T::EXPONENT_BIAS;
    // 2. log2 s, as the sum of odd powers of t.
    let t = (s - T::ONE) / (s + T::ONE);
    let square = t * t;
    let mut sum = T::ZERO;
    for term in LOGARITHM[..precision(T::DTYPE).logarithm].iter().rev() {
        sum = sum * square + T::from_f64(*term);
    }
    T::from_i32(exponent) + sum * t
}

/// The magnitude of an element from its decoded value; NaNs and infinities keep their sign.
#[inline(always)]
pub fn from_coded<T: Element>(coded: T) -> T {
    let bits = magnitude(coded);
    if !coded.is_finite() {
        return coded;
    }
    if bits >= subnormals::<T>() {
        return T::from_bits64(bits - subnormals::<T>());
    }
    // 1. y = n + f, with f from -1/2 to 1/2. Beyond the limits all powers are 0 or infinite.
    let limit = T::from_i32(T::EXPONENT_BIAS + 1);
    let coded = coded.smaller(limit).larger(T::ZERO - limit);
    let rounded = coded + T::ROUNDING_MAGIC;
    let exponent = rounded.low_bits().wrapping_sub(T::ROUNDING_MAGIC_BITS);
    let f = coded - (rounded - T::ROUNDING_MAGIC);
    // 2. 2^f.
    let mut power = T::ZERO;
    for term in POWER[..precision(T::DTYPE).power].iter().rev() {
        power = power * f + T::from_f64(*term);
    }
    // 3. 2^n 2^f, which is at least the smallest normal number, and finite: so is |x|.
    let scaled =
        power.to_bits64().cast_signed() + (i64::from(exponent.cast_signed()) << T::MANTISSA_BITS);
    let [least, most] = [T::MIN_NORMAL, T::MAX].map(|value| value.to_bits64().cast_signed());
    T::from_bits64(scaled.clamp(least, most).cast_unsigned())
}

/// The absolute error of coded values with which magnitudes are within `bound` times themselves; 0 if `bound` is so
/// small that the type cannot represent such logarithms. `bound` is finite and not negative.
pub fn error<T: Element>(bound: f64) -> f64 {
    let whole = log2_of_successor_down(bound);
    let slack = precision(T::DTYPE).slack;
    if whole >= 2.0 * slack {
        whole - slack
    } else {
        0.0
    }
}

/// A number that is at most log2(1 + x), and less by a part of 2^-45 at most; `x` is finite and not negative.
fn log2_of_successor_down(x: f64) -> f64 {
    /// Powers of at most 1/9 beyond these do not count.
    const TERMS: u32 = 20;
    /// More than all roundings.
    const DOWN: f64 = 1.0 - 1.0 / (1u64 << 46) as f64;
    // 1 + x = 2^exponent (1 + u) / (1 - u)
    let (exponent, u) = if x < 0.5 {
        (0, x / (2.0 + x))
    } else {
        let bits = (1.0 + x).to_bits();
        let one = 1f64.to_bits();
        let s = f64::from_bits(bits & ((1 << f64::MANTISSA_BITS) - 1) | one);
        let exponent = (bits - one) >> f64::MANTISSA_BITS;
        (exponent as i32, (s - 1.0) / (s + 1.0))
    };
    let mut sum = 0.0;
    for k in (0..TERMS).rev() {
        sum = sum * (u * u) + 1.0 / f64::from(2 * k + 1);
    }
    (f64::from(exponent) + LOGARITHM[0] * (u * sum)) * DOWN
}

#[cfg(test)]
mod tests {
    // For its logarithms.
    extern crate std;
    use super::*;

    /// The relative error of `from_coded` and the absolute error of `to_coded` of `f32`, against `f64`'s functions.
    #[test]
    fn roundings_are_within_the_slack_of_f32() {
        let (mut of_log, mut of_power) = (0f64, 0f64);
        for bits in (f32::MIN_POSITIVE.to_bits()..=f32::MAX.to_bits()).step_by(997) {
            let x = f32::from_bits(bits);
            let y = to_coded(x);
            of_log = of_log.max((f64::from(y) - f64::from(x).log2()).abs());
            let back = f64::from(from_coded(y));
            let exact = f64::from(y).exp2();
            if exact < f64::from(f32::MAX) && exact > f64::from(f32::MIN_POSITIVE) {
                of_power = of_power.max((back / exact - 1.0).abs());
            }
        }
        let slack = precision(Dtype::F32).slack;
        assert!(
            of_log + 1.5 * of_power < slack,
            "{of_log:e} {of_power:e} {slack:e}"
        );
        assert!(of_log > slack / 2.0, "{of_log:e}: far too much slack");
    }

    #[test]
    fn values_without_a_logarithm_come_back() {
        fn check<T: Element>(bits: impl IntoIterator<Item = u64>) {
            for bits in bits {
                let value = T::from_bits64(bits);
                let back = from_coded(to_coded(value));
                let wanted = if value.is_finite() {
                    magnitude(value)
                } else {
                    bits
                };
                assert_eq!(back.to_bits64(), wanted, "{bits:x}");
            }
        }
        let largest = u64::from(f32::MIN_POSITIVE.to_bits());
        check::<f32>((0..largest).step_by(97));
        check::<f32>((0x7f80_0000..=0x7fff_ffff).step_by(4099));
        check::<f32>([0x8000_0001, 0xff80_0000, 0xff80_0001, 0xffff_ffff]);
        check::<f64>([0, 1, 77, (1 << 52) - 1, 0x7ff0_0000_0000_0000, u64::MAX]);
    }

    /// Equal to the logarithm of the library to 40 bits, and never above.
    #[test]
    fn the_logarithm_of_the_bound_is_rounded_down() {
        for exponent in -300..300 {
            let x = 1.37 * 10f64.powi(exponent);
            let (found, exact) = (
                log2_of_successor_down(x),
                x.ln_1p() / std::f64::consts::LN_2,
            );
            assert!(found <= exact && found >= exact * (1.0 - 1e-12), "{x:e}");
        }
        assert_eq!(log2_of_successor_down(0.0), 0.0);
        assert!(log2_of_successor_down(f64::MAX) < 1024.0);
    }

    #[test]
    fn bounds_that_are_too_small_are_lossless() {
        assert_eq!(error::<f32>(0.0), 0.0);
        assert_eq!(error::<f32>(5e-6), 0.0);
        assert!(error::<f32>(1e-5) > 9e-6);
        assert_eq!(error::<f64>(1e-14), 0.0);
        assert!(error::<f64>(1e-12) > 1.3e-12);
        assert!(error::<f64>(f64::MAX) > 1023.0);
    }
}
