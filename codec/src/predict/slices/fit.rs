//! Least squares: the coefficients that follow from sample tiles, by the integers and sums of
//! [stencils](crate::predict::stencil::fit).
//!
//! Before the fit, sample tiles are predicted with the coefficients of splines, without those of references. At high ratios known
//! values differ much with the coefficients, so the fit is repeated with those that it has found.

use crate::predict::slices::terms::{MAX_TERMS, REFERENCES, count};
use crate::predict::slices::{FACES, LINES, ROOT};
use crate::predict::stencil::fit::{System, of_splines, solve, sums};

/// How many times coefficients are fitted.
pub const ROUNDS: u32 = 2;

/// Numbers of a position: its terms, and the difference between value and base.
pub const MAX_NUMBERS: usize = MAX_TERMS + 1;

/// Sums of a level below [`ROOT`].
const PER_LEVEL: usize = OF_FIRST + 2 * sums(count(0, LINES, false)) + sums(count(0, FACES, false));

/// Sums of all levels.
pub const SUMS: usize = ROOT as usize * PER_LEVEL + sums(REFERENCES - 1);

/// The number of the first sum of a set of coefficients: see
/// [`coefficients::first`](crate::predict::slices::coefficients::first).
#[inline(always)]
pub const fn first_sum(level: u32, odd: u32, is_first: bool) -> usize {
    if level >= ROOT {
        ROOT as usize * PER_LEVEL
    } else {
        level as usize * PER_LEVEL + before(odd, is_first)
    }
}

/// The sums of a level before those of a set of axes, of first slices or of others. Without a loop, as kernels need it, too.
#[inline(always)]
const fn before(odd: u32, is_first: bool) -> usize {
    // Positions that are odd along one axis come first, and have as many whatever the axis.
    let place = (odd / 2) as usize - 1;
    if is_first {
        place * sums(count(0, LINES, true))
    } else {
        OF_FIRST + place * sums(count(0, LINES, false))
    }
}

/// The sums of first slices at a level.
const OF_FIRST: usize = 2 * sums(count(0, LINES, true)) + sums(count(0, FACES, true));

/// Solves the system of a set from its sums. The bits of the coefficients are those of the numbers on the right side then.
#[inline(always)]
pub fn solve_set(
    level: u32,
    odd: u32,
    is_first: bool,
    system: &mut impl System,
    sum: impl Fn(usize) -> i64,
) {
    let count = count(level, odd, is_first);
    solve(count, system, sum, |term| of_splines(odd, term));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::slices::coefficients::sets;

    #[test]
    fn every_set_has_sums_of_its_own() {
        let mut next = 0;
        for (level, odd, is_first) in sets() {
            assert_eq!(first_sum(level, odd, is_first), next);
            next += sums(count(level, odd, is_first));
        }
        assert_eq!(next, SUMS);
    }
}
