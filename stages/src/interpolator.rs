//! The interpolator: the parameters of decompositions.

use crate::code::Code;
use crate::error::Error;
use crate::order::CodeOrder;
use crate::rules::{RadiusRule, TighteningRule};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Bound, BoundMode, Element, Shape};
use ferrosz_host::internals::extents;
use ferrosz_host::{Device, Error as HostError, Length};

/// Decomposes fields. Its parameters are set once, and serve any number of fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interpolator {
    pub(crate) bound: Bound,
    base: Option<f64>,
    extents: Option<Extents>,
    shape: Shape,
    pub(crate) tuning: Tuning,
    pub(crate) radius: RadiusRule,
    pub(crate) tightening: Option<TighteningRule>,
    pub(crate) order: CodeOrder,
    pub(crate) device: Device,
}

impl Interpolator {
    /// Decomposition within `bound`, tuned for ratio, with as many dimensions as the field has, codes in the
    /// order of the field, and a radius that follows from a sample of each field.
    pub fn new(bound: Bound) -> Self {
        Self {
            bound,
            base: None,
            extents: None,
            shape: Shape::Cube,
            tuning: Tuning::default(),
            radius: RadiusRule::default(),
            tightening: None,
            order: CodeOrder::default(),
            device: Device::default(),
        }
    }

    /// Records the field's extents, slowest dimension first. Without them a field is a line.
    ///
    /// # Errors
    ///
    /// [`HostError::BadExtents`] if they are more than eight.
    pub fn extents<L: Length>(mut self, lengths: &[L]) -> Result<Self, Error> {
        self.extents = Some(extents(lengths)?);
        Ok(self)
    }

    /// Sets along how many dimensions, the last ones, is predicted: 1 to 3. Never along more than those that are
    /// longer than 1.
    ///
    /// # Errors
    ///
    /// [`HostError::BadRank`].
    pub fn with_rank(mut self, rank: u8) -> Result<Self, Error> {
        self.shape = Shape::of_rank(rank).ok_or(HostError::BadRank(rank))?;
        Ok(self)
    }

    /// Sets the value base of the bound: the range of the field's values, or the largest magnitude with
    /// [`BoundMode::Max`]. The field is then not searched for it. The error is within the absolute bound that follows
    /// from this base, even if the base is not the field's own.
    ///
    /// # Errors
    ///
    /// [`Error::BadValueBase`] if it is negative or not finite.
    pub fn value_base(mut self, base: f64) -> Result<Self, Error> {
        if !(0.0..=f64::MAX).contains(&base) {
            return Err(Error::BadValueBase(base));
        }
        self.base = Some(base);
        Ok(self)
    }

    /// Sets how parameters are found.
    ///
    /// # Errors
    ///
    /// [`Error::BadTuning`] if it has a tightening below 1, or chooses from none.
    pub fn tuning(mut self, tuning: Tuning) -> Result<Self, Error> {
        if !tuning.is_valid() {
            return Err(Error::BadTuning);
        }
        self.tuning = tuning;
        Ok(self)
    }

    /// Sets the radius of codes. Their magnitudes are below it; a value whose code would be larger is an outlier. The
    /// radius is at least 1 and at most [`max_radius`](crate::CodeWidth::max_radius). Without this call it follows from
    /// [`RadiusRule::Sampled`].
    #[must_use]
    pub fn radius(mut self, radius: u32) -> Self {
        self.radius = RadiusRule::Given(radius);
        self
    }

    /// Sets the order of codes.
    #[must_use]
    pub fn order(mut self, order: CodeOrder) -> Self {
        self.order = order;
        self
    }

    /// Chooses where to run. The parts are the same everywhere.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Whether codes of type `C` can have the radius.
    pub(crate) fn check_radius<C: Code>(&self) -> Result<(), Error> {
        let most = C::WIDTH.max_radius();
        match self.given_radius() {
            Some(radius) if !(1..=most).contains(&radius) => Err(Error::BadRadius { radius, most }),
            _ => Ok(()),
        }
    }

    /// The extents of a field of so many elements; whether they have as many is not checked.
    pub(crate) fn extents_for(&self, elements: u64) -> Extents {
        self.extents.unwrap_or(Extents::line(elements))
    }

    /// The field of so many elements as it is predicted.
    pub(crate) fn grid_for<T: Element>(&self, elements: u64) -> Result<TileGrid, Error> {
        if self.bound.mode() == BoundMode::Pwrel {
            return Err(Error::PointwiseBound);
        }
        let extents = self.extents_for(elements);
        if extents.elements() != elements {
            return Err(HostError::ExtentsMismatch {
                extents: extents.lengths().to_vec(),
                product: extents.elements(),
                elements,
            }
            .into());
        }
        if u32::try_from(elements).is_err() {
            let dtype = T::DTYPE;
            return Err(HostError::TooLarge {
                elements,
                dtype: dtype.into(),
            }
            .into());
        }
        let grid = Grid::new(self.shape, &extents);
        Ok(TileGrid::new(grid.shape(), grid.lengths()))
    }

    /// The value base, if it is given.
    pub(crate) fn base(&self) -> Option<f64> {
        self.base
    }

    /// Whether the extremes of the field must be known.
    pub(crate) fn needs_extremes(&self) -> bool {
        self.base.is_none() && (self.bound.needs_extremes() || self.needs_range())
    }

    /// Whether a bound must be compared with the range of values.
    pub(crate) fn needs_range(&self) -> bool {
        self.tuning.needs_range() && self.bound.mode() != BoundMode::Range
    }

    /// The quantiser of the bound, and the range of values as far as it is known.
    pub(crate) fn resolve<T: Element>(&self, extremes: &Extremes<T>) -> (Quantizer<T>, f64) {
        match (self.base, self.bound.mode()) {
            (None, _) => (self.bound.resolve(extremes), extremes.range_down()),
            // Values of both signs.
            (Some(base), BoundMode::Max) => (self.bound.resolve_of(base), 2.0 * base),
            (Some(base), _) => (self.bound.resolve_of(base), base),
        }
    }
}
