//! Values in place of holes: the launches.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::mapping::tasks;
use crate::gpu::mapping::workspace::MaskMemory;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::mask::fill::{Level, SWEEPS};
use ferrosz_gpu_kernels::mapping::mask::fill::coarse::{FillCoarse, FillCoarseParams};
use ferrosz_gpu_kernels::mapping::mask::fill::{
    Cells, FindHoles, FindHolesParams, LevelsParams, Pull, Push, Sweep, SweepParams, THREADS,
};
use ferrosz_gpu_kernels::mapping::mask::shell::{FillShell, FillShellParams};

/// Enqueues the filling of the holes of the field of the first level: as the codec of these units needs it, or all. The counts
/// of the levels must be 0.
pub(super) fn enqueue_fill<T: Element, E: Executor>(
    executor: &E,
    memory: &MaskMemory,
) -> Result<(), Error> {
    let levels = &memory.levels;
    let [field, coarser @ ..] = &levels[..] else {
        return Ok(());
    };
    let params = FindHolesParams {
        cells: *field,
        any_holes: memory.any_holes,
    };
    executor.launch_over::<FindHoles<T>>(tasks_of(field), &params)?;
    if let Some(units) = memory.units {
        let params = FillShellParams {
            cells: *field,
            units,
        };
        return executor.launch_over::<FillShell<T>>(tasks_of(field), &params);
    }
    for (finer, coarser) in levels.iter().zip(coarser) {
        let params = LevelsParams {
            finer: *finer,
            coarser: *coarser,
        };
        executor.launch_over::<Pull<T>>(tasks_of(coarser), &params)?;
    }
    if let (Some(finer), Some(coarse)) = (levels.last(), &memory.coarse) {
        let params = FillCoarseParams {
            finer: *finer,
            levels: *coarse,
        };
        executor.launch::<FillCoarse<T>>(1, &params)?;
    }
    for (number, cells) in levels.iter().enumerate().rev() {
        let none = Cells {
            level: Level::NONE,
            ..*cells
        };
        let coarse = memory.coarse.map(|coarse| Cells {
            level: coarse.first,
            values: coarse.values,
            ..none
        });
        let coarser = levels.get(number + 1).copied().or(coarse);
        let params = LevelsParams {
            finer: *cells,
            coarser: coarser.unwrap_or(none),
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
    Ok(())
}

fn tasks_of(cells: &Cells) -> u32 {
    tasks(cells.level.cells(), THREADS)
}
