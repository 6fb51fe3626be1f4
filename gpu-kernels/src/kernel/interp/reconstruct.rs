//! Reconstruction: codes to a part of a field.

use super::codes;
use super::predict::{flat, leave, load_element, set_anchors, store_element};
use super::rows::{self, BATCH};
use super::stages::{Setting, Settle, Spot, run};
use super::values::Values;
use super::{InterpParams, THREADS};
use crate::simt::{Thread, WARP};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::interp::quantize::LevelQuantizer;
use ferrosz_codec::interp::store;
use ferrosz_codec::interp::tile::{RAW, unzigzag};
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{self, TileBox, TileGrid};

/// Reconstructs a field of `E` in tiles of shape `S`. Launched with a block for each tile.
///
/// The values of places without a code lie in the field already.
pub struct Reconstruct<E, S>(PhantomData<(E, S)>);

/// What a row of codes comes in: lane i has two codes, of even places for i below 16, of odd ones else.
const ROW_WORDS: u64 = 32;

impl<E: Element, S: StaticShape> Reconstruct<E, S> {
    /// Words of shared memory.
    pub const SHARED_WORDS: u32 = Values::<E, S>::WORDS;

    /// What one thread does.
    #[inline(always)]
    pub fn run<T: Thread>(t: T, params: &InterpParams) {
        let number = u64::from(params.first_tile + t.block_index());
        let grid = params.grid(S::SHAPE);
        let tile = grid.tile(number);
        let setting = Setting::read::<T, S>(t, params.parameters, tile, params.is_coarse != 0);
        let source = Source {
            params,
            grid: &grid,
            tile: &tile,
            number,
        };
        source.fill::<T, E, S>(t);
        t.barrier();
        set_anchors::<T, E, S>(t, params, &setting);
        t.barrier();
        let decode = Decode {
            params,
            tile: &tile,
            error: setting.error::<T, E>(t),
            radius: setting.radius(t),
        };
        run::<T, E, S>(t, &setting, &decode);
        if params.known.is_empty() {
            source.leave_field::<T, E, S>(t);
        } else {
            leave::<T, E, S>(t, &tile, |at| grid.flat(at), params.known);
        }
    }
}

/// A code as a value of the store.
#[inline(always)]
fn slot_of<E: Element>(code: u32) -> E {
    E::from_words([code, 0])
}

struct Source<'a> {
    params: &'a InterpParams,
    grid: &'a TileGrid,
    tile: &'a TileBox,
    number: u64,
}

impl Source<'_> {
    /// Brings in the codes of the tile and its far faces, which are those of its neighbours' first places.
    #[inline(always)]
    fn fill<T: Thread, E: Element, S: StaticShape>(&self, t: T) {
        rows::share(t, rows::count(S::SHAPE), |numbers| {
            let words: [u32; BATCH] = core::array::from_fn(|i| {
                self.row_word::<S>(numbers[i], 0).map_or(0, |first| {
                    t.load(self.params.codes, first + u64::from(t.lane()))
                })
            });
            for i in 0..BATCH {
                self.put_row::<T, E, S>(t, numbers[i], words[i]);
            }
        });
        if rows::has_far(S::SHAPE) {
            let mut row = t.thread_index();
            while row < rows::count(S::SHAPE) {
                let place = rows::place(S::SHAPE, row, tile::ROW);
                if self.tile.has(place)
                    && let Some(first) = self.row_word::<S>(row, 1)
                {
                    let code = t.load_half(self.params.codes, 2 * first);
                    let at = store::index(S::SHAPE, place);
                    Values::<E, S>::store(t, at, slot_of(code));
                }
                row += THREADS;
            }
        }
    }

    /// The first word of a row's codes, in the tile that it is an own row of or, along x, the one behind it; none if
    /// the row is not in the field.
    #[inline(always)]
    fn row_word<S: StaticShape>(&self, row: u32, tiles_ahead: u64) -> Option<u64> {
        let place = rows::place(S::SHAPE, row, 0);
        if row >= rows::count(S::SHAPE) || !self.tile.has(place) {
            return None;
        }
        let [_, height, width] = self.grid.counts();
        let steps = [height * width, width, 1];
        let mut number = self.number + tiles_ahead;
        let mut own = place;
        for axis in 0..3 {
            let extent = tile::extents(S::SHAPE)[axis];
            if own[axis] >= extent {
                own[axis] -= extent;
                number += steps[axis];
            }
        }
        let own_row = u64::from(tile::index(S::SHAPE, own) / (2 * tile::LANES));
        Some(codes::first_word(self.params.first_chunk, number) + own_row * ROW_WORDS)
    }

    /// Writes the tile's values, but for those that lie in the field already: a neighbour may be about to read them, and
    /// what the encoder knew there may be something else.
    #[inline(always)]
    fn leave_field<T: Thread, E: Element, S: StaticShape>(&self, t: T) {
        let first_half = 2 * codes::first_word(self.params.first_chunk, self.number);
        let mut row = t.warp();
        while row < tile::ROWS {
            for parity in 0..2 {
                let step = 2 * row + parity;
                let place = tile::place(S::SHAPE, step, t.lane());
                if self.tile.has(place) {
                    let half = first_half + u64::from(step * tile::LANES + t.lane());
                    if t.load_half(self.params.codes, half) as u16 != RAW {
                        let value = Values::<E, S>::load(t, store::index(S::SHAPE, place));
                        let at = flat(self.params, self.tile.at(place));
                        store_element::<T, E>(t, self.params.field, at, value);
                    }
                }
            }
            row += THREADS / WARP;
        }
    }

    #[inline(always)]
    fn put_row<T: Thread, E: Element, S: StaticShape>(&self, t: T, row: u32, word: u32) {
        if row >= rows::count(S::SHAPE) {
            return;
        }
        let parity = t.lane() / 16;
        for half in 0..2 {
            let x = 2 * (t.lane() % 16 * 2 + half) + parity;
            let place = rows::place(S::SHAPE, row, x);
            if self.tile.has(place) && place[2] < store::extents(S::SHAPE)[2] {
                let at = store::index(S::SHAPE, place);
                Values::<E, S>::store(t, at, slot_of(word >> (16 * half) & 0xffff));
            }
        }
    }
}

struct Decode<'a, E> {
    params: &'a InterpParams,
    tile: &'a TileBox,
    error: E,
    radius: u32,
}

impl<E: Element> Settle<E> for Decode<'_, E> {
    #[inline(always)]
    fn settle<T: Thread>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        spot: Spot,
        slot: E,
        prediction: E,
    ) -> E {
        let code = slot.low_bits() as u16;
        if code == RAW {
            let at = flat(self.params, self.tile.at(spot.place));
            let value = load_element(t, self.params.field, at);
            quantizer.known(value, prediction, self.error, self.radius)
        } else {
            quantizer.decode(prediction, unzigzag(code))
        }
    }
}
