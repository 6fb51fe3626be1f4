//! Sets of cells, one bit for each: a list of the holes of a large field could be twice as large as the field.

use crate::error::Error;
use crate::parallel;
use crate::scratch::{Copies, Scratch};

/// Cells of a word.
const WORD: usize = u64::BITS as usize;

/// Words of a task.
const TASK: usize = 1 << 8;

/// Words whose cells are listed at once: up to 8 MiB of numbers.
const WAVE: usize = 1 << 14;

/// A set of cells.
pub(super) struct Cells(Scratch<u64>);

impl Cells {
    /// Those of the first `count` cells that `has` selects.
    ///
    /// # Errors
    ///
    /// The errors of [`Scratch::zeroed`].
    pub(super) fn of(
        copies: Copies,
        count: usize,
        has: impl Fn(usize) -> bool + Sync,
    ) -> Result<Self, Error> {
        let mut words = Scratch::<u64>::zeroed(copies, count.div_ceil(WORD) as u64)?;
        parallel::each(words.chunks_mut(TASK).enumerate(), |(task, words)| {
            for (number, word) in (task * TASK..).zip(words) {
                let first = number * WORD;
                for cell in (first..count.min(first + WORD)).filter(|cell| has(*cell)) {
                    *word |= 1 << (cell - first);
                }
            }
        });
        Ok(Self(words))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(super) fn has(&self, cell: usize) -> bool {
        self.0[cell / WORD] >> (cell % WORD) & 1 == 1
    }

    /// The numbers of the cells in ascending order, in lists of limited length.
    pub(super) fn waves(&self) -> impl Iterator<Item = Vec<u64>> {
        self.0.chunks(WAVE).enumerate().map(|(wave, words)| {
            let of_task = |(task, words): (usize, &[u64])| -> Vec<u64> {
                let numbers = wave * WAVE + task * TASK..;
                let cells = numbers.zip(words).flat_map(|(number, word)| {
                    let first = (number * WORD) as u64;
                    bits_of(*word).map(move |bit| first + u64::from(bit))
                });
                cells.collect()
            };
            parallel::map(words.chunks(TASK).enumerate(), of_task).concat()
        })
    }
}

/// The numbers of the bits of a word that are set, in ascending order.
fn bits_of(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_have_all_cells_in_order() {
        for count in [0, 1, 64, 1000, WAVE * WORD * 2 + 77] {
            let has = |cell: usize| cell.is_multiple_of(3);
            let cells = Cells::of(Copies::InMemory, count, has).unwrap();
            let found: Vec<u64> = cells.waves().flatten().collect();
            let wanted: Vec<u64> = (0..count as u64).step_by(3).collect();
            assert!(found == wanted, "{count}");
            assert_eq!(cells.is_empty(), count == 0);
            assert!((0..count).all(|cell| cells.has(cell) == has(cell)));
        }
    }
}
