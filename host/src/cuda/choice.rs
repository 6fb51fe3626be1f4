//! The choice of a preset, and the absolute error of a relative bound, for fields in device memory.

use super::{Gpu, Workspace, bytes_of, check_values, mapping_of};
use crate::choose::weights::TileWeights;
use crate::choose::{self, Chosen, Request};
use crate::compress::Compressor;
use crate::error::Error;
use crate::gpu::boxes::BoxMemory;
use crate::gpu::executor::Executor;
use crate::gpu::executor::cuda::words;
use crate::gpu::mapping::compress::{Compression, enqueue_mapping};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::gpu::resolve::{Search, enqueue_resolve};
use crate::gpu::sample::FieldOnMachine;
use crate::gpu::weights::Weights;
use crate::keeping::Keeping;
use crate::sampled_field::TilesToWeigh;
use crate::stream_layout::StreamLayout;
use ::cudarc::driver::{CudaStream, DevicePtr};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::census::Census;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, BoundMode, Codec, Element, Preference, Shape, Value};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;
use std::sync::Arc;

/// What [`Gpu::choose`] has found for a field. It serves one compression, of that field: a bound that is relative to the range
/// need not be resolved again. [`FieldChoice::compressor`] serves all fields.
///
/// A compressor is a choice, too.
#[derive(Debug, PartialEq)]
pub struct FieldChoice {
    compressor: Compressor,
    extremes: Option<[u64; 2]>,
}

impl FieldChoice {
    /// The compressor with the codec, rank, axes and chunks that were chosen, for other fields, too.
    pub const fn compressor(&self) -> &Compressor {
        &self.compressor
    }

    /// The extremes of the coded field, as [`Extremes::to_cells`] has them, if they are known.
    pub(super) const fn extremes(&self) -> Option<[u64; 2]> {
        self.extremes
    }
}

impl From<&Compressor> for FieldChoice {
    fn from(compressor: &Compressor) -> Self {
        Self {
            compressor: *compressor,
            extremes: None,
        }
    }
}

