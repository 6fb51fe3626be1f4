//! Least squares: the coefficients that follow from sample tiles, by the integers and sums of
//! [stencils](crate::predict::stencil::fit).
//!
//! Before the fit, sample tiles are predicted with the coefficients of splines, without those of references. At high ratios known
//! values differ much with the coefficients, so the fit is repeated with those that it has found.

use crate::predict::slices::terms::{MAX_TERMS, REFERENCES, count};
use crate::predict::slices::{FACES, LINES, ROOT, Sizes};
use crate::predict::stencil::fit::{MOST_NUMBERS, System, of_splines, solve, sums};

/// How many times coefficients are fitted.
pub const ROUNDS: u32 = 2;

/// Numbers of a position: its terms, and the difference between value and base.
pub const MAX_NUMBERS: usize = MAX_TERMS + 1;

const _: () = assert!(MAX_NUMBERS <= MOST_NUMBERS);

/// The sums of the sets of a level below [`ROOT`].
const SIZES: Sizes = Sizes {
    of_first: [sums(count(0, LINES, true)), sums(count(0, FACES, true))],
    of_others: [sums(count(0, LINES, false)), sums(count(0, FACES, false))],
};

/// Sums of all levels.
pub const SUMS: usize = ROOT as usize * SIZES.of_level() + sums(REFERENCES - 1);

/// The number of the first sum of a set of coefficients: see
/// [`coefficients::first`](crate::predict::slices::coefficients::first).
#[inline(always)]
pub const fn first_sum(level: u32, odd: u32, is_first: bool) -> usize {
    if level >= ROOT {
        ROOT as usize * SIZES.of_level()
    } else {
        level as usize * SIZES.of_level() + SIZES.before(odd, is_first)
    }
}

/// Solves the system of a set from its sums. The bits of the coefficients are those of the numbers on the right side then.
#[inline(always)]
pub fn solve_set(
    level: u32,
    odd: u32,
    is_first: bool,
    system: &impl System,
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
