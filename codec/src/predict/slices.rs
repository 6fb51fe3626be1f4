//! Slices: predictions of the positions of a slice from the slices before it, with coefficients that are fitted to the field.
//!
//! For fields that along one axis change like noise, such as years, members or levels: there the same place in the slice
//! before says more about a value than its neighbours do. Each slice of a cube's tile is predicted by levels of its own, with
//! the stages of planes, by stencils ([`terms`]) that also have terms of up to three slices before it in the tile. A tile reads
//! no slices of other tiles, so boxes can be decoded and damage stays where it is. The first slice of a tile has coefficients of
//! its own. See FORMAT.md, section 27.
//!
//! The positions of a stage in one slice do not depend on each other; they depend on the slices before. So a GPU thread can take
//! the position with the same y and x in all slices, and keep the differences and terms of the references in registers.

pub mod coefficients;
pub mod fit;
pub mod terms;

use crate::predict::interp::geometry::Geometry;

/// The geometry of anchors and levels. Levels are those of the positions of a slice.
pub const GEOMETRY: Geometry = Geometry::Wide;

/// The level of the positions whose coordinates along y and x are those of anchors. In the first slice of a tile they are
/// anchors; in other slices they are predicted from the slices before alone.
pub const ROOT: u32 = 4;

/// The sets of axes along which positions of a level are odd, in the order of their stages.
pub const SETS: [u32; 3] = [0b010, 0b100, 0b110];

/// One of the sets of one axis, which have as many terms, and that of both.
const LINES: u32 = SETS[0];
const FACES: u32 = SETS[2];

/// How many coefficients, or sums, the sets of a level have: a set of one axis, and the set of both. Without a loop over the
/// sets, as kernels need it, too.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    of_first: [usize; 2],
    of_others: [usize; 2],
}

impl Sizes {
    /// Those of all sets of a level.
    const fn of_level(self) -> usize {
        let ([line, face], [other_line, other_face]) = (self.of_first, self.of_others);
        2 * line + face + 2 * other_line + other_face
    }

    /// Those before a set of a level: the sets of first slices come first, those of one axis before that of both.
    #[inline(always)]
    const fn before(self, odd: u32, is_first: bool) -> usize {
        let place = (odd / 2) as usize - 1;
        let ([line, face], [other_line, _]) = (self.of_first, self.of_others);
        if is_first {
            place * line
        } else {
            2 * line + face + place * other_line
        }
    }
}

const _: () = {
    let mut i = 0;
    while i < SETS.len() {
        assert!(
            SETS[i] == 2 * (i as u32 + 1),
            "in the order of their numbers"
        );
        i += 1;
    }
};

const _: () = assert!(GEOMETRY.levels(crate::shape::Shape::Cube) == ROOT);
