//! Fields of every kind that the codecs meet, of any length, from a seed.

use ferrosz::Element;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// A kind of field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Sines on a slope.
    Smooth,
    /// Uniform noise of both signs.
    Random,
    /// One value.
    Constant,
    /// Zeros with a few values, whole blocks and chunks without any.
    Sparse,
    /// Smooth, with NaNs of all payloads and infinities strewn in.
    NotFinite,
    /// Around the smallest normal number, zeros of both signs included.
    Subnormal,
    /// Up to the largest finite number.
    Huge,
    /// Small changes on a large offset: codes beyond the exact integers of `f32`.
    Offset,
    /// Multiples of one half: every value is on the edge of a bound of 0.5.
    Ties,
    /// All bit patterns.
    Bits,
    /// Steps that make the first value of a block an outlier.
    Steps,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Smooth,
        Self::Random,
        Self::Constant,
        Self::Sparse,
        Self::NotFinite,
        Self::Subnormal,
        Self::Huge,
        Self::Offset,
        Self::Ties,
        Self::Bits,
        Self::Steps,
    ];
}

/// `f32` or `f64` from random bits.
pub trait FromBits: Element {
    fn random_bits(rng: &mut SmallRng) -> Self;
    /// A NaN with a random sign and payload, signalling ones included.
    fn random_nan(rng: &mut SmallRng) -> Self;
}

impl FromBits for f32 {
    fn random_bits(rng: &mut SmallRng) -> Self {
        Self::from_bits(rng.random())
    }

    fn random_nan(rng: &mut SmallRng) -> Self {
        Self::from_bits(rng.random::<u32>() | 0x7f80_0001)
    }
}

impl FromBits for f64 {
    fn random_bits(rng: &mut SmallRng) -> Self {
        Self::from_bits(rng.random())
    }

    fn random_nan(rng: &mut SmallRng) -> Self {
        Self::from_bits(rng.random::<u64>() | 0x7ff0_0000_0000_0001)
    }
}

/// A field of a kind.
pub fn make<T: FromBits>(kind: Kind, length: usize, seed: u64) -> Vec<T> {
    let mut rng = SmallRng::seed_from_u64(seed ^ (kind as u64) << 32);
    let phase: f64 = rng.random_range(0.0..6.0);
    let level: f64 = rng.random_range(-50.0..50.0);
    let largest = T::MAX.to_f64();
    let smooth = move |i: usize| {
        let x = i as f64;
        (x * 0.013 + phase).sin() * 20.0 + (x * 0.0007).cos() * 7.0 + level
    };
    (0..length)
        .map(|i| match kind {
            Kind::Smooth => T::from_f64(smooth(i)),
            Kind::Random => T::from_f64(rng.random_range(-100.0..100.0)),
            Kind::Constant => T::from_f64(level),
            Kind::Sparse => {
                let is_quiet = (i / 3000) % 2 == 0 || rng.random_range(0..20) > 0;
                T::from_f64(if is_quiet {
                    0.0
                } else {
                    rng.random_range(-3.0..3.0)
                })
            }
            Kind::NotFinite => match rng.random_range(0..200) {
                0 => T::random_nan(&mut rng),
                1 => T::from_f64(f64::INFINITY),
                2 => T::from_f64(f64::NEG_INFINITY),
                _ => T::from_f64(smooth(i)),
            },
            Kind::Subnormal => {
                let sign = if rng.random() { 1.0 } else { -1.0 };
                let smallest_normal = if T::BYTES == 4 { 1.2e-38 } else { 2.3e-308 };
                T::from_f64(sign * smallest_normal * rng.random_range(0.0..1.5) * (i % 3) as f64)
            }
            Kind::Huge => T::from_f64(largest * rng.random_range(-1.0..1.0)),
            Kind::Offset => T::from_f64(1e6 + smooth(i) * 0.1),
            Kind::Ties => T::from_f64(f64::from(rng.random_range(-40..40)) * 0.5),
            Kind::Bits => T::random_bits(&mut rng),
            Kind::Steps => T::from_f64(smooth(i) * 0.02 + ((i / 96) * 37 % 101) as f64 * 40.0),
        })
        .collect()
}

/// A field of a kind that is too long to be made value by value: a shorter one again and again, each
/// time on another level.
pub fn make_long<T: FromBits>(kind: Kind, length: usize, seed: u64) -> Vec<T> {
    let piece = make::<T>(kind, length.min((1 << 20) + 77), seed);
    (0..length.div_ceil(piece.len()))
        .flat_map(|round| {
            let level = T::from_f64(round as f64 * 0.37);
            piece.iter().map(move |x| *x + level)
        })
        .take(length)
        .collect()
}

/// The signal of cuSZp's published digests: a random walk with flat stretches, in steps of 1/64.
pub fn flat_walk<T: FromBits>(length: usize) -> Vec<T> {
    let mut state = 12_345u32;
    let mut level = 0i32;
    (0..length)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            level += ((state >> 16) & 255) as i32 - 127;
            let is_flat = i % 4096 >= 3072;
            T::from_f64(if is_flat {
                0.0
            } else {
                f64::from(level) / 64.0
            })
        })
        .collect()
}
