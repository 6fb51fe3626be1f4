//! What a choice finds out about a field on a machine that runs kernels.

use crate::choose::weights::TileWeights;
use crate::error::Error;
use crate::gpu::block_sizes::ChunksOfShape;
use crate::gpu::boxes::{BoxMemory, enqueue_read};
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::groups::{Group, Groups};
use crate::gpu::leavings::{
    self, FieldOfTiles, GivenWay, Lane, Parts, Prediction, Workspace, add, part,
};
use crate::gpu::tiles::workspace::Sections;
use crate::gpu::weights::Weights;
use crate::sampled_field::{
    Holes, SampleKernels, SampleMeasures, SampleToMeasure, SampledField, Sizes, TilesToWeigh,
};
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TileGrid;
use ferrosz_gpu_kernels::choice::clear_holes::ClearHolesParams;
use ferrosz_gpu_kernels::choice::fill_tiles::{FillTiles, FillTilesParams};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::primitives::read_boxes::BOX_NUMBERS;
use ferrosz_simt::View;
use std::cmp::Reverse;
use std::ops::Range;

/// Lanes of a machine that predict at the same time: the kernels of a sample have too few blocks to fill a GPU.
const LANES: usize = 4;

/// A coded field in the memory of a machine that runs kernels.
pub(crate) struct FieldOnMachine<'a, E: Executor> {
    pub(crate) executor: &'a E,
    pub(crate) field: View<u32>,
    pub(crate) memory: &'a mut BoxMemory<E::Memory>,
    /// The weights of tiles that were found before.
    pub(crate) weighed: Vec<(TileGrid, TileWeights)>,
}

impl<T: Element, E: Executor> SampledField<T> for FieldOnMachine<'_, E> {
    fn read(&mut self, grid: &Grid, places: &[ChunkBox]) -> Result<Vec<Vec<T>>, Error> {
        self.memory.read(self.executor, self.field, grid, places)
    }

    fn kernels(&mut self) -> Option<&mut dyn SampleKernels<T>> {
        Some(self)
    }
}

impl<T: Element, E: Executor> SampleKernels<T> for FieldOnMachine<'_, E> {
    fn weighed(&mut self) -> Vec<(TileGrid, TileWeights)> {
        std::mem::take(&mut self.weighed)
    }

    fn weigh(
        &mut self,
        wanted: &[TilesToWeigh],
        quantizer: &Quantizer<T>,
    ) -> Result<Vec<Vec<u64>>, Error> {
        let (executor, error) = (self.executor, Some(quantizer.error()));
        let nowhere = View::empty();
        Weights::enqueue(executor, self.memory, self.field, wanted, error, nowhere)?.find(executor)
    }

    fn measure(
        &mut self,
        wanted: &[SampleToMeasure<T>],
        quantizer: &Quantizer<T>,
    ) -> Result<Vec<SampleMeasures<T>>, Error> {
        // 1. Memory: what the host gives, what it gets, and what kernels need.
        let mut given = Vec::new();
        let plans: Vec<Plan<'_, T>> = (wanted.iter())
            .map(|sample| Plan::new(sample, &mut given))
            .collect();
        let result_cells: usize = plans.iter().map(Plan::result_cells).sum();
        let predictions: usize = wanted.iter().map(|sample| sample.predictions.len()).sum();
        let lanes = predictions.clamp(1, LANES);
        let divide = |all: View<u64>| {
            let mut sections = Sections::of(all);
            let given = sections.cells(given.len() as u64);
            let results = sections.cells(result_cells as u64);
            let copies: Vec<_> = (plans.iter())
                .map(|plan| plan.copies(&mut sections))
                .collect();
            let workspaces: Vec<_> = (0..lanes)
                .map(|_| {
                    let plans = plans.iter().map(|plan| (plan.sample, &plan.groups));
                    Workspace::new(plans, &mut sections)
                })
                .collect();
            (given, results, copies, workspaces, sections.end())
        };
        let (.., cells) = divide(View::empty());
        let all = self.memory.memory(self.executor, 8 * cells)?.pairs();
        let (to_machine, results, copies, workspaces, _) = divide(all);
        self.executor
            .upload(bytemuck::cast_slice(&given), to_machine.words())?;
        self.executor.clear(results)?;
        // 2. The kernels. What takes long begins first.
        let mut fields = Vec::new();
        for (plan, copies) in plans.iter().zip(&copies) {
            plan.enqueue_copies(self.executor, self.field, to_machine, copies)?;
            fields.push(plan.fields(self.field, to_machine, copies));
        }
        let (mut tasks, mut to) = (Vec::new(), results);
        for (plan, fields) in plans.iter().zip(&fields) {
            tasks.extend(plan.tasks(fields, to_machine, to));
            to = to.from(plan.result_cells() as u64);
        }
        enqueue_in_lanes(self.executor, tasks, quantizer, &workspaces)?;
        // 3. What they have found.
        let mut found = vec![0u64; result_cells];
        self.executor
            .download(results, 0, bytemuck::cast_slice_mut(&mut found))?;
        let mut rest = &found[..];
        let of_plan = |plan: &Plan<'_, T>| {
            let (own, behind) = rest.split_at(plan.result_cells());
            rest = behind;
            plan.measures(own)
        };
        plans.iter().map(of_plan).collect()
    }
}