impl Gpu {
    /// As [`Compressor::choose`], for a field in device memory, with the same result, with two exceptions: axes keep their
    /// order unless another one is given, and values of 16 bits have no mask, so that splines are left out where one would be
    /// needed. Kernels measure and predict a sample of the field. Waits for the work on `stream`. The sample's memory stays with
    /// the workspace for later calls. With fill values or another order of axes, device memory for the mapped field is allocated
    /// until the call ends.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`], [`Error::AxesMismatch`], [`Error::AxesOnDevice`] if the axes are to be searched,
    /// [`Error::Misaligned`], [`Error::WorkspaceStream`], [`Error::OutOfMemory`] and [`Error::Cuda`].
    pub fn choose<V: Value>(
        &self,
        stream: &Arc<CudaStream>,
        compressor: &Compressor,
        input: &impl DevicePtr<V>,
        workspace: &mut Workspace,
    ) -> Result<FieldChoice, Error> {
        let elements = input.len() as u64;
        let extents = compressor.extents_for(elements)?;
        let Some(request) = request_of::<V>(compressor, &extents)? else {
            return Ok(compressor.into());
        };
        if elements == 0 {
            return Ok((&compressor.choose::<V>(&[])?).into());
        }
        check_values::<V>(compressor)?;
        let cells = workspace.cells_for(stream, 0)?;
        let (address, _input_use) = input.device_ptr(stream);
        // SAFETY: the guard keeps the buffer valid.
        let field = unsafe { words("input", address, bytes_of::<V>(elements))? };
        let mappings = Mappings::new::<V>(compressor, &extents)?;
        let boxes = &mut workspace.boxes;
        let mut found = None;
        self.run(stream, |executor| {
            let of_field = choose_on::<V, _>(executor, &request, &mappings, field, cells, boxes)?;
            found = Some(of_field);
            Ok(())
        })?;
        let (chosen, extremes) = found.ok_or(Error::NotChosen)?;
        Ok(FieldChoice {
            compressor: compressor.with_chosen(chosen),
            // Zeros that the mask has do not count in the extremes.
            extremes: extremes.filter(|_| !chosen.keep.zeros),
        })
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
    if compressor.searches_axes() {
        return Err(Error::AxesOnDevice);
    }
    // A named codec codes the parts of complex numbers apart: other axes are not searched here.
    if compressor.codec().is_some() {
        compressor.coded_extents(extents)?;
        return Ok(None);
    }
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

/// Chooses codec and layout for a field of at least one element. Returns them, and the extremes of the coded field if the
/// choice has searched them for its bound or its levels. `cells` are those of a
/// workspace without chunks; [`cells::OF_EXTREMES`] and [`cells::OF_CENSUS`] are clear.
fn choose_on<V: Value, E: Executor>(
    executor: &E,
    request: &Request,
    mappings: &Mappings,
    field: View<u32>,
    cells: View<u64>,
    boxes: &mut BoxMemory<E::Memory>,
) -> Result<(Chosen, Option<[u64; 2]>), Error> {
    let memory = mappings.allocate(executor)?;
    let coded = mappings.map::<V, _>(executor, &memory, field, cells)?;
    let needs_census = request.needs_census(&mappings.values);
    let needs_range = request.tightening.needs_range();
    let has_search = mappings.search::<V, _>(executor, &coded, needs_census, needs_range)?;
    let tiles = choose::tiles_to_weigh(request);
    let weights = mappings.weigh::<V, _>(executor, &coded, boxes, &tiles)?;
    let Found {
        quantizer,
        extremes,
        census,
    } = mappings.find::<V, _>(executor, &coded, has_search)?;
    let of_tiles = |(tiles, bits): (&TilesToWeigh, Vec<u64>)| {
        let mut weights = TileWeights::default();
        weights.extend(&tiles.numbers, &bits);
        (tiles.tiles, weights)
    };
    let weighed = tiles.iter().zip(weights.find(executor)?).map(of_tiles);
    let least = || {
        let extremes = Extremes::<V::Coded>::from_cells(extremes);
        Ok(extremes.values().map(|(least, _)| least))
    };
    let range = Extremes::<V::Coded>::from_cells(extremes).range_down();
    let error = quantizer.error().to_f64();
    let request = Request {
        tightening: request.tightening.of_field(error, range),
        ..request.seen(&mappings.values, &quantizer, || Ok(census), least)?
    };
    let mut source = FieldOnMachine {
        executor,
        field: coded.field,
        memory: boxes,
        weighed: weighed.collect(),
    };
    let chosen = choose::choose(&quantizer, &request, &mut source)?.chosen;
    let is_of_field = needs_range || mappings.searches_for_bound::<V>();
    Ok((chosen, is_of_field.then_some(extremes)))
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
struct CodedField {
    field: View<u32>,
    /// Cells of a workspace, of which those of [`cells::OF_EXTREMES`] and [`cells::OF_CENSUS`] are clear. They have the
    /// quantiser if it is resolved on the machine.
    cells: View<u64>,
}

/// What a choice must know of a coded field.
struct Found<T> {
    quantizer: Quantizer<T>,
    /// As [`Extremes::to_cells`] has them; these and the census are empty if they were not searched.
    extremes: [u64; 2],
    census: Census,
}

impl Mappings {
    fn new<V: Value>(compressor: &Compressor, extents: &Extents) -> Result<Self, Error> {
        let values = mapping_of::<V>(compressor)?;
        let layout = Layout::new(
            Codec::INTERP,
            choose::natural_shape(Codec::INTERP, extents),
            *extents,
        );
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
                update_bytes: 0,
            },
        })
    }

    /// The memory of the fields after each mapping that is needed.
    fn allocate<E: Executor>(&self, executor: &E) -> Result<[Option<E::Memory>; 2], Error> {
        let allocate = |layout, is_needed: bool| {
            let cells = is_needed.then(|| workspace_cells(layout));
            cells.map(|cells| executor.allocate(8 * cells)).transpose()
        };
        Ok([
            allocate(&self.filled, self.is_filled)?,
            allocate(&self.turned, self.turned.is_mapped())?,
        ])
    }

