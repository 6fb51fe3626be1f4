//! The interpolation predictor alone, for people who compose their own pipelines: a field to codes, anchors and
//! outliers, and back. After the stage of FZGPUModules, but deterministic and within the bound.
//!
//! ```
//! # use ferrosz_host as ferrosz;
//! use ferrosz::Bound;
//! use ferrosz::stages::{CodeOrder, Decomposition, Interpolator, Recipe};
//!
//! let field: Vec<f32> = (0..40 * 50 * 60).map(|i| (i as f32 * 0.01).sin()).collect();
//! let interpolator = Interpolator::new(Bound::range(1e-3)?)
//!     .extents(&[40, 50, 60])?
//!     .order(CodeOrder::Level);
//! let parts: Decomposition<f32, u16> = interpolator.decompose(&field)?;
//! // To be compressed by whatever you like.
//! let radius = parts.recipe.resolved.radius as u16;
//! assert!(parts.codes.iter().filter(|code| **code == radius).count() > field.len() / 2);
//! assert_eq!(parts.anchors.len(), 3 * 4 * 4);
//! let recipe = parts.recipe.to_bytes();
//!
//! let parts = Decomposition {
//!     recipe: Recipe::from_bytes(&recipe)?,
//!     ..parts
//! };
//! let decoded = parts.compose()?;
//! assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 2e-3));
//! # Ok::<(), ferrosz::Error>(())
//! ```

mod bands;
pub(crate) mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod kernels;

pub use ferrosz_codec::predict::interp::geometry::Geometry;
pub use ferrosz_codec::predict::interp::order::CodeOrder;
pub use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
pub use ferrosz_codec::predict::interp::recipe::{CodeWidth, RECIPE_BYTES, Recipe};
pub use ferrosz_codec::predict::interp::resolved::Resolved;
pub use ferrosz_codec::predict::interp::spline::Spline;
pub use ferrosz_codec::predict::interp::tune::{FlagChoice, Preset, TighteningChoice, Tuning};

#[cfg(feature = "cuda")]
pub use crate::stages::cuda::{DeviceParts, PartsWorkspace};

use crate::auto_device::{Coding, Direction, Work};
use crate::backend::{Backend, Gpu};
use crate::device::Device;
use crate::error::Error;
#[cfg(feature = "emulator")]
use crate::gpu::executor::emulator;
use crate::length::{self, Length};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Bound, BoundMode, Element, Shape};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// The integers that codes can be: `u8`, `u16` or `u32`.
pub trait Code: bytemuck::Pod + Send + Sync + sealed::Sealed {
    /// Which of them it is.
    const WIDTH: CodeWidth;
    /// The low bits of a number.
    fn from_u32(code: u32) -> Self;
    /// The number.
    fn to_u32(self) -> u32;
}

impl Code for u8 {
    const WIDTH: CodeWidth = CodeWidth::U8;

    fn from_u32(code: u32) -> Self {
        code as u8
    }

    fn to_u32(self) -> u32 {
        self.into()
    }
}

impl Code for u16 {
    const WIDTH: CodeWidth = CodeWidth::U16;

    fn from_u32(code: u32) -> Self {
        code as u16
    }

    fn to_u32(self) -> u32 {
        self.into()
    }
}

impl Code for u32 {
    const WIDTH: CodeWidth = CodeWidth::U32;

    fn from_u32(code: u32) -> Self {
        code
    }

    fn to_u32(self) -> u32 {
        self
    }
}

/// A field in parts, with codes of type `C`.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition<T, C> {
    /// What composing must know.
    pub recipe: Recipe<T>,
    /// A code for each position of the field, in the recipe's order: the quantised difference from the
    /// prediction plus the radius. 0 says that the position is an outlier. The radius itself at anchors.
    pub codes: Vec<C>,
    /// The values of the anchors, bit for bit, in the order of the field.
    pub anchors: Vec<T>,
    /// The values of the outliers, bit for bit, in the order of the field.
    pub outlier_values: Vec<T>,
    /// Their numbers in the field, ascending.
    pub outlier_indices: Vec<u32>,
}

impl<T: Element, C: Code> Decomposition<T, C> {
    /// The field.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if the parts do not fit each other.
    pub fn compose(&self) -> Result<Vec<T>, Error> {
        self.compose_on(Device::default())
    }

    /// As [`Decomposition::compose`], where you say. The field is the same everywhere.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`]; [`Error::NoDevice`] and [`Error::Cuda`] from a GPU.
    pub fn compose_on(&self, device: Device) -> Result<Vec<T>, Error> {
        self.check_lengths()?;
        let work = Work::new::<T>(
            Direction::Decompress,
            Coding::Interpolation,
            self.codes.len() as u64,
        );
        match Backend::of(device, work)? {
            Backend::Cpu => cpu::compose(self),
            Backend::Gpu(gpu) => gpu.compose_parts(self),
        }
    }

    fn check_lengths(&self) -> Result<(), Error> {
        let recipe = &self.recipe;
        let what = if recipe.width != C::WIDTH {
            "the codes are not of the recipe's width"
        } else if self.codes.len() as u64 != recipe.grid.elements() {
            "there are not as many codes as the field has elements"
        } else if self.anchors.len() as u64 != recipe.coarse().elements() {
            "there are not as many anchors as the field has"
        } else if self.outlier_values.len() != self.outlier_indices.len() {
            "there are not as many values of outliers as positions"
        } else {
            return Ok(());
        };
        Err(Error::BadDecomposition(what))
    }
}

/// What is wrong with codes, whichever machine finds it.
const BAD_CODE: &str = "a code is not below twice the radius";

