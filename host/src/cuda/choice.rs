//! The choice of a preset, and the absolute error of a relative bound, for fields in device memory.

use super::{Gpu, Workspace, bytes_of, check_values, device_box, mapping_of};
use crate::choose::{self, Request};
use crate::compress::Compressor;
use crate::error::Error;
use crate::gpu::census::census;
use crate::gpu::executor::Executor;
use crate::gpu::executor::cuda::words;
use crate::gpu::mapping::compress::{Compression, enqueue_mapping};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::gpu::resolve::{enqueue_resolve, extremes};
use crate::keeping::Keeping;
use crate::stream_layout::StreamLayout;
use ::cudarc::driver::{CudaStream, DevicePtr};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, BoundMode, Codec, Element, Shape, Value};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;
use std::sync::Arc;

impl Gpu {
    /// As [`Compressor::choose`], for a field in device memory, with the same result, with two exceptions: axes keep their
    /// order unless another one is given, and values of 16 bits have no mask, so that splines are left out where one would be
    /// needed. Copies a sample of the field to the host. Waits for the work on `stream`. With fill values or another order of
    /// axes, device memory for the mapped field is allocated until the call ends.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`], [`Error::AxesMismatch`], [`Error::Misaligned`], [`Error::WorkspaceStream`],
    /// [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn choose<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        compressor: &Compressor,
        input: &impl DevicePtr<V>,
        workspace: &mut Workspace,
    ) -> Result<Compressor, Error> {
        let elements = input.len() as u64;
        let extents = compressor.extents_for(elements)?;
        let Some(request) = request_of::<V>(compressor, &extents)? else {
            return Ok(*compressor);
        };
        if elements == 0 {
            return compressor.choose::<V>(&[]);
        }
        check_values::<V>(compressor)?;
        let cells = workspace.cells_for(stream, 0)?;
        let (address, _input_use) = input.device_ptr(stream);
        // SAFETY: the guard keeps the buffer valid.
        let field = unsafe { words("input", address, bytes_of::<V>(elements))? };
        let mappings = Mappings::new::<V>(compressor, &extents)?;
        let mut chosen = None;
        self.run(stream, |executor| {
            let memory = mappings.allocate(executor)?;
            let coded = mappings.map::<V, _>(executor, &memory, field, cells)?;
            let address = coded.field.address() as u64;
            let mut read = |grid: &Grid, places: &[ChunkBox]| {
                let of_place = |place: &ChunkBox| {
                    let mut elements = vec![V::Coded::ZERO; place.elements() as usize];
                    let from = device_box(address, grid, place, V::Coded::BYTES);
                    // SAFETY: the box is within the field or the mapped field, which are valid.
                    unsafe { executor.read_box(from, bytemuck::cast_slice_mut(&mut elements))? };
                    Ok(elements)
                };
                places.iter().map(of_place).collect()
            };
            let census = || census::<V::Coded, _>(executor, elements, coded.field);
            let least = || {
                let found = extremes::<V::Coded, _>(executor, elements, coded.field, coded.cells)?;
                Ok(Extremes::from_cells(found).values().map(|(least, _)| least))
            };
            let request = request.seen(&mappings.values, &coded.quantizer, census, least)?;
            chosen = Some(choose::choose(&coded.quantizer, &request, &mut read)?.chosen);
            Ok(())
        })?;
        Ok(compressor.with_chosen(chosen.ok_or(Error::NotChosen)?))
    }

    /// As [`Compressor::absolute_for`], for a field in device memory whose values are `f32` or `f64`, without fill values.
    /// Waits for the work on `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::RelativeBound`] for other values, and with fill values; [`Error::Misaligned`], [`Error::WorkspaceStream`] and
    /// [`Error::Cuda`].
    pub fn absolute_for<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        compressor: &Compressor,
        input: &impl DevicePtr<V>,
        workspace: &mut Workspace,
    ) -> Result<Compressor, Error> {
        let bound = compressor.bound();
        if !bound.needs_extremes() || input.is_empty() {
            return compressor.absolute_for::<V>(&[]);
        }
        if !V::TYPE.is_coded_as_is() || !compressor.missing::<V>()?.is_empty() {
            return Err(Error::RelativeBound);
        }
        let cells = workspace.cells_for(stream, 0)?;
        let elements = input.len() as u64;
        let (address, _input_use) = input.device_ptr(stream);
        // SAFETY: the guard keeps the buffer valid.
        let field = unsafe { words("input", address, bytes_of::<V>(elements))? };
        let mut bits = [[0; 8]; 3];
        self.run(stream, |executor| {
            enqueue_resolve::<V::Coded, _>(executor, bound, elements, field, cells, 0)?;
            executor.download(cells, 8 * cells::QUANTIZER, bits.as_flattened_mut())
        })?;
        let quantizer = Quantizer::<V::Coded>::from_bits(bits.map(u64::from_le_bytes));
        Ok(compressor.with_bound(Bound::abs(quantizer.error().to_f64())?))
    }
}

