//! The order of the kernels of a compression: the mapping of the field, the codec, the chunks of the mask, the header.

use crate::cpu::mapping::axes::Turn;
use crate::error::Error;
use crate::gpu::blocks;
use crate::gpu::executor::{Executor, blocks_of, put};
use crate::gpu::job::{Coded, CompressJob};
use crate::gpu::mapping::conversion::{
    converts, enqueue_plan, enqueue_to_elements, of_nothing, records_with_error,
};
use crate::gpu::mapping::fill::enqueue_fill;
use crate::gpu::mapping::workspace::{MaskMemory, Workspace};
use crate::gpu::mapping::{places, tasks};
use crate::gpu::resolve::enqueue_bound;
use crate::stream_layout::{StreamLayout, records_of};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::{Header, to_words};
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::MaskLayout;
use ferrosz_codec::mapping::mask::fill::Begins;
use ferrosz_codec::mapping::{Scale, ValueMapping};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::mapping::complete::{Complete, CompleteParams, MAX_RECORD_WORDS, Records};
use ferrosz_gpu_kernels::mapping::conversion::plan::RecordsOf;
use ferrosz_gpu_kernels::mapping::forward::{Forward, ForwardParams};
use ferrosz_gpu_kernels::mapping::mask::WARPS;
use ferrosz_gpu_kernels::mapping::mask::encode::{EncodeMask, EncodeMaskParams};
use ferrosz_gpu_kernels::mapping::mask::place::{PlaceMask, PlaceMaskParams};
use ferrosz_gpu_kernels::mapping::parts::{Parts, Planes};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;

/// A compression of a user's field.
pub(crate) struct Compression<'a> {
    pub(crate) layout: &'a StreamLayout,
    pub(crate) bound: Bound,
    /// What leads to the values of the coded field.
    pub(crate) mapping: &'a ValueMapping,
    /// The user's field, 16-byte aligned.
    pub(crate) field: View<u32>,
    /// Memory for the longest stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// As many cells as [`workspace_cells`](super::workspace::workspace_cells) says; the cells
    /// [`OF_EXTREMES`](cells::OF_EXTREMES) are clear.
    pub(crate) cells: View<u64>,
}

/// Enqueues a compression. Does not allocate and does not wait.
pub(crate) fn enqueue_compress<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
) -> Result<(), Error> {
    let layout = &call.layout.layout;
    let value_type = call.layout.value_type;
    if layout.extents.elements() == 0 {
        return enqueue_empty::<T, E>(executor, call);
    }
    let (workspace, _) = Workspace::new(call.layout, T::DTYPE, call.cells);
    let conversion = Conversion::none(value_type);
    let records = records_of(&call.mapping.classes, &call.layout.order, &conversion);
    let record_sum = checksum(0, &records);
    let job = CompressJob {
        layout: *layout,
        bound: call.bound,
        value_type,
        record_bytes: records.len() as u64,
        record_sum: match workspace.conversion {
            None => record_sum,
            Some(_) => 0,
        },
        has_holes: call.mapping.has_holes(),
        input: input(call, &workspace),
        coded: coded(call, &workspace),
        stream: call.stream.from(records.len() as u64 / 4),
        cells: workspace.codec,
    };
    let mut converted = RecordsOf::default();
    if let Some(memory) = &workspace.conversion {
        converted = records_with_error(&records, record_sum, value_type);
        executor.clear(job.cells_of_chunks())?;
        enqueue_plan::<T, E>(executor, call, &job, memory, converted)?;
    }
    enqueue_coded::<T, E>(executor, call, &workspace, &job)?;
    if let Some(memory) = workspace.mask.as_ref().filter(|_| call.mapping.has_holes()) {
        enqueue_fill::<T, E>(executor, memory, &Begins::of(&job.layout))?;
    }
    blocks::enqueue_compress::<T, E>(executor, &job)?;
    if let Some(memory) = &workspace.mask {
        enqueue_mask::<T, E>(executor, &job, memory)?;
    }
    if records.is_empty() {
        return Ok(());
    }
    let header = job.header::<T>();
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let params = CompleteParams {
        header: Draft::new(&header),
        identity: job.identity::<T>(),
        records: to_records(&records),
        stream: call.stream,
        entries: layout.entries(),
        cells: job.cells,
        error: job.given([resolved.error().to_bits64()]),
        converted,
    };
    executor.launch::<Complete>(1, &params)
}

