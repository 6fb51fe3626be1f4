//! Prediction: a part of a field to codes.

use crate::PACKAGE;
use crate::pipeline::tiles::codes;
use crate::predict::interp::anchors::Anchor;
use crate::predict::interp::method::{Method, Splines};
use crate::predict::interp::residuals::{Position, Residuals, TileSetup, encode_each};
use crate::predict::interp::rows::{InField, Row, WARPS};
use crate::predict::interp::stages::Staged;
use crate::predict::interp::values::Values;
use crate::predict::interp::{InterpParams, THREADS};
use crate::primitives::element::by_width;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{self, TileBox};
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// Predicts a field of `E` in tiles of shape `S` by method `M`. Launched with a block for each tile that is taken.
pub struct Predict<E, S, M = Splines>(PhantomData<(E, S, M)>);

impl<E: Element, S: StaticShape, M: Staged> Kernel for Predict<E, S, M> {
    type Params = InterpParams;
    const NAME: &'static str =
        const { &Name::of(&[M::NAME, "predict", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Values::<E, S>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(M::BLOCKS, 1);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &InterpParams) {
        let [number, of_codes] = params.taken_tile(t);
        let grid = params.grid(S::SHAPE);
        let tile = M::tile(grid.tile(number));
        begin_fill::<T, E, S>(t, params, &tile);
        let setup = TileSetup::read::<T, S>(t, params.parameters, tile, params.is_coarse != 0);
        let setup = setup.with_coefficients::<M>(params.coefficients());
        let codes = params.codes;
        let codes = codes.from(codes::first_word(params.first_run, of_codes));
        clear_codes::<T, S>(t, codes, &setup);
        let anchor = if params.anchors.is_empty() {
            None
        } else {
            Anchor::<E>::read::<T, S>(t, params, &setup)
        };
        t.await_copies();
        t.barrier();
        if !params.anchors.is_empty() {
            Anchor::set::<T, S>(t, anchor);
            t.barrier();
        }
        let encode = Encode::<E, M> {
            codes,
            error: setup.error(t),
            radius: setup.radius(t),
            method: PhantomData,
        };
        M::run::<T, E, S, _>(t, &setup, &encode);
        if !params.known.is_empty() {
            // Computed again: a thread would hold the tile's box in registers all along.
            let number = u64::from(params.first_tile + t.opaque(t.block_index()));
            let grid = params.grid(S::SHAPE);
            let tile = M::tile(grid.tile(number));
            let known = InField::in_order(params.known, &grid, &tile);
            known.leave::<T, E, S>(t, &tile);
        }
    }
}

/// Begins to bring the tile and its far faces in. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(super) fn begin_fill<T: Thread, E: Element, S: StaticShape>(
    t: T,
    params: &InterpParams,
    tile: &TileBox,
) {
    let store = Values::<E, S>::kept_address(t);
    let field = InField::new(params.field, params.strides, tile);
    let asides = [t.lane(), t.lane() + WARP].map(|x| field.aside(x));
    let copy = |row: Row, first: u64| {
        for (half, aside) in (0..).zip(&asides) {
            let x = t.lane() + half * WARP;
            if x < row.width {
                let address = store + row.offset(S::SHAPE, x);
                field.copy::<T, E, S>(t, address, first + aside);
            }
        }
    };
    if tile.is_complete(S::SHAPE) {
        field.each_own::<T, S>(t, tile, store, |address, element| {
            field.copy::<T, E, S>(t, address, element);
        });
    } else {
        let mut number = t.warp();
        while number < tile::ROWS {
            let row = Row::own(S::SHAPE, number, tile);
            copy(row, field.element(row.position));
            number += WARPS;
        }
    }
    for row in &Row::far_of_warp::<T, S>(t, tile) {
        copy(*row, field.element(row.position));
    }
    for row in &Row::of_thread::<T, S>(t, tile) {
        if row.has_far(S::SHAPE) {
            let from = field.element(row.position) + field.aside(tile::ROW);
            let address = store + row.offset(S::SHAPE, tile::ROW);
            field.copy::<T, E, S>(t, address, from);
        }
    }
}

/// Sets the codes that no stage writes to 0. Anchors have no code, nor have positions outside the field.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn clear_codes<T: Thread, S: StaticShape>(t: T, codes: View<u32>, setup: &TileSetup) {
    if setup.tile.is_complete(S::SHAPE) {
        // The anchors of a complete tile are few.
        let spacing = setup.spacing.trailing_zeros();
        let [z, y, x] = tile::extents(S::SHAPE).map(|extent| extent.div_ceil(setup.spacing));
        let mut number = t.thread_index();
        while number < z * y * x {
            let position = [number / x / y, number / x % y, number % x].map(|at| at << spacing);
            t.store_half(codes, tile::index(S::SHAPE, position).into(), 0);
            number += THREADS;
        }
        return;
    }
    let mut word = u64::from(t.thread_index());
    while word < codes::TILE_WORDS {
        t.store(codes, word, 0);
        word += u64::from(THREADS);
    }
}

struct Encode<E, M> {
    /// Those of the tile.
    codes: View<u32>,
    error: E,
    radius: u32,
    method: PhantomData<M>,
}

impl<E: Element, M: Method> Residuals<E> for Encode<E, M> {
    const KIND: FittedKind = M::KIND;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        let all =
            encode_each::<T, E, M, N>(t, quantizer, slots, predictions, self.error, self.radius);
        for (position, quantized) in positions.iter().zip(&all) {
            if position.is_own {
                t.store_half(self.codes, u64::from(position.index), quantized.code as u16);
            }
        }
        all.map(|quantized| quantized.known)
    }
}
