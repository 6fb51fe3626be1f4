//! Decomposition and composition of device memory, on a stream of the caller's.
//!
//! ```no_run
//! use ferrosz_stages::cuda::{DeviceParts, Gpu, PartsWorkspace};
//! use ferrosz_stages::{Bound, CodeOrder, Interpolator};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gpu = Gpu::new(0)?;
//! let stream = gpu.context().default_stream();
//! let interpolator = Interpolator::new(Bound::range(1e-3)?)
//!     .extents(&[64, 128, 128])?
//!     .order(CodeOrder::Level);
//! let elements = 64 * 128 * 128;
//! let field = stream.alloc_zeros::<f32>(elements)?;
//! let mut decoded = stream.alloc_zeros::<f32>(elements)?;
//! let anchors = interpolator.anchors_for(elements as u64)? as usize;
//! let room = elements / 10;
//! let mut parts = DeviceParts {
//!     codes: stream.alloc_zeros::<u8>(elements)?,
//!     anchors: stream.alloc_zeros::<f32>(anchors)?,
//!     outlier_values: stream.alloc_zeros::<f32>(room)?,
//!     outlier_indices: stream.alloc_zeros::<u32>(room)?,
//! };
//! let mut workspace = PartsWorkspace::new(&gpu, &stream, &interpolator, elements as u64)?;
//! // Nothing here allocates or waits.
//! workspace.decompose(&interpolator, &field, &mut parts)?;
//! // These wait.
//! let outliers = workspace.outliers()?;
//! let recipe = workspace.recipe::<f32>()?;
//! workspace.compose(&recipe, &parts, outliers, &mut decoded)?;
//! workspace.check()?;
//! # Ok(())
//! # }
//! ```

use crate::code::Code;
use crate::error::Error;
use crate::gpu::{self, Arrays, enqueue_compose, enqueue_decompose};
use crate::interpolator::Interpolator;
use crate::recipe::{CodeWidth, Recipe};
use ferrosz_codec::Element;
use ferrosz_codec::tile::TileGrid;
use ferrosz_host::Error as HostError;
use ferrosz_host::cuda::Gpu;
use ferrosz_host::cuda::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice};
use ferrosz_host::internals::{CudaExecutor, CudaMemory, words};
use ferrosz_simt::View;
use std::sync::Arc;

/// The arrays of a [`Decomposition`](crate::Decomposition) in device memory, each aligned to 16 bytes: codes, anchors,
/// and outliers with their positions, of which there may be more room than outliers.
#[derive(Debug, Clone)]
pub struct DeviceParts<K, A, V, I> {
    /// The codes.
    pub codes: K,
    /// The values of the anchors.
    pub anchors: A,
    /// The values of the outliers.
    pub outlier_values: V,
    /// Their numbers in the field.
    pub outlier_indices: I,
}

impl<K, A, V, I> DeviceParts<K, A, V, I> {
    /// Bytes of each array.
    fn bytes<C, T>(&self) -> [u64; 4]
    where
        K: DeviceSlice<C>,
        A: DeviceSlice<T>,
        V: DeviceSlice<T>,
        I: DeviceSlice<u32>,
    {
        let bytes = |items: usize, bytes: usize| (items * bytes) as u64;
        [
            bytes(self.codes.len(), size_of::<C>()),
            bytes(self.anchors.len(), size_of::<T>()),
            bytes(self.outlier_values.len(), size_of::<T>()),
            bytes(self.outlier_indices.len(), size_of::<u32>()),
        ]
    }
}

/// Device memory that the kernels of a call use together, and the CUDA stream of its calls.
pub struct PartsWorkspace {
    memory: CudaMemory,
    gpu: Gpu,
    grid: TileGrid,
    /// The interpolator and code width of the last decomposition, and the room that it had for outliers.
    last: Option<(Interpolator, CodeWidth, u64)>,
}

/// There is no last decomposition.
const NOTHING: Error = Error::BadDecomposition("nothing was decomposed");

impl Interpolator {
    /// How many anchors a field of so many elements has.
    ///
    /// # Errors
    ///
    /// [`Error::Ferrosz`]: [`HostError::ExtentsMismatch`] and [`HostError::TooLarge`].
    pub fn anchors_for(&self, elements: u64) -> Result<u64, Error> {
        let grid = self.grid_for::<f32>(elements)?;
        let spacing = self.tuning.geometry.spacing(grid.shape());
        Ok(grid.coarse(spacing).elements())
    }
}