/// The words of the field that a codec gets.
fn input(call: &Compression<'_>, workspace: &Workspace) -> View<u32> {
    match &workspace.conversion {
        _ if call.layout.is_mapped() => workspace.coded,
        Some(memory) => memory.elements,
        None => call.field,
    }
}

/// What a codec of blocks codes: the logarithms of a field, or its values, where it reads them, if the whole coded field is
/// not needed.
fn coded(call: &Compression<'_>, workspace: &Workspace) -> Coded {
    let StreamLayout { layout, order, .. } = call.layout;
    let is_logarithm = call.mapping.scale == Scale::Logarithm;
    let is_read_once = is_logarithm && layout.tiles().is_none() && order.is_identity();
    match (&workspace.conversion, &workspace.mask) {
        (Some(_), _) if !call.layout.is_converted_apart() => Coded::Shorts { field: call.field },
        (None, Some(memory)) if is_read_once => Coded::Logarithms {
            field: call.field,
            holes: memory.any_holes,
        },
        _ => Coded::Field,
    }
}

/// Enqueues what leads to the coded field, with holes: the conversion of the user's values, the mapping of the elements, and
/// the bound.
fn enqueue_coded<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    workspace: &Workspace,
    job: &CompressJob,
) -> Result<(), Error> {
    let mut field = call.field;
    if let Some(memory) = &workspace.conversion
        && call.layout.is_converted_apart()
    {
        enqueue_to_elements(executor, call, job, memory.elements)?;
        field = memory.elements;
    }
    if call.layout.is_mapped() {
        let is_read_once = matches!(job.coded, Coded::Logarithms { .. });
        enqueue_forward::<T, E>(executor, call, field, workspace, is_read_once)?;
    }
    match workspace.conversion {
        None => enqueue_bound::<T, E>(executor, job),
        Some(_) => Ok(()),
    }
}

/// As the beginning of [`enqueue_compress`], for a sample: enqueues the mapping of a user's field that has elements.
/// Returns the words of the coded field. The quantiser is in the cells if the bound needs the extremes, or values are
/// converted. No stream is written.
#[cfg(feature = "cuda")]
pub(crate) fn enqueue_mapping<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
) -> Result<View<u32>, Error> {
    let (workspace, _) = Workspace::new(call.layout, T::DTYPE, call.cells);
    let job = CompressJob {
        layout: call.layout.layout,
        bound: call.bound,
        value_type: call.layout.value_type,
        record_bytes: 0,
        record_sum: 0,
        has_holes: call.mapping.has_holes(),
        input: input(call, &workspace),
        coded: Coded::Field,
        stream: View::empty(),
        cells: workspace.codec,
    };
    if let Some(memory) = &workspace.conversion {
        executor.clear(job.cells_of_chunks())?;
        enqueue_plan::<T, E>(executor, call, &job, memory, RecordsOf::default())?;
    }
    enqueue_coded::<T, E>(executor, call, &workspace, &job)?;
    Ok(job.input)
}

/// Records as words.
fn to_records(bytes: &[u8]) -> Records {
    let mut words = [0; MAX_RECORD_WORDS];
    let (of_records, _) = bytes.as_chunks::<4>();
    for (word, bytes) in words.iter_mut().zip(of_records) {
        *word = u32::from_le_bytes(*bytes);
    }
    Records {
        words,
        count: of_records.len() as u64,
    }
}

