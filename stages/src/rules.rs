//! The rules of FZGPUModules' stage that differ from ours, by name. They look at the whole field, or at its samples on
//! the CPU, before it is decomposed, so that all devices follow them alike.

use crate::code::Code;
use crate::decomposition::Decomposition;
use crate::error::Error;
use crate::interpolator::Interpolator;
use ferrosz_codec::Element;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::predict::interp::parameters::{Parameters, Tightening};
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::store::{each_position, is_own};
use ferrosz_codec::predict::interp::tune::sample::Samples;
use ferrosz_codec::predict::interp::tune::{TIGHTENINGS, TighteningChoice, Tuning, relative_of};
use ferrosz_codec::tile::code::{RADIUS, RAW, TileCodes, unzigzag};
use ferrosz_codec::tile::{self, Part, TILE, TileBox, TileGrid};
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::predict::interp::{Predictor, TileStore};
use ferrosz_host::cpu::predict::rows_of;
use ferrosz_host::cpu::predict::tune::tune;
use ferrosz_host::internals::extremes;

/// How the radius of codes is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RadiusRule {
    /// The least power of two from 32 on that all but about a thousandth of the values of a sample need. So a field has
    /// a few outliers, and its codes are narrow.
    #[default]
    Sampled,
    /// The least with which every code fits, as far as codes of the type can be that large. FZGPUModules' stage bounds the
    /// codes by the extremes of the field; here they are the field's own, so that the radius is the least indeed. Only
    /// values that are not finite, too large or too far from their prediction are outliers. Host memory only.
    Fits,
    /// This radius, from 1 to [`max_radius`](crate::CodeWidth::max_radius).
    Given(u32),
}

/// How the bounds of coarse levels are found, in place of the choice of the [`Tuning`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TighteningRule {
    /// Mode 4 of FZGPUModules' stage: the one of cuSZ-Hi's 11 pairs of alpha and beta with the lowest sum of prediction
    /// errors on the sample tiles. [`TighteningChoice::Cheapest`] takes the one with the fewest bits instead. The lowest
    /// error mostly has the tightest bounds, so that files are longer, and values nearer to the original ones. Host memory
    /// only.
    LowestError,
    /// Mode 5 of that stage: these numbers, of which each may be 0. An alpha of 0 follows from the ratio of the bound to the
    /// range of values; a beta of 0 is 4. [`TighteningChoice::Given`] has no such zeros.
    Manual {
        /// The factor from level to level: at least 1, or 0.
        alpha: f64,
        /// The largest factor: at least 1, or 0.
        beta: f64,
    },
}

impl TighteningRule {
    /// Whether its numbers can be used.
    fn is_valid(&self) -> bool {
        let is_factor = |factor: f64| factor == 0.0 || (1.0..=f64::MAX).contains(&factor);
        match *self {
            Self::LowestError => true,
            Self::Manual { alpha, beta } => is_factor(alpha) && is_factor(beta),
        }
    }
}

impl Interpolator {
    /// Sets how the radius of codes is found.
    #[must_use]
    pub fn radius_by(mut self, rule: RadiusRule) -> Self {
        self.radius = rule;
        self
    }

    /// Sets how the bounds of coarse levels are found, in place of the tuning's choice.
    ///
    /// # Errors
    ///
    /// [`Error::BadTuning`] if a number is neither 0 nor at least 1.
    pub fn tightening_by(mut self, rule: TighteningRule) -> Result<Self, Error> {
        if !rule.is_valid() {
            return Err(Error::BadTuning);
        }
        self.tightening = Some(rule);
        Ok(self)
    }

    /// Tunes by a mode of FZGPUModules' stage, from 0 to 5, by its rules: mode 4 takes [`TighteningRule::LowestError`], mode 5
    /// [`TighteningRule::Manual`] with these alpha and beta, which are 0 in all other modes. [`Tuning::of_mode`] has the same
    /// modes by our rules.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownMode`]; [`Error::BadTuning`] if alpha or beta cannot be used.
    pub fn fzgpu_mode(self, mode: u32, [alpha, beta]: [f64; 2]) -> Result<Self, Error> {
        let geometry = self.tuning.geometry;
        let tuning = Tuning::of_mode(mode, geometry, None).ok_or(Error::UnknownMode(mode))?;
        let mut tuned = self.tuning(tuning)?;
        tuned.tightening = None;
        match mode {
            5 => tuned.tightening_by(TighteningRule::Manual { alpha, beta }),
            _ if [alpha, beta] != [0.0, 0.0] => Err(Error::BadTuning),
            4 => tuned.tightening_by(TighteningRule::LowestError),
            _ => Ok(tuned),
        }
    }

    /// The radius, if it is given.
    pub(crate) fn given_radius(&self) -> Option<u32> {
        match self.radius {
            RadiusRule::Given(radius) => Some(radius),
            RadiusRule::Sampled | RadiusRule::Fits => None,
        }
    }

    /// The interpolator for codes of type `C` of this field: without rules that only the host follows.
    pub(crate) fn settled<T: Element, C: Code>(&self, grid: &TileGrid, field: &[T]) -> Self {
        let mut settled = *self;
        if self.radius == RadiusRule::Fits {
            settled.radius = RadiusRule::Given(C::WIDTH.max_radius());
        }
        settled.tightening = None;
        let rule = self.tightening.filter(|_| grid.elements() > 0);
        settled.tuning.tightening = match rule {
            None => return settled,
            Some(TighteningRule::Manual { alpha, beta }) => {
                let beta = if beta == 0.0 {
                    Tightening::DEFAULT.beta
                } else {
                    beta
                };
                let alpha = match alpha {
                    0.0 => self.known(field).alpha(),
                    alpha => alpha,
                };
                TighteningChoice::Given(Tightening::new(alpha, beta))
            }
            Some(TighteningRule::LowestError) => {
                TighteningChoice::Given(self.lowest_error(grid, field))
            }
        };
        settled
    }

