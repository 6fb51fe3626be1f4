//! Codes to differences of neighbours and back (cuSZp stream, section 6).
//!
//! The predecessor of a place is its left neighbour; in column 0 the place above; in 3D in row and
//! column 0 the one a slice back. A half block needs of its block only the code before its first.

use super::{HALF, Rank};

/// The place of the first half from which the second half goes on.
#[inline(always)]
pub const fn link(rank: Rank) -> usize {
    match rank {
        Rank::One => 31,
        Rank::Two => 24,
        Rank::Three => 16,
    }
}

/// The predecessor of a place within a half; none for the first.
#[inline(always)]
const fn predecessor(rank: Rank, place: usize) -> Option<usize> {
    let distance = match rank {
        Rank::Two if place.is_multiple_of(8) => 8,
        Rank::Three if place.is_multiple_of(16) => 16,
        Rank::Three if place.is_multiple_of(4) => 4,
        _ => 1,
    };
    place.checked_sub(distance)
}

/// Codes to differences, in place; `before` is the code of the first half's [`link`], and 0 for
/// the first half.
#[inline(always)]
pub fn forward(rank: Rank, codes: &mut [i32; HALF], before: i32) {
    let source = *codes;
    for (place, code) in codes.iter_mut().enumerate() {
        let predicted = predecessor(rank, place).map_or(before, |from| source[from]);
        *code = code.wrapping_sub(predicted);
    }
}

/// Differences to codes, in place; `before` as for [`forward`].
#[inline(always)]
pub fn backward(rank: Rank, differences: &mut [i32; HALF], before: i32) {
    for place in 0..HALF {
        let predicted = predecessor(rank, place).map_or(before, |from| differences[from]);
        differences[place] = differences[place].wrapping_add(predicted);
    }
}
