//! Export: the codes, anchors and outliers of a field, as arrays that other programs read.
//!
//! Each block takes the next segment of the field. It writes the segment's codes where they belong, and the values
//! without a code behind those of all segments before, whose number a look-back finds: so the list is in the
//! order of the field.

use crate::PACKAGE;
use crate::kernels::arrays::{CodeArray, half_of};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::{RAW, unzigzag};
use ferrosz_codec::shape::StaticShape;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::element::{by_width, load_element, store_element};
use ferrosz_gpu_kernels::primitives::look_back::{look_back, publish};
use ferrosz_gpu_kernels::primitives::scan::block_sum;
use ferrosz_gpu_kernels::primitives::ticket::take_ticket;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Exports a field of `E` in tiles of shape `S`. Launched with a block for each [`SEGMENT`] elements.
pub struct Export<E, S>(PhantomData<(E, S)>);

/// Parameters of [`Export`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExportParams {
    /// The field.
    pub field: View<u32>,
    /// Its codes as prediction leaves them, from chunk 0 on.
    pub predicted: View<u32>,
    /// The output: the codes.
    pub array: CodeArray,
    /// The output: the anchors, in C order.
    pub anchors: View<u32>,
    /// The output: the values without a code, in the order of the field.
    pub outlier_values: View<u32>,
    /// The output: the numbers of their elements in the field.
    pub outlier_indices: View<u32>,
    /// How many outliers there is room for. Outliers without room are only counted.
    pub capacity: u64,
    /// The workspace: [`cells::count`] cells for as many segments, which are clear. [`cells::OUTLIERS`]
    /// will be the number of values without a code.
    pub cells: View<u64>,
}

/// Threads in a block.
pub const THREADS: u32 = 256;

const WARPS: u32 = THREADS / WARP;

/// Elements of a thread.
const TURNS: u32 = 32;

/// Elements of a segment.
pub const SEGMENT: u64 = (TURNS * THREADS) as u64;

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    segment: Shared<u32>,
    /// How many outliers each warp found in each turn, and then how many there are before these.
    counts: Shared<u32>,
    sums: Shared<u32>,
    /// How many outliers there are before the segment.
    before: Shared<u64>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        segment: layout.array("segment", 1),
        counts: layout.array("counts", TURNS * WARPS),
        sums: layout.array("sums", WARPS),
        before: layout.array("before", 1),
    };
    (scratch, layout)
};

// Each thread adds up one count.
const _: () = assert!(TURNS * WARPS == THREADS);

impl<E: Element, S: StaticShape> Kernel for Export<E, S> {
    type Params = ExportParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_export", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &ExportParams) {
        let shared = SHARED.0;
        let segment = take_ticket(t, params.cells, cells::TICKET, shared.segment, |_| ());
        let segment = u64::from(segment);
        let outliers = Self::export(t, params, segment);
        t.barrier();
        let count = shared.counts.load(t, t.thread_index());
        let sum = block_sum::<T, { WARPS as usize }>(t, count, shared.sums);
        shared.counts.store(t, t.thread_index(), sum.before);
        let (states, total) = ((params.cells, cells::STATES), u64::from(sum.total));
        // In the warp that looks back: `thread_index` would cost three registers.
        if t.warp() == 0 && t.lane() == 0 {
            publish(t, states, segment, total);
        }
        let before = look_back(t, states, segment, total, shared.before, |before| before);
        let is_last = (segment + 1) * SEGMENT >= params.array.grid::<S>().elements();
        if is_last && t.thread_index() == 0 {
            let all = before + u64::from(sum.total);
            t.atomic_store(params.cells, cells::OUTLIERS, all);
        }
        if sum.total > 0 {
            Self::list(t, params, segment, before, outliers);
        }
    }
}

impl<E: Element, S: StaticShape> Export<E, S> {
    /// Writes the codes and anchors of a segment; bit i says that this thread's element of turn i is an outlier.
    #[inline(always)]
    fn export<T: Thread>(t: T, params: &ExportParams, segment: u64) -> u32 {
        let radius = params.array.radius(t);
        let mut outliers = 0;
        let turns = t.opaque(TURNS);
        let mut turn = 0;
        while turn < turns {
            let element = number(t, segment, turn);
            let is_outlier = element < params.array.grid::<S>().elements()
                && Self::visit(t, params, radius, element);
            outliers |= u32::from(is_outlier) << turn;
            let votes = t.ballot(is_outlier);
            if t.lane() == 0 {
                let at = turn * WARPS + t.warp();
                SHARED.0.counts.store(t, at, votes.count_ones());
            }
            turn += 1;
        }
        outliers
    }

    /// Writes the code of an element; whether it has none.
    #[inline(always)]
    fn visit<T: Thread>(t: T, params: &ExportParams, radius: u32, element: u64) -> bool {
        let array = &params.array;
        let (grid, layout) = (array.grid::<S>(), array.layout::<S>());
        let at = array.position(element as u32);
        let predicted = t.load_half(params.predicted, half_of(&grid, at));
        let is_outlier = predicted == RAW;
        let code = radius.wrapping_add_signed(unzigzag(predicted));
        array.store(t, layout.position(at), if is_outlier { 0 } else { code });
        if layout.level(at) == array.anchor_level {
            let value: E = load_element(t, params.field, element);
            store_element(t, params.anchors, layout.anchor(at), value);
        }
        is_outlier
    }

    /// Writes the segment's outliers.
    #[inline(always)]
    fn list<T: Thread>(t: T, params: &ExportParams, segment: u64, before: u64, outliers: u32) {
        let turns = t.opaque(TURNS);
        let mut turn = 0;
        while turn < turns {
            let is_outlier = outliers >> turn & 1 == 1;
            let votes = t.ballot(is_outlier);
            let in_segment = SHARED.0.counts.load(t, turn * WARPS + t.warp());
            let in_warp = (votes & ((1 << t.lane()) - 1)).count_ones();
            let at = before + u64::from(in_segment + in_warp);
            if is_outlier && at < params.capacity {
                let element = number(t, segment, turn);
                t.store(params.outlier_indices, at, element as u32);
                let value: E = load_element(t, params.field, element);
                store_element(t, params.outlier_values, at, value);
            }
            turn += 1;
        }
    }
}

/// This thread's element of a turn.
#[inline(always)]
fn number<T: Thread>(t: T, segment: u64, turn: u32) -> u64 {
    segment * SEGMENT + u64::from(turn * THREADS + t.thread_index())
}
