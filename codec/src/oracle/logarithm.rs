//! Logarithms and powers of two, term by term (FORMAT.md, section 25).

use crate::element::Element;

/// The nearest binary64 numbers to (2 / ln 2) / (2 k + 1), as bits.
const LOGARITHM: [u64; 11] = [
    0x4007_1547_652b_82fe,
    0x3fee_c709_dc3a_03fd,
    0x3fe2_776c_50ef_9bfe,
    0x3fda_6176_2a7a_ded9,
    0x3fd4_84b1_3d7c_02a9,
    0x3fd0_c9a8_4994_022d,
    0x3fcc_68f5_68d3_1760,
    0x3fc8_9f3b_1694_cffe,
    0x3fc5_b9ac_9b74_3f0d,
    0x3fc3_703c_1f4d_0ffe,
    0x3fc1_964e_c6fc_9491,
];

/// The nearest binary64 numbers to (ln 2)^k / k!, as bits.
const POWER: [u64; 14] = [
    0x3ff0_0000_0000_0000,
    0x3fe6_2e42_fefa_39ef,
    0x3fce_bfbd_ff82_c58f,
    0x3fac_6b08_d704_a0c0,
    0x3f83_b2ab_6fba_4e77,
    0x3f55_d87f_e78a_6731,
    0x3f24_3091_2f86_c787,
    0x3eef_fcbf_c588_b0c7,
    0x3eb6_2c02_23a5_c824,
    0x3e7b_5253_d395_e7c4,
    0x3e3e_4cf5_158b_8eca,
    0x3dfe_8cac_7351_bb25,
    0x3dbc_3bd6_50fc_2986,
    0x3d78_1619_3166_d0f9,
];

/// Bits of the mantissa, the exponent field of 1, and the numbers of terms.
fn layout<T: Element>() -> (u32, i64, usize, usize) {
    match T::MANTISSA_BITS {
        23 => (23, 127, 5, 8),
        _ => (52, 1023, 11, 14),
    }
}

/// A sum of these terms times the powers of `x`, from the highest power on.
fn sum<T: Element>(terms: &[u64], x: T) -> T {
    let mut terms = terms
        .iter()
        .rev()
        .map(|bits| T::from_f64(f64::from_bits(*bits)));
    let highest = terms.next().unwrap_or(T::ZERO);
    terms.fold(highest, |sum, term| sum * x + term)
}

/// The exponent field and the mantissa.
fn split<T: Element>(value: T) -> (i64, u64) {
    let (mantissa_bits, bias, ..) = layout::<T>();
    let bits = value.to_bits64();
    let exponent = (bits >> mantissa_bits) as i64 & (2 * bias + 1);
    (exponent, bits & ((1 << mantissa_bits) - 1))
}

/// The number with this exponent field and mantissa.
fn number<T: Element>(exponent: i64, mantissa: u64) -> T {
    let (mantissa_bits, ..) = layout::<T>();
    T::from_bits64((exponent as u64) << mantissa_bits | mantissa)
}

/// The coded value of an element.
pub(super) fn to_coded<T: Element>(value: T) -> T {
    let (_, bias, terms, _) = layout::<T>();
    let (exponent, mantissa) = split(value);
    // The mantissa of the number nearest to the square root of 1/2.
    let root = match T::MANTISSA_BITS {
        23 => 0x35_04f3,
        _ => 0x6_a09e_667f_3bcd,
    };
    if exponent == 2 * bias + 1 {
        return value;
    }
    if exponent == 0 {
        return number(2 * bias, mantissa);
    }
    let (n, s) = match mantissa < root {
        true => (exponent - bias, number::<T>(bias, mantissa)),
        false => (exponent - bias + 1, number::<T>(bias - 1, mantissa)),
    };
    let t = (s - T::ONE) / (s + T::ONE);
    T::from_i32(n as i32) + sum(&LOGARITHM[..terms], t * t) * t
}

/// The magnitude of an element from its decoded value.
pub(super) fn from_coded<T: Element>(coded: T) -> T {
    let (_, bias, _, terms) = layout::<T>();
    let (exponent, mantissa) = split(coded);
    if exponent == 2 * bias + 1 {
        return coded;
    }
    if exponent == 2 * bias {
        return number(0, mantissa);
    }
    let limit = (bias + 1) as f64;
    let y = coded.to_f64().clamp(-limit, limit);
    // The nearest integer; of two equally near ones, the even one.
    let mut n = y as i64;
    for near in [n - 1, n + 1] {
        let (distance, best) = ((y - near as f64).abs(), (y - n as f64).abs());
        if distance < best || distance == best && near % 2 == 0 {
            n = near;
        }
    }
    let power = sum(&POWER[..terms], T::from_f64(y - n as f64));
    let (exponent, mantissa) = split(power);
    let exponent = exponent + n;
    if exponent < 1 {
        T::MIN_NORMAL
    } else if exponent > 2 * bias {
        T::MAX
    } else {
        number(exponent, mantissa)
    }
}
