//! The order of the kernels of a compression: the mapping of the field, the codec, the chunks of the mask, the header.

use crate::cpu::mapping::axes::Turn;
use crate::error::Error;
use crate::gpu::blocks;
use crate::gpu::executor::{Executor, blocks_of, put};
use crate::gpu::job::{CompressJob, Logarithms, given, identity_of};
use crate::gpu::mapping::fill::enqueue_fill;
use crate::gpu::mapping::workspace::{MaskMemory, Workspace};
use crate::gpu::mapping::{places, tasks};
use crate::gpu::resolve::enqueue_bound;
use crate::stream_layout::{StreamLayout, records_of};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::to_words;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::mapping::mask::MaskLayout;
use ferrosz_codec::mapping::mask::fill::Begins;
use ferrosz_codec::mapping::{Scale, ValueMapping};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::mapping::complete::{Complete, CompleteParams, MAX_RECORD_WORDS, Records};
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
    let (workspace, _) = Workspace::new(call.layout, T::DTYPE, call.cells);
    let records = records_of(&call.mapping.classes, &call.layout.order);
    let is_mapped = call.layout.is_mapped();
    let job = CompressJob {
        layout: *layout,
        bound: call.bound,
        record_bytes: records.len() as u64,
        record_sum: checksum(0, &records),
        has_holes: call.mapping.has_holes(),
        input: if is_mapped {
            workspace.coded
        } else {
            call.field
        },
        logarithms: logarithms(call, &workspace),
        stream: call.stream.from(records.len() as u64 / 4),
        cells: workspace.codec,
    };
    let records = to_records(&records);
    if layout.extents.elements() == 0 {
        return enqueue_empty::<T, E>(executor, &job, &records, call.stream);
    }
    if !is_mapped {
        enqueue_bound::<T, E>(executor, &job)?;
        return blocks::enqueue_compress::<T, E>(executor, &job);
    }
    enqueue_coded::<T, E>(executor, call, &workspace, &job)?;
    blocks::enqueue_compress::<T, E>(executor, &job)?;
    if let Some(memory) = &workspace.mask {
        enqueue_mask::<T, E>(executor, &job, memory)?;
    }
    let header = job.header::<T>();
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let params = CompleteParams {
        header: Draft::new(&header),
        identity: identity_of(&header),
        records,
        stream: call.stream,
        entries: layout.entries(),
        cells: job.cells,
        error: given(job.bound.needs_extremes(), [resolved.error().to_bits64()]),
    };
    executor.launch::<Complete>(1, &params)
}

/// The field whose logarithms a codec of blocks computes where it reads them; none if the whole coded field is needed.
fn logarithms(call: &Compression<'_>, workspace: &Workspace) -> Option<Logarithms> {
    let StreamLayout { layout, order, .. } = call.layout;
    let is_logarithm = call.mapping.scale == Scale::Logarithm;
    let memory = workspace.mask.as_ref()?;
    let is_read_once = is_logarithm && layout.tiles().is_none() && order.is_identity();
    is_read_once.then_some(Logarithms {
        field: call.field,
        holes: memory.any_holes,
    })
}

/// Enqueues what leads to the field that a codec codes: the mapping of the user's field, the bound, and values in place of
/// holes.
fn enqueue_coded<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    workspace: &Workspace,
    job: &CompressJob,
) -> Result<(), Error> {
    enqueue_forward::<T, E>(executor, call, workspace, job.logarithms.is_some())?;
    enqueue_bound::<T, E>(executor, job)?;
    match &workspace.mask {
        Some(memory) if call.mapping.has_holes() => {
            enqueue_fill::<T, E>(executor, memory, &Begins::of(&job.layout))
        }
        _ => Ok(()),
    }
}

/// As the beginning of [`enqueue_compress`], for a sample: enqueues the mapping of a user's field that has elements.
/// Returns the words of the coded field. The quantiser is in the cells if the bound needs the extremes. No stream is
/// written.
#[cfg(feature = "cuda")]
pub(crate) fn enqueue_mapping<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
) -> Result<View<u32>, Error> {
    let (workspace, _) = Workspace::new(call.layout, T::DTYPE, call.cells);
    let job = CompressJob {
        layout: call.layout.layout,
        bound: call.bound,
        record_bytes: 0,
        record_sum: 0,
        has_holes: call.mapping.has_holes(),
        input: workspace.coded,
        logarithms: None,
        stream: View::empty(),
        cells: workspace.codec,
    };
    enqueue_coded::<T, E>(executor, call, &workspace, &job)?;
    Ok(workspace.coded)
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
    job: &CompressJob,
    records: &Records,
    stream: View<u32>,
) -> Result<(), Error> {
    executor.clear(job.cells)?;
    let header = to_words(&job.header::<T>().to_bytes());
    let records = &records.words[..records.count as usize];
    put(executor, &header, stream)?;
    put(executor, records, stream.from(header.len() as u64))?;
    let bytes = 4 * (header.len() + records.len()) as u32;
    let length = job.cells.from(cells::STREAM_BYTES).words();
    put(executor, &[bytes, 0], length)
}

/// Enqueues the mapping of the user's field to the planes of the mask, and to the coded field; that is written only if
/// there are holes, if `only_for_holes`.
fn enqueue_forward<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
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
        field: call.field,
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
        identity: identity_of(&job.header::<T>()),
    };
    executor.launch::<PlaceMask>(blocks_of::<T>(mask.chunks(), elements)?, &place)
}
