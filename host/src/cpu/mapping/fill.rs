//! Values in place of all missing elements: the definition's levels, row by row.

use crate::cpu::mapping::cells::{Holes, Run, bits_of};
use crate::cpu::output::Output;
use crate::error::Error;
use crate::parallel;
use crate::scratch::{Copies, Scratch};
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Level, Mean, SWEEPS};

/// Cells of a task.
const TASK: usize = 1 << 14;

/// Every other cell, from the first one on.
const EVEN: u64 = u64::MAX / 3;

/// Fills the holes of a level.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(super) fn fill<T: Element>(
    copies: Copies,
    level: &Level,
    values: &mut [T],
) -> Result<(), Error> {
    let holes = Holes::of(copies, level, values)?;
    if holes.is_empty() {
        return Ok(());
    }
    let coarse = match level.coarser() {
        Some(coarser) => {
            let mut coarse = pulled(copies, level, &coarser, values)?;
            fill(copies, &coarser, &mut coarse)?;
            Some((coarser, coarse))
        }
        None => None,
    };
    let values = Output::new(values);
    holes.for_runs(|run| {
        for bit in bits_of(run.holes) {
            let at = [run.at[0], run.at[1], run.at[2] + bit as u64];
            let value = match &coarse {
                Some((coarser, coarse)) => level.push(coarser, at, |cell| coarse[cell as usize]),
                None => T::ZERO,
            };
            // SAFETY: a hole of this run, and no thread reads this level.
            unsafe { values.set(run.first + bit, value) };
        }
    });
    for colour in (0..SWEEPS).flat_map(|_| [0, 1]) {
        holes.for_runs(|run| sweep(&holes, &values, &run, colour));
    }
    Ok(())
}

/// The coarser level of a level, with its holes.
fn pulled<T: Element>(
    copies: Copies,
    level: &Level,
    coarser: &Level,
    values: &[T],
) -> Result<Scratch<T>, Error> {
    let mut coarse = Scratch::<T>::zeroed(copies, coarser.cells())?;
    let tasks = coarse.chunks_mut(TASK).enumerate();
    parallel::each(tasks, |(task, mut cells)| {
        let mut first = (task * TASK) as u64;
        while !cells.is_empty() {
            let at = coarser.position(first);
            let to_row_end = (coarser.lengths[2] - at[2]) as usize;
            let row = cells.split_off_mut(..to_row_end.min(cells.len()));
            let row = row.unwrap_or_default();
            first += row.len() as u64;
            pull_row(level, at, values, row);
        }
    });
    Ok(coarse)
}

/// Cells of a row of the coarser level, the first one at `at`.
fn pull_row<T: Element>(level: &Level, at: [u64; 3], values: &[T], row: &mut [T]) {
    let [depth, height, width] = level.lengths;
    let pair = |axis: usize, length: u64| match level.is_halved(axis) {
        true => 2 * at[axis]..length.min(2 * at[axis] + 2),
        false => at[axis]..at[axis] + 1,
    };
    let x = 2 * at[2]..width.min(2 * (at[2] + row.len() as u64));
    let rows = pair(0, depth).flat_map(|z| pair(1, height).map(move |y| (z, y)));
    let mut rows: [&[T]; 4] = {
        let mut rows = rows.map(|(z, y)| {
            let start = level.flat([z, y, x.start]) as usize;
            &values[start..start + (x.end - x.start) as usize]
        });
        std::array::from_fn(|_| rows.next().unwrap_or_default())
    };
    for cell in row {
        let mut mean = Mean::NONE;
        for row in &mut rows {
            let two = row.split_off(..row.len().min(2)).unwrap_or_default();
            two.iter().for_each(|value| mean.see(*value));
        }
        *cell = mean.of_at_least(1).unwrap_or(T::HOLE);
    }
}

/// Sets the holes of a colour in a run to the means of their neighbours.
fn sweep<T: Element>(holes: &Holes<'_>, values: &Output<'_, T>, run: &Run, colour: u64) {
    let is_even = (run.at.iter().sum::<u64>() + colour).is_multiple_of(2);
    let of_colour = if is_even { EVEN } else { !EVEN };
    let sides = holes.sides(run);
    for bit in bits_of(run.holes & of_colour) {
        let mut mean = Mean::NONE;
        for side in sides.iter().filter(|side| side.cells >> bit & 1 == 1) {
            let cell = (run.first + bit) as i64 + side.step;
            // SAFETY: the cell has the other colour, which no thread writes now.
            mean.see(unsafe { values.get(cell as usize) });
        }
        if let Some(mean) = mean.of_at_least(1) {
            // SAFETY: a hole of this run, and threads read cells of the other colour alone.
            unsafe { values.set(run.first + bit, mean) };
        }
    }
}
