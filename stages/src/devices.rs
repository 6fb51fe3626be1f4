//! Decomposition and composition of host memory, on all devices.

use crate::PACKAGE;
use crate::code::Code;
use crate::container::{Container, EncodedParts};
use crate::cpu;
use crate::decomposition::Decomposition;
use crate::error::Error;
use crate::gpu::encoded::{Decode, Encode};
use crate::gpu::{Compose, Decompose};
use crate::interpolator::Interpolator;
use crate::rules::RadiusRule;
use crate::stage::Stage;
use ferrosz_codec::{Codec, Element};
use ferrosz_host::internals::{Backend, Direction, Workload};
use ferrosz_host::{Device, Error as HostError};
use std::marker::PhantomData;

/// The machine for a call on so many elements.
fn backend_for<T: Element>(
    device: Device,
    direction: Direction,
    elements: u64,
) -> Result<Backend, HostError> {
    let bytes = elements.saturating_mul(T::BYTES as u64);
    let workload = Workload::new(direction, Codec::INTERP, bytes);
    Backend::of_package(&PACKAGE, device, workload)
}

impl Interpolator {
    /// Decomposes a field.
    ///
    /// # Errors
    ///
    /// [`Error::BadRadius`] if it is not one of codes of type `C`; [`Error::Ferrosz`]: [`HostError::ExtentsMismatch`],
    /// [`HostError::TooLarge`] if the field has 2^32 elements or more, and those of the device.
    pub fn decompose<T: Element, C: Code>(
        &self,
        field: &[T],
    ) -> Result<Decomposition<T, C>, Error> {
        self.check_radius::<C>()?;
        let grid = self.grid_for::<T>(field.len() as u64)?;
        let interpolator = &self.settled::<T, C>(&grid, field);
        let parts = match backend_for::<T>(self.device, Direction::Compress, grid.elements())? {
            Backend::Cpu => cpu::decompose(interpolator, &grid, field),
            Backend::Gpu(gpu) => gpu.run(Decompose {
                interpolator,
                grid: &grid,
                field,
                codes: PhantomData,
            }),
        };
        match self.radius {
            RadiusRule::Fits => parts.map(Decomposition::with_least_radius),
            RadiusRule::Sampled | RadiusRule::Given(_) => parts,
        }
    }
}

impl Interpolator {
    /// The parts of a field with codes that a stage encoded, if the field is for a machine with kernels.
    ///
    /// # Errors
    ///
    /// As [`Interpolator::decompose`] and of the stage.
    pub(crate) fn encode<T: Element, C: Code>(
        &self,
        field: &[T],
        stage: &dyn Stage,
    ) -> Result<Option<EncodedParts<T>>, Error> {
        self.check_radius::<C>()?;
        let grid = &self.grid_for::<T>(field.len() as u64)?;
        if self.radius == RadiusRule::Fits {
            return Ok(None);
        }
        let backend = backend_for::<T>(self.device, Direction::Compress, grid.elements())?;
        let Backend::Gpu(gpu) = backend else {
            return Ok(None);
        };
        let parts = Decompose {
            interpolator: &self.settled::<T, C>(grid, field),
            grid,
            field,
            codes: PhantomData::<C>,
        };
        gpu.run(Encode { parts, stage }).map(Some)
    }
}

/// The field of a container whose codes a stage decodes, if it is for a machine with kernels.
///
/// # Errors
///
/// As [`Container::parts`] and [`Decomposition::compose`].
pub(crate) fn decode<T: Element>(
    container: &Container<'_>,
    stage: &dyn Stage,
    device: Device,
) -> Result<Option<Vec<T>>, Error> {
    let (recipe, format) = &container.checked::<T>()?;
    let backend = backend_for::<T>(device, Direction::Decompress, format.count())?;
    let Backend::Gpu(gpu) = backend else {
        return Ok(None);
    };
    let parts = container.encoded();
    let call = Decode {
        recipe,
        format,
        parts,
        stage,
    };
    gpu.run(call).map(Some)
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
    /// [`Error::BadDecomposition`]; [`Error::Ferrosz`].
    pub fn compose_on(&self, device: Device) -> Result<Vec<T>, Error> {
        self.check_lengths()?;
        match backend_for::<T>(device, Direction::Decompress, self.codes.len() as u64)? {
            Backend::Cpu => cpu::compose(self),
            Backend::Gpu(gpu) => gpu.run(Compose(self)),
        }
    }
}