/// Views of arrays at these addresses.
///
/// # Safety
///
/// As [`View::new`], as long as work on them is under way.
unsafe fn arrays(addresses: [u64; 4], bytes: [u64; 4], outliers: u64) -> Result<Arrays, HostError> {
    const NAMES: [&str; 4] = ["codes", "anchors", "outlier values", "outlier indices"];
    // SAFETY: as the caller promises.
    let view = |i: usize| unsafe { words(NAMES[i], addresses[i], bytes[i].next_multiple_of(4)) };
    Ok(Arrays {
        codes: view(0)?,
        anchors: view(1)?,
        outlier_values: view(2)?,
        outlier_indices: view(3)?,
        outliers,
    })
}

impl PartsWorkspace {
    /// A workspace for fields of so many elements, as the interpolator takes them. It may be used again and again. All
    /// calls are enqueued on this stream.
    ///
    /// # Errors
    ///
    /// [`Error::Ferrosz`]: [`HostError::ExtentsMismatch`], [`HostError::TooLarge`], [`HostError::OutOfMemory`].
    pub fn new(
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        interpolator: &Interpolator,
        elements: u64,
    ) -> Result<Self, Error> {
        let grid = interpolator.grid_for::<f32>(elements)?;
        let memory = CudaMemory::new(stream, 8 * gpu::workspace_cells(&grid))?;
        memory.clear()?;
        Ok(Self {
            memory,
            gpu: gpu.clone(),
            grid,
            last: None,
        })
    }

    /// Asks for the decomposition of the field in `input`. Does not allocate and does not wait (but that the first
    /// call of a kind loads its kernels). [`PartsWorkspace::recipe`] gives the parameters that were found, and
    /// [`PartsWorkspace::outliers`] the number of outliers. Outliers without room are lost.
    ///
    /// # Errors
    ///
    /// [`Error::BadRadius`]; [`Error::NeedsHostField`]; [`Error::WorkspaceGrid`]; [`Error::Ferrosz`]:
    /// [`HostError::ExtentsMismatch`], [`HostError::OutputTooSmall`], [`HostError::Misaligned`] and [`HostError::Cuda`].
    pub fn decompose<T: Element, C: Code>(
        &mut self,
        interpolator: &Interpolator,
        input: &impl DevicePtr<T>,
        parts: &mut DeviceParts<
            impl DevicePtrMut<C>,
            impl DevicePtrMut<T>,
            impl DevicePtrMut<T>,
            impl DevicePtrMut<u32>,
        >,
    ) -> Result<(), Error> {
        interpolator.check_radius::<C>()?;
        interpolator.check_rules_of_device_memory()?;
        let elements = input.len() as u64;
        let grid = interpolator.grid_for::<T>(elements)?;
        let cells = self.cells_for(&grid)?;
        let needed = interpolator.anchors_for(elements)?;
        for (needed, found) in [(elements, parts.codes.len()), (needed, parts.anchors.len())] {
            let found = found as u64;
            if found < needed {
                let unit = "elements";
                return Err(HostError::OutputTooSmall {
                    needed,
                    found,
                    unit,
                }
                .into());
            }
        }
        let room = parts.outlier_values.len().min(parts.outlier_indices.len()) as u64;
        let lengths = parts.bytes::<C, T>();
        let stream = self.memory.stream();
        let (input, _input_use) = input.device_ptr(stream);
        let (codes, _codes_use) = parts.codes.device_ptr_mut(stream);
        let (anchors, _anchors_use) = parts.anchors.device_ptr_mut(stream);
        let (values, _values_use) = parts.outlier_values.device_ptr_mut(stream);
        let (indices, _indices_use) = parts.outlier_indices.device_ptr_mut(stream);
        // SAFETY: the guards keep the buffers valid and in order with other streams.
        let (input, arrays) = unsafe {
            (
                words("input", input, elements * T::BYTES as u64)?,
                arrays([codes, anchors, values, indices], lengths, room)?,
            )
        };
        self.last = Some((*interpolator, C::WIDTH, room));
        Ok(self.gpu.run(stream, |executor| {
            enqueue_decompose::<T, C, _>(executor, interpolator, &grid, input, &arrays, cells)
        })?)
    }

