//! Rate bytes: how a block is stored, and so how long its body is (cuSZp stream, sections 7, 8).

use crate::cuszp::error::RateFault;
use crate::cuszp::mode::Mode;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::shape::Shape;

/// The byte of the rate-32 anomaly (section 8.3), which 1D does not have: its block is stored
/// nowhere, but the encoder has left room for it.
pub const ANOMALY: u8 = 0x20;

/// The room that the encoder leaves in the rate-32 anomaly: a row of signs and 32 planes.
pub const ANOMALY_BYTES: u32 = 264;

/// The shape and mode of a block. Its rate byte depends on them and on its differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockKind {
    /// The shape of a block.
    pub shape: Shape,
    /// The form in which it is stored.
    pub mode: Mode,
}

/// A rate byte, and the bytes that the encoder counts for the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The rate byte.
    pub byte: u8,
    /// The body's bytes; in the rate-32 anomaly 264, though there is no body.
    pub booked: u32,
}

impl BlockKind {
    /// For a block whose first magnitude is `first` and whose others, or-ed together, give
    /// `others`. The outlier form is taken only if it is shorter.
    #[inline(always)]
    pub fn choose(self, first: u32, others: u32) -> Choice {
        self.choose_of(self.shape.groups() as u32, first, others)
    }

    /// As [`BlockKind::choose`], for a block of so many groups.
    #[inline(always)]
    pub fn choose_of(self, groups: u32, first: u32, others: u32) -> Choice {
        // In 1D cuSZp takes the maximum of signed numbers, in which 2^31 is the smallest.
        let counted = match self.shape {
            Shape::Line => u32::MAX >> 1,
            Shape::Plane | Shape::Cube => u32::MAX,
        };
        let (counted_first, counted_others) = (first & counted, others & counted);
        let plain = RateByte::plain(counted_first | counted_others);
        let outlier = RateByte::outlier(first, counted_others)
            .filter(|_| matches!(self.mode, Mode::Outlier))
            .filter(|outlier| outlier.body_bytes(groups) < plain.body_bytes(groups));
        let rate = outlier.unwrap_or(plain);
        Choice {
            byte: rate.to_byte(),
            booked: rate.body_bytes(groups),
        }
    }

    /// The rate of a valid rate byte. The byte of the anomaly gives the default rate: its block has no body.
    #[inline(always)]
    pub fn rate(self, byte: u8) -> RateByte {
        if self.is_anomaly(byte) {
            return RateByte::default();
        }
        let stores_outliers = matches!(self.mode, Mode::Outlier);
        RateByte::from_byte(byte, stores_outliers, 32).unwrap_or_default()
    }

    /// Whether this choice of [`BlockKind::choose`] is the rate-32 anomaly.
    #[inline(always)]
    pub const fn is_anomaly(self, byte: u8) -> bool {
        matches!(self.mode, Mode::Outlier) && byte == ANOMALY
    }

    /// Whether some encoder writes this rate byte (section 11).
    ///
    /// # Errors
    ///
    /// The fault of the rate byte.
    #[inline(always)]
    pub const fn check(self, byte: u8) -> Result<(), RateFault> {
        match (self.mode, self.shape) {
            (Mode::Outlier, _) if byte < ANOMALY || byte & 0x80 != 0 => Ok(()),
            (Mode::Outlier, Shape::Plane | Shape::Cube) if byte == ANOMALY => Ok(()),
            (Mode::Outlier, _) => Err(RateFault::OutlierBits),
            (Mode::Fixed | Mode::Plain, Shape::Line) if byte > 31 => Err(RateFault::Above31),
            (Mode::Fixed | Mode::Plain, _) if byte > 32 => Err(RateFault::Above32),
            (Mode::Fixed | Mode::Plain, _) => Ok(()),
        }
    }
}
