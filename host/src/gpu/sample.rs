//! What a choice finds out about a field on a machine that runs kernels.

use crate::choose::weights::TileWeights;
use crate::error::Error;
use crate::gpu::block_sizes::ChunksOfShape;
use crate::gpu::boxes::BoxMemory;
use crate::gpu::executor::Executor;
use crate::gpu::leavings::{self, ALIGNMENT, Lane, Prediction, Workspace, aligned};
use crate::gpu::tiles::workspace::Sections;
use crate::gpu::weights::Weights;
use crate::sampled_field::{
    SampleKernels, SampleMeasures, SampleToMeasure, SampledField, Sizes, TilesToWeigh,
};
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::TileGrid;
use ferrosz_simt::View;
use std::cmp::Reverse;

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
        let plans: Vec<Plan<'_, T>> = wanted.iter().map(Plan::new).collect();
        let of_plans: Vec<Vec<u64>> = plans.iter().map(Plan::given).collect();
        let given = of_plans.concat();
        let result_cells: usize = plans.iter().map(Plan::result_cells).sum();
        let predictions: usize = wanted.iter().map(|sample| sample.predictions.len()).sum();
        let lanes = predictions.clamp(1, LANES);
        let divide = |all: View<u64>| {
            let mut sections = Sections::of(all);
            let given = sections.cells(given.len() as u64);
            let results = sections.cells(result_cells as u64);
            let workspaces: Vec<_> = (0..lanes)
                .map(|_| Workspace::new(wanted, &mut sections))
                .collect();
            (given, results, workspaces, sections.end())
        };
        let (.., cells) = divide(View::empty());
        let all = self.memory.memory(self.executor, 8 * cells)?.pairs();
        let (to_machine, results, workspaces, _) = divide(all);
        self.executor
            .upload(bytemuck::cast_slice(&given), to_machine.words())?;
        self.executor.clear(results)?;
        // 2. The kernels. What takes long begins first.
        let (mut rest, mut to) = (to_machine, results);
        let mut tasks = Vec::new();
        for (plan, given) in plans.iter().zip(&of_plans) {
            tasks.extend(plan.tasks(rest, to));
            rest = rest.from(given.len() as u64);
            to = to.from(plan.result_cells() as u64);
        }
        let of_lanes = in_lanes(tasks, lanes);
        self.executor.in_lanes(lanes, &mut |executor, lane| {
            let mut own = of_lanes[lane].iter();
            let lane = Lane {
                executor,
                field: self.field,
                quantizer,
                workspace: &workspaces[lane],
            };
            own.try_for_each(|task| task.enqueue(&lane))
        })?;
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
    /// The chunks of the tiles that are sized, for each shape of blocks.
    blocks: Vec<ChunksOfShape>,
}

impl<'a, T: Element> Plan<'a, T> {
    fn new(sample: &'a SampleToMeasure<T>) -> Self {
        let place = |number: &u64| {
            let tile = sample.tiles.tile(*number);
            ChunkBox {
                origin: tile.origin,
                extents: tile.extents(sample.tiles.shape()),
            }
        };
        let tiles: Vec<ChunkBox> = sample.sized.iter().map(place).collect();
        let shapes = sample.shapes.iter().filter(|_| !tiles.is_empty());
        let of_shape = |shape: &_| ChunksOfShape::new(*shape, &tiles);
        Self {
            sample,
            blocks: shapes.map(of_shape).collect(),
        }
    }

    /// What the host gives: the chunks of each shape, and what [predictions](leavings::given) need.
    fn given(&self) -> Vec<u64> {
        let mut all: Vec<u64> = (self.blocks.iter())
            .flat_map(|chunks| aligned(chunks.list()))
            .collect();
        if !self.sample.predictions.is_empty() {
            all.extend(leavings::given(self.sample));
        }
        all
    }