/// Enqueues tasks in lanes; each lane has a workspace of its own.
fn enqueue_in_lanes<T: Element, E: Executor>(
    executor: &E,
    tasks: Vec<Task<'_, T>>,
    quantizer: &Quantizer<T>,
    workspaces: &[Workspace],
) -> Result<(), Error> {
    let of_lanes = in_lanes(tasks, workspaces.len());
    executor.in_lanes(workspaces.len(), &mut |executor, lane| {
        let mut own = of_lanes[lane].iter();
        let lane = Lane {
            executor,
            quantizer,
            workspace: &workspaces[lane],
        };
        own.try_for_each(|task| task.enqueue(&lane))
    })
}

/// The tasks of each lane: the longest first, and each where the least has been given so far.
fn in_lanes<T: Element>(mut tasks: Vec<Task<'_, T>>, lanes: usize) -> Vec<Vec<Task<'_, T>>> {
    tasks.sort_by_key(|task| Reverse(task.steps()));
    let mut of_lanes: Vec<(u32, Vec<_>)> = (0..lanes).map(|_| (0, Vec::new())).collect();
    for task in tasks {
        if let Some((steps, own)) = of_lanes.iter_mut().min_by_key(|(steps, _)| *steps) {
            *steps += task.steps();
            own.push(task);
        }
    }
    of_lanes.into_iter().map(|(_, own)| own).collect()
}

/// The work on a sample.
struct Plan<'a, T> {
    sample: &'a SampleToMeasure<T>,
    groups: Groups,
    /// For each group what is copied, in what the host gives; nothing without copies.
    boxes: Vec<Range<usize>>,
    /// The chunks of the tiles that are sized, for each group and shape of blocks.
    sized: Vec<SizedGroup>,
    /// For each group the tiles that are predicted, in what the host gives, and the place of its first one among all.
    taken: Vec<(Range<usize>, usize)>,
    /// The place of each of these tiles among those of the sample.
    order: Vec<usize>,
    /// What the host gives for each prediction.
    ways: Vec<GivenWay>,
}

/// Tiles of a group that are sized in blocks of a shape.
struct SizedGroup {
    group: usize,
    chunks: ChunksOfShape,
    /// The places of the tiles among those of the sample that are sized.
    tiles: Vec<usize>,
    /// The list of the chunks, in what the host gives.
    list: Range<usize>,
}

