//! Rate bytes: the form in which a block is stored, and so the length of its body.
//!
//! The choice and the bytes are cuSZp's (SC'23 cuSZp; SC'24 cuSZp2, section IV-B; SC'25 cuSZp3). The quantiser limits
//! codes so that only the differences of the Lorenzo predictor can need 32 planes.
//!
//! | byte | body, a row being four bytes for each group of the block |
//! | --- | --- |
//! | `0` | none: all differences are 0 |
//! | `r`, 1 to 32 | sign row, `r` bit planes |
//! | `128 + 32 * (b - 1) + r`, r to 31 | `b` bytes of the first magnitude, sign row, `r` planes of the others |

use crate::shape::GROUP;

/// Bytes of a group in a sign row or a bit plane.
pub const ROW_BYTES: u32 = (GROUP / 8) as u32;

/// The most planes a block can have.
pub const MAX_PLANES: u32 = 32;

/// The most groups a block can have.
pub const MAX_GROUPS: usize = 2;

/// The longest body.
pub const MAX_BODY_BYTES: u32 = 4 + MAX_GROUPS as u32 * ROW_BYTES * (1 + MAX_PLANES);

/// A valid rate byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateByte(u8);

/// The number of bits that `value` needs; 0 for 0.
#[inline(always)]
pub const fn bit_length(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

impl RateByte {
    /// The plain form for a block; `magnitudes` is the bitwise or of its magnitudes.
    #[inline(always)]
    pub fn plain(magnitudes: u32) -> Self {
        Self(bit_length(magnitudes) as u8)
    }

    /// The shorter form for a block of `groups` groups; the plain form if both have the same length. `first` is the
    /// first magnitude, `others` the bitwise or of the others.
    #[inline(always)]
    pub fn shorter(first: u32, others: u32, groups: u32) -> Self {
        let plain = Self::plain(first | others);
        match Self::outlier(first, others) {
            Some(outlier) if outlier.body_bytes(groups) < plain.body_bytes(groups) => outlier,
            _ => plain,
        }
    }

    /// The outlier form for the same arguments. None if it cannot be shorter: if the first magnitude is 0 or the others
    /// need 32 planes.
    #[inline(always)]
    pub fn outlier(first: u32, others: u32) -> Option<Self> {
        let (bytes, planes) = (bit_length(first).div_ceil(8), bit_length(others));
        let is_form = first != 0 && planes < 32;
        is_form.then_some(Self((0x80 | bytes.wrapping_sub(1) << 5 | planes) as u8))
    }

    /// The rate byte of this value. None if a coder that needs up to `max_planes` planes does not write it.
    #[inline(always)]
    pub fn from_byte(byte: u8, stores_outliers: bool, max_planes: u32) -> Option<Self> {
        let is_plain = u32::from(byte) <= max_planes;
        let is_outlier = stores_outliers && byte & 0x80 != 0;
        (is_plain || is_outlier).then_some(Self(byte))
    }

    /// The byte in the stream.
    #[inline(always)]
    pub const fn to_byte(self) -> u8 {
        self.0
    }

    /// Bit planes in the body.
    #[inline(always)]
    pub const fn planes(self) -> u32 {
        if self.0 & 0x80 == 0 {
            self.0 as u32
        } else {
            (self.0 & 31) as u32
        }
    }

    /// Bytes of the first magnitude, if it is stored separately: 0 in the plain form, otherwise 1 to 4.
    #[inline(always)]
    pub const fn outlier_bytes(self) -> u32 {
        if self.0 & 0x80 == 0 {
            0
        } else {
            ((self.0 >> 5 & 3) + 1) as u32
        }
    }

    /// Bytes of the body of a block of `groups` groups.
    #[inline(always)]
    pub const fn body_bytes(self, groups: u32) -> u32 {
        if self.0 == 0 {
            0
        } else {
            self.outlier_bytes() + groups * ROW_BYTES * (1 + self.planes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_example_takes_the_outlier_form() {
        let rate = RateByte::shorter(500, 3, 1);
        assert_eq!(rate.to_byte(), 0xA2);
        assert_eq!(rate.body_bytes(1), 14);
        assert_eq!(RateByte::plain(500).body_bytes(1), 40);
    }

    #[test]
    fn a_tie_goes_to_the_plain_form() {
        // Plain: 4 * (1 + 1) bytes. Outlier: 4 + 1.
        assert_eq!(RateByte::shorter(1, 0, 1).to_byte(), 0x80);
        // Plain: 4 * (1 + 9). Outlier: 4 * (1 + 9) + 2.
        assert_eq!(RateByte::shorter(500, 400, 1).to_byte(), 9);
        // One plane less saves 4 bytes, as many as the first magnitude takes; in two groups it pays.
        assert_eq!(RateByte::shorter(1 << 31, 1 << 30, 1).to_byte(), 32);
        assert_eq!(RateByte::shorter(1 << 31, 1 << 30, 2).to_byte(), 0xff);
        assert_eq!(RateByte::shorter(1, 1 << 31, 2).to_byte(), 32);
        assert_eq!(RateByte::shorter(0, 0, 1).body_bytes(1), 0);
    }

    #[test]
    fn impossible_bytes_are_refused() {
        for byte in 0..=u8::MAX {
            let is_valid = |outliers, planes| RateByte::from_byte(byte, outliers, planes).is_some();
            assert_eq!(is_valid(false, 31), byte < 32);
            assert_eq!(is_valid(false, 32), byte <= 32);
            assert_eq!(is_valid(true, 31), !(32..128).contains(&byte));
        }
    }
}