    /// The cells of what the kernels find: the sizes of the chunks, and what [predictions leave](leavings::result_cells).
    fn result_cells(&self) -> usize {
        let of_blocks: usize = self.blocks.iter().map(ChunksOfShape::cells).sum();
        of_blocks + leavings::result_cells(self.sample)
    }

    /// Its tasks on the machine, which has what the host [gives](Plan::given), and whose results are clear.
    fn tasks(&self, mut given: View<u64>, mut results: View<u64>) -> Vec<Task<'_, T>> {
        let mut tasks = Vec::new();
        for chunks in &self.blocks {
            tasks.push(Task::Sizes {
                grid: &self.sample.grid,
                chunks,
                list: given,
                bytes: results.words(),
            });
            given = given.from(chunks.list().len().next_multiple_of(ALIGNMENT) as u64);
            results = results.from(chunks.cells() as u64);
        }
        if !self.sample.predictions.is_empty() {
            let predictions = leavings::predictions(self.sample, given, results);
            tasks.extend(predictions.into_iter().map(Task::Prediction));
        }
        tasks
    }

    /// What the kernels have found, from their cells.
    fn measures(&self, mut cells: &[u64]) -> Result<SampleMeasures<T>, Error> {
        let mut sizes = vec![Sizes::new(); self.sample.sized.len()];
        for chunks in &self.blocks {
            let (own, behind) = cells.split_at(chunks.cells());
            cells = behind;
            chunks.add_sizes(bytemuck::cast_slice(own), &mut sizes);
        }
        let leavings = leavings::of_cells(self.sample, cells)?;
        Ok(SampleMeasures { sizes, leavings })
    }
}