/// Enqueues the compression of a field without chunks, whose stream is only its header and its records.
fn enqueue_empty<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
) -> Result<(), Error> {
    let StreamLayout {
        layout,
        order,
        value_type,
    } = call.layout;
    let quantizer: Quantizer<T> = call.bound.resolve(&Extremes::default());
    let (mut conversion, mut error_bits) =
        (Conversion::none(*value_type), quantizer.error().to_bits64());
    if converts(*value_type) {
        let plan = of_nothing(call.bound, *value_type);
        (conversion, error_bits) = (plan.conversion, plan.error.to_bits64());
    }
    let records = records_of(&call.mapping.classes, order, &conversion);
    let header = Header {
        value_type: *value_type,
        conversion: conversion.kind(),
        record_bytes: records.len() as u64,
        record_sum: checksum(0, &records),
        ..layout.header(T::DTYPE, call.bound, error_bits)
    };
    let (header, records) = (to_words(&header.to_bytes()), to_records(&records));
    let records = &records.words[..records.count as usize];
    let (workspace, _) = Workspace::new(call.layout, T::DTYPE, call.cells);
    executor.clear(workspace.codec)?;
    put(executor, &header, call.stream)?;
    put(executor, records, call.stream.from(header.len() as u64))?;
    let bytes = 4 * (header.len() + records.len()) as u32;
    let length = workspace.codec.from(cells::STREAM_BYTES).words();
    put(executor, &[bytes, 0], length)
}

/// Enqueues the mapping of the elements in `field` to the planes of the mask, and to the coded field; that is written only if
/// there are holes, if `only_for_holes`.
fn enqueue_forward<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    field: View<u32>,
    workspace: &Workspace,
    only_for_holes: bool,
) -> Result<(), Error> {
    let layout = &call.layout.layout;
    let mut planes = Planes {
        words: View::empty(),
        plane_words: 0,
        planes: 0,
    };
    let (mut filled, mut holes) = (View::empty(), View::empty());
    if let Some(memory) = &workspace.mask {
        executor.clear(memory.zeros)?;
        (planes, filled, holes) = (memory.planes, memory.parts, memory.any_holes);
    }
    let turn = Turn::to_coded(layout.extents.lengths(), &call.layout.order);
    let parts = Parts::all(MaskLayout::new(&layout.extents, layout.classes));
    let params = ForwardParams {
        field,
        places: places(turn.as_ref()),
        coded: match only_for_holes {
            true => View::empty(),
            false => workspace.coded,
        },
        planes,
        filled,
        holes,
        needs_holes: 0,
        parts,
        mapping: *call.mapping,
    };
    executor.launch_over::<Forward<T>>(tasks(parts.count(), 1), &params)?;
    if only_for_holes {
        let params = ForwardParams {
            coded: workspace.coded,
            filled: View::empty(),
            needs_holes: 1,
            ..params
        };
        executor.launch_over::<Forward<T>>(tasks(parts.count(), 1), &params)?;
    }
    Ok(())
}

/// Enqueues the coding of the mask, whose chunks lie behind those of the field.
fn enqueue_mask<T: Element, E: Executor>(
    executor: &E,
    job: &CompressJob,
    memory: &MaskMemory,
) -> Result<(), Error> {
    let (mask, elements) = (memory.layout, job.layout.extents.elements());
    let encode = EncodeMaskParams {
        mask,
        planes: memory.planes,
        coded: memory.coded,
        heads: memory.parts,
        states: memory.states,
    };
    let blocks = blocks_of::<T>(mask.chunks().div_ceil(u64::from(WARPS)), elements)?;
    executor.launch::<EncodeMask>(blocks, &encode)?;
    let place = PlaceMaskParams {
        mask,
        planes: memory.planes,
        coded: memory.coded,
        heads: memory.parts,
        states: memory.states,
        stream: job.stream,
        entries: job.layout.entries(),
        cells: job.cells,
        identity: job.identity::<T>(),
        split: job.layout.split(),
    };
    executor.launch::<PlaceMask>(blocks_of::<T>(mask.chunks(), elements)?, &place)
}