impl<'a, T: Element> Plan<'a, T> {
    /// Adds what the host gives to `given`.
    fn new(sample: &'a SampleToMeasure<T>, given: &mut Vec<u64>) -> Self {
        let groups = Groups::new(sample);
        let of_copies = |group: &Group| {
            let copies = group.copies.as_ref();
            copies.map_or_else(Vec::new, |copies| copies.list(&sample.grid))
        };
        let boxes = groups.all.iter();
        let boxes = boxes.map(|group| add(given, &of_copies(group))).collect();
        let numbered = |numbers: &mut dyn Iterator<Item = u64>| {
            let numbered = numbers.zip(0..).map(|(number, place)| [number, place]);
            groups.divided(numbered)
        };
        let mut sized = Vec::new();
        let divided = numbered(&mut sample.sized.iter().copied());
        for (group, tiles) in divided.iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let place = |[number, _]: &[u64; 2]| groups.all[group].place(*number);
            let places: Vec<ChunkBox> = tiles.iter().map(place).collect();
            for shape in &sample.shapes {
                let chunks = ChunksOfShape::new(*shape, &places);
                sized.push(SizedGroup {
                    group,
                    list: add(given, chunks.list()),
                    chunks,
                    tiles: tiles.iter().map(|[_, place]| *place as usize).collect(),
                });
            }
        }
        let (mut taken, mut order) = (Vec::new(), Vec::new());
        if !sample.predictions.is_empty() {
            let numbers = sample.taken.iter().map(|[number, _]| *number);
            for mut tiles in numbered(&mut numbers.into_iter()) {
                let first = order.len();
                order.extend(tiles.iter().map(|[_, place]| *place as usize));
                for [_, weight] in &mut tiles {
                    *weight = sample.taken[*weight as usize][1];
                }
                taken.push((add(given, tiles.as_flattened()), first));
            }
        }
        let ways = sample.predictions.iter();
        let ways = ways
            .map(|(_, way)| GivenWay::add(way, &groups, given))
            .collect();
        Self {
            sample,
            groups,
            boxes,
            sized,
            taken,
            order,
            ways,
        }
    }

    /// The cells of what the kernels find: the sizes of the chunks, and what [predictions leave](leavings::result_cells).
    fn result_cells(&self) -> usize {
        let of_blocks: usize = self.sized.iter().map(|sized| sized.chunks.cells()).sum();
        of_blocks + leavings::result_cells(self.sample)
    }

    /// The words of the copies of each group, with holes and with values in place of them; nothing without copies.
    fn copies(&self, sections: &mut Sections) -> Vec<[View<u32>; 2]> {
        let words = |group: &Group| match &group.copies {
            Some(copies) => copies.words(T::WORDS as u64, sections),
            None => [View::empty(); 2],
        };
        self.groups.all.iter().map(words).collect()
    }

    /// Enqueues what fills the copies.
    fn enqueue_copies<E: Executor>(
        &self,
        executor: &E,
        field: View<u32>,
        given: View<u64>,
        copies: &[[View<u32>; 2]],
    ) -> Result<(), Error> {
        let of_groups = self.boxes.iter().zip(copies);
        for (boxes, [tiles, filled]) in of_groups.filter(|(boxes, _)| !boxes.is_empty()) {
            let list = part(given, boxes);
            let count = (boxes.len() / BOX_NUMBERS) as u64;
            enqueue_read::<T, E>(executor, field, &self.sample.grid, (list, count), *tiles)?;
            let params = FillTilesParams {
                tiles: *tiles,
                boxes: list,
                zeros: (self.sample.holes == Holes::WithZeros).into(),
                filled: *filled,
            };
            let blocks = blocks_of::<T>(count, self.sample.grid.elements())?;
            executor.launch::<FillTiles<T>>(blocks, &params)?;
        }
        Ok(())
    }

    /// The fields of the groups, with the tiles that are predicted.
    fn fields(
        &self,
        field: View<u32>,
        given: View<u64>,
        copies: &[[View<u32>; 2]],
    ) -> Vec<FieldOfTiles> {
        let of_group = |(at, (group, [tiles, filled])): (usize, (&Group, &[View<u32>; 2]))| {
            let (taken, first) = self.taken.get(at).cloned().unwrap_or_default();
            let taken = TakenTiles::of(part(given, &taken));
            let holes = group.copies.as_ref().map(|copies| {
                let [_, height, width] = copies.extents.map(|extent| extent as u32);
                ClearHolesParams {
                    tiles: *tiles,
                    taken,
                    of_slice: [group.tiles_of_slice(), copies.elements()],
                    steps: [width, height * width],
                    own: copies.own,
                    zeros: (self.sample.holes == Holes::WithZeros).into(),
                    counted: 0,
                    codes: View::empty(),
                }
            });
            FieldOfTiles {
                words: if holes.is_some() { *filled } else { field },
                tiles: group.tiles,
                taken,
                first: first as u64,
                holes,
            }
        };
        let groups = self.groups.all.iter().zip(copies).enumerate();
        groups.map(of_group).collect()
    }

    /// Its tasks on the machine, which has what the host has given, and whose results are clear.
    fn tasks<'s>(
        &'s self,
        fields: &'s [FieldOfTiles],
        given: View<u64>,
        mut results: View<u64>,
    ) -> Vec<Task<'s, T>> {
        let mut tasks = Vec::new();
        for sized in &self.sized {
            tasks.push(Task::Sizes {
                field: fields[sized.group].words,
                grid: &self.groups.all[sized.group].grid,
                chunks: &sized.chunks,
                list: part(given, &sized.list),
                bytes: results.words(),
            });
            results = results.from(sized.chunks.cells() as u64);
        }
        for ((layout, way), own) in self.sample.predictions.iter().zip(&self.ways) {
            let parts = Parts::new(layout, self.sample.taken.len());
            tasks.push(Task::Prediction(Prediction {
                layout,
                way,
                fields,
                given,
                own,
                to: parts.views(results),
            }));
            results = results.from(parts.cells() as u64);
        }
        tasks
    }

    /// What the kernels have found, from their cells.
    fn measures(&self, mut cells: &[u64]) -> Result<SampleMeasures<T>, Error> {
        let mut sizes = vec![Sizes::new(); self.sample.sized.len()];
        for sized in &self.sized {
            let (own, behind) = cells.split_at(sized.chunks.cells());
            cells = behind;
            let found = sized.chunks.sizes(bytemuck::cast_slice(own));
            for (place, found) in sized.tiles.iter().zip(found) {
                sizes[*place].extend(found);
            }
        }
        let leavings = leavings::of_cells(self.sample, &self.order, cells)?;
        Ok(SampleMeasures { sizes, leavings })
    }
}

/// Something to do on the machine that does not depend on the rest.
enum Task<'a, T> {
    /// Sizes in blocks of a shape.
    Sizes {
        field: View<u32>,
        grid: &'a Grid,
        chunks: &'a ChunksOfShape,
        list: View<u64>,
        bytes: View<u32>,
    },
    Prediction(Prediction<'a, T>),
}

impl<T: Element> Task<'_, T> {
    /// About how many kernels run one after the other.
    fn steps(&self) -> u32 {
        match self {
            Task::Sizes { .. } => 1,
            Task::Prediction(prediction) => prediction.steps(),
        }
    }

    fn enqueue<E: Executor>(&self, lane: &Lane<'_, T, E>) -> Result<(), Error> {
        match self {
            Task::Sizes {
                field,
                grid,
                chunks,
                list,
                bytes,
            } => chunks.enqueue(lane.executor, (*field, grid), lane.quantizer, *list, *bytes),
            Task::Prediction(prediction) => prediction.enqueue(lane),
        }
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests;
