//! Fields of every value type.

use ferrosz::Value;

/// The kind of a field.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Waves around 0, or in the middle of unsigned integers.
    Smooth,
    /// Large values that differ little.
    Far,
    /// Bit patterns of all kinds.
    Bits,
    /// Waves with bit patterns of all kinds among them.
    Rough,
    /// One value.
    Constant,
}

impl Kind {
    /// All kinds. Their number has no divisor in common with that of the bounds of a test.
    pub const ALL: [Self; 7] = [
        Self::Smooth,
        Self::Far,
        Self::Bits,
        Self::Rough,
        Self::Smooth,
        Self::Rough,
        Self::Constant,
    ];
}

/// A value that stands for missing ones: a number that every type has.
pub fn fill<V: Value>() -> V {
    number(999.0)
}

/// The value nearest to a number, which every type nearly has.
pub fn number<V: Value>(number: f64) -> V {
    let floor = V::from_number(number.floor());
    V::from_number(number).or(floor).unwrap_or_default()
}

/// Numbers without pattern: splitmix64.
pub fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A field of a kind.
pub fn field<V: Value>(kind: Kind, lengths: &[u64]) -> Vec<V> {
    let count = lengths.iter().product::<u64>();
    let row = *lengths.last().unwrap_or(&1) as f64;
    (0..count)
        .map(|i| {
            let (x, y) = (i as f64 % row, i as f64 / row);
            let wave = 300.0 * (x * 0.05).sin() + 200.0 * (y * 0.03).cos();
            let middle = if V::TYPE.name().starts_with('u') {
                600.0
            } else {
                0.0
            };
            let far = match V::TYPE.bytes() {
                4 => 1_700_000_000.0,
                _ => 20_000.0,
            };
            match kind {
                Kind::Smooth => number(middle + wave),
                Kind::Far => number(far + wave),
                Kind::Constant => number(77.5),
                Kind::Bits => V::from_value_bits(mixed(i)),
                Kind::Rough if mixed(i).is_multiple_of(31) => V::from_value_bits(mixed(i) >> 8),
                Kind::Rough => number(middle + 0.01 * wave),
            }
        })
        .collect()
}
