//! Rate bytes: how a block is stored, and so how long its body is (cuSZp stream, sections 7, 8).

use super::{Mode, Rank, RateFault};
use crate::encode::rate::bit_length;

/// Bytes of 32 places in a row of signs or in a bit plane.
pub const HALF_ROW: u32 = 4;

/// The longest body: a row of signs and 32 planes of 64 places.
pub const MAX_BODY: usize = 264;

/// The byte of the rate-32 anomaly (section 8.3), which 1D does not have: its block is stored
/// nowhere, but the encoder has left room for it.
pub const ANOMALY: u8 = 0x20;

/// What a block's rate byte depends on besides its differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockKind {
    /// What a block is.
    pub rank: Rank,
    /// How it is stored.
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

/// The parts of a body: some bytes of the first magnitude, then rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Bytes of the first magnitude stored apart; 0 if it is in the planes.
    pub outlier_bytes: u32,
    /// Bit planes.
    pub planes: u32,
    /// Bytes of a row: 4 or 8.
    pub row_bytes: u32,
    /// Whether there is a row of signs.
    pub has_signs: bool,
}

impl BlockKind {
    #[inline(always)]
    const fn row_bytes(self) -> u32 {
        HALF_ROW * self.rank.halves() as u32
    }

    /// For a block whose first magnitude is `first` and whose others, or-ed together, give
    /// `others`. The outlier form is taken only if it is shorter.
    #[inline(always)]
    pub const fn choose(self, first: u32, others: u32) -> Choice {
        // In 1D cuSZp takes the maximum of signed numbers, in which 2^31 is the smallest.
        let counted = match self.rank {
            Rank::One => u32::MAX >> 1,
            Rank::Two | Rank::Three => u32::MAX,
        };
        let row = self.row_bytes();
        let planes = bit_length((first | others) & counted);
        let plain = if planes == 0 { 0 } else { row * (1 + planes) };
        let other_planes = bit_length(others & counted);
        let outlier_bytes = bit_length(first).div_ceil(8);
        let outlier = row * (1 + other_planes) + outlier_bytes;
        if matches!(self.mode, Mode::Outlier) && outlier < plain {
            let packed = 0x80 | (outlier_bytes.wrapping_sub(1) & 3) << 5 | other_planes;
            Choice {
                byte: packed as u8,
                booked: outlier,
            }
        } else {
            Choice {
                byte: planes as u8,
                booked: plain,
            }
        }
    }

    /// What a rate byte means, which must be a good one.
    #[inline(always)]
    pub const fn rate(self, byte: u8) -> Rate {
        let byte = byte as u32;
        let row_bytes = self.row_bytes();
        match self.mode {
            Mode::Outlier => Rate {
                outlier_bytes: if byte & 0x80 == 0 {
                    0
                } else {
                    (byte >> 5 & 3) + 1
                },
                planes: byte & 31,
                row_bytes,
                has_signs: byte & 0x9f != 0,
            },
            Mode::Fixed | Mode::Plain => Rate {
                outlier_bytes: 0,
                planes: if byte > 32 { 32 } else { byte },
                row_bytes,
                has_signs: byte != 0,
            },
        }
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
    /// What is wrong with it.
    #[inline(always)]
    pub const fn check(self, byte: u8) -> Result<(), RateFault> {
        match (self.mode, self.rank) {
            (Mode::Outlier, _) if byte < ANOMALY || byte & 0x80 != 0 => Ok(()),
            (Mode::Outlier, Rank::Two | Rank::Three) if byte == ANOMALY => Ok(()),
            (Mode::Outlier, _) => Err(RateFault::OutlierBits),
            (Mode::Fixed | Mode::Plain, Rank::One) if byte > 31 => Err(RateFault::Above31),
            (Mode::Fixed | Mode::Plain, _) if byte > 32 => Err(RateFault::Above32),
            _ => Ok(()),
        }
    }
}

impl Rate {
    /// A body of signs and this many planes of 32 places, without outlier; none without planes.
    #[inline(always)]
    pub const fn of_planes(planes: u32) -> Self {
        Self {
            outlier_bytes: 0,
            planes,
            row_bytes: HALF_ROW,
            has_signs: planes > 0,
        }
    }

    /// Bytes of the body.
    #[inline(always)]
    pub const fn body_bytes(self) -> u32 {
        if self.has_signs {
            self.row_at(1 + self.planes, 0)
        } else {
            0
        }
    }

    /// Where in the body a half's four bytes of a row begin; row 0 has the signs, row 1 + p the
    /// bits p.
    #[inline(always)]
    pub const fn row_at(self, row: u32, half: u32) -> u32 {
        self.outlier_bytes + row * self.row_bytes + half * HALF_ROW
    }
}
