//! Frequencies of a context's symbols for rANS, in proportion to their counts.
//!
//! Every symbol that occurs gets one slot. The other slots are dealt out in proportion to the excess of each symbol's
//! exact frequency above one slot, as the differences of rounded partial sums, so that no correction is necessary. A
//! thread block needs one sum over the counts, one over the symbols that occur, and one prefix sum of [`excess`]; then
//! it computes each symbol's [`Totals::frequency`] independently.

use crate::code::entropy::token::{PRECISION, SLOTS, TOKENS};

/// The frequencies of a context's symbols. They sum to [`SLOTS`], or are all 0 in a context that is not used.
pub type Frequencies = [u16; TOKENS as usize];

/// The excess of a symbol's exact frequency above one slot, times the sum of all counts, which is less than 2^39.
#[inline(always)]
pub const fn excess(count: u32, total: u64) -> u64 {
    ((count as u64) << PRECISION).saturating_sub(total)
}

/// The sums over all symbols of a context that each symbol's frequency depends on.
#[derive(Debug, Clone, Copy)]
pub struct Totals {
    /// The sum of the counts.
    pub count: u64,
    /// The number of symbols that occur.
    pub used: u32,
    /// The sum of the [`excess`] of all symbols.
    pub excess: u64,
}

impl Totals {
    /// The totals of these counts.
    pub fn of(counts: &[u32; TOKENS as usize]) -> Self {
        let count = counts.iter().map(|count| u64::from(*count)).sum();
        Self {
            count,
            used: counts.iter().map(|count| u32::from(*count > 0)).sum(),
            excess: counts.iter().map(|own| excess(*own, count)).sum(),
        }
    }

    /// The frequency of a symbol that occurs `count` times; `before` is the sum of the excess of the symbols before it.
    #[inline(always)]
    pub const fn frequency(&self, count: u32, before: u64) -> u32 {
        if count == 0 {
            return 0;
        }
        let end = before + excess(count, self.count);
        1 + self.dealt(end) - self.dealt(before)
    }

    /// The slots for symbols whose excess sums to `excess`. The product is below 2^63.
    #[inline(always)]
    const fn dealt(&self, excess: u64) -> u32 {
        let spare = SLOTS.saturating_sub(self.used) as u64;
        match (excess * spare).checked_div(self.excess) {
            Some(slots) => slots as u32,
            None => 0,
        }
    }
}

/// The frequencies of a context.
pub fn normalized(counts: &[u32; TOKENS as usize]) -> Frequencies {
    let totals = Totals::of(counts);
    if totals.count == 0 {
        return [0; TOKENS as usize];
    }
    // As `Totals::frequency`, with one division for each symbol.
    let (mut before, mut dealt_before) = (0, 0);
    counts.map(|count| {
        if count == 0 {
            return 0;
        }
        before += excess(count, totals.count);
        let dealt = totals.dealt(before);
        let frequency = 1 + dealt - dealt_before;
        dealt_before = dealt;
        frequency as u16
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// The bits that symbols with these counts take at these frequencies.
    fn cost(counts: &[u32; 112], frequency: impl Fn(usize) -> f64) -> f64 {
        let used = (0..112).filter(|s| counts[*s] > 0);
        used.map(|s| -f64::from(counts[s]) * frequency(s).log2())
            .sum()
    }

    fn check(counts: &[u32; 112]) {
        let frequencies = normalized(counts);
        let sum: u32 = frequencies
            .iter()
            .map(|frequency| u32::from(*frequency))
            .sum();
        let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        assert_eq!(sum, if total > 0.0 { 4096 } else { 0 }, "{counts:?}");
        for (count, frequency) in counts.iter().zip(&frequencies) {
            assert_eq!(*count > 0, *frequency > 0);
        }
        // The bound: the exact probabilities, mixed with a slot for each symbol.
        let used = counts.iter().filter(|count| **count > 0).count() as f64;
        let ideal = cost(counts, |s| {
            let exact = f64::from(counts[s]) / total;
            exact * (1.0 - used / 4096.0) + 1.0 / 4096.0
        });
        let found = cost(counts, |s| f64::from(frequencies[s]) / 4096.0);
        assert!(
            found <= ideal * 1.003 + total * 0.001,
            "{found} {ideal} {counts:?}"
        );
    }

    #[test]
    fn frequencies_fit_their_counts() {
        let mut rng = SmallRng::seed_from_u64(1);
        check(&[0; 112]);
        check(&[1; 112]);
        check(&[u32::MAX; 112]);
        for _ in 0..3000 {
            let used = rng.random_range(1..=112);
            let bits = rng.random_range(1..=32);
            let decay = rng.random_range(0.0..2.0f64);
            let counts = core::array::from_fn(|s| {
                let largest = (u64::MAX >> (64 - bits)) as f64 * (-decay * s as f64).exp();
                let count = (rng.random::<f64>() * largest) as u32;
                if s < used { count } else { 0 }
            });
            check(&counts);
        }
    }

    #[test]
    fn frequencies_are_those_of_each_symbol_alone() {
        let mut rng = SmallRng::seed_from_u64(2);
        for _ in 0..300 {
            let bits = rng.random_range(1..=32);
            let counts = core::array::from_fn(|_| match rng.random_range(0..3) {
                0 => 0,
                _ => rng.random::<u32>() >> (32 - bits),
            });
            let (totals, mut before) = (Totals::of(&counts), 0);
            let alone = counts.map(|count| {
                let frequency = totals.frequency(count, before);
                before += excess(count, totals.count);
                frequency as u16
            });
            assert_eq!(normalized(&counts), alone);
        }
    }

    #[test]
    fn one_symbol_takes_all() {
        for count in [1, 1000, u32::MAX] {
            let mut counts = [0; 112];
            counts[70] = count;
            assert_eq!(normalized(&counts)[70], 4096);
            // However rare a symbol is, it has a frequency.
            counts[3] = 1;
            let frequencies = normalized(&counts);
            let pair: Vec<u16> = frequencies
                .into_iter()
                .filter(|frequency| *frequency > 0)
                .collect();
            assert_eq!(
                pair,
                if count == 1 {
                    [2048, 2048]
                } else {
                    pair_of(count)
                }
            );
        }
    }

    fn pair_of(count: u32) -> [u16; 2] {
        let rare = (4096.0 / (f64::from(count) + 1.0)).floor().max(1.0) as u16;
        [rare, 4096 - rare]
    }
}
