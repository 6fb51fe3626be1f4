//! Rate bytes: how a block is stored, and so how long its body is.
//!
//! The choice and the bytes are cuSZp's for one dimension (SC'23 cuSZp, SC'24 cuSZp2 section
//! IV-B), but without rates of 32: the quantiser keeps all differences below 2^31.
//!
//! | byte | body |
//! | --- | --- |
//! | `0` | none: all differences are 0 |
//! | `r`, 1 to 31 | sign row, `r` bit planes |
//! | `128 + 32 * (b - 1) + r` | `b` bytes of the first magnitude, sign row, `r` planes of the others |

/// Elements in a block.
pub const BLOCK: usize = 32;

/// Bytes of a sign row or a bit plane.
pub const ROW_BYTES: u32 = (BLOCK / 8) as u32;

/// The most planes a block can have.
pub const MAX_PLANES: u32 = 31;

/// The longest body.
pub const MAX_BODY_BYTES: u32 = 4 + ROW_BYTES * (1 + MAX_PLANES);

/// A valid rate byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateByte(u8);

/// Bits needed for `value`; 0 for 0.
#[inline(always)]
pub const fn bit_length(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

impl RateByte {
    /// For a block whose magnitudes, or-ed together, give `magnitudes`.
    #[inline(always)]
    pub fn plain(magnitudes: u32) -> Self {
        Self(bit_length(magnitudes) as u8)
    }

    /// The shorter form for a block whose first magnitude is `first` and whose others, or-ed
    /// together, give `others`; the plain form if both are as long.
    #[inline(always)]
    pub fn shorter(first: u32, others: u32) -> Self {
        let plain = Self::plain(first | others);
        let bytes = bit_length(first).div_ceil(8);
        // Without a first magnitude the sum wraps to some rate byte, which is then not looked at.
        let packed = 0x80 | (bytes.wrapping_sub(1) & 3) << 5 | bit_length(others);
        let outlier = Self(packed as u8);
        if bytes > 0 && outlier.body_bytes() < plain.body_bytes() {
            outlier
        } else {
            plain
        }
    }

    /// The rate byte of this value, if some encoder of the codec writes it.
    #[inline(always)]
    pub fn from_byte(byte: u8, stores_outliers: bool) -> Option<Self> {
        let is_plain = u32::from(byte) <= MAX_PLANES;
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
        (self.0 & 31) as u32
    }

    /// Bytes of the first magnitude stored apart: 0 in the plain form, else 1 to 4.
    #[inline(always)]
    pub const fn outlier_bytes(self) -> u32 {
        if self.0 & 0x80 == 0 {
            0
        } else {
            ((self.0 >> 5 & 3) + 1) as u32
        }
    }

    /// Bytes of the block's body.
    #[inline(always)]
    pub const fn body_bytes(self) -> u32 {
        if self.0 == 0 {
            0
        } else {
            self.outlier_bytes() + ROW_BYTES * (1 + self.planes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_example_takes_the_outlier_form() {
        let rate = RateByte::shorter(500, 3);
        assert_eq!(rate.to_byte(), 0xA2);
        assert_eq!(rate.body_bytes(), 14);
        assert_eq!(RateByte::plain(500).body_bytes(), 40);
    }

    #[test]
    fn a_tie_goes_to_the_plain_form() {
        // Plain: 4 * (1 + 1) bytes. Outlier: 4 + 1.
        assert_eq!(RateByte::shorter(1, 0).to_byte(), 0x80);
        // Plain: 4 * (1 + 9). Outlier: 4 * (1 + 9) + 2.
        assert_eq!(RateByte::shorter(500, 400).to_byte(), 9);
        assert_eq!(RateByte::shorter(0, 0).body_bytes(), 0);
    }

    #[test]
    fn impossible_bytes_are_refused() {
        for byte in 0..=u8::MAX {
            assert_eq!(RateByte::from_byte(byte, false).is_some(), byte < 32);
            assert_eq!(
                RateByte::from_byte(byte, true).is_some(),
                !(32..128).contains(&byte)
            );
        }
    }
}
