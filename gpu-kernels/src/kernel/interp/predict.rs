//! Prediction: a part of a field to codes.

use super::codes;
use super::rows::{self, BATCH};
use super::stages::{Setting, Settle, Spot, run};
use super::values::Values;
use super::{InterpParams, THREADS};
use crate::simt::{Thread, View, WARP};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::interp::quantize::LevelQuantizer;
use ferrosz_codec::interp::store;
use ferrosz_codec::interp::tile::{RAW, zigzag};
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{self, TileBox};

/// The level of the closest anchors of all geometries.
const LEAST_ANCHOR_LEVEL: u32 = 3;

/// Predicts a field of `E` in tiles of shape `S`. Launched with a block for each tile.
pub struct Predict<E, S>(PhantomData<(E, S)>);

impl<E: Element, S: StaticShape> Predict<E, S> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = Values::<E, S>::WORDS;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &InterpParams) {
        let number = u64::from(params.first_tile + t.block_index());
        let grid = params.grid(S::SHAPE);
        let tile = grid.tile(number);
        let setting = Setting::read::<T, S>(t, params.parameters, tile, params.is_coarse != 0);
        let first_half = 2 * codes::first_word(params.first_chunk, number);
        Self::fill(t, params, &tile);
        Self::clear_codes(t, params, &tile, first_half);
        t.barrier();
        if !params.anchors.is_empty() {
            set_anchors::<T, E, S>(t, params, &setting);
            t.barrier();
        }
        let encode = Encode::<E> {
            codes: params.codes,
            first_half,
            error: setting.error(t),
            radius: setting.radius(t),
        };
        run::<T, E, S>(t, &setting, &encode);
        if !params.known.is_empty() {
            Self::leave_known(t, params, &tile);
        }
    }

    /// Brings the tile and its far faces in.
    #[inline(always)]
    pub(super) fn fill<T: Thread>(t: T, params: &InterpParams, tile: &TileBox) {
        let first = flat(params, tile.origin);
        rows::share(t, rows::count(S::SHAPE), |numbers| {
            let load = |row: u32, x: u32| {
                let place = rows::place(S::SHAPE, row, x);
                if row < rows::count(S::SHAPE) && tile.has(place) && fits::<S>(place) {
                    load_element::<T, E>(
                        t,
                        params.field,
                        first + flat(params, place.map(u64::from)),
                    )
                } else {
                    E::ZERO
                }
            };
            let low: [E; BATCH] = core::array::from_fn(|i| load(numbers[i], t.lane()));
            let high: [E; BATCH] = core::array::from_fn(|i| load(numbers[i], t.lane() + WARP));
            for i in 0..BATCH {
                put::<T, E, S>(t, tile, numbers[i], t.lane(), low[i]);
                put::<T, E, S>(t, tile, numbers[i], t.lane() + WARP, high[i]);
            }
        });
        if rows::has_far(S::SHAPE) {
            let mut row = t.thread_index();
            while row < rows::count(S::SHAPE) {
                let place = rows::place(S::SHAPE, row, tile::ROW);
                if tile.has(place) {
                    let at = first + flat(params, place.map(u64::from));
                    let value = load_element::<T, E>(t, params.field, at);
                    put::<T, E, S>(t, tile, row, tile::ROW, value);
                }
                row += THREADS;
            }
        }
    }

    /// Anchors have no code, nor have places outside the field; what no stage writes is 0.
    #[inline(always)]
    fn clear_codes<T: Thread>(t: T, params: &InterpParams, tile: &TileBox, first_half: u64) {
        let extents = tile::extents(S::SHAPE);
        let is_whole = (0..3).all(|i| tile.left[i] >= extents[i]);
        // The anchors of a whole tile are few: at the least spacing 2 rows in 16 and 8 places in 64 along x.
        let mut word = u64::from(t.thread_index());
        while word < codes::TILE_WORDS {
            let place = tile::place(S::SHAPE, word as u32 / 16, word as u32 % 16 * 2);
            let is_far_from_anchors = tile::level(S::SHAPE, place) < LEAST_ANCHOR_LEVEL;
            if !(is_whole && is_far_from_anchors) {
                t.store(params.codes, first_half / 2 + word, 0);
            }
            word += u64::from(THREADS);
        }
    }

    /// Writes what the decoder will know.
    #[inline(always)]
    fn leave_known<T: Thread>(t: T, params: &InterpParams, tile: &TileBox) {
        let grid = params.grid(S::SHAPE);
        leave::<T, E, S>(t, tile, |at| grid.flat(at), params.known);
    }
}

