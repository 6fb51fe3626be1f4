//! Instructions on the bits of words.

use crate::thread::Ids;

/// Instructions of GPUs on the bits and bytes of words that compilers do not select by themselves.
pub trait BitInstructions: Ids {
    /// Picks four bytes of two words (`prmt`). Hexadecimal digit *i* of `selector`, counted from the low end, selects
    /// byte *i* of the result: digits 0 to 3 are the bytes of `low`, 4 to 7 the bytes of `high`. A digit with 8 added
    /// gives that byte's top bit, repeated eight times.
    #[inline(always)]
    fn pick_bytes(self, low: u32, high: u32, selector: u32) -> u32 {
        let bytes = u64::from(high) << 32 | u64::from(low);
        let byte = |digit: u32| {
            let byte = (bytes >> (8 * (digit & 7))) as u8;
            match digit & 8 {
                0 => byte,
                _ => (byte.cast_signed() >> 7).cast_unsigned(),
            }
        };
        u32::from_le_bytes(core::array::from_fn(|i| byte(selector >> (4 * i) & 0xf)))
    }

    /// The bits of `a` where `mask` has ones, those of `b` elsewhere (`lop3`).
    #[inline(always)]
    fn select_bits(self, mask: u32, a: u32, b: u32) -> u32 {
        a & mask | b & !mask
    }

    /// `sum` plus the low half of `halves` times the lowest byte of `times`, plus the high half times the second byte
    /// (`dp2a`).
    #[inline(always)]
    fn add_halves(self, halves: u32, times: u32, sum: u32) -> u32 {
        let low = (halves & 0xffff).wrapping_mul(times & 0xff);
        let high = (halves >> 16).wrapping_mul(times >> 8 & 0xff);
        sum.wrapping_add(low).wrapping_add(high)
    }

    /// The position of the highest bit of a value, at least 3 (`bfind`).
    #[inline(always)]
    fn highest_bit_or_3(self, value: u32) -> u32 {
        (value | 8).ilog2()
    }
}
