//! The parameters of a field's interpolation: geometry, flags of every level, and the levels' bounds.

use crate::code::entropy::shifts::Shifts;
use crate::predict::interp::geometry::{Geometry, MAX_LEVELS};
use crate::predict::interp::spline::Spline;
use crate::quantize::level::{MOST_DEAD, part_of_step};

/// The method of prediction of the positions of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LevelFlags {
    /// Whether positions are predicted along all axes, not axis by axis.
    pub is_multi: bool,
    /// Whether axis by axis starts with x, not with the slowest axis.
    pub is_reverse: bool,
    /// The cubic spline.
    pub spline: Spline,
}

impl LevelFlags {
    /// The flags of a level that stencils predict, in the order of positions that are predicted along all axes. Only the
    /// codecs of stencils and slices know such levels: for interpolation it is one that is predicted along all axes.
    pub const FITTED: Self = Self {
        is_multi: true,
        is_reverse: true,
        spline: Spline::NotAKnot,
    };

    /// Whether stencils predict the level, with a codec of stencils.
    #[inline(always)]
    pub const fn is_fitted(self) -> bool {
        self.is_multi & self.is_reverse
    }

    /// The number of bits of the flags.
    const BITS: u32 = 3;

    /// The flags as bits.
    #[inline(always)]
    pub const fn to_bits(self) -> u32 {
        self.is_multi as u32
            | (self.is_reverse as u32) << 1
            | (matches!(self.spline, Spline::Natural) as u32) << 2
    }

    /// The flags of these bits; higher bits are ignored.
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Self {
        Self {
            is_multi: bits & 1 != 0,
            is_reverse: bits & 2 != 0,
            spline: if bits & 4 != 0 {
                Spline::Natural
            } else {
                Spline::NotAKnot
            },
        }
    }
}

/// The tightening of the bounds of coarse levels: the bound of level l is the field's bound divided by the smaller of
/// alpha^l and beta. With a dead zone the steps are narrower, so that no value is off by more than the field's bound.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tightening {
    /// The factor from level to level; at least 1.
    pub alpha: f64,
    /// The largest factor; at least 1.
    pub beta: f64,
    /// The dead zone of all levels in units of 2^-16 of a step, at most [`MOST_DEAD`].
    pub dead: u32,
}

impl Tightening {
    /// The values of cuSZ-Hi.
    pub const DEFAULT: Self = Self::new(1.75, 4.0);

    /// The tightening with these numbers, without a dead zone.
    pub const fn new(alpha: f64, beta: f64) -> Self {
        let dead = 0;
        Self { alpha, beta, dead }
    }

    /// The same with a dead zone.
    #[must_use]
    pub const fn with_dead_zone(self, dead: u32) -> Self {
        Self { dead, ..self }
    }

    /// cuSZ-Hi's choice for a bound that is this part of the range of values: a looser bound makes it more profitable
    /// to code coarse levels precisely. Linear between the knots, whose bounds differ by a factor of ten. An unknown
    /// range, or a range of 0, is treated as the loosest bound.
    #[inline(always)]
    pub fn of_relative(part: f64) -> Self {
        const ALPHAS: [f64; 5] = [1.0, 1.25, 1.5, 1.75, 2.0];
        const KNOTS: [f64; 5] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
        let mut alpha = ALPHAS[4];
        for i in (0..4).rev() {
            if part < KNOTS[i + 1] {
                let way = (part - KNOTS[i]) / (KNOTS[i + 1] - KNOTS[i]);
                alpha = ALPHAS[i] + way * (ALPHAS[i + 1] - ALPHAS[i]);
            }
        }
        if part < KNOTS[0] {
            alpha = ALPHAS[0];
        }
        Self::new(alpha, Self::DEFAULT.beta)
    }

    /// Whether both factors are finite and at least 1, and the dead zone is not too long.
    pub fn is_valid(&self) -> bool {
        let is_factor = |factor| (1.0..=f64::MAX).contains(&factor);
        is_factor(self.alpha) && is_factor(self.beta) && self.dead <= MOST_DEAD
    }

    /// The bound of a level if the field's bound is `error`: half of its step.
    #[inline(always)]
    pub fn error(&self, error: f64, level: u32) -> f64 {
        let error = error / (1.0 + 2.0 * part_of_step::<f64>(self.dead));
        let mut divisor = 1.0;
        for _ in 0..level {
            divisor *= self.alpha;
        }
        let of_level = error / divisor;
        let least = error / self.beta;
        if of_level > least { of_level } else { least }
    }
}

/// The parameters of predictor and quantiser for a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Anchors and windows.
    pub geometry: Geometry,
    /// The flags of each level, from the finest on.
    pub levels: [LevelFlags; MAX_LEVELS],
    /// The tightening of the levels' bounds.
    pub tightening: Tightening,
    /// The shifts of contexts, which only codecs with fitted coefficients have.
    pub shifts: Shifts,
}

impl Default for Parameters {
    /// cuSZ-Hi's parameters without tuning: the two finest levels are predicted along all axes.
    fn default() -> Self {
        let mut levels = [LevelFlags::default(); MAX_LEVELS];
        levels[0].is_multi = true;
        levels[1].is_multi = true;
        Self {
            geometry: Geometry::default(),
            levels,
            tightening: Tightening::DEFAULT,
            shifts: Shifts::NONE,
        }
    }
}

impl Parameters {
    /// The parameters for the smallest stream that do not depend on the field.
    pub fn for_ratio(geometry: Geometry) -> Self {
        Self {
            geometry,
            tightening: Tightening::new(1.25, 2.0),
            ..Self::default()
        }
    }

    /// The number of bits of the flags of all levels.
    pub const FLAG_BITS: u32 = LevelFlags::BITS * MAX_LEVELS as u32;

    /// The flags of all levels as bits; the finest level has the lowest bits.
    #[inline(always)]
    pub fn flag_bits(&self) -> u32 {
        let mut bits = 0;
        for (level, flags) in (0..).zip(&self.levels) {
            bits |= flags.to_bits() << (LevelFlags::BITS * level);
        }
        bits
    }

    /// The flags of a level from the bits of all levels.
    #[inline(always)]
    pub const fn flags_of(flag_bits: u32, level: u32) -> LevelFlags {
        LevelFlags::from_bits(flag_bits >> (LevelFlags::BITS * level))
    }
}
