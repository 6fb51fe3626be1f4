//! What predictions leave of the tiles of a sample on a machine that runs kernels: those of compression, on these tiles alone.

use crate::error::Error;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::tiles::slab::Others;
use crate::gpu::tiles::tuning::{TuneJob, enqueue_tune};
use crate::gpu::tiles::workspace::{Sections, coefficients_and_sums};
use crate::gpu::tiles::{enqueue_predict, strides};
use crate::sampled_field::{AnchorClasses, Leavings, SampleToMeasure, TuningOnTiles, Way};
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::token::TOKENS;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::{WORDS, Words};
use ferrosz_codec::predict::interp::tune::cost::CLASSES;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::RUN_TILES;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::{Bound, Element, with_order, with_shape};
use ferrosz_gpu_kernels::choice::sample_anchors::{SampleAnchors, SampleAnchorsParams};
use ferrosz_gpu_kernels::choice::taken_tiles::{TAKEN_NUMBERS, TakenTiles};
use ferrosz_gpu_kernels::code::bit_planes::measure::{Measure, MeasureParams};
use ferrosz_gpu_kernels::code::entropy::statistics::{COUNTERS, Statistics, StatisticsParams};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::pipeline::tiles::layout::{TILE_WORDS, words_of_runs};
use ferrosz_gpu_kernels::pipeline::tiles::record::{RECORD_WORDS, Record};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::{Counted, Tiling};
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::prepare::{CELLS, PARAMETER_WORDS};
use ferrosz_gpu_kernels::predict::interp::sampled::Sampled;
use ferrosz_gpu_kernels::predict::tile_lorenzo::LorenzoParams;
use ferrosz_gpu_kernels::predict::tile_lorenzo::predict::Predict as LorenzoPredict;
use ferrosz_simt::View;
use std::ops::Range;

/// Parts of what the host gives, and of what it gets, begin at multiples of so many numbers: 128 bytes.
pub(super) const ALIGNMENT: usize = 16;

/// A prediction of a sample on the machine.
pub(super) struct Prediction<'a, T> {
    sample: &'a SampleToMeasure<T>,
    layout: &'a TileLayout,
    way: &'a Way<T>,
    /// The tiles of the sample.
    taken: TakenTiles,
    /// What the host [gives to it](given_to), and perhaps more.
    given: View<u64>,
    to: PartViews,
}

/// The predictions of a sample. `given` begins with [`given`] for it, and `results` with [`result_cells`] of it, which are clear.
pub(super) fn predictions<T: Element>(
    sample: &SampleToMeasure<T>,
    mut given: View<u64>,
    mut results: View<u64>,
) -> Vec<Prediction<'_, T>> {
    let count = sample.taken.len();
    let taken = TakenTiles::of(given.first(TAKEN_NUMBERS * count as u64));
    given = given.from(aligned(sample.taken.as_flattened()).len() as u64);
    let prediction = |(layout, way): &'_ (TileLayout, Way<T>)| {
        let parts = Parts::new(layout, count);
        let own = (given, parts.views(results));
        given = given.from(given_to(way).len() as u64);
        results = results.from(parts.end as u64);
        own
    };
    let places: Vec<_> = sample.predictions.iter().map(prediction).collect();
    let all = sample.predictions.iter().zip(places);
    all.map(|((layout, way), (given, to))| Prediction {
        sample,
        layout,
        way,
        taken,
        given,
        to,
    })
    .collect()
}

/// The cells of what the predictions of a sample leave on the machine.
pub(super) fn result_cells<T>(sample: &SampleToMeasure<T>) -> usize {
    let count = sample.taken.len();
    let predictions = sample.predictions.iter();
    predictions
        .map(|(layout, _)| Parts::new(layout, count).end)
        .sum()
}

/// What the predictions of a sample have left, from these cells.
///
/// # Errors
///
/// [`Error::NotChosen`] if they are not what kernels leave.
pub(super) fn of_cells<T: Element>(
    sample: &SampleToMeasure<T>,
    mut cells: &[u64],
) -> Result<Vec<Leavings<T>>, Error> {
    let mut next = |(layout, way): &(TileLayout, Way<T>)| {
        let parts = Parts::new(layout, sample.taken.len());
        let (own, behind) = cells.split_at(parts.end);
        cells = behind;
        parts.leavings(layout, way, own)
    };
    sample.predictions.iter().map(&mut next).collect()
}