    /// Enqueues what leads to the coded field of a field of at least one element.
    fn map<V: Value, E: Executor>(
        &self,
        executor: &E,
        memory: &[Option<E::Memory>; 2],
        mut field: View<u32>,
        mut cells: View<u64>,
    ) -> Result<CodedField, Error> {
        let [of_filled, of_turned] = memory;
        let map = |layout, bound, mapping, field, cells: View<u64>| {
            executor.clear(cells.first(cells::STATES))?;
            let call = Compression {
                layout,
                bound,
                tightening: Preference::Ratio.tightening(),
                extremes: None,
                mapping,
                fills: 0,
                field,
                stream: View::empty(),
                cells,
            };
            enqueue_mapping::<V::Coded, _>(executor, &call)
        };
        if let Some(memory) = of_filled {
            cells = executor.view(memory);
            field = map(&self.filled, self.bound, &self.values, field, cells)?;
        }
        if let Some(memory) = of_turned {
            let as_is = ValueMapping::default();
            let cells = executor.view(memory);
            field = map(&self.turned, Bound::default(), &as_is, field, cells)?;
        }
        // The field lies behind its cells, and the search for extremes clears all cells that it gets.
        let cells = cells.first(cells::STATES);
        Ok(CodedField { field, cells })
    }

    /// Whether the search for extremes resolves the bound. A conversion has resolved it before.
    fn searches_for_bound<V: Value>(&self) -> bool {
        V::TYPE.is_coded_as_is() && self.bound.needs_extremes()
    }

    /// Enqueues the search for the extremes of a coded field and the census, if they are needed for the bound, the census or the
    /// range; whether they are.
    fn search<V: Value, E: Executor>(
        &self,
        executor: &E,
        coded: &CodedField,
        census: bool,
        range: bool,
    ) -> Result<bool, Error> {
        let has_bound = self.searches_for_bound::<V>();
        let search = Search {
            bound: has_bound.then_some((self.bound, 0)),
            census,
        };
        let is_needed = has_bound || census || range;
        if is_needed {
            let elements = self.filled.layout.extents.elements();
            search.enqueue::<V::Coded, _>(executor, elements, coded.field, coded.cells)?;
        }
        Ok(is_needed)
    }

    /// Whether the machine finds the quantiser.
    fn is_resolved_there<V: Value>(&self) -> bool {
        self.bound.needs_extremes() || !V::TYPE.is_coded_as_is()
    }

