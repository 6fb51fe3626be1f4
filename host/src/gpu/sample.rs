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

/// Enqueues tasks in lanes, each of which has a workspace.
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
        holes: Holes,
        field: Vec<T>,
    }

    const ALL_HOLES: [Holes; 3] = [Holes::None, Holes::Missing, Holes::WithZeros];

    impl<T: Element> Case<T> {
        /// A field with four axes has slices. Some values have no code; some are holes: single ones, rows, and the beginning of
        /// tiles.
        fn new(lengths: &[u64], shape: Shape, error: f64, holes: Holes) -> Self {
            let has_holes = holes != Holes::None;
            let extents = Extents::new(lengths).unwrap();
            let axes = (lengths.len() == 4).then(|| "s,z,y,x".parse::<Axes>().unwrap());
            let extents = axes.map_or(extents, |axes| axes.coded_extents(&extents).unwrap());
            let grid = Grid::new(shape, &extents);
            let row = lengths[lengths.len() - 1];
            let value = |i: u64| match i % 5003 {
                0..=16 if has_holes => f64::NAN,
                _ if has_holes && i % 16_384 < 700 => f64::NAN,
                300..=900 if holes == Holes::WithZeros => 0.0,
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
                holes,
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
                zeros_are_holes: self.holes == Holes::WithZeros,
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
                holes: self.holes,
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
        for (error, holes) in [0.0, 0.7]
            .into_iter()
            .flat_map(|error| ALL_HOLES.map(|it| (error, it)))
        {
            Case::<f32>::new(&[40_003], Shape::Line, error, holes).check_weights();
            Case::<f64>::new(&[9, 47, 101], Shape::Line, error, holes).check_weights();
            Case::<f64>::new(&[300, 130], Shape::Plane, error, holes).check_weights();
            Case::<f32>::new(&[3, 257, 63], Shape::Plane, error, holes).check_weights();
            Case::<f64>::new(&[33, 20, 68], Shape::Cube, error, holes).check_weights();
            Case::<f32>::new(&[2, 16, 16, 129], Shape::Cube, error, holes).check_weights();
        }
    }

    #[test]
    fn tiles_have_the_sizes_of_the_cpu() {
        let (planes, cubes) = ([Shape::Plane], [Shape::Plane, Shape::Cube]);
        let check = |lengths: &[u64], sampled, shapes: &[Shape]| {
            for (dtype, error) in [(0, 0.0), (0, 0.7), (1, 1e-3)] {
                let dtype = ferrosz_codec::Dtype::ALL[dtype];
                with_element!(dtype, E => for holes in ALL_HOLES {
                    let case = Case::<E>::new(lengths, sampled, error, holes);
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
            for holes in ALL_HOLES {
                let case = Case::<T>::new(lengths, shape, error, holes);
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
        }
        check::<f32>(&[50_003], Shape::Line, 0.02);
        check::<f64>(&[70, 530], Shape::Plane, 1e-3);
        check::<f32>(&[2, 70, 63], Shape::Plane, 0.0);
        check::<f32>(&[17, 20, 130], Shape::Cube, 1e-3);
        check::<f64>(&[2, 20, 16, 70], Shape::Cube, 0.02);
    }
}