/// What the host gives for a sample: its tiles, and for each prediction [`given_to`] it.
pub(super) fn given<T: Element>(sample: &SampleToMeasure<T>) -> Vec<u64> {
    let mut all = aligned(sample.taken.as_flattened());
    for (_, way) in &sample.predictions {
        all.extend(given_to(way));
    }
    all
}

/// The numbers that a prediction needs: parameters in words, or the tiles that these are found on.
fn given_to<T: Element>(way: &Way<T>) -> Vec<u64> {
    match way {
        Way::Lorenzo => Vec::new(),
        Way::Given(resolved) => {
            let mut words = resolved.to_words().to_vec();
            words.resize(words.len().next_multiple_of(2), 0);
            aligned(&bytemuck::pod_collect_to_vec::<u32, u64>(&words))
        }
        Way::Tuned(tuning) => aligned(&tuning_numbers(tuning)),
    }
}

/// The tiles that parameters are found on, as [`TakenTiles`] has them.
fn tuning_numbers(tuning: &TuningOnTiles) -> Vec<u64> {
    let numbers = tuning.fitted.iter().chain(&tuning.scored);
    numbers.flat_map(|number| [*number, 1]).collect()
}

/// Numbers, and zeros up to where the next part begins.
pub(super) fn aligned(numbers: &[u64]) -> Vec<u64> {
    let mut numbers = numbers.to_vec();
    numbers.resize(numbers.len().next_multiple_of(ALIGNMENT), 0);
    numbers
}

/// The cells that predictions of a lane need, one after the other.
pub(super) struct Workspace {
    /// Look-back states, which nobody reads here.
    cells: View<u64>,
    /// Costs of tuning.
    costs: View<u64>,
    sums: View<u64>,
    /// The codes of all tiles, each in a run of its own.
    regions: View<u32>,
    tiles: View<u32>,
    /// The rounded anchors.
    known: View<u32>,
}

impl Workspace {
    /// Takes the cells that the predictions of all samples need.
    pub(super) fn new<T: Element>(wanted: &[SampleToMeasure<T>], sections: &mut Sections) -> Self {
        let (mut tiles, mut sums, mut known) = (0, 0, 0);
        for sample in wanted
            .iter()
            .filter(|sample| !sample.predictions.is_empty())
        {
            tiles = tiles.max(sample.taken.len() as u64);
            for (layout, _) in &sample.predictions {
                sums = sums.max(coefficients_and_sums(layout)[1]);
                known = known.max(known_words::<T>(layout));
            }
        }
        Self {
            cells: sections.cells(cells::count(tiles)),
            costs: sections.cells(CELLS),
            sums: sections.cells(sums),
            regions: sections.words(words_of_runs(tiles)),
            tiles: sections.words(tiles * u64::from(RUN_TILES) * TILE_WORDS),
            known: sections.words(known),
        }
    }
}

/// Words of the rounded anchors of a field. Those of cubes stay as they are.
fn known_words<T: Element>(layout: &TileLayout) -> u64 {
    match (layout.shape(), layout.codec.predictor.geometry()) {
        (Shape::Cube, _) | (_, None) => 0,
        (shape, Some(geometry)) => {
            let coarse = layout.fine.coarse(geometry.spacing(shape));
            coarse.elements() * T::WORDS as u64
        }
    }
}

/// The cells of what a prediction leaves on the machine: how often symbols occur, and behind that the weights of tiles with
/// codes; the classes of anchors; the parameters of all candidates, and the coefficients; the records of tiles in bit planes.
struct Parts {
    counts: Range<usize>,
    classes: Range<usize>,
    parameters: Range<usize>,
    records: Range<usize>,
    end: usize,
}

/// The parts on the machine.
struct PartViews {
    counts: View<u64>,
    classes: View<u64>,
    parameters: View<u32>,
    records: View<u32>,
}

impl Parts {
    fn new(layout: &TileLayout, tiles: usize) -> Self {
        let [coefficients, _] = coefficients_and_sums(layout);
        let parameter_words = match layout.codec.predictor.geometry() {
            None => 0,
            Some(_) => PARAMETER_WORDS + coefficients,
        };
        let mut end = 0;
        let mut next = |cells: usize| {
            let first = end;
            end += cells.next_multiple_of(ALIGNMENT);
            first..first + cells
        };
        Self {
            counts: next(COUNTERS as usize + 1),
            classes: next(CLASSES),
            parameters: next(parameter_words.div_ceil(2) as usize),
            records: next((tiles as u64 * RECORD_WORDS).div_ceil(2) as usize),
            end,
        }
    }

