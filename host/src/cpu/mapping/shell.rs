//! Values in place of missing elements beside valid ones, word by word of their bits.

use crate::cpu::mapping::cells::{Holes, Run, Side, bits_of};
use crate::cpu::output::Output;
use crate::error::Error;
use crate::scratch::Copies;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Level, Mean};
use ferrosz_codec::mapping::mask::shell::{LEAST, Units};

/// Gives values to the missing elements of a field that are among valid ones, and to those that begin a unit.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`](crate::scratch::Scratch::zeroed).
pub(super) fn fill_shell<T: Element>(
    copies: Copies,
    level: &Level,
    units: &Units,
    values: &mut [T],
) -> Result<(), Error> {
    let holes = Holes::of(copies, level, values)?;
    let shell = Shell {
        level,
        units,
        holes: &holes,
        values: Output::new(values),
    };
    holes.for_runs(|run| shell.fill(&run));
    Ok(())
}

/// A field while its missing elements get values. They are computed from valid elements alone, which do not change.
struct Shell<'a, T> {
    level: &'a Level,
    units: &'a Units,
    holes: &'a Holes<'a>,
    values: Output<'a, T>,
}

impl<T: Element> Shell<'_, T> {
    fn fill(&self, run: &Run) {
        let sides = self.holes.sides(run).map(|side| Side {
            cells: side.cells & !self.holes.word_at(run.first as i64 + side.step),
            ..side
        });
        let have_least = run.holes & have_least(&sides);
        let begins = run.holes & self.units.begins(run.at, run.cells as u32);
        for bit in bits_of(have_least | begins) {
            let is = |bits: u64| bits >> bit & 1 == 1;
            let mean = is(have_least).then(|| self.mean(&sides, run.first, bit));
            let begin = || is(begins).then(|| self.first_of(run, bit));
            if let Some(value) = mean.flatten().or_else(|| begin().flatten()) {
                // SAFETY: a hole of this run, which this thread alone reads and writes.
                unsafe { self.values.set(run.first + bit, value) };
            }
        }
    }

    /// The mean of the valid neighbours of a cell.
    fn mean(&self, sides: &[Side; 6], first: usize, bit: usize) -> Option<T> {
        let mut mean = Mean::NONE;
        for side in sides {
            // Of a missing neighbour the cell itself is read, which this thread alone writes.
            let is_valid = side.cells >> bit & 1;
            let cell = (first + bit) as i64 + side.step * is_valid as i64;
            // SAFETY: a valid element, which no thread writes, or a hole of this thread's run.
            mean.see_if(is_valid == 1, unsafe { self.values.get(cell as usize) });
        }
        mean.of_at_least(LEAST)
    }

    /// The first valid element of the unit that begins with a cell of a run.
    fn first_of(&self, run: &Run, bit: usize) -> Option<T> {
        let [z, y, x] = run.at;
        (0..self.units.positions()).find_map(|number| {
            let at = self.units.position([z, y, x + bit as u64], number)?;
            let cell = self.level.flat(at) as usize;
            if self.holes.has(cell) {
                return None;
            }
            // SAFETY: a valid element, which no thread writes.
            let value = unsafe { self.values.get(cell) };
            value.is_finite().then_some(value)
        })
    }
}

/// The cells that have at least [`LEAST`] of these neighbours: a counter for each.
fn have_least(sides: &[Side; 6]) -> u64 {
    let (mut ones, mut twos, mut fours) = (0, 0, 0);
    for side in sides {
        let carried = ones & side.cells;
        ones ^= side.cells;
        fours |= twos & carried;
        twos ^= carried;
    }
    match LEAST {
        0 | 1 => ones | twos | fours,
        2 => twos | fours,
        _ => twos & ones | fours,
    }
}
