//! Numbers of 16 bits.

use crate::thread::Ids;

/// Conversions between `f32` and two numbers of 16 bits, the first of which is in the low half of a word (`cvt`). They
/// round to nearest, ties to even; numbers beyond the largest become infinite. A NaN becomes any NaN.
pub trait HalfInstructions: Ids {
    /// The numbers of two binary16.
    #[inline(always)]
    fn widen_f16(self, halves: u32) -> [f32; 2] {
        widened_f16(halves)
    }

    /// Two numbers as binary16.
    #[inline(always)]
    fn narrow_f16(self, numbers: [f32; 2]) -> u32 {
        narrowed_f16(numbers)
    }

    /// Two numbers as bfloat16.
    #[inline(always)]
    fn narrow_bf16(self, numbers: [f32; 2]) -> u32 {
        narrowed_bf16(numbers)
    }
}

fn widened_f16(halves: u32) -> [f32; 2] {
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

fn narrowed_f16(numbers: [f32; 2]) -> u32 {
    pair(numbers, |magnitude| {
        if magnitude < LEAST_NORMAL_F16 {
            // One half: its last place is the smallest binary16 above 0.
            (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()
        } else {
            nearest(magnitude - (112 << 23), 13).min(0x7c00)
        }
    })
}

fn narrowed_bf16(numbers: [f32; 2]) -> u32 {
    pair(numbers, |magnitude| nearest(magnitude, 16))
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

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    #[test]
    fn halves_are_widened_as_by_another_library() {
        for bits in 0..=u16::MAX {
            let [found, other] = widened_f16(u32::from(bits) | 0x3c00 << 16);
            let wanted = f16::from_bits(bits).to_f32();
            assert!(
                found == wanted || found.is_nan() && wanted.is_nan(),
                "{bits:x}"
            );
            assert_eq!(other, 1.0);
        }
    }

    #[test]
    fn numbers_are_narrowed_as_by_another_library() {
        // Ties and their neighbours, and all exponents.
        let ties = (0..=0xffff_f000u32).step_by(0x1000);
        let near = ties.flat_map(|tie| [tie.wrapping_sub(1), tie, tie + 1]);
        for bits in near.chain((0..u32::MAX - 4099).step_by(4099)) {
            let number = f32::from_bits(bits);
            let found = [narrowed_f16([number, 1.0]), narrowed_bf16([number, 1.0])];
            if number.is_nan() {
                assert_eq!(found.map(|halves| halves & 0x7fff), [0x7fff; 2]);
                continue;
            }
            let wanted = [
                f16::from_f32(number).to_bits(),
                bf16::from_f32(number).to_bits(),
            ];
            assert_eq!(found.map(|halves| halves as u16), wanted, "{bits:x}");
            assert_eq!(found.map(|halves| halves >> 16), [0x3c00, 0x3f80]);
        }
    }
}