    fn views(&self, all: View<u64>) -> PartViews {
        let of = |part: &Range<usize>| all.from(part.start as u64).first(part.len() as u64);
        PartViews {
            counts: of(&self.counts),
            classes: of(&self.classes),
            parameters: of(&self.parameters).words(),
            records: of(&self.records).words(),
        }
    }

    /// What is left, from the cells of a prediction.
    fn leavings<T: Element>(
        &self,
        layout: &TileLayout,
        way: &Way<T>,
        cells: &[u64],
    ) -> Result<Leavings<T>, Error> {
        let of = |part: &Range<usize>| cells.get(part.clone()).ok_or(Error::NotChosen);
        let (symbols, _) = of(&self.counts)?.as_chunks::<{ TOKENS as usize }>();
        let mut counts = Box::new([[0; TOKENS as usize]; CONTEXTS as usize]);
        counts.copy_from_slice(symbols.get(..CONTEXTS as usize).ok_or(Error::NotChosen)?);
        let mut anchors = AnchorClasses::default();
        for (anchors, count) in anchors.iter_mut().zip(of(&self.classes)?) {
            *anchors = *count as u32;
        }
        let words: &[u32] = bytemuck::cast_slice(of(&self.parameters)?);
        let resolved = match way {
            Way::Lorenzo => None,
            Way::Given(resolved) => Some(*resolved),
            Way::Tuned(_) => {
                let words = Words(|at| words.get(at).copied().unwrap_or(0));
                let fitted = layout.codec.predictor.fitted();
                Some(words.read(layout.shape(), fitted).ok_or(Error::NotChosen)?)
            }
        };
        let records: &[u32] = bytemuck::cast_slice(of(&self.records)?);
        let records = records.chunks_exact(RECORD_WORDS as usize);
        Ok(Leavings {
            resolved,
            counts,
            coded: of(&self.counts)?[COUNTERS as usize],
            anchors,
            planes: records.map(Record::image_bytes).collect(),
        })
    }
}

impl<T: Element> Prediction<'_, T> {
    /// About how many kernels run one after the other.
    pub(super) fn steps(&self) -> u32 {
        match (self.way, self.layout.codec.predictor.fitted()) {
            (Way::Lorenzo | Way::Given(_), _) => 3,
            (Way::Tuned(_), FittedKind::None) => 8,
            (Way::Tuned(_), FittedKind::Stencils) => 10,
            (Way::Tuned(_), FittedKind::Slices) => 14,
        }
    }

    /// Enqueues it.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], or an error of the machine.
    pub(super) fn enqueue<E: Executor>(&self, lane: &Lane<'_, T, E>) -> Result<(), Error> {
        let prediction = self;
        Call { lane, prediction }.enqueue()
    }
}

/// A lane of a machine that has a field.
pub(super) struct Lane<'a, T, E> {
    pub(super) executor: &'a E,
    pub(super) field: View<u32>,
    pub(super) quantizer: &'a Quantizer<T>,
    pub(super) workspace: &'a Workspace,
}

/// A prediction on a lane.
struct Call<'a, T, E> {
    lane: &'a Lane<'a, T, E>,
    prediction: &'a Prediction<'a, T>,
}