    /// Enqueues what weighs tiles of a coded field.
    fn weigh<'t, V: Value, E: Executor>(
        &self,
        executor: &E,
        coded: &CodedField,
        memory: &mut BoxMemory<E::Memory>,
        tiles: &'t [TilesToWeigh],
    ) -> Result<Weights<'t>, Error> {
        let known = self.bound.resolve::<V::Coded>(&Extremes::default());
        let known = (!self.is_resolved_there::<V>()).then(|| known.error());
        Weights::enqueue(executor, memory, coded.field, tiles, known, coded.cells)
    }

    /// The quantiser of a coded field, and what the search has found. Waits at most once: if the machine finds either.
    fn find<V: Value, E: Executor>(
        &self,
        executor: &E,
        coded: &CodedField,
        has_search: bool,
    ) -> Result<Found<V::Coded>, Error> {
        let is_resolved_there = self.is_resolved_there::<V>();
        let mut found = [[0; 8]; cells::STATES as usize];
        if has_search || is_resolved_there {
            executor.download(coded.cells, 0, found.as_flattened_mut())?;
        }
        let found = found.map(u64::from_le_bytes);
        let three_from = |cell| std::array::from_fn(|i| found[cell as usize + i]);
        let [present, zeros, negatives] = three_from(cells::SEEN_CENSUS);
        let quantizer = match is_resolved_there {
            true => Quantizer::from_bits(three_from(cells::QUANTIZER)),
            false => self.bound.resolve(&Extremes::default()),
        };
        Ok(Found {
            quantizer: quantizer.with_holes(self.values.has_holes()),
            extremes: std::array::from_fn(|i| found[cells::SEEN_EXTREMES as usize + i]),
            census: Census {
                present,
                zeros,
                negatives,
            },
        })
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::Preset;
    use crate::gpu::executor::emulator;
    use std::sync::atomic::Ordering::Relaxed;

    /// Cells of a choice, all 0.
    fn cleared_cells<E: Executor>(executor: &E) -> E::Memory {
        let memory = executor.allocate(8 * cells::STATES).unwrap();
        executor.clear(executor.view::<u64>(&memory)).unwrap();
        memory
    }

    /// A wave of so many values in the memory of an executor, and the same values.
    fn wave_on<E: Executor>(executor: &E, elements: u64) -> (E::Memory, Vec<f32>) {
        let memory = executor.allocate(4 * elements).unwrap();
        let values: Vec<f32> = (0..elements).map(|i| (i as f32 * 0.1).sin()).collect();
        let field = executor.view::<u32>(&memory);
        executor
            .upload(bytemuck::cast_slice(&values), field)
            .unwrap();
        (memory, values)
    }

    /// Choices on the emulator and of the CPU, one after the other with the same memory. Axes are given, because the CPU alone
    /// tries others.
    fn check<T: Element + Value<Coded = T>>(
        lengths: &[u64],
        axes: &str,
        fill: Option<f64>,
        presets: &[Preset],
    ) {
        let executor = emulator::new();
        let elements: u64 = lengths.iter().product();
        // As the type has it.
        let filled = fill.map(|fill| T::from_f64(fill).to_f64());
        let wave = |i: u64| ((i % lengths[lengths.len() - 1]) as f64 * 0.21).sin() * 9.0;
        let is_missing = |i: u64| (i / 50).is_multiple_of(5);
        let value = |i: u64| match fill.filter(|_| is_missing(i)) {
            Some(fill) => fill,
            None => wave(i) + (i as f64 * 0.001).cos(),
        };
        let memory = executor.allocate(elements * T::BYTES as u64).unwrap();
        let field = executor.view::<u32>(&memory);
        let own_cells = cleared_cells(&executor);
        let cells = executor.view::<u64>(&own_cells);
        let mut boxes = BoxMemory::default();
        // The second one without negative values, and with many zeros.
        for least in [f64::MIN, 0.0] {
            let values: Vec<T> = (0..elements)
                .map(|i| T::from_f64(value(i).max(least)))
                .collect();
            executor
                .upload(bytemuck::cast_slice(&values), field)
                .unwrap();
            for bound in [Bound::range(1e-3).unwrap(), Bound::abs(0.01).unwrap()] {
                for preset in presets.iter().copied() {
                    let compressor = Compressor::new(preset, bound).extents(lengths).unwrap();
                    let mut compressor = compressor.axes(axes.parse().unwrap());
                    if let Some(fill) = fill {
                        compressor = compressor.fill(fill).unwrap();
                    }
                    let extents = compressor.extents_for(elements).unwrap();
                    let request = request_of::<T>(&compressor, &extents).unwrap().unwrap();
                    let mappings = Mappings::new::<T>(&compressor, &extents).unwrap();
                    let found =
                        choose_on::<T, _>(&executor, &request, &mappings, field, cells, &mut boxes);
                    let (found, extremes) = found.unwrap();
                    let valid = values.iter().filter(|value| Some(value.to_f64()) != filled);
                    let mut wanted = Extremes::default();
                    valid.for_each(|value| wanted.see(*value));
                    let wanted = bound.needs_extremes().then(|| wanted.values());
                    let extremes = extremes.map(|cells| Extremes::from_cells(cells).values());
                    assert_eq!(extremes, wanted, "{preset:?} {lengths:?} {bound:?} {least}");
                    let found = compressor.with_chosen(found);
                    let wanted = compressor.choose(&values).unwrap();
                    assert_eq!(found, wanted, "{preset:?} {lengths:?} {bound:?} {least}");
                }
            }
        }
    }

    #[test]
    fn a_repeated_choice_allocates_nothing() {
        let lengths = [20, 30, 40];
        let elements = lengths.iter().product();
        let executor = emulator::new();
        let (memory, _) = wave_on(&executor, elements);
        let field = executor.view::<u32>(&memory);
        let own_cells = cleared_cells(&executor);
        let cells = executor.view::<u64>(&own_cells);
        let mut boxes = BoxMemory::default();
        let mut allocations = || {
            for preset in Preset::ALL {
                let compressor = Compressor::new(preset, Bound::range(1e-3).unwrap());
                let compressor = compressor.extents(&lengths).unwrap();
                let extents = compressor.extents_for(elements).unwrap();
                let request = request_of::<f32>(&compressor, &extents).unwrap().unwrap();
                let mappings = Mappings::new::<f32>(&compressor, &extents).unwrap();
                choose_on::<f32, _>(&executor, &request, &mappings, field, cells, &mut boxes)
                    .unwrap();
            }
            executor.allocations.load(Relaxed)
        };
        let of_first_calls = allocations();
        assert!(of_first_calls > 2);
        assert_eq!(allocations(), of_first_calls);
    }

    /// In device memory nothing else is tried.
    #[test]
    fn parts_of_complex_numbers_are_slices() {
        let lengths = [20, 30, 40, 2];
        let elements: u64 = lengths.iter().product();
        let executor = emulator::new();
        let (memory, values) = wave_on(&executor, elements);
        let field = executor.view::<u32>(&memory);
        let own_cells = cleared_cells(&executor);
        let cells = executor.view::<u64>(&own_cells);
        let mut boxes = BoxMemory::default();
        for preset in Preset::ALL {
            let compressor = Compressor::new(preset, Bound::abs(1e-3).unwrap());
            let compressor = compressor.extents(&lengths).unwrap().complex();
            let extents = compressor.extents_for(elements).unwrap();
            let request = request_of::<f32>(&compressor, &extents).unwrap().unwrap();
            let mappings = Mappings::new::<f32>(&compressor, &extents).unwrap();
            let (found, _) =
                choose_on::<f32, _>(&executor, &request, &mappings, field, cells, &mut boxes)
                    .unwrap();
            let named = compressor.axes("z,y,x,s".parse().unwrap());
            let wanted = named.choose(&values).unwrap();
            assert_eq!(compressor.with_chosen(found), wanted, "{preset:?}");
        }
        // The codec alone decides then.
        let named = Compressor::new(Codec::PLAIN, Bound::abs(1e-3).unwrap());
        let named = named.extents(&lengths).unwrap().complex();
        let extents = named.extents_for(elements).unwrap();
        assert!(request_of::<f32>(&named, &extents).unwrap().is_none());
    }

    #[test]
    fn the_choice_is_that_of_the_cpu() {
        let all = &Preset::ALL;
        check::<f32>(&[20, 30, 40], "z,y,x", None, all);
        check::<f64>(&[150, 160], "y,x", None, all);
        check::<f32>(&[9, 10, 40], "z,y,x", None, all);
        check::<f32>(&[20, 30, 40], "z,y,x", Some(1e20), all);
        check::<f64>(&[20, 30, 40], "x,z,y", Some(1e20), all);
        // Fields that are sampled in blocks, too.
        let fast = &[Preset::Fast];
        check::<f32>(&[33, 40, 70], "z,y,x", None, fast);
        check::<f64>(&[300, 310], "y,x", None, fast);
        check::<f32>(&[100_001], "x", None, fast);
        check::<f32>(&[2, 40, 33, 40], "s,z,y,x", None, &[Preset::Balanced]);
    }
}
