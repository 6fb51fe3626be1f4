//! Tuning: what a field's interpolation is done with, decided on a few of its tiles.
//!
//! A *candidate* is a whole set of parameters. What it costs is found by predicting and quantising sample
//! tiles with it, as they would be coded, and estimating the bits of their codes ([`mod@cost`]). Costs are
//! integers and are summed, so that it does not matter who finds them in which order: every machine decides
//! alike.
//!
//! The modes are those of cuSZ-Hi and of FZGPUModules' G-Interp in what they choose among, not in how they
//! judge: these sum floating-point errors.

pub mod cost;
pub mod radius;
pub mod sample;
pub mod search;

use crate::bound::{Bound, BoundMode};
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::Tightening;

/// What is decided, and among what.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Anchors and windows; they are not tuned.
    pub geometry: Geometry,
    /// How the flags of levels are found.
    pub flags: FlagChoice,
    /// How the levels' bounds are found.
    pub tightening: TighteningChoice,
}

/// How the flags of levels are found.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlagChoice {
    /// Those of [`Parameters::default`].
    Default,
    /// As the default, but the order of axes is tuned, one for all levels.
    Order,
    /// No level along all axes at once; one order and one spline for all levels.
    OrderAndSpline,
    /// Order or all axes at once, and the spline, for each level.
    PerLevel,
}

/// How the levels' bounds are found.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TighteningChoice {
    /// They are these.
    Given(Tightening),
    /// By the bound's part of the range of values; see [`Tightening::of_relative`].
    OfBound,
    /// The cheapest of the first so many of [`TIGHTENINGS`], at least one.
    Cheapest(u32),
}

/// What users ask for who do not know what interpolation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// The fewest bytes for the bound.
    #[default]
    Ratio,
    /// The smallest mean error for the bytes: coarse levels have tighter bounds than bytes alone would want.
    Quality,
}

/// What [`TighteningChoice::Cheapest`] chooses from, those that mostly win first. cuSZ-Hi's list.
pub const TIGHTENINGS: [Tightening; 11] = [
    Tightening::new(1.0, 2.0),
    Tightening::new(1.25, 2.0),
    Tightening::new(1.5, 2.0),
    Tightening::new(1.5, 3.0),
    Tightening::new(1.5, 4.0),
    Tightening::new(1.75, 2.0),
    Tightening::new(1.75, 3.0),
    Tightening::new(1.75, 4.0),
    Tightening::new(2.0, 2.0),
    Tightening::new(2.0, 3.0),
    Tightening::new(2.0, 4.0),
];

impl Default for Tuning {
    fn default() -> Self {
        Self::preset(Preset::default())
    }
}

impl Tuning {
    /// The tuning of a preset.
    pub const fn preset(preset: Preset) -> Self {
        Self {
            geometry: Geometry::Wide,
            flags: FlagChoice::PerLevel,
            tightening: match preset {
                Preset::Ratio => TighteningChoice::Cheapest(3),
                Preset::Quality => TighteningChoice::OfBound,
            },
        }
    }

    /// The tuning of streams with this geometry.
    pub const fn of_stream(geometry: Geometry) -> Self {
        let ratio = Self::preset(Preset::Ratio);
        Self { geometry, ..ratio }
    }

    /// The tuning of a mode's number as FZGPUModules counts them: 0 none, 1 order, 2 order and spline, 3 each
    /// level, 4 each level and the levels' bounds, 5 the levels' bounds as `given`, or else by the bound.
    /// None for other numbers.
    pub const fn of_mode(mode: u32, geometry: Geometry, given: Option<Tightening>) -> Option<Self> {
        let flags = match mode {
            0 | 5 => FlagChoice::Default,
            1 => FlagChoice::Order,
            2 => FlagChoice::OrderAndSpline,
            3 | 4 => FlagChoice::PerLevel,
            _ => return None,
        };
        let tightening = match (mode, given) {
            (0, _) => TighteningChoice::Given(Tightening::DEFAULT),
            (4, _) => TighteningChoice::Cheapest(TIGHTENINGS.len() as u32),
            (5, Some(given)) => TighteningChoice::Given(given),
            _ => TighteningChoice::OfBound,
        };
        Some(Self {
            geometry,
            flags,
            tightening,
        })
    }

    /// Whether a tightening that is given can be used.
    pub fn is_valid(&self) -> bool {
        match self.tightening {
            TighteningChoice::Given(tightening) => tightening.is_valid(),
            TighteningChoice::OfBound => true,
            TighteningChoice::Cheapest(count) => count > 0,
        }
    }

    /// Whether it matters which part of the range of values a bound is.
    pub const fn needs_range(&self) -> bool {
        matches!(self.tightening, TighteningChoice::OfBound)
    }
}

/// Which part of the range of finite values a bound is that came to `error`.
#[inline(always)]
pub fn relative(mode: BoundMode, value: f64, error: f64, range: f64) -> f64 {
    match mode {
        BoundMode::Range => value,
        BoundMode::Abs | BoundMode::Max => error / range,
    }
}

/// As [`relative`], of a bound.
pub fn relative_of(bound: Bound, error: f64, range: f64) -> f64 {
    relative(bound.mode(), bound.value(), error, range)
}
