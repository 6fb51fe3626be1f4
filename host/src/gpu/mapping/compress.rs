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
use ferrosz_codec::mapping::close::Reach;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_codec::mapping::mask::signs::BrickOrder;
use ferrosz_codec::mapping::mask::{MAX_CLASSES, MaskLayout};
use ferrosz_codec::mapping::{Scale, ValueMapping};
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::mapping::close::{RefuseClose, RefuseCloseParams};
use ferrosz_gpu_kernels::mapping::complete::{Complete, CompleteParams, MAX_RECORD_WORDS, Records};
use ferrosz_gpu_kernels::mapping::conversion::plan::RecordsOf;
use ferrosz_gpu_kernels::mapping::forward::{Forward, ForwardParams};
use ferrosz_gpu_kernels::mapping::mask::WARPS;
use ferrosz_gpu_kernels::mapping::mask::encode::{EncodeMask, EncodeMaskParams};
use ferrosz_gpu_kernels::mapping::mask::encode_signs::{EncodeSigns, EncodeSignsParams};
use ferrosz_gpu_kernels::mapping::mask::place::{PlaceMask, PlaceMaskParams};
use ferrosz_gpu_kernels::mapping::mask::signs::SIGN_WARPS;
use ferrosz_gpu_kernels::mapping::parts::{Parts, Planes};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;

/// The least elements of a block that looks for values close to a fill value.
const SHARE: u32 = 1 << 12;

/// A compression of a user's field.
pub(crate) struct Compression<'a> {
    pub(crate) layout: &'a StreamLayout,
    pub(crate) bound: Bound,
    /// The choice of the levels' bounds. It needs no range of values that are converted here.
    pub(crate) tightening: TighteningChoice,
    /// The extremes of the coded field, if they are known: see [`CompressJob::extremes`].
    pub(crate) extremes: Option<[u64; 2]>,
    /// What leads to the values of the coded field.
    pub(crate) mapping: &'a ValueMapping,
    /// How many of the mapping's classes, the first ones, are fill values that no valid value may be close to: the length of the
    /// stream becomes 0 if one is. None of a field that comes from host memory, where such values have become classes.
    pub(crate) fills: u32,
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
        tightening: call.tightening,
        extremes: call.extremes,
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
    if workspace.conversion.is_none() {
        enqueue_bound::<T, E>(executor, &job)?;
    }
    if let Some(memory) = workspace.mask.as_ref().filter(|_| call.mapping.has_holes()) {
        enqueue_fill::<T, E>(executor, memory)?;
    }
    blocks::enqueue_compress::<T, E>(executor, &job)?;
    if let Some(memory) = &workspace.mask {
        enqueue_mask::<T, E>(executor, &job, memory)?;
    }
    if records.is_empty() {
        return Ok(());
    }
    enqueue_records::<T, E>(executor, call, &job, &records, converted)?;
    match call.fills {
        0 => Ok(()),
        _ => enqueue_refusal::<T, E>(executor, call, &job),
    }
}

/// Enqueues the kernel that puts records in front of the chunk table, and completes the header.
fn enqueue_records<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    job: &CompressJob,
    records: &[u8],
    converted: RecordsOf,
) -> Result<(), Error> {
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let params = CompleteParams {
        header: Draft::new(&job.header::<T>()),
        identity: job.identity::<T>(),
        records: to_records(records),
        stream: call.stream,
        entries: job.layout.entries(),
        cells: job.cells,
        error: job.given([resolved.error().to_bits64()]),
        converted,
    };
    executor.launch::<Complete>(1, &params)
}

/// Enqueues the search for valid values that are close to a fill value, if there may be any.
fn enqueue_refusal<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    job: &CompressJob,
) -> Result<(), Error> {
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let is_share = call.mapping.scale == Scale::Logarithm;
    let reach = match is_share {
        true => Reach::Share(call.bound.value()),
        false => Reach::Error(resolved.error()),
    };
    let classes = call.mapping.classes;
    let mut fills = [T::HOLE.to_bits64(); MAX_CLASSES];
    for (bits, of_user) in fills
        .iter_mut()
        .zip(classes.fills())
        .take(call.fills as usize)
    {
        *bits = *of_user;
    }
    let may_be_close = |bits: &u64| reach.is_more_than(T::from_bits64(*bits));
    if !job.bound.needs_extremes() && !fills.iter().any(may_be_close) {
        return Ok(());
    }
    let elements = job.layout.extents.elements();
    let params = RefuseCloseParams {
        input: call.field,
        elements,
        classes,
        fills,
        cells: job.cells,
        quantizer: job.given(resolved.to_bits()),
        share: if is_share { call.bound.value() } else { 0.0 },
    };
    executor.launch_over::<RefuseClose<T>>(tasks(elements, SHARE), &params)
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

/// Enqueues what leads to the coded field, with holes: the conversion of the user's values, and the mapping of the elements.
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
    Ok(())
}