/// Something to do on the machine that does not depend on the rest.
enum Task<'a, T> {
    /// Sizes in blocks of a shape.
    Sizes {
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
                grid,
                chunks,
                list,
                bytes,
            } => {
                let on_grid = (lane.field, *grid);
                chunks.enqueue(lane.executor, on_grid, lane.quantizer, *list, *bytes)
            }
            Task::Prediction(prediction) => prediction.enqueue(lane),
        }
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::cpu::tiles::{bits_on_cpu, measures_on_cpu};
    use crate::gpu::executor::emulator;
    use crate::sampled_field::{TuningOnTiles, Way, can_be_sized};
    use ferrosz_codec::bound::{Bound, Extremes};
    use ferrosz_codec::container::extents::Extents;
    use ferrosz_codec::container::layout::Layout;
    use ferrosz_codec::container::tiles::TileLayout;
    use ferrosz_codec::mapping::axes::Axes;
    use ferrosz_codec::predict::interp::resolved::Resolved;
    use ferrosz_codec::predict::interp::tune::search::Search;
    use ferrosz_codec::shape::Shape;
    use ferrosz_codec::{Codec, with_element};

    /// A field on the emulator and here.
    struct Case<T> {
        extents: Extents,
        grid: Grid,
        tiles: TileGrid,
        quantizer: Quantizer<T>,
        field: Vec<T>,
    }

    impl<T: Element> Case<T> {
        /// A field with four axes has slices. Some values have no code; some are holes.
        fn new(lengths: &[u64], shape: Shape, error: f64, has_holes: bool) -> Self {
            let extents = Extents::new(lengths).unwrap();
            let axes = (lengths.len() == 4).then(|| "s,z,y,x".parse::<Axes>().unwrap());
            let extents = axes.map_or(extents, |axes| axes.coded_extents(&extents).unwrap());
            let grid = Grid::new(shape, &extents);
            let row = lengths[lengths.len() - 1];
            let value = |i: u64| match i % 5003 {
                0..=16 if has_holes => f64::NAN,
                17 => f64::INFINITY,
                18 => 1e30,
                19 => f64::NAN,
                _ if i % 16_384 < 900 => 2.0,
                _ => {
                    let (y, x) = ((i / row) as f64, (i % row) as f64);
                    (x * 0.05).sin() * (y * 0.03).cos() + (i * 7919 % 101) as f64 * 1e-3
                }
            };
            let bound = Bound::abs(error).unwrap();
            Self {
                extents,
                grid,
                tiles: TileGrid::sliced(grid.shape(), grid.slices(), grid.slice_lengths()),
                quantizer: bound.resolve(&Extremes::default()).with_holes(has_holes),
                field: (0..grid.elements())
                    .map(|i| T::from_f64(value(i)))
                    .collect(),
            }
        }

        /// What kernels on the emulator do with the field.
        fn on_emulator<R>(&self, work: impl FnOnce(&mut dyn SampleKernels<T>) -> R) -> R {
            let executor = emulator::new();
            let memory = executor.allocate(size_of_val(&*self.field) as u64).unwrap();
            let field = executor.view::<u32>(&memory);
            executor
                .upload(bytemuck::cast_slice(&self.field), field)
                .unwrap();
            work(&mut FieldOnMachine {
                executor: &executor,
                field,
                memory: &mut BoxMemory::default(),
                weighed: Vec::new(),
            })
        }

        /// All tiles, in two parts.
        fn check_weights(&self) {
            let row = Grid::new(Shape::Plane, &self.extents).lengths()[2];
            let of = |numbers: Vec<u64>| TilesToWeigh {
                tiles: self.tiles,
                row,
                numbers,
            };
            let (even, odd) = (0..self.tiles.tiles()).partition(|number| number % 2 == 0);
            let wanted = [of(even), of(odd)];
            let found = self.on_emulator(|kernels| kernels.weigh(&wanted, &self.quantizer));
            let on_cpu = |wanted| bits_on_cpu(&self.grid, wanted, &self.quantizer, &self.field);
            let all: Vec<_> = wanted.iter().map(on_cpu).collect();
            assert_eq!(found.unwrap(), all, "{:?}", self.extents);
        }

        /// All tiles that kernels can size.
        fn to_size(&self, shapes: &[Shape]) -> SampleToMeasure<T> {
            let can_be_sized = |number: &u64| {
                let tile = self.tiles.tile(*number);
                let place = ChunkBox {
                    origin: tile.origin,
                    extents: tile.extents(self.tiles.shape()),
                };
                shapes.iter().all(|shape| can_be_sized(&place, *shape))
            };
            let sized: Vec<u64> = (0..self.tiles.tiles()).filter(can_be_sized).collect();
            assert!(4 * sized.len() as u64 >= self.tiles.tiles());
            SampleToMeasure {
                grid: self.grid,
                tiles: self.tiles,
                sized,
                shapes: shapes.to_vec(),
                taken: Vec::new(),
                predictions: Vec::new(),
            }
        }

        /// All ways of all predictors on some tiles.
        fn to_predict(&self) -> SampleToMeasure<T> {
            let shape = self.tiles.shape();
            let mut predictions = Vec::new();
            for codec in [
                Codec::LORENZO_RANS,
                Codec::INTERP,
                Codec::INTERP_SQUARE,
                Codec::INTERP_NARROW,
                Codec::STENCIL,
                Codec::SLICES,
            ] {
                let layout = Layout::new(codec, shape, self.extents);
                if layout.codec == codec && layout.shape == shape {
                    let ways = self.ways(&layout.tiles().unwrap());
                    predictions.extend(ways);
                }
            }
            let taken = (0..self.tiles.tiles()).filter(|number| number % 3 != 1);
            SampleToMeasure {
                taken: taken.map(|number| [number, 16 + 5 * number]).collect(),
                predictions,
                ..self.to_size(&[])
            }
        }

        fn ways(&self, layout: &TileLayout) -> Vec<(TileLayout, Way<T>)> {
            let Some(tuning) = layout.codec.predictor.tuning() else {
                return vec![(*layout, Way::Lorenzo)];
            };
            let all = self.tiles.tiles();
            let fitted: Vec<u64> = (0..all).step_by(2).collect();
            let scored: Vec<u64> = fitted.iter().copied().step_by(2).collect();
            let search = Search::new(tuning, layout.shape(), scored.len() as u64, all);
            let start = Resolved::new(search.start(0.0), self.quantizer.error());
            let tuning = TuningOnTiles {
                search,
                fitted,
                scored,
            };
            vec![(*layout, Way::Given(start)), (*layout, Way::Tuned(tuning))]
        }

        /// Samples at once, and then the first alone in the same memory, which has other contents then.
        fn check_measures(&self, wanted: &[SampleToMeasure<T>]) {
            let on_cpu = |wanted| measures_on_cpu(wanted, &self.quantizer, &self.field);
            let all: Vec<_> = wanted.iter().map(on_cpu).collect();
            self.on_emulator(|kernels| {
                for count in [wanted.len(), 1] {
                    let found = kernels.measure(&wanted[..count], &self.quantizer).unwrap();
                    assert_eq!(found, all[..count], "{:?}", self.extents);
                    let leavings = found.iter().flat_map(|found| &found.leavings);
                    for leavings in leavings {
                        assert!(leavings.coded > 0 && leavings.planes.iter().any(|it| *it > 0));
                    }
                }
            });
        }
    }

    #[test]
    fn tiles_weigh_as_much_as_on_the_cpu() {
        for error in [0.0, 0.7] {
            Case::<f32>::new(&[40_003], Shape::Line, error, false).check_weights();
            Case::<f64>::new(&[9, 47, 101], Shape::Line, error, true).check_weights();
            Case::<f64>::new(&[300, 130], Shape::Plane, error, false).check_weights();
            Case::<f32>::new(&[3, 257, 63], Shape::Plane, error, true).check_weights();
            Case::<f64>::new(&[33, 20, 68], Shape::Cube, error, true).check_weights();
            Case::<f32>::new(&[2, 16, 16, 129], Shape::Cube, error, false).check_weights();
        }
    }

    #[test]
    fn tiles_have_the_sizes_of_the_cpu() {
        let (planes, cubes) = ([Shape::Plane], [Shape::Plane, Shape::Cube]);
        let check = |lengths: &[u64], sampled, shapes: &[Shape]| {
            for (dtype, error) in [(0, 0.0), (0, 0.7), (1, 1e-3)] {
                let dtype = ferrosz_codec::Dtype::ALL[dtype];
                with_element!(dtype, E => {
                    let case = Case::<E>::new(lengths, sampled, error, false);
                    case.check_measures(&[case.to_size(shapes)]);
                });
            }
        };
        check(&[40_003], Shape::Line, &[Shape::Line]);
        check(&[9, 47, 101], Shape::Line, &[Shape::Line]);
        check(&[300, 130], Shape::Plane, &planes);
        check(&[3, 257, 63], Shape::Plane, &planes);
        check(&[33, 20, 68], Shape::Cube, &cubes);
        check(&[5, 17, 65], Shape::Cube, &cubes);
        check(&[2, 16, 16, 129], Shape::Cube, &cubes);
    }

    #[test]
    fn predictions_leave_what_those_of_the_cpu_do() {
        fn check<T: Element>(lengths: &[u64], shape: Shape, error: f64) {
            let case = Case::<T>::new(lengths, shape, error, false);
            let all = case.to_predict();
            let lorenzo = SampleToMeasure {
                predictions: all.predictions[..1].to_vec(),
                ..case.to_size(&[shape])
            };
            let lorenzo = SampleToMeasure {
                taken: all.taken.clone(),
                ..lorenzo
            };
            case.check_measures(&[lorenzo, all]);
        }
        check::<f32>(&[50_003], Shape::Line, 0.02);
        check::<f64>(&[70, 530], Shape::Plane, 1e-3);
        check::<f32>(&[2, 70, 63], Shape::Plane, 0.0);
        check::<f32>(&[17, 20, 130], Shape::Cube, 1e-3);
        check::<f64>(&[2, 20, 16, 70], Shape::Cube, 0.02);
    }
}
