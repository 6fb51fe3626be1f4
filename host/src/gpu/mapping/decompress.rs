//! The order of the kernels of a decompression: the codec, the chunks of the mask, the mapping of the field.

use crate::cpu::mapping::axes::Turn;
use crate::error::Error;
use crate::gpu::blocks;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::job::DecompressJob;
use crate::gpu::mapping::conversion::{converts, enqueue_to_values};
use crate::gpu::mapping::workspace::{MaskMemory, Workspace, workspace_cells};
use crate::gpu::mapping::{places, tasks};
use crate::gpu::tiles::part::scratch_elements;
use crate::gpu::tiles::workspace::ALIGNMENT;
use crate::part::Piece;
use crate::reading::{Reading, regions};
use crate::stream_layout::StreamLayout;
use ferrosz_codec::Element;
use ferrosz_codec::container::layout::Family;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::mask::MaskLayout;
use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_codec::mapping::mask::signs::BrickOrder;
use ferrosz_gpu_kernels::mapping::backward::{Backward, BackwardParams};
use ferrosz_gpu_kernels::mapping::mask::WARPS;
use ferrosz_gpu_kernels::mapping::mask::decode::{DecodeMask, DecodeMaskParams};
use ferrosz_gpu_kernels::mapping::mask::decode_signs::{DecodeSigns, DecodeSignsParams};
use ferrosz_gpu_kernels::mapping::mask::signs::SIGN_WARPS;
use ferrosz_gpu_kernels::mapping::parts::{Parts, Planes};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_simt::View;

/// The elements that a call decodes: regions of the coded field, one behind the other.
pub(crate) struct Wanted {
    /// In the dimensions of the codec.
    pub(crate) regions: Vec<Region>,
    /// In those of the mask.
    of_mask: Vec<Region>,
    /// What brings the user's elements into the order of these; none if they have it.
    to_coded: Option<Turn>,
}

impl Wanted {
    /// What a machine decodes.
    ///
    /// # Errors
    ///
    /// [`Error::ScatteredPart`] if the elements are not consecutive in one piece.
    pub(crate) fn new(reading: &Reading) -> Result<Self, Error> {
        let Reading {
            pieces, of_mask, ..
        } = reading;
        let to_coded = match &pieces[..] {
            [piece] => piece.to_coded().cloned(),
            _ => None,
        };
        let in_order = |pieces: &[Piece]| match to_coded {
            Some(_) => pieces.iter().all(|piece| piece.to_coded().is_some()),
            None => pieces.iter().all(Piece::is_in_order),
        };
        if !in_order(pieces) || !in_order(of_mask) {
            return Err(Error::ScatteredPart);
        }
        Ok(Self {
            regions: regions(pieces),
            of_mask: regions(of_mask),
            to_coded,
        })
    }

    /// The whole field.
    ///
    /// # Errors
    ///
    /// None: its elements are consecutive.
    pub(crate) fn whole(layout: &StreamLayout) -> Result<Self, Error> {
        Self::new(&Reading::new(&layout.layout, &layout.order, None)?)
    }

    /// How many elements there are.
    pub(crate) fn elements(&self) -> u64 {
        self.regions.iter().map(Region::elements).sum()
    }
}

/// Cells that a decompression of these elements of a stream needs.
pub(crate) fn cells_to_decompress(layout: &StreamLayout, wanted: &Wanted) -> u64 {
    let needs_codec_only =
        !layout.is_mapped() && !layout.is_converted_apart() && layout.update_bytes == 0;
    match layout.layout.family() {
        Family::Blocks(_) if needs_codec_only => cells::count(0),
        Family::Blocks(_) => workspace_cells(layout),
        Family::Tiles(_) if wanted.elements() == layout.layout.extents.elements() => {
            workspace_cells(layout)
        }
        Family::Tiles(tiles) => {
            let words = layout.dtype().bytes() as u64 / 4;
            let scratch = words * scratch_elements(&tiles, &wanted.regions);
            first_of_scratch(layout) + scratch.div_ceil(2)
        }
    }
}

/// The first cell behind the workspace of a layout that scratch memory may begin with.
fn first_of_scratch(layout: &StreamLayout) -> u64 {
    workspace_cells(layout).next_multiple_of(ALIGNMENT)
}

/// A decompression to elements of the user.
pub(crate) struct Decompression<'a> {
    pub(crate) layout: &'a StreamLayout,
    pub(crate) wanted: &'a Wanted,
    pub(crate) verify: bool,
    /// The stream, 16-byte aligned.
    pub(crate) stream: View<u32>,
    /// Memory for the elements, 16-byte aligned.
    pub(crate) output: View<u32>,
    /// As many cells as [`cells_to_decompress`] says.
    pub(crate) cells: View<u64>,
}

