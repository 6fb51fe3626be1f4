//! Values in place of holes: the launches for each level.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::mapping::tasks;
use crate::gpu::mapping::workspace::MaskMemory;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Begins, Level, SWEEPS};
use ferrosz_gpu_kernels::mapping::mask::fill::{
    Cells, FindHoles, FindHolesParams, LevelsParams, Pull, Push, Reopen, ReopenParams, Sweep,
    SweepParams, THREADS,
};
use ferrosz_simt::View;

/// Enqueues the filling of the holes of the field of the first level, but for deep holes at positions that do not need
/// a value. The counts of the levels must be 0.
pub(super) fn enqueue_fill<T: Element, E: Executor>(
    executor: &E,
    memory: &MaskMemory,
    begins: &Begins,
) -> Result<(), Error> {
    let levels = &memory.levels;
    let has_deep = !begins.are_all();
    for (number, cells) in levels.iter().enumerate() {
        let finer = number.checked_sub(1).map(|number| levels[number]);
        if let Some(finer) = finer {
            let params = LevelsParams {
                finer,
                coarser: *cells,
            };
            executor.launch_over::<Pull<T>>(tasks_of(cells), &params)?;
        }
        let params = FindHolesParams {
            cells: *cells,
            finer: finer.map_or(memory.any_holes, |finer| finer.count),
            deep: match finer {
                None if has_deep => memory.deep,
                _ => View::empty(),
            },
            begins: *begins,
        };
        executor.launch_over::<FindHoles<T>>(tasks_of(cells), &params)?;
    }
    for (number, cells) in levels.iter().enumerate().rev() {
        let none = Cells {
            level: Level::NONE,
            ..*cells
        };
        let params = LevelsParams {
            finer: *cells,
            coarser: levels.get(number + 1).copied().unwrap_or(none),
        };
        executor.launch_over::<Push<T>>(tasks_of(cells), &params)?;
        for colour in (0..SWEEPS).flat_map(|_| [0, 1]) {
            let params = SweepParams {
                cells: *cells,
                colour,
            };
            executor.launch_over::<Sweep<T>>(tasks_of(cells), &params)?;
        }
    }
    if has_deep {
        let cells = Cells {
            holes: memory.deep,
            ..levels[0]
        };
        executor.launch_over::<Reopen<T>>(tasks_of(&cells), &ReopenParams { cells })?;
    }
    Ok(())
}

fn tasks_of(cells: &Cells) -> u32 {
    tasks(cells.level.cells(), THREADS)
}
