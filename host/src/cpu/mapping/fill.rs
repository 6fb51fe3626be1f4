//! Values in place of missing elements: the definition's cells, in parallel.

use crate::cpu::mapping::cells::Cells;
use crate::error::Error;
use crate::parallel;
use crate::scratch::{Copies, Scratch};
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Begins, Level, SWEEPS};

/// Cells of a task.
const TASK: usize = 1 << 14;

/// Fills the holes of a field, but for deep holes at positions that do not need a value.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(super) fn fill_field<T: Element>(
    copies: Copies,
    level: &Level,
    begins: &Begins,
    values: &mut [T],
) -> Result<(), Error> {
    let holes = holes_of(copies, values)?;
    let is_deep = |cell: usize| {
        let at = level.position(cell as u64);
        let mut is_deep = !begins.has(at);
        level.for_neighbours(at, |other| is_deep &= !values[other as usize].is_finite());
        is_deep
    };
    let deep = Cells::of(copies, values.len(), |cell| {
        holes.has(cell) && is_deep(cell)
    })?;
    fill(copies, level, &holes, values)?;
    set(values, &deep, |_, _| Some(T::HOLE));
    Ok(())
}

/// The holes.
fn holes_of<T: Element>(copies: Copies, values: &[T]) -> Result<Cells, Error> {
    Cells::of(copies, values.len(), |cell| values[cell].is_hole())
}

/// Fills these cells, the holes of a level.
fn fill<T: Element>(
    copies: Copies,
    level: &Level,
    holes: &Cells,
    values: &mut [T],
) -> Result<(), Error> {
    if holes.is_empty() {
        return Ok(());
    }
    match level.coarser() {
        None => set(values, holes, |_, _| Some(T::ZERO)),
        Some(coarser) => {
            let coarse = filled(copies, level, &coarser, values)?;
            set(values, holes, |_, at| {
                Some(level.push(&coarser, level.position(at), |at| coarse[at as usize]))
            });
        }
    }
    for _ in 0..SWEEPS {
        for colour in [0, 1] {
            set(values, holes, |values, cell| {
                let at = level.position(cell);
                let is_swept = Level::has_colour(at, colour);
                is_swept.then(|| level.sweep(at, |at| values[at as usize]))?
            });
        }
    }
    Ok(())
}

/// The coarser level of a level, without holes.
fn filled<T: Element>(
    copies: Copies,
    level: &Level,
    coarser: &Level,
    values: &[T],
) -> Result<Scratch<T>, Error> {
    let mut coarse = Scratch::<T>::zeroed(copies, coarser.cells())?;
    let tasks = coarse.chunks_mut(TASK).enumerate();
    parallel::each(tasks, |(task, cells)| {
        for (cell, coarse) in (task * TASK..).zip(cells) {
            let at = coarser.position(cell as u64);
            *coarse = level.pull(at, |at| values[at as usize]);
        }
    });
    let holes = holes_of(copies, &coarse)?;
    fill(copies, coarser, &holes, &mut coarse)?;
    Ok(coarse)
}

/// Sets cells to their new values, if they get some. The cells are set in waves, so a new value must not be computed from
/// another cell that is set: a sweep reads neighbours alone, and they have the other colour.
fn set<T: Element>(values: &mut [T], cells: &Cells, new: impl Fn(&[T], u64) -> Option<T> + Sync) {
    for wave in cells.waves() {
        let old = &*values;
        let of_task = |cells: &[u64]| -> Vec<Option<T>> {
            cells.iter().map(|cell| new(old, *cell)).collect()
        };
        let found = parallel::map(wave.chunks(TASK), of_task);
        for (cell, value) in wave.iter().zip(found.into_iter().flatten()) {
            if let Some(value) = value {
                values[*cell as usize] = value;
            }
        }
    }
}