/// Enqueues a decompression. Does not allocate and does not wait; a fault will be in the fault cell.
pub(crate) fn enqueue_decompress<T: Element, E: Executor>(
    executor: &E,
    call: &Decompression<'_>,
) -> Result<(), Error> {
    let layout = call.layout;
    let (workspace, _) = Workspace::new(layout, T::DTYPE, call.cells);
    let is_turned = call.wanted.to_coded.is_some();
    let is_converted_apart = layout.is_converted_apart();
    // Where the user's elements go.
    let elements = match &workspace.conversion {
        Some(memory) if is_converted_apart => memory.elements,
        _ => call.output,
    };
    let job = DecompressJob {
        layout: layout.layout,
        value_type: layout.value_type,
        record_bytes: layout.record_bytes(),
        update_bytes: layout.update_bytes,
        list: workspace.list,
        regions: &call.wanted.regions,
        verify: call.verify,
        stream: call.stream,
        output: if is_turned { workspace.coded } else { elements },
        is_short: converts(layout.value_type) && !is_converted_apart,
        scratch: call.cells.from(first_of_scratch(layout)).words(),
        cells: workspace.codec,
    };
    blocks::enqueue_decompress::<T, E>(executor, &job)?;
    if workspace.mask.is_some() || is_turned {
        enqueue_elements::<T, E>(executor, call, &job, &workspace, elements)?;
    }
    match is_converted_apart {
        true => enqueue_to_values(executor, call, &job, elements, call.wanted.elements()),
        false => Ok(()),
    }
}

/// Enqueues the mapping of decoded elements to those of the user.
fn enqueue_elements<T: Element, E: Executor>(
    executor: &E,
    call: &Decompression<'_>,
    job: &DecompressJob<'_>,
    workspace: &Workspace,
    elements: View<u32>,
) -> Result<(), Error> {
    let mut first = 0;
    for region in &call.wanted.of_mask {
        if let Some(memory) = &workspace.mask {
            enqueue_mask::<T, E>(executor, job, memory, region)?;
        }
        let place = (elements, first);
        enqueue_backward::<T, E>(executor, call, job, workspace.mask.as_ref(), region, place)?;
        first += region.elements();
    }
    Ok(())
}

/// Enqueues the decoding of the mask of a region.
fn enqueue_mask<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressJob<'_>,
    memory: &MaskMemory,
    region: &Region,
) -> Result<(), Error> {
    let mask = memory.layout;
    let params = DecodeMaskParams {
        mask,
        region: *region,
        header: job.header(),
        records: job.records(),
        stream: job.behind_records(),
        table: job.table(),
        entries: job.layout.entries(),
        planes: memory.planes,
        filled: memory.parts,
        signs: memory.signs,
        cells: job.cells,
        verify: u32::from(job.verify),
        split: job.layout.split(),
    };
    let chunks = mask.chunks().div_ceil(u64::from(WARPS));
    let elements = job.layout.extents.elements();
    executor.launch::<DecodeMask>(blocks_of::<T>(chunks, elements)?, &params)?;
    if !mask.has_signs {
        return Ok(());
    }
    let signs = DecodeSignsParams {
        mask,
        bricks: BrickOrder::new(&PartBox::new(&mask.part(0))),
        stream: params.stream,
        table: params.table,
        entries: params.entries,
        places: memory.signs,
        planes: memory.planes,
        split: params.split,
    };
    let parts = mask.grid.chunk_count().div_ceil(u64::from(SIGN_WARPS));
    executor.launch::<DecodeSigns>(blocks_of::<T>(parts, elements)?, &signs)
}

/// Enqueues the mapping of a region, of which there are decoded elements from number `first` on, to these words.
fn enqueue_backward<T: Element, E: Executor>(
    executor: &E,
    call: &Decompression<'_>,
    job: &DecompressJob<'_>,
    memory: Option<&MaskMemory>,
    region: &Region,
    (field, first): (View<u32>, u64),
) -> Result<(), Error> {
    let mask = MaskLayout::new(&job.layout.extents, job.layout.classes);
    let ranges = region.chunks(&mask.grid);
    let none = Planes {
        words: View::empty(),
        plane_words: 0,
        planes: 0,
    };
    let parts = Parts {
        mask,
        first: ranges.each_ref().map(|range| range.start),
        counts: ranges.map(|range| range.end - range.start),
    };
    let params = BackwardParams {
        coded: match call.wanted.to_coded {
            Some(_) => job.output,
            None => View::empty(),
        },
        field,
        places: places(call.wanted.to_coded.as_ref()),
        planes: memory.map_or(none, |memory| memory.planes),
        filled: memory.map_or(View::empty(), |memory| memory.parts),
        header: job.header(),
        record: job.records(),
        parts,
        region: *region,
        first,
        scaled: u32::from(job.layout.tiles().is_none()),
    };
    executor.launch_over::<Backward<T>>(tasks(parts.count(), 1), &params)
}