/// Writes a tile's own values to where `flat` says that they belong.
#[inline(always)]
pub fn leave<T: Thread, E: Element, S: StaticShape>(
    t: T,
    tile: &TileBox,
    flat: impl Fn([u64; 3]) -> u64,
    to: View<u32>,
) {
    let mut row = t.warp();
    while row < tile::ROWS {
        for half in 0..2 {
            let place = rows::own_place::<S>(row, t.lane() + half * WARP);
            if tile.has(place) {
                let value = Values::<E, S>::load(t, store::index(S::SHAPE, place));
                store_element::<T, E>(t, to, flat(tile.at(place)), value);
            }
        }
        row += THREADS / WARP;
    }
}

/// Sets the anchors of a tile and its far faces to what is known of them.
#[inline(always)]
pub fn set_anchors<T: Thread, E: Element, S: StaticShape>(
    t: T,
    params: &InterpParams,
    setting: &Setting,
) {
    let spacing = setting.spacing;
    let coarse = params.grid(S::SHAPE).coarse(spacing);
    let extents = store::extents(S::SHAPE);
    let first = 3 - usize::from(S::SHAPE.rank());
    let counts: [u32; 3] = core::array::from_fn(|i| {
        let spaces = (extents[i] - 1) >> spacing.trailing_zeros();
        (spaces + 1).max(1)
    });
    let mut number = t.thread_index();
    while number < counts[0] * counts[1] * counts[2] {
        let [z, y, x] = [
            number / counts[2] / counts[1],
            number / counts[2] % counts[1],
            number % counts[2],
        ];
        let place = [z * spacing, y * spacing, x * spacing];
        if setting.tile.has(place) {
            let mut at = setting.tile.at(place);
            for at in &mut at[first..] {
                *at >>= spacing.trailing_zeros();
            }
            let value = load_element::<T, E>(t, params.anchors, coarse.flat(at));
            Values::<E, S>::store(t, store::index(S::SHAPE, place), value);
        }
        number += THREADS;
    }
}

/// Whether the store has a place.
#[inline(always)]
pub fn fits<S: StaticShape>(place: [u32; 3]) -> bool {
    place[2] < store::extents(S::SHAPE)[2]
}

/// Puts a value at `x` of a row of the store, if there is such a place in the field.
#[inline(always)]
pub fn put<T: Thread, E: Element, S: StaticShape>(
    t: T,
    tile: &TileBox,
    row: u32,
    x: u32,
    value: E,
) {
    let place = rows::place(S::SHAPE, row, x);
    if row < rows::count(S::SHAPE) && tile.has(place) && fits::<S>(place) {
        Values::<E, S>::store(t, store::index(S::SHAPE, place), value);
    }
}

/// The number of a place among a field's elements.
#[inline(always)]
pub fn flat(params: &InterpParams, at: [u64; 3]) -> u64 {
    at[0] * params.strides[0] + at[1] * params.strides[1] + at[2] * params.strides[2]
}

/// Reads an element that no thread of this launch changes.
#[inline(always)]
pub fn load_element<T: Thread, E: Element>(t: T, from: View<u32>, index: u64) -> E {
    let at = index * E::WORDS as u64;
    let low = t.load(from, at);
    let high = if E::WORDS == 2 {
        t.load(from, at + 1)
    } else {
        0
    };
    E::from_words([low, high])
}

/// Writes an element.
#[inline(always)]
pub fn store_element<T: Thread, E: Element>(t: T, to: View<u32>, index: u64, value: E) {
    let at = index * E::WORDS as u64;
    let [low, high] = value.to_words();
    t.store(to, at, low);
    if E::WORDS == 2 {
        t.store(to, at + 1, high);
    }
}

struct Encode<E> {
    codes: View<u32>,
    first_half: u64,
    error: E,
    radius: u32,
}

impl<E: Element> Settle<E> for Encode<E> {
    #[inline(always)]
    fn settle<T: Thread>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        spot: Spot,
        slot: E,
        prediction: E,
    ) -> E {
        let quantized = quantizer.encode(slot, prediction, self.error, self.radius);
        if spot.is_own {
            let at = self.first_half + spot.index;
            t.store_half(self.codes, at, quantized.code.map_or(RAW, zigzag));
        }
        quantized.known
    }
}
