//! Counts: how often each symbol occurs in each context.

use crate::code::entropy::class::CONTEXTS;
use crate::code::entropy::token::{ESCAPE, TOKENS};

/// All runs are counted in fields of up to this many runs.
pub const WHOLE_RUNS: u64 = 512;

/// The counts of each context's symbols. They saturate at `u32::MAX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(pub [[u32; TOKENS as usize]; CONTEXTS as usize]);

impl Default for Counts {
    fn default() -> Self {
        Self([[0; TOKENS as usize]; CONTEXTS as usize])
    }
}

impl Counts {
    /// Counts a symbol once more.
    #[inline(always)]
    pub fn add(&mut self, context: u32, symbol: u32) {
        let context = self.0.get_mut(context as usize);
        if let Some(count) = context.and_then(|counts| counts.get_mut(symbol as usize)) {
            *count = count.saturating_add(1);
        }
    }

    /// Adds the counts of other runs.
    pub fn merge(&mut self, other: &Self) {
        let others = other.0.as_flattened();
        for (count, other) in self.0.as_flattened_mut().iter_mut().zip(others) {
            *count = count.saturating_add(*other);
        }
    }

    /// Raises to 1 the counts of all symbols that must have a frequency. `is_sample` says that some of the field's
    /// runs were not counted.
    pub fn complete(&mut self, is_sample: bool) {
        for (context, counts) in (0..).zip(&mut self.0) {
            for (symbol, count) in (0..).zip(counts.iter_mut()) {
                *count = completed(context, symbol, *count, is_sample);
            }
        }
    }
}

/// The count that a symbol's frequency is computed from.
///
/// Every class number has a count of at least 1, since tiles without codes are not counted, but may have to be coded.
/// If the counts are a sample, every context also has [`ESCAPE`], so that any code can be coded.
#[inline(always)]
pub const fn completed(context: u32, symbol: u32, count: u32, is_sample: bool) -> u32 {
    let is_needed = if context == 0 {
        symbol < CONTEXTS
    } else {
        is_sample && symbol == ESCAPE
    };
    if is_needed && count == 0 { 1 } else { count }
}

/// Whether only a sample is counted of a field of this many runs.
#[inline(always)]
pub const fn is_sample(runs: u64) -> bool {
    runs > WHOLE_RUNS
}

/// Whether this run, of a field's `runs` runs, is counted: every run, or about 128 to 256 that are evenly
/// distributed.
///
/// A run c is chosen by the fractional part of c times the golden ratio. Such a choice has no period that a period of
/// the field could coincide with.
#[inline(always)]
pub const fn is_counted(run: u64, runs: u64) -> bool {
    if !is_sample(runs) {
        return true;
    }
    let fraction = run.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    fraction >> (8 + (runs - 1).leading_zeros()) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_of_the_promised_size_and_even() {
        for runs in [1, 511, 512] {
            assert!((0..runs).all(|run| is_counted(run, runs)));
        }
        for runs in [513, 1000, 1024, 1025, 5000, 65_536, 1_000_000] {
            for step in [1, 2, 4, 5, 8] {
                for from in 0..step {
                    let some = (from..runs).step_by(step as usize);
                    let counted = some.filter(|c| is_counted(*c, runs)).count() as u64;
                    let least = 128 * 3 / 4 / step;
                    assert!(counted >= least, "{counted} of {runs}, {from} + {step} i");
                    assert!(counted <= 256 * 4 / 3 / step + 1);
                }
            }
        }
    }

    #[test]
    fn what_must_have_a_frequency_has_a_count() {
        let mut counts = Counts::default();
        counts.0[3][5] = u32::MAX;
        counts.add(3, 5);
        counts.merge(&counts.clone());
        for is_sample in [false, true] {
            let mut counts = counts.clone();
            counts.complete(is_sample);
            assert_eq!(counts.0[3][5], u32::MAX);
            assert!(counts.0[0][..16].iter().all(|count| *count == 1));
            assert!(counts.0[0][16..].iter().all(|count| *count == 0));
            for context in 1..16 {
                assert_eq!(counts.0[context][ESCAPE as usize], u32::from(is_sample));
            }
        }
    }
}
