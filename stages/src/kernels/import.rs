//! Import: arrays of other programs as reconstruction wants them.
//!
//! Two kernels: one brings codes to their tiles, the other, after it, the values without a code to their positions
//! in the field. Arrays that do not fit each other are a fault; no access goes outside of an array.

use crate::PACKAGE;
use crate::kernels::arrays::{CodeArray, half_of};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::{RAW, zigzag};
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{self, LANES, TILE};
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::pipeline::tiles::codes;
use ferrosz_gpu_kernels::primitives::element::{by_width, load_element, store_element};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Brings codes to their tiles of shape `S`. Launched with any number of blocks.
///
/// Positions of tiles outside the field get 0: reconstruction brings in whole rows.
pub struct ImportCodes<S>(PhantomData<S>);

/// Parameters of [`ImportCodes`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImportCodesParams {
    /// The codes.
    pub array: CodeArray,
    /// The output: the codes in the order in which prediction writes them, from chunk 0 on.
    pub predicted: View<u32>,
    /// The output, if it is not empty: the codes as words in the order of the field. Then codes of 0 are differences as any
    /// other, and nothing is counted.
    pub values: View<u32>,
    /// The workspace: see [`cells`]. [`cells::OUTLIERS`], clear before, will be the number of positions without a
    /// code. [`cells::FAULT`] is raised if a code is not below twice the radius.
    pub cells: View<u64>,
}

/// Threads in a block.
pub const THREADS: u32 = 256;

impl<S: StaticShape> Kernel for ImportCodes<S> {
    type Params = ImportCodesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_import_codes", S::SHAPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 6;

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &ImportCodesParams) {
        let radius = params.array.radius(t);
        let elements = params.array.grid::<S>().elements();
        let mut outliers = 0;
        let mut element = first(t);
        while element < elements {
            outliers += Self::visit(t, params, radius, element as u32);
            element += step(t);
        }
        Self::clear_outside(t, params);
        let outliers = t.reduce_add(outliers);
        if t.lane() == 0 && outliers > 0 {
            t.atomic_add(params.cells, cells::OUTLIERS, u64::from(outliers));
        }
    }
}

impl<S: StaticShape> ImportCodes<S> {
    /// Makes the codes of positions outside the field 0, in the tiles that have such positions. A warp takes a tile.
    #[inline(always)]
    fn clear_outside<T: Thread>(t: T, params: &ImportCodesParams) {
        let grid = params.array.grid::<S>();
        let warps = u64::from(THREADS / WARP);
        let mut number = u64::from(t.block_index()) * warps + u64::from(t.warp());
        while number < grid.tiles() {
            let tile = grid.tile(number);
            let first = 2 * codes::first_word(0, number);
            let mut at = t.lane();
            while !tile.is_complete(S::SHAPE) && at < TILE as u32 {
                if !tile.has(tile::position(S::SHAPE, at / LANES, at % LANES)) {
                    t.store_half(params.predicted, first + u64::from(at), 0);
                }
                at += WARP;
            }
            number += u64::from(t.block_count()) * warps;
        }
    }

    /// Brings the code of an element to its tile; 1 if it has none.
    #[inline(always)]
    fn visit<T: Thread>(t: T, params: &ImportCodesParams, radius: u32, element: u32) -> u32 {
        let array = &params.array;
        let (grid, layout) = (array.grid::<S>(), array.layout::<S>());
        let at = array.position(element);
        let mut predicted = 0;
        // Anchors have no code: the array's values at their positions do not matter.
        if layout.level(at) < array.anchor_level {
            let code = array.load(t, layout.position(at));
            predicted = if code == 0 && params.values.is_empty() {
                RAW
            } else {
                zigzag(code.wrapping_sub(radius).cast_signed())
            };
            if !params.values.is_empty() {
                t.store(params.values, element.into(), code);
            }
            if code >= 2 * radius {
                predicted = 0;
                raise(t, params.cells, CODE);
            }
        }
        t.store_half(params.predicted, half_of(&grid, at), predicted as u16);
        u32::from(predicted == RAW)
    }
}

/// Brings the values without a code of a field of `E` in tiles of shape `S` to their positions, after [`ImportCodes`].
/// Launched with any number of blocks.
pub struct ImportOutliers<E, S>(PhantomData<(E, S)>);

/// Parameters of [`ImportOutliers`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ImportOutliersParams {
    /// The codes.
    pub array: CodeArray,
    /// The values.
    pub values: View<u32>,
    /// Their numbers in the field, ascending.
    pub indices: View<u32>,
    /// How many there are.
    pub count: u64,
    /// The field.
    pub field: View<u32>,
    /// The workspace. [`cells::FAULT`] is raised if these are not the values that codes say are missing.
    pub cells: View<u64>,
}

impl<E: Element, S: StaticShape> Kernel for ImportOutliers<E, S> {
    type Params = ImportOutliersParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_import_outliers", S::SHAPE.name(), E::DTYPE.name()]) }
            .as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &ImportOutliersParams) {
        let mut number = first(t);
        if number == 0 && t.atomic_load(params.cells, cells::OUTLIERS) != params.count {
            raise(t, params.cells, OUTLIER);
        }
        while number < params.count {
            Self::visit(t, params, number);
            number += step(t);
        }
    }
}

impl<E: Element, S: StaticShape> ImportOutliers<E, S> {
    /// Brings an outlier to its position; a fault if its index does not ascend or its position has a code. As many such
    /// indices as there are positions without a code are all of these positions.
    #[inline(always)]
    fn visit<T: Thread>(t: T, params: &ImportOutliersParams, number: u64) {
        let array = &params.array;
        let layout = array.layout::<S>();
        let index = t.load(params.indices, number);
        let ascends = number == 0 || t.load(params.indices, number - 1) < index;
        if !ascends || u64::from(index) >= array.grid::<S>().elements() {
            raise(t, params.cells, OUTLIER);
            return;
        }
        let at = array.position(index);
        if layout.level(at) >= array.anchor_level || array.load(t, layout.position(at)) != 0 {
            raise(t, params.cells, OUTLIER);
            return;
        }
        let value: E = load_element(t, params.values, number);
        store_element(t, params.field, u64::from(index), value);
    }
}

/// A code is none that an encoder writes.
pub const CODE: u32 = 1;

/// Outliers are not those of the codes.
pub const OUTLIER: u32 = 2;

#[inline(always)]
pub(super) fn raise<T: Thread>(t: T, cells: View<u64>, what: u32) {
    t.atomic_max(cells, cells::FAULT, Fault::Chunk(0, what).to_cell());
}

/// This thread's number in the grid.
#[inline(always)]
pub(super) fn first<T: Thread>(t: T) -> u64 {
    u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index())
}

/// Threads in the grid.
#[inline(always)]
pub(super) fn step<T: Thread>(t: T) -> u64 {
    u64::from(t.block_count()) * u64::from(THREADS)
}
