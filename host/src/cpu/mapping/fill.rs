//! Values in place of missing elements: the definition's cells, in parallel.

use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Begins, Level, SWEEPS};
use rayon::prelude::*;

/// Cells of a task.
const TASK: usize = 1 << 14;

/// Fills the holes of a field, but for deep holes at positions that do not need a value.
pub(super) fn fill_field<T: Element>(level: &Level, begins: &Begins, values: &mut [T]) {
    let holes = holes_of(values);
    let is_deep = |cell: u64| {
        let at = level.position(cell);
        let mut is_deep = !begins.has(at);
        level.for_neighbours(at, |other| is_deep &= !values[other as usize].is_finite());
        is_deep
    };
    let deep: Vec<u64> = holes
        .par_iter()
        .copied()
        .filter(|cell| is_deep(*cell))
        .collect();
    fill(level, &holes, values);
    for cell in deep {
        values[cell as usize] = T::HOLE;
    }
}

/// The numbers of the holes.
fn holes_of<T: Element>(values: &[T]) -> Vec<u64> {
    let tasks = values.par_chunks(TASK).enumerate();
    tasks
        .flat_map_iter(|(task, values)| {
            let holes = (0..).zip(values).filter(|(_, value)| value.is_hole());
            holes.map(move |(i, _): (u64, _)| (task * TASK) as u64 + i)
        })
        .collect()
}

/// Fills these cells, the holes of a level.
fn fill<T: Element>(level: &Level, holes: &[u64], values: &mut [T]) {
    if holes.is_empty() {
        return;
    }
    match level.coarser() {
        None => set(values, holes, |_, _| Some(T::ZERO)),
        Some(coarser) => {
            let pull = |cell| level.pull(coarser.position(cell), |at| values[at as usize]);
            let mut coarse: Vec<T> = (0..coarser.cells()).into_par_iter().map(pull).collect();
            let coarse_holes = holes_of(&coarse);
            fill(&coarser, &coarse_holes, &mut coarse);
            set(values, holes, |_, cell| {
                Some(level.push(&coarser, level.position(cell), |at| coarse[at as usize]))
            });
        }
    }
    for _ in 0..SWEEPS {
        for colour in [0, 1] {
            let has_colour = |cell: &u64| Level::has_colour(level.position(*cell), colour);
            let cells: Vec<u64> = holes.par_iter().copied().filter(has_colour).collect();
            set(values, &cells, |values, cell| {
                level.sweep(level.position(cell), |at| values[at as usize])
            });
        }
    }
}

/// Sets cells to their new values, which are computed from the old values of all cells.
fn set<T: Element>(values: &mut [T], cells: &[u64], new: impl Fn(&[T], u64) -> Option<T> + Sync) {
    let old = &*values;
    let found: Vec<Option<T>> = cells.par_iter().map(|cell| new(old, *cell)).collect();
    for (cell, value) in cells.iter().zip(found) {
        if let Some(value) = value {
            values[*cell as usize] = value;
        }
    }
}
