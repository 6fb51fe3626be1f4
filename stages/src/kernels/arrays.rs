//! Arrays of codes as other programs have them: one integer a position, with the radius added, 0 for a value that
//! has no code.

use crate::order::{CodeLayout, CodeOrder};
use ferrosz_codec::predict::interp::resolved::Words;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{self, TileGrid};
use ferrosz_gpu_kernels::pipeline::tiles::codes;
use ferrosz_simt::{Thread, View};

/// An array of codes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CodeArray {
    /// The codes.
    pub codes: View<u32>,
    /// Bytes of a code: 1, 2 or 4.
    pub width: u32,
    /// The words of [`ferrosz_codec::predict::interp::resolved`], of which the radius is needed: it is added to codes.
    pub parameters: View<u32>,
    /// Their order.
    pub order: CodeOrder,
    /// The level of anchors, whose codes are the radius.
    pub anchor_level: u32,
    /// The field's extents; it has less than 2^32 elements.
    pub lengths: [u64; 3],
}

impl CodeArray {
    /// The radius, which is added to the codes.
    #[inline(always)]
    pub fn radius<T: Thread>(&self, t: T) -> u32 {
        Words(|at| t.load(self.parameters, at as u64)).radius()
    }

    /// The field, in tiles of shape `S`.
    #[inline(always)]
    pub fn grid<S: StaticShape>(&self) -> TileGrid {
        TileGrid::new(S::SHAPE, self.lengths)
    }

    /// The order of the codes.
    #[inline(always)]
    pub fn layout<S: StaticShape>(&self) -> CodeLayout {
        CodeLayout {
            grid: self.grid::<S>(),
            order: self.order,
            anchor_level: self.anchor_level,
        }
    }

    /// The position of an element. Divisions of 32 bits are much cheaper than those of 64.
    #[inline(always)]
    pub fn position(&self, element: u32) -> [u64; 3] {
        let [_, height, width] = self.lengths.map(|length| (length as u32).max(1));
        let (row, x) = (element / width, element % width);
        [row / height, row % height, x].map(u64::from)
    }

    /// Reads a code.
    #[inline(always)]
    pub fn load<T: Thread>(&self, t: T, at: u64) -> u32 {
        match self.width {
            1 => t.load(self.codes, at / 4) >> (8 * (at % 4)) & 0xff,
            2 => t.load_half(self.codes, at),
            _ => t.load(self.codes, at),
        }
    }

    /// Writes a code, which must fit.
    #[inline(always)]
    pub fn store<T: Thread>(&self, t: T, at: u64, code: u32) {
        match self.width {
            1 => t.store_byte(self.codes, at, code as u8),
            2 => t.store_half(self.codes, at, code as u16),
            _ => t.store(self.codes, at, code),
        }
    }
}

/// The number among half words of a position's code as prediction leaves it: see [`codes`].
#[inline(always)]
pub fn half_of(grid: &TileGrid, at: [u64; 3]) -> u64 {
    let extents = tile::extents(grid.shape());
    let [_, height, width] = grid.counts();
    let of_tile: [u64; 3] = core::array::from_fn(|i| at[i] >> extents[i].trailing_zeros());
    let position = core::array::from_fn(|i| at[i] as u32 & (extents[i] - 1));
    let number = (of_tile[0] * height + of_tile[1]) * width + of_tile[2];
    2 * codes::first_word(0, number) + u64::from(tile::index(grid.shape(), position))
}