/// What to choose from for values of a type in device memory; none if codec and rank are chosen.
fn request_of<V: Value>(
    compressor: &Compressor,
    extents: &Extents,
) -> Result<Option<Request>, Error> {
    let bound = compressor.bound();
    let is_exact = V::TYPE.is_integer() && bound.mode() == BoundMode::Abs && bound.value() < 1.0;
    let request = compressor.request(extents)?.map(|request| Request {
        keeping: match is_exact {
            true => Keeping::NONE,
            false => request.keeping.of_type(V::TYPE),
        },
        has_masks: V::TYPE.is_coded_as_is() && compressor.has_room_for_classes(V::Coded::DTYPE),
        ..request
    });
    Ok(request)
}

/// The mappings from a field to the coded field, as on the CPU: first its values, in the user's order of axes, and then the
/// order.
struct Mappings {
    bound: Bound,
    values: ValueMapping,
    filled: StreamLayout,
    is_filled: bool,
    turned: StreamLayout,
}

/// A coded field in device memory.
struct CodedField<T> {
    field: View<u32>,
    quantizer: Quantizer<T>,
    /// Cells of a workspace, of which those of [`cells::OF_EXTREMES`] are clear.
    cells: View<u64>,
}

impl Mappings {
    fn new<V: Value>(compressor: &Compressor, extents: &Extents) -> Result<Self, Error> {
        let values = mapping_of::<V>(compressor)?;
        let layout = Layout::new(Codec::INTERP, choose::natural_shape(extents), *extents);
        let filled = StreamLayout {
            value_type: V::TYPE,
            ..layout.with_classes(values.classes.count()).into()
        };
        let coded_extents = compressor.coded_extents(extents)?;
        Ok(Self {
            bound: compressor.bound(),
            values,
            filled,
            is_filled: filled.is_mapped() || filled.is_converted_apart(),
            turned: StreamLayout {
                layout: Layout::new(Codec::PLAIN, Shape::Line, coded_extents),
                order: compressor.order_for(extents.elements())?,
                value_type: V::Coded::TYPE,
            },
        })
    }

    /// The memory of the fields after each mapping; nothing for one that is not needed.
    fn allocate<E: Executor>(&self, executor: &E) -> Result<[E::Memory; 2], Error> {
        let allocate = |layout, is_needed| match is_needed {
            true => executor.allocate(8 * workspace_cells(layout)),
            false => executor.allocate(0),
        };
        Ok([
            allocate(&self.filled, self.is_filled)?,
            allocate(&self.turned, self.turned.is_mapped())?,
        ])
    }

    /// The coded field of a field of at least one element. Waits where the machine resolves the bound.
    fn map<V: Value, E: Executor>(
        &self,
        executor: &E,
        memory: &[E::Memory; 2],
        mut field: View<u32>,
        mut cells: View<u64>,
    ) -> Result<CodedField<V::Coded>, Error> {
        let elements = self.filled.layout.extents.elements();
        let [of_filled, of_turned] = memory;
        let map = |layout, bound, mapping, field, cells: View<u64>| {
            executor.clear(cells.first(cells::STATES))?;
            let call = Compression {
                layout,
                bound,
                mapping,
                field,
                stream: View::empty(),
                cells,
            };
            enqueue_mapping::<V::Coded, _>(executor, &call)
        };
        if self.is_filled {
            cells = executor.view(of_filled);
            field = map(&self.filled, self.bound, &self.values, field, cells)?;
        } else if self.bound.needs_extremes() {
            enqueue_resolve::<V::Coded, _>(executor, self.bound, elements, field, cells, 0)?;
        }
        let mut quantizer = self.bound.resolve(&Extremes::default());
        if self.bound.needs_extremes() || !V::TYPE.is_coded_as_is() {
            let mut bits = [[0; 8]; 3];
            executor.download(cells, 8 * cells::QUANTIZER, bits.as_flattened_mut())?;
            quantizer = Quantizer::from_bits(bits.map(u64::from_le_bytes));
        }
        if self.turned.is_mapped() {
            let as_is = ValueMapping::default();
            let cells = executor.view(of_turned);
            field = map(&self.turned, Bound::default(), &as_is, field, cells)?;
        }
        Ok(CodedField {
            field,
            quantizer: quantizer.with_holes(self.values.has_holes()),
            cells,
        })
    }
}