    /// Asks for the composition of a field of `outliers` outliers into `output`. Does not allocate and does not
    /// wait; whether the parts fit each other is for [`PartsWorkspace::check`] to say.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if the lengths do not fit; [`Error::WorkspaceGrid`]; [`Error::Ferrosz`]:
    /// [`HostError::Misaligned`] and [`HostError::Cuda`].
    pub fn compose<T: Element, C: Code>(
        &mut self,
        recipe: &Recipe<T>,
        parts: &DeviceParts<
            impl DevicePtr<C>,
            impl DevicePtr<T>,
            impl DevicePtr<T>,
            impl DevicePtr<u32>,
        >,
        outliers: u64,
        output: &mut impl DevicePtrMut<T>,
    ) -> Result<(), Error> {
        let elements = recipe.grid.elements();
        let listed = parts.outlier_values.len().min(parts.outlier_indices.len()) as u64;
        let fits = recipe.width == C::WIDTH
            && parts.codes.len() as u64 >= elements
            && parts.anchors.len() as u64 >= recipe.coarse().elements()
            && listed >= outliers
            && output.len() as u64 == elements;
        if !fits {
            return Err(Error::BadDecomposition(
                "the length or type of an array does not match the recipe",
            ));
        }
        let cells = self.cells_for(&recipe.grid)?;
        let lengths = parts.bytes::<C, T>();
        let stream = self.memory.stream();
        let (codes, _codes_use) = parts.codes.device_ptr(stream);
        let (anchors, _anchors_use) = parts.anchors.device_ptr(stream);
        let (values, _values_use) = parts.outlier_values.device_ptr(stream);
        let (indices, _indices_use) = parts.outlier_indices.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        // SAFETY: the guards keep the buffers valid and in order with other streams.
        let (output, arrays) = unsafe {
            (
                words("output", output, elements * T::BYTES as u64)?,
                arrays([codes, anchors, values, indices], lengths, outliers)?,
            )
        };
        Ok(self.gpu.run(stream, |executor| {
            enqueue_compose(executor, recipe, &arrays, output, cells)
        })?)
    }

    /// The cells for a call on a field of this grid.
    fn cells_for(&self, grid: &TileGrid) -> Result<View<u64>, Error> {
        if *grid != self.grid {
            return Err(Error::WorkspaceGrid);
        }
        Ok(self.memory.view())
    }

    /// Runs `work`, which reads the workspace, on its stream.
    fn read<R>(
        &self,
        work: impl FnOnce(&CudaExecutor<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let stream = self.memory.stream();
        self.gpu.run(stream, |executor| Ok(work(executor)))?
    }

    /// The recipe of the field that was decomposed last, which is of `T`. Waits for the work on the stream.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if there was none; [`Error::Ferrosz`].
    pub fn recipe<T: Element>(&self) -> Result<Recipe<T>, Error> {
        let (interpolator, width, _) = self.last()?;
        let cells = self.memory.view();
        self.read(|executor| gpu::recipe(executor, interpolator, *width, &self.grid, cells))
    }

    /// How many outliers the field has that was decomposed last. Waits for the work on the stream.
    ///
    /// # Errors
    ///
    /// [`HostError::OutputTooSmall`] if there was no room for all of them; [`Error::BadDecomposition`] if there was
    /// no field.
    pub fn outliers(&self) -> Result<u64, Error> {
        let (_, _, room) = self.last()?;
        let cells = self.memory.view();
        let needed = self.read(|executor| gpu::outliers(executor, &self.grid, cells))?;
        if needed > *room {
            return Err(HostError::OutputTooSmall {
                needed,
                found: *room,
                unit: "outliers",
            }
            .into());
        }
        Ok(needed)
    }

    /// Whether the parts that were composed last fit each other. Waits for the work on the stream.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if not; [`Error::Ferrosz`].
    pub fn check(&self) -> Result<(), Error> {
        let cells = self.memory.view();
        self.read(|executor| gpu::check(executor, &self.grid, cells))
    }

    fn last(&self) -> Result<&(Interpolator, CodeWidth, u64), Error> {
        self.last.as_ref().ok_or(NOTHING)
    }
}
