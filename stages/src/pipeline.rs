//! Pipelines: an interpolator, a stage behind it, and the container of what they make.

use crate::code::Code;
use crate::container::{self, Container, checked_name};
use crate::devices::decode;
use crate::error::Error;
use crate::interpolator::Interpolator;
use crate::recipe::CodeWidth;
use crate::stage::{Stage, own_stage};
use ferrosz_codec::Element;
use ferrosz_host::Device;
use std::fmt;
use std::sync::Arc;

/// An interpolator and the stage behind it. Compresses fields to containers, and back.
///
/// ```
/// use ferrosz_stages::stage::entropy::Rans;
/// use ferrosz_stages::{Bound, Interpolator, Pipeline};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let field: Vec<f32> = (0..30 * 40 * 50).map(|i| (i as f32 * 0.01).sin()).collect();
/// let interpolator = Interpolator::new(Bound::abs(1e-3)?).extents(&[30, 40, 50])?;
/// let pipeline = Pipeline::new(interpolator, Rans);
/// let bytes = pipeline.compress(&field)?;
/// assert!(bytes.len() * 4 < field.len() * 4);
/// let back: Vec<f32> = pipeline.decompress(&bytes)?;
/// assert!(field.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 1e-3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Pipeline {
    pub(crate) interpolator: Interpolator,
    pub(crate) stage: Arc<dyn Stage>,
    pub(crate) width: CodeWidth,
}

impl fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (f.debug_struct("Pipeline"))
            .field("interpolator", &self.interpolator)
            .field("stage", &self.stage.name())
            .field("width", &self.width)
            .finish()
    }
}

impl Pipeline {
    /// This stage behind this interpolator, with codes of 16 bits.
    pub fn new(interpolator: Interpolator, stage: impl Stage + 'static) -> Self {
        Self::of(interpolator, Arc::new(stage))
    }

    /// As [`Pipeline::new`], with a stage that others may have, too: one of [`own_stage`].
    pub fn of(interpolator: Interpolator, stage: Arc<dyn Stage>) -> Self {
        Self {
            interpolator,
            stage,
            width: CodeWidth::default(),
        }
    }

    /// Sets the integer type of codes between interpolator and stage.
    #[must_use]
    pub fn width(mut self, width: CodeWidth) -> Self {
        self.width = width;
        self
    }

    /// Compresses a field to a container, on the interpolator's device. A stage that only the CPU runs gets the codes there;
    /// with [`RadiusRule::Fits`](crate::RadiusRule::Fits) every stage does. The bytes are the same for each device.
    ///
    /// # Errors
    ///
    /// As [`Interpolator::decompose`] and [`container::write`].
    pub fn compress<T: Element>(&self, field: &[T]) -> Result<Vec<u8>, Error> {
        match self.width {
            CodeWidth::U8 => self.compress_with::<T, u8>(field),
            CodeWidth::U16 => self.compress_with::<T, u16>(field),
            CodeWidth::U32 => self.compress_with::<T, u32>(field),
        }
    }

    fn compress_with<T: Element, C: Code>(&self, field: &[T]) -> Result<Vec<u8>, Error> {
        let (interpolator, stage) = (&self.interpolator, &*self.stage);
        let extents = interpolator.extents_for(field.len() as u64);
        let extents = extents.lengths();
        checked_name(stage.name())?;
        if let Some(encoded) = interpolator.encode::<T, C>(field, stage)? {
            return encoded.write(extents, stage.name());
        }
        container::write::<T, C>(&interpolator.decompose(field)?, extents, stage)
    }

    /// The field in a container that this pipeline made, or one with a stage of ferrosz's own.
    ///
    /// # Errors
    ///
    /// As [`decompress`].
    pub fn decompress<T: Element>(&self, bytes: &[u8]) -> Result<Vec<T>, Error> {
        decompress(bytes, &[&*self.stage], self.interpolator.device)
    }
}

/// The field in a container, composed on `device`. Its stage must be one of `stages` or one of ferrosz's own.
///
/// # Errors
///
/// [`Error::UnknownStage`]; as [`Container::read`] and [`Container::parts`];
/// [`Error::Ferrosz`] of the device.
pub fn decompress<T: Element>(
    bytes: &[u8],
    stages: &[&dyn Stage],
    device: Device,
) -> Result<Vec<T>, Error> {
    let container = Container::read(bytes)?;
    let own;
    let stage = match stages
        .iter()
        .find(|stage| stage.name() == container.stage())
    {
        Some(stage) => *stage,
        None => {
            own = own_stage(container.stage())?;
            &*own
        }
    };
    if let Some(field) = decode(&container, stage, device)? {
        return Ok(field);
    }
    match container.width() {
        CodeWidth::U8 => container.parts::<T, u8>(stage)?.compose_on(device),
        CodeWidth::U16 => container.parts::<T, u16>(stage)?.compose_on(device),
        CodeWidth::U32 => container.parts::<T, u32>(stage)?.compose_on(device),
    }
}