impl<T: Element, E: Executor> Call<'_, T, E> {
    fn enqueue(&self) -> Result<(), Error> {
        let Prediction {
            layout,
            way,
            taken,
            given,
            to,
            ..
        } = self.prediction;
        // 1. The codes of the tiles.
        let parameters = match way {
            Way::Lorenzo => {
                self.predict_lorenzo()?;
                View::empty()
            }
            Way::Given(_) => {
                let parameters = given.words().first(WORDS as u64);
                self.interpolate(FittedKind::None, parameters)?;
                parameters
            }
            Way::Tuned(tuning) => {
                self.tune(tuning)?;
                self.interpolate(layout.codec.predictor.fitted(), to.parameters)?;
                to.parameters.first(WORDS as u64)
            }
        };
        // 2. Their symbols.
        let (executor, workspace) = (self.lane.executor, self.lane.workspace);
        let grid = &layout.fine;
        let order = layout.codec.order(layout.shape());
        let tiling = Tiling::of_taken(*grid, order, taken.count());
        let statistics = StatisticsParams {
            tiling,
            regions: workspace.regions,
            tiles: workspace.tiles,
            parameters,
            counts: to.counts,
            counted: Counted::new(0, grid.runs()),
            tiles_a_block: 1,
            taken: *taken,
        };
        let blocks = self.blocks(taken.count())?;
        with_order!(order, S => executor.launch::<Statistics<S>>(blocks, &statistics))?;
        // 3. Their lengths in bit planes.
        let measure = MeasureParams {
            tiling,
            regions: workspace.regions,
            tiles: workspace.tiles,
            records: to.records,
            cells: workspace.cells,
            element_words: T::WORDS as u32,
            taken: *taken,
        };
        executor.launch::<Measure>(blocks, &measure)
    }

    /// Predicts the tiles of each slice, which have launches of their own. The tiles ascend.
    fn predict_lorenzo(&self) -> Result<(), Error> {
        let Prediction {
            sample,
            layout,
            taken,
            ..
        } = self.prediction;
        let grid = &layout.fine;
        let of_slice = (grid.tiles() / grid.slices().max(1)).max(1);
        let words = grid.slice_lengths().iter().product::<u64>() * T::WORDS as u64;
        let mut first = 0;
        for tiles in (sample.taken).chunk_by(|[a, _], [b, _]| a / of_slice == b / of_slice) {
            let count = tiles.len() as u64;
            let params = LorenzoParams {
                field: self.lane.field.from(tiles[0][0] / of_slice * words),
                strides: strides(grid),
                codes: self.lane.workspace.regions,
                first_run: 0,
                lengths: grid.slice_lengths(),
                cells: View::empty(),
                quantizer: self.lane.quantizer.to_bits(),
                flags: 0,
                first_tile: self.blocks(first)?,
                taken: taken.from(first),
            };
            let blocks = self.blocks(count)?;
            with_shape!(layout.shape(), S => self.lane.executor.launch::<LorenzoPredict<T, S>>(blocks, &params))?;
            first += count;
        }
        Ok(())
    }

    /// Finds the parameters, and the coefficients if there are any.
    fn tune(&self, tuning: &TuningOnTiles) -> Result<(), Error> {
        let Prediction {
            layout, given, to, ..
        } = self.prediction;
        let tiles = layout.fine.tiles();
        let [fitted, scored] = [&tuning.fitted, &tuning.scored].map(|it| it.len() as u64);
        let fitted = TAKEN_NUMBERS * fitted;
        let of_fit = TakenTiles::of(given.first(fitted));
        let of_scores = TakenTiles::of(given.from(fitted).first(TAKEN_NUMBERS * scored));
        let workspace = self.lane.workspace;
        let job = TuneJob {
            search: tuning.search,
            bound: Bound::default(),
            error: Some(self.lane.quantizer.error().to_bits64()),
            radius: Some(RADIUS),
            max_radius: RADIUS,
            part: self.part(to.parameters, TakenTiles::all()),
            sampled: Sampled::given(of_fit, tiles),
            scored: Sampled::given(of_scores, tiles),
            others: Others::default(),
            workspace: workspace.cells,
            cells: workspace.costs,
            parameters: to.parameters,
            sums: workspace.sums.first(coefficients_and_sums(layout)[1]),
        };
        enqueue_tune::<T, E>(self.lane.executor, &job)
    }

    /// Predicts the tiles with these parameters, and the coefficients behind them if there are any.
    fn interpolate(&self, fitted: FittedKind, parameters: View<u32>) -> Result<(), Error> {
        let Prediction {
            layout, taken, to, ..
        } = self.prediction;
        let blocks = self.blocks(taken.count())?;
        let known = self.lane.workspace.known.first(known_words::<T>(layout));
        let part = self.part(parameters, *taken);
        let anchors = SampleAnchorsParams {
            part,
            known,
            classes: to.classes,
        };
        with_shape!(layout.shape(), S => self.lane.executor.launch::<SampleAnchors<T, S>>(blocks, &anchors))?;
        let params = InterpParams {
            anchors: known,
            ..part
        };
        enqueue_predict::<T, E>(self.lane.executor, layout.shape(), fitted, blocks, &params)
    }

    /// The interpolation's parameters for the field.
    fn part(&self, parameters: View<u32>, taken: TakenTiles) -> InterpParams {
        let grid = &self.prediction.layout.fine;
        InterpParams {
            field: self.lane.field,
            strides: strides(grid),
            anchors: View::empty(),
            codes: self.lane.workspace.regions,
            first_run: 0,
            known: View::empty(),
            parameters,
            slices: grid.slices(),
            lengths: grid.slice_lengths(),
            is_coarse: 0,
            first_tile: 0,
            taken,
        }
    }

    fn blocks(&self, tasks: u64) -> Result<u32, Error> {
        blocks_of::<T>(tasks, self.prediction.layout.fine.elements())
    }
}