/// As the beginning of [`enqueue_compress`], for a sample: enqueues the mapping of a user's field that has elements.
/// Returns the words of the coded field. The quantiser is in the cells if values are converted. No stream is written.
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
        tightening: call.tightening,
        extremes: None,
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
        ..
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
    if mask.has_signs {
        let signs = EncodeSignsParams {
            mask,
            bricks: BrickOrder::new(&PartBox::new(&mask.part(0))),
            planes: memory.planes,
            filled: memory.parts,
            heads: memory.signs,
        };
        let parts = mask.grid.chunk_count().div_ceil(u64::from(SIGN_WARPS));
        executor.launch::<EncodeSigns>(blocks_of::<T>(parts, elements)?, &signs)?;
    }
    let encode = EncodeMaskParams {
        mask,
        planes: memory.planes,
        coded: memory.coded,
        heads: memory.parts,
        sign_heads: memory.signs,
        states: memory.states,
    };
    let blocks = blocks_of::<T>(mask.chunks().div_ceil(u64::from(WARPS)), elements)?;
    executor.launch::<EncodeMask>(blocks, &encode)?;
    let place = PlaceMaskParams {
        mask,
        planes: memory.planes,
        coded: memory.coded,
        heads: memory.parts,
        sign_heads: memory.signs,
        states: memory.states,
        stream: job.stream,
        entries: job.layout.entries(),
        cells: job.cells,
        identity: job.identity::<T>(),
        split: job.layout.split(),
    };
    executor.launch::<PlaceMask>(blocks_of::<T>(mask.chunks(), elements)?, &place)
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::compress::Compressor;
    use crate::gpu::executor::emulator;
    use crate::gpu::mapping::workspace::workspace_cells;
    use ferrosz_codec::{Codec, Value};

    /// The length that a compression in device memory leaves for a field whose first fill value is this one.
    fn length<T: Element + Value<Coded = T>>(
        codec: Codec,
        bound: Bound,
        fill: f64,
        field: &[T],
    ) -> u64 {
        let elements = field.len() as u64;
        let compressor = Compressor::new(codec, bound).fill(fill).unwrap();
        let layout = compressor.stream_layout(elements, T::TYPE).unwrap();
        let mapping = compressor.value_mapping(T::DTYPE).unwrap();
        let room = compressor.max_compressed_len(elements, T::TYPE).unwrap();
        let executor = emulator::new();
        let memory = [
            size_of_val(field) as u64,
            room,
            8 * workspace_cells(&layout),
        ];
        let memory = memory.map(|bytes| executor.allocate(bytes).unwrap());
        let [input, stream, _] = [0, 1, 2].map(|i| executor.view::<u32>(&memory[i]));
        let cells = executor.view::<u64>(&memory[2]);
        executor.upload(bytemuck::cast_slice(field), input).unwrap();
        executor.clear(cells.first(cells::STATES)).unwrap();
        let call = Compression {
            layout: &layout,
            bound,
            tightening: compressor.tightening(),
            extremes: None,
            mapping: &mapping,
            fills: compressor.missing::<T>().unwrap().len() as u32,
            field: input,
            stream,
            cells,
        };
        enqueue_compress::<T, _>(&executor, &call).unwrap();
        let mut found = [0; 8];
        let at = 8 * cells::STREAM_BYTES;
        executor.download(cells, at, &mut found).unwrap();
        u64::from_le_bytes(found)
    }

    #[test]
    fn a_valid_value_close_to_a_fill_value_is_refused() {
        let field = |value: f32| -> Vec<f32> {
            let of = |i: u32| {
                if i.is_multiple_of(3) {
                    0.0
                } else {
                    2.0 + i as f32
                }
            };
            let mut field: Vec<f32> = (0..9000).map(of).collect();
            field[8001] = value;
            field
        };
        let bounds = [Bound::abs(0.5), Bound::range(1e-4), Bound::pwrel(1e-3)];
        for bound in bounds.map(Result::unwrap) {
            for codec in [Codec::PLAIN, Codec::LORENZO_RANS] {
                let is_share = bound.mode() == ferrosz_codec::BoundMode::Pwrel;
                assert!(
                    length(codec, bound, 0.0, &field(5.0)) > 0,
                    "{codec} {bound:?}"
                );
                let found = length(codec, bound, 0.0, &field(-0.25));
                assert_eq!(found == 0, !is_share, "{codec} {bound:?}");
                let found = length(codec, bound, 5.0, &field(5.004));
                assert_eq!(found, 0, "{codec} {bound:?}");
            }
        }
        // Without values close by, and with a fill value that is far from all others.
        let doubles: Vec<f64> = field(3.0).iter().map(|value| f64::from(*value)).collect();
        assert!(length(Codec::PLAIN, Bound::range(1e-3).unwrap(), 1e20, &doubles) > 0);
        assert!(length(Codec::PLAIN, Bound::abs(0.0).unwrap(), 0.0, &field(-0.0)) > 0);
    }
}