    /// Whether a field in device memory can be decomposed: no rule looks at it on the host.
    ///
    /// # Errors
    ///
    /// [`Error::NeedsHostField`].
    #[cfg(feature = "cuda")]
    pub(crate) fn check_rules_of_device_memory(&self) -> Result<(), Error> {
        if self.radius == RadiusRule::Fits {
            return Err(Error::NeedsHostField("the radius with which all codes fit"));
        }
        match self.tightening {
            None => Ok(()),
            Some(_) => Err(Error::NeedsHostField("the rule of tightening")),
        }
    }

    /// What is known of a field and its bound.
    fn known<T: Element>(&self, field: &[T]) -> KnownBound<T> {
        let found = match self.base() {
            None => extremes(Version::best(), field),
            Some(_) => Extremes::default(),
        };
        let (quantizer, range) = self.resolve(&found);
        let error = quantizer.error();
        KnownBound {
            error,
            relative: relative_of(self.bound, error.to_f64(), range),
        }
    }

    /// The tightening with the lowest prediction error on the samples of a field, whose levels have the flags that are best
    /// with the tightening that follows from the bound.
    fn lowest_error<T: Element>(&self, grid: &TileGrid, field: &[T]) -> Tightening {
        let known = self.known(field);
        let tuning = Tuning {
            tightening: TighteningChoice::OfBound,
            ..self.tuning
        };
        let (version, read) = (Version::best(), rows_of(grid, field));
        let tuned = tune(version, grid, &read, known.error, known.relative, &tuning);
        let mut best = (f64::INFINITY, tuned.parameters.tightening);
        for tightening in TIGHTENINGS {
            let parameters = Parameters {
                tightening,
                ..tuned.parameters
            };
            let resolved = Resolved::new(parameters, known.error);
            let error = prediction_error(grid, field, &resolved);
            if error < best.0 {
                best = (error, tightening);
            }
        }
        best.1
    }
}

/// The absolute error of a field's bound, and its ratio to the range of values.
struct KnownBound<T> {
    error: T,
    relative: f64,
}

impl<T> KnownBound<T> {
    /// The factor that follows from the ratio.
    fn alpha(&self) -> f64 {
        Tightening::of_relative(self.relative).alpha
    }
}

/// The sum of the magnitudes of the prediction errors on the sample tiles of a field.
fn prediction_error<T: Element>(grid: &TileGrid, field: &[T], resolved: &Resolved<T>) -> f64 {
    let samples = Samples::new(grid.tiles());
    let spacing = resolved.parameters.geometry.spacing(grid.shape());
    let coarse = grid.coarse(spacing);
    let predictor = Predictor::new(Version::best(), grid, resolved, Part::Fine);
    let anchor = |at| field[grid.flat(grid.of_coarse(&coarse, spacing, at)) as usize];
    let (mut known, mut codes) = (TileStore::new(grid.shape()), Box::new([0; TILE]));
    let mut sum = 0.0;
    for sample in 0..samples.count() {
        let tile = grid.tile(samples.tile(sample));
        predictor.encode(&tile, rows_of(grid, field), anchor, &mut known, &mut codes);
        sum += error_of_tile(grid, field, resolved, (&tile, &known, &codes));
    }
    sum
}

/// The sum of the magnitudes of the prediction errors of a tile of these decoded values and codes. A prediction is the
/// decoded value without the quantised difference.
fn error_of_tile<T: Element>(
    grid: &TileGrid,
    field: &[T],
    resolved: &Resolved<T>,
    (tile, known, codes): (&TileBox, &TileStore<T>, &TileCodes),
) -> f64 {
    let shape = grid.shape();
    let mut sum = 0.0;
    each_position(shape, tile, |position| {
        let value = field[grid.flat(tile.at(position)) as usize];
        if !is_own(shape, position) || !value.is_finite() {
            return;
        }
        let level = tile::level(shape, position) as usize;
        let step = (resolved.quantizers.get(level)).map_or(0.0, |it| it.step.to_f64());
        sum += match codes[tile::index(shape, position) as usize] {
            // The prediction is not known, but far away.
            RAW => f64::from(RADIUS) * step,
            code => {
                let difference = f64::from(unzigzag(code)) * step;
                (value.to_f64() - (known.value(position).to_f64() - difference)).abs()
            }
        };
    });
    sum
}

impl<T: Element, C: Code> Decomposition<T, C> {
    /// The same parts with the least radius with which all codes fit that fit now.
    pub(crate) fn with_least_radius(mut self) -> Self {
        let radius = self.recipe.resolved.radius;
        let coded = self.codes.iter().map(|code| code.to_u32());
        let most = coded
            .filter(|code| *code != 0)
            .map(|code| code.abs_diff(radius))
            .max();
        let least = most.map_or(1, |most| most + 1);
        for code in &mut self.codes {
            if code.to_u32() != 0 {
                *code = C::from_u32(code.to_u32() + least - radius);
            }
        }
        self.recipe.resolved = self.recipe.resolved.with_radius(least);
        self
    }
}
