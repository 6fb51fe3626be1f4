//! Numbers of 16 bits.

use crate::thread::Ids;

/// Conversions between `f32` and two numbers of 16 bits, the first of which is in the low half of a word (`cvt`). They
/// round to nearest, ties to even; numbers beyond the largest become infinite. A NaN becomes any NaN.
pub trait HalfInstructions: Ids {
    /// The numbers of two binary16.
    #[inline(always)]
    fn widen_f16(self, halves: u32) -> [f32; 2] {
        [halves & 0xffff, halves >> 16].map(|bits| {
            let sign = (bits >> 15) << 31;
            let magnitude = bits & 0x7fff;
            let widened = match magnitude {
                0x7c01.. => ANY_NAN,
                0x7c00 => f32::INFINITY.to_bits(),
                // A binary32 with the same exponent field is 2^112 times too small.
                _ => (f32::from_bits(magnitude << 13) * f32::from_bits(239 << 23)).to_bits(),
            };
            f32::from_bits(sign | widened)
        })
    }

    /// Two numbers as binary16.
    #[inline(always)]
    fn narrow_f16(self, numbers: [f32; 2]) -> u32 {
        pair(numbers, |magnitude| {
            if magnitude < LEAST_NORMAL_F16 {
                // One half: its last place is the smallest binary16 above 0.
                (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()
            } else {
                nearest(magnitude - (112 << 23), 13).min(0x7c00)
            }
        })
    }

    /// Two numbers as bfloat16.
    #[inline(always)]
    fn narrow_bf16(self, numbers: [f32; 2]) -> u32 {
        pair(numbers, |magnitude| nearest(magnitude, 16))
    }
}

/// The NaN that NVIDIA's GPUs make of any other.
const ANY_NAN: u32 = 0x7fff_ffff;

/// The smallest binary16 of full precision, as a binary32.
const LEAST_NORMAL_F16: u32 = (127 - 14) << 23;

/// The results of `narrow` for the magnitudes of two numbers, with their signs.
fn pair(numbers: [f32; 2], narrow: impl Fn(u32) -> u32) -> u32 {
    let [low, high] = numbers.map(|number| {
        let (bits, magnitude) = (number.to_bits(), number.to_bits() & ANY_NAN);
        match magnitude > f32::INFINITY.to_bits() {
            true => ANY_NAN >> 16,
            false => (bits >> 31) << 15 | narrow(magnitude),
        }
    });
    low | high << 16
}

/// Without the lowest `dropped` bits: the nearest number, an even one in a tie.
fn nearest(bits: u32, dropped: u32) -> u32 {
    let is_odd = bits >> dropped & 1;
    (bits + (1 << (dropped - 1)) - 1 + is_odd) >> dropped
}
