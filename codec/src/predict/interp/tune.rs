//! Tuning: the choice of a field's interpolation parameters from a few of its tiles.
//!
//! A *candidate* is a complete set of parameters. To find its cost, sample tiles are predicted and quantised with it,
//! as they would be coded, and the bits of their codes are estimated ([`mod@cost`]). Costs are integers and are summed,
//! so the result does not depend on the order of the computation: every machine makes the same choice.
//!
//! The modes choose among the same parameters as cuSZ-Hi and FZGPUModules' G-Interp, but by another criterion: those
//! sum floating-point errors.

pub mod anchor;
pub mod cost;
pub mod radius;
pub mod sample;
pub mod score;
pub mod search;

use crate::bound::{Bound, BoundMode};
use crate::predict::fitted::FittedKind;
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::parameters::Tightening;
use crate::predict::interp::tune::sample::Samples;
use core::fmt;
use core::str::FromStr;

/// The parameters that are tuned, and their choices.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// Anchors and windows; they are not tuned.
    pub geometry: Geometry,
    /// The choice of the levels' flags.
    pub flags: FlagChoice,
    /// The coefficients that are fitted.
    pub fitted: FittedKind,
    /// The choice of the levels' bounds.
    pub tightening: TighteningChoice,
}

/// The choice of the levels' flags.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlagChoice {
    /// The flags of [`Parameters::default`](crate::predict::interp::parameters::Parameters::default).
    Default,
    /// The default flags, with a tuned order of axes, the same for all levels.
    Order,
    /// No level is predicted along all axes; one order and one spline for all levels.
    OrderAndSpline,
    /// For each level the order or all axes, and the spline.
    PerLevel,
    /// For each level the order, all axes or stencils.
    Stencils,
    /// None: all levels are fitted.
    AllFitted,
}

/// The choice of the levels' bounds.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TighteningChoice {
    /// These bounds.
    Given(Tightening),
    /// Bounds by the ratio of the field's bound to the range of values; see [`Tightening::of_relative`].
    OfBound,
    /// The cheapest of the first this many of [`TIGHTENINGS`], at least one.
    Cheapest(u32),
}

/// The aims of users, without details of interpolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preference {
    /// The fewest bytes for the bound.
    #[default]
    Ratio,
    /// The smallest mean error for the bytes: coarse levels have tighter bounds than the fewest bytes would need.
    Quality,
}

impl TighteningChoice {
    /// Whether the ratio of the bound to the range of values matters.
    pub const fn needs_range(self) -> bool {
        matches!(self, Self::OfBound)
    }

    /// The choice for a field with this absolute error and this range of finite values: one that depends on them is made.
    #[must_use]
    pub fn of_field(self, error: f64, range: f64) -> Self {
        match self {
            Self::OfBound => Self::Given(Tightening::of_relative(error / range)),
            Self::Given(_) | Self::Cheapest(_) => self,
        }
    }
}

impl Preference {
    /// All preferences.
    pub const ALL: [Self; 2] = [Self::Ratio, Self::Quality];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ratio => "ratio",
            Self::Quality => "quality",
        }
    }

    /// The choice of the levels' bounds: the cheapest of three, or alpha by Eq. 2 of cuSZ-i's paper with cuSZ-Hi's beta.
    pub const fn tightening(self) -> TighteningChoice {
        match self {
            Self::Ratio => TighteningChoice::Cheapest(3),
            Self::Quality => TighteningChoice::OfBound,
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no preference has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownPreferenceName;

impl fmt::Display for UnknownPreferenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no preference has this name; the preferences are ratio and quality")
    }
}

impl core::error::Error for UnknownPreferenceName {}

impl FromStr for Preference {
    type Err = UnknownPreferenceName;

    fn from_str(name: &str) -> Result<Self, UnknownPreferenceName> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or(UnknownPreferenceName)
    }
}

/// The choices of [`TighteningChoice::Cheapest`], those that usually win first: cuSZ-Hi's list.
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
        Self::preferring(Preference::default())
    }
}

impl Tuning {
    /// The tuning of a preference.
    pub const fn preferring(preference: Preference) -> Self {
        Self {
            geometry: Geometry::Wide,
            flags: FlagChoice::PerLevel,
            fitted: FittedKind::None,
            tightening: preference.tightening(),
        }
    }

    /// The tuning of streams with this geometry.
    pub const fn of_stream(geometry: Geometry, tightening: TighteningChoice) -> Self {
        Self {
            geometry,
            tightening,
            ..Self::preferring(Preference::Ratio)
        }
    }

    /// The tuning of streams that have these coefficients.
    pub const fn of_fitted(fitted: FittedKind, tightening: TighteningChoice) -> Self {
        Self {
            flags: fitted.flags(),
            fitted,
            ..Self::of_stream(fitted.geometry(), tightening)
        }
    }

    /// The dead zone of all levels: only given bounds have one.
    #[inline(always)]
    pub const fn dead_zone(&self) -> u32 {
        match self.tightening {
            TighteningChoice::Given(given) => given.dead,
            TighteningChoice::OfBound | TighteningChoice::Cheapest(_) => 0,
        }
    }

    /// Whether coefficients are fitted.
    #[inline(always)]
    pub const fn is_fitted(&self) -> bool {
        self.fitted.is_some()
    }

    /// The sample tiles of a field of this many tiles.
    #[inline(always)]
    pub const fn samples(&self, tiles: u64) -> Samples {
        if self.is_fitted() {
            Samples::most(tiles)
        } else {
            Samples::new(tiles)
        }
    }

    /// The tuning of a mode as FZGPUModules numbers them: 0 none, 1 order, 2 order and spline, 3 each level, 4 each
    /// level and the levels' bounds, 5 the levels' bounds as `given`, otherwise by the bound. None for other numbers.
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
            fitted: FittedKind::None,
            tightening,
        })
    }

    /// Whether a given tightening is valid.
    pub fn is_valid(&self) -> bool {
        match self.tightening {
            TighteningChoice::Given(tightening) => tightening.is_valid(),
            TighteningChoice::OfBound => true,
            TighteningChoice::Cheapest(count) => count > 0,
        }
    }

    /// Whether the ratio of the bound to the range of values matters.
    pub const fn needs_range(&self) -> bool {
        self.tightening.needs_range()
    }
}

/// The ratio of the bound, whose absolute error is `error`, to the range of finite values.
#[inline(always)]
pub fn relative(mode: BoundMode, value: f64, error: f64, range: f64) -> f64 {
    match mode {
        BoundMode::Range => value,
        BoundMode::Abs | BoundMode::Max | BoundMode::Pwrel => error / range,
    }
}

/// [`relative`] for a bound.
pub fn relative_of(bound: Bound, error: f64, range: f64) -> f64 {
    relative(bound.mode(), bound.value(), error, range)
}
