//! The fields of the golden streams.
//!
//! They are made by integers and the basic operations of IEEE 754 alone, so that every machine makes the same: no function
//! of a mathematical library, and no generator of random numbers that may change.

use ferrosz::{Value, ValueType};

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Parabolas along every axis.
    Smooth,
    /// As smooth, with a little noise.
    Noisy,
    /// As smooth, with waves of a few elements, so that positions of different oddness are predicted differently well.
    Short,
    /// As smooth, with NaNs, infinities, zeros of both signs, subnormal and large numbers, and spikes.
    Rough,
    /// Steps, of which many begin a block.
    Steps,
    /// One value.
    Constant,
    /// Bit patterns of all kinds.
    Bits,
}

/// Numbers without pattern: splitmix64.
pub fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A wave of parabolas between -1 and 1.
fn wave(at: u64, half_period: u64) -> f64 {
    let t = at % half_period;
    let height = (4 * t * (half_period - t)) as f64 / (half_period * half_period) as f64;
    if (at / half_period).is_multiple_of(2) {
        height
    } else {
        -height
    }
}

/// The field of a case.
pub fn field<V: Value>(kind: Kind, lengths: &[u64]) -> Vec<V> {
    let count = lengths.iter().product::<u64>();
    (0..count)
        .map(|number| value(kind, number, lengths))
        .collect()
}

fn value<V: Value>(kind: Kind, number: u64, lengths: &[u64]) -> V {
    let half_periods: [u64; 4] = match kind {
        Kind::Short => [5, 7, 6, 4],
        _ => [23, 37, 61, 11],
    };
    let mut smooth = -2.5;
    let mut rest = number;
    for (axis, length) in lengths.iter().rev().enumerate() {
        let at = rest % length;
        rest /= length;
        smooth += 10.0 / (1 + axis) as f64 * wave(at, half_periods[axis % 4] * 3);
        smooth += 0.25 * wave(at, half_periods[axis % 4]);
    }
    let random = mixed(number);
    let noise = (random >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let bits = V::from_value_bits;
    match kind {
        Kind::Smooth | Kind::Short => of_number(smooth),
        Kind::Noisy => of_number(smooth + 0.1 * noise),
        Kind::Rough => match random % 61 {
            0 => bits(nan_bits::<V>(mixed(random))),
            1 => of_number(f64::INFINITY),
            2 => of_number(f64::NEG_INFINITY),
            3 => of_number(-0.0),
            4 => of_number(0.0),
            5 => bits(mixed(random) % 1000),
            6 => of_number(largest::<V>() * noise),
            7 | 8 => of_number(1e4 * noise),
            _ => of_number(smooth),
        },
        Kind::Steps => of_number(0.01 * smooth + ((number / 32) * 37 % 101) as f64),
        Kind::Constant => of_number(-7.25),
        Kind::Bits => bits(mixed(random) & low_bits::<V>()),
    }
}

/// The value nearest to a number. Integers are those of its twentieths, above the middle of the type.
fn of_number<V: Value>(number: f64) -> V {
    let middle = match V::TYPE {
        ValueType::U16 => 30_000.0,
        ValueType::U32 => 3_000_000_000.0,
        _ => 0.0,
    };
    let twentieths = (20.0 * number).clamp(-1e6, 1e6).floor() + middle;
    let whole = || V::from_number(twentieths).unwrap_or_default();
    match V::TYPE.is_integer() {
        true => whole(),
        false => V::from_number(number).unwrap_or_default(),
    }
}

fn largest<V: Value>() -> f64 {
    match V::TYPE {
        ValueType::F32 => f64::from(f32::MAX),
        ValueType::F64 => f64::MAX,
        ValueType::F16 => 65_504.0,
        ValueType::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
        ValueType::I16 | ValueType::U16 => 1500.0,
        ValueType::I32 | ValueType::U32 => 50_000.0,
    }
}

fn low_bits<V: Value>() -> u64 {
    u64::MAX >> (64 - 8 * V::TYPE.bytes())
}

/// A NaN of any sign and payload; of integers any bits.
fn nan_bits<V: Value>(random: u64) -> u64 {
    let exponent = match V::TYPE {
        ValueType::F32 => 0x7f80_0001,
        ValueType::F64 => 0x7ff0_0000_0000_0001,
        ValueType::F16 => 0x7c01,
        ValueType::Bf16 => 0x7f81,
        ValueType::I16 | ValueType::U16 | ValueType::I32 | ValueType::U32 => 0,
    };
    (random | exponent) & low_bits::<V>()
}
