//! Predictors of tiles on the CPU, named as in `ferrosz_codec::predict`. The predictors of blocks are inlined into
//! [`fixed_length`](crate::cpu::code::fixed_length).

pub(crate) mod direct;
pub mod interp;
pub mod tile_lorenzo;
pub mod tune;

use ferrosz_codec::Element;
use ferrosz_codec::tile::TileGrid;

/// A function that fills a slice with the values of a field in C order along x from a position on.
pub fn rows_of<T: Element>(
    grid: &TileGrid,
    values: &[T],
) -> impl Fn([u64; 3], &mut [T]) + Copy + Sync {
    move |at, row| {
        let first = grid.flat(at) as usize;
        row.copy_from_slice(&values[first..first + row.len()]);
    }
}
