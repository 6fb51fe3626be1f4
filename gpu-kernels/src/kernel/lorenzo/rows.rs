//! Rows of a tile where a warp has them: lane i has the places i and i + 32.

use super::LorenzoParams;
use crate::kernel::interp::codes;
use crate::kernel::interp::predict::{load_element, store_element};
use crate::simt::{Thread, WARP};
use ferrosz_codec::Element;
use ferrosz_codec::predict::tile_lorenzo::{first_place, fits, places};
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{ROW, TileBox};

/// What a lane has of a row.
pub type Pair<V> = [V; 2];

/// A tile and where its rows are.
#[derive(Clone, Copy)]
pub struct TileRows<'a> {
    /// The parameters.
    pub params: &'a LorenzoParams,
    /// The shape of the tiles.
    pub shape: Shape,
    /// The tile.
    pub tile: TileBox,
    /// The first of its codes.
    pub first_code: u64,
}

impl<'a> TileRows<'a> {
    /// Those of this block.
    #[inline(always)]
    pub fn of_block<T: Thread>(t: T, params: &'a LorenzoParams, shape: Shape) -> Self {
        let (number, tile) = params.tile(t, shape);
        Self {
            params,
            shape,
            tile,
            first_code: 2 * codes::first_word(params.first_chunk, number),
        }
    }

    /// How many places of a row are in the field.
    #[inline(always)]
    pub fn places(&self, row: u32) -> u32 {
        places(self.shape, &self.tile, row) as u32
    }

    /// Where a row begins in the field.
    #[inline(always)]
    pub fn first_element(&self, row: u32) -> u64 {
        let [z, y, x] = self.tile.at(first_place(self.shape, row));
        let [along_z, along_y, along_x] = self.params.strides;
        z * along_z + y * along_y + x * along_x
    }

    /// Where this lane's element of half a row is in the field.
    #[inline(always)]
    fn element<T: Thread>(&self, t: T, row: u32, half: u32) -> u64 {
        let x = u64::from(place(t, half));
        self.first_element(row) + x * self.params.strides[2]
    }

    /// Where this lane's code of half a row is.
    #[inline(always)]
    fn code<T: Thread>(&self, t: T, row: u32, half: u32) -> u64 {
        let in_row = t.lane() % 2 * WARP + t.lane() / 2 + half * (WARP / 2);
        self.first_code + u64::from(ROW * row + in_row)
    }

    /// A row of values, 0 outside the field.
    #[inline(always)]
    pub fn load<T: Thread, E: Element>(&self, t: T, row: u32) -> Pair<E> {
        let count = self.places(row);
        [0, 1].map(|half| {
            if place(t, half) < count {
                load_element(t, self.params.field, self.element(t, row, half))
            } else {
                E::ZERO
            }
        })
    }

    /// This lane's code of half a row.
    #[inline(always)]
    pub fn load_code<T: Thread>(&self, t: T, row: u32, half: u32) -> u32 {
        t.load_half(self.params.codes, self.code(t, row, half))
    }

    /// Writes this lane's code of half a row.
    #[inline(always)]
    pub fn store_code<T: Thread>(&self, t: T, row: u32, half: u32, code: u32) {
        t.store_half(self.params.codes, self.code(t, row, half), code as u16);
    }

    /// Writes a value of half a row.
    #[inline(always)]
    pub fn store<T: Thread, E: Element>(&self, t: T, row: u32, half: u32, value: E) {
        store_element(t, self.params.field, self.element(t, row, half), value);
    }
}

/// The place in its row of this lane's element of half a row.
#[inline(always)]
pub fn place<T: Thread>(t: T, half: u32) -> u32 {
    t.lane() + half * WARP
}

/// What is at the place before each; `carry` at the one before the first, of which lane 0's counts. In lane 0
/// also the row's last, the second of the results.
#[inline(always)]
pub fn before<T: Thread>(t: T, row: Pair<i32>, carry: i32) -> (Pair<i32>, i32) {
    let [low, high] = row.map(|value| {
        t.shuffle(value.cast_unsigned(), t.lane() + WARP - 1)
            .cast_signed()
    });
    if t.lane() == 0 {
        ([carry, low], high)
    } else {
        ([low, high], high)
    }
}

/// Whether each of a lane's residuals fits in a code.
#[inline(always)]
pub fn both_fit(rest: Pair<i32>, before: Pair<i32>) -> Pair<bool> {
    [0, 1].map(|half: usize| fits(rest[half].wrapping_sub(before[half])))
}

/// The sums of each place's.
#[inline(always)]
pub fn add(a: Pair<i32>, b: Pair<i32>) -> Pair<i32> {
    [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
}

/// The differences of each place's.
#[inline(always)]
pub fn subtract(a: Pair<i32>, b: Pair<i32>) -> Pair<i32> {
    [a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1])]
}
