//! The holes of a field, one bit for each cell: a list of the holes of a large field could be twice as large as the field.

use crate::cpu::lanes::Lanes;
use crate::cpu::version::{Version, Work};
use crate::error::Error;
use crate::parallel;
use crate::scratch::{Copies, Scratch};
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::Level;

/// Cells of a word.
const WORD: usize = u64::BITS as usize;

/// Words of a task.
const TASK: usize = 1 << 9;

/// The holes of a field or of a level of it.
pub(super) struct Holes<'l> {
    level: &'l Level,
    words: Scratch<u64>,
}

/// Cells of one row, at most a word of them, with holes.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// The first cell, and its position.
    pub(super) first: usize,
    pub(super) at: [u64; 3],
    pub(super) cells: usize,
    /// A bit for each cell that is a hole.
    pub(super) holes: u64,
}

/// The neighbours of the cells of a run on one side.
#[derive(Clone, Copy, Default)]
pub(super) struct Side {
    /// How far behind the cell the neighbour is.
    pub(super) step: i64,
    /// A bit for each cell that has the neighbour.
    pub(super) cells: u64,
}

/// Sets a bit for each value that is a hole.
struct SeeHoles<'a, T> {
    words: &'a mut [u64],
    values: &'a [T],
}

impl<T: Element> Work for SeeHoles<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (word, values) in self.words.iter_mut().zip(self.values.chunks(WORD)) {
            for (bit, value) in values.iter().enumerate() {
                *word |= u64::from(value.is_hole()) << bit;
            }
        }
    }
}

impl<'l> Holes<'l> {
    /// The holes of a level with these values.
    ///
    /// # Errors
    ///
    /// The errors of [`Scratch::zeroed`].
    pub(super) fn of<T: Element>(
        copies: Copies,
        level: &'l Level,
        values: &[T],
    ) -> Result<Self, Error> {
        let mut words = Scratch::<u64>::zeroed(copies, values.len().div_ceil(WORD) as u64)?;
        let tasks = words.chunks_mut(TASK).zip(values.chunks(TASK * WORD));
        parallel::each(tasks, |(words, values)| {
            Version::best().run_apart(SeeHoles { words, values });
        });
        Ok(Self { level, words })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(super) fn has(&self, cell: usize) -> bool {
        self.words[cell / WORD] >> (cell % WORD) & 1 == 1
    }

    /// The bits of the cells from this one on. Cells that there are not have none.
    pub(super) fn word_at(&self, first: i64) -> u64 {
        let (number, shift) = (first.div_euclid(WORD as i64), first.rem_euclid(WORD as i64));
        let word = |number: i64| {
            let number = usize::try_from(number).ok();
            number
                .and_then(|number| self.words.get(number))
                .map_or(0, |word| *word)
        };
        match shift {
            0 => word(number),
            _ => word(number) >> shift | word(number + 1) << (WORD as i64 - shift),
        }
    }

    /// Calls `with` with all runs that have holes, in parallel.
    pub(super) fn for_runs(&self, with: impl Fn(Run) + Sync) {
        let all = self.level.cells() as usize;
        let tasks = self.words.len().div_ceil(TASK);
        parallel::each(0..tasks, |task| {
            let end = all.min((task + 1) * TASK * WORD);
            let mut first = task * TASK * WORD;
            while first < end {
                // Words without holes are passed over before rows are looked for.
                if first.is_multiple_of(WORD) && self.words[first / WORD] == 0 {
                    first += WORD;
                    continue;
                }
                let at = self.level.position(first as u64);
                let to_row_end = (self.level.lengths[2] - at[2]) as usize;
                let cells = (WORD - first % WORD).min(to_row_end).min(end - first);
                let holes = self.words[first / WORD] >> (first % WORD) & low_bits(cells);
                if holes != 0 {
                    with(Run {
                        first,
                        at,
                        cells,
                        holes,
                    });
                }
                first += cells;
            }
        });
    }

    /// The neighbours of the cells of a run, in the order of means.
    pub(super) fn sides(&self, run: &Run) -> [Side; 6] {
        let Run { at, cells, .. } = *run;
        let lengths = self.level.lengths;
        let mut sides = [Side::default(); 6];
        for (axis, step) in [lengths[1] * lengths[2], lengths[2], 1]
            .into_iter()
            .enumerate()
        {
            if !self.level.is_halved(axis) {
                continue;
            }
            // Along x the edge is that of one cell, elsewhere that of the row.
            let without = |edge: u64| match axis == 2 {
                true if edge >= at[2] && edge - at[2] < cells as u64 => !(1 << (edge - at[2])),
                false if at[axis] == edge => 0,
                _ => u64::MAX,
            };
            for (side, step, edge) in [(0, -(step as i64), 0), (1, step as i64, lengths[axis] - 1)]
            {
                let cells = low_bits(cells) & without(edge);
                sides[2 * axis + side] = Side { step, cells };
            }
        }
        sides
    }
}

/// The numbers of the bits of a word that are set, in ascending order.
pub(super) fn bits_of(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(bit)
    })
}

/// The lowest `count` bits, at most 64.
const fn low_bits(count: usize) -> u64 {
    if count >= WORD {
        u64::MAX
    } else {
        (1 << count) - 1
    }
}