/// What is wrong with outliers.
const BAD_OUTLIERS: &str = "the outliers are not those that codes of 0 ask for";

impl Gpu {
    fn decompose_field<T: Element, C: Code>(
        &self,
        interpolator: &Interpolator,
        grid: &TileGrid,
        field: &[T],
    ) -> Result<Decomposition<T, C>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref of_device) => {
                let executor = of_device.on_default_stream();
                kernels::decompose(&executor, interpolator, grid, field)
            }
            #[cfg(feature = "emulator")]
            Self::Emulator => kernels::decompose(&emulator::new(), interpolator, grid, field),
        }
    }

    fn compose_parts<T: Element, C: Code>(
        &self,
        parts: &Decomposition<T, C>,
    ) -> Result<Vec<T>, Error> {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref of_device) => kernels::compose(&of_device.on_default_stream(), parts),
            #[cfg(feature = "emulator")]
            Self::Emulator => kernels::compose(&emulator::new(), parts),
        }
    }
}

/// Decomposes fields: what to do, set once, used for any number of fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interpolator {
    bound: Bound,
    base: Option<f64>,
    extents: Option<Extents>,
    shape: Shape,
    tuning: Tuning,
    radius: Option<u32>,
    order: CodeOrder,
    device: Device,
}

impl Interpolator {
    /// Decomposition within `bound`, tuned for ratio, with as many dimensions as the field has, codes in the
    /// order of the field, and a radius that a sample of each field asks for.
    pub fn new(bound: Bound) -> Self {
        Self {
            bound,
            base: None,
            extents: None,
            shape: Shape::Cube,
            tuning: Tuning::default(),
            radius: None,
            order: CodeOrder::default(),
            device: Device::default(),
        }
    }

    /// Records the field's extents, slowest dimension first. Without them a field is a line.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`] if they are not one to three.
    pub fn extents<L: Length>(mut self, extents: &[L]) -> Result<Self, Error> {
        self.extents = Some(length::extents(extents)?);
        Ok(self)
    }

    /// Sets along how many dimensions, the last ones, is predicted: 1 to 3. Never along more than those that are
    /// longer than 1.
    ///
    /// # Errors
    ///
    /// [`Error::BadRank`].
    pub fn with_rank(mut self, rank: u8) -> Result<Self, Error> {
        self.shape = Shape::of_rank(rank).ok_or(Error::BadRank(rank))?;
        Ok(self)
    }

    /// Says what the bound is relative to, so that the field need not be searched for it: the range of its values,
    /// or the largest magnitude with [`BoundMode::Max`]. The bound is kept on what it comes to, whether that is so
    /// or not.
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

    /// Sets the radius of codes: their magnitudes are below it, what would be larger is an outlier. At least 1, at
    /// most [`CodeWidth::max_radius`]. Without this call it is the least power of two from 32 on that all but
    /// about a thousandth of the values need.
    #[must_use]
    pub fn radius(mut self, radius: u32) -> Self {
        self.radius = Some(radius);
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

    /// Decomposes a field.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::BadRadius`] if it is not one of codes of type `C`;
    /// [`Error::TooLarge`] if the field has 2^32 elements or more; [`Error::NoDevice`] and [`Error::Cuda`] from a
    /// GPU.
    pub fn decompose<T: Element, C: Code>(
        &self,
        field: &[T],
    ) -> Result<Decomposition<T, C>, Error> {
        self.check_radius::<C>()?;
        let grid = self.grid_for::<T>(field.len() as u64)?;
        let work = Work::new::<T>(Direction::Compress, Coding::Interpolation, grid.elements());
        match Backend::of(self.device, work)? {
            Backend::Cpu => cpu::decompose(self, &grid, field),
            Backend::Gpu(gpu) => gpu.decompose_field(self, &grid, field),
        }
    }

    /// Whether codes of type `C` can have the radius.
    fn check_radius<C: Code>(&self) -> Result<(), Error> {
        let most = C::WIDTH.max_radius();
        match self.radius {
            Some(radius) if !(1..=most).contains(&radius) => Err(Error::BadRadius { radius, most }),
            _ => Ok(()),
        }
    }

    /// The field of so many elements as it is predicted.
    fn grid_for<T: Element>(&self, elements: u64) -> Result<TileGrid, Error> {
        let extents = self.extents.unwrap_or(Extents::line(elements));
        if extents.elements() != elements {
            return Err(Error::ExtentsMismatch {
                extents: extents.lengths().to_vec(),
                product: extents.elements(),
                elements,
            });
        }
        if u32::try_from(elements).is_err() {
            let dtype = T::DTYPE;
            return Err(Error::TooLarge { elements, dtype });
        }
        let grid = Grid::new(self.shape, &extents);
        Ok(TileGrid::new(grid.shape(), grid.lengths()))
    }

    /// Whether the extremes of the field must be known.
    fn needs_extremes(&self) -> bool {
        self.base.is_none() && (self.bound.needs_extremes() || self.needs_range())
    }

    /// Whether a bound must be compared with the range of values.
    fn needs_range(&self) -> bool {
        self.tuning.needs_range() && self.bound.mode() != BoundMode::Range
    }

    /// The quantiser of the bound, and the range of values as far as it is known.
    fn resolve<T: Element>(&self, extremes: &Extremes<T>) -> (Quantizer<T>, f64) {
        match (self.base, self.bound.mode()) {
            (None, _) => (self.bound.resolve(extremes), extremes.range_down()),
            // Values of both signs.
            (Some(base), BoundMode::Max) => (self.bound.resolve_of(base), 2.0 * base),
            (Some(base), _) => (self.bound.resolve_of(base), base),
        }
    }
}
