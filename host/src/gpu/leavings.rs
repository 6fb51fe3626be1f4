//! What predictions leave of the tiles of a sample on a machine that runs kernels: those of compression, on these tiles alone.

use crate::error::Error;
use crate::gpu::executor::{Executor, blocks_of};
use crate::gpu::groups::Groups;
use crate::gpu::tiles::slab::Others;
use crate::gpu::tiles::tuning::{TuneJob, TuningSamples, enqueue_tune};
use crate::gpu::tiles::workspace::{Sections, coefficients_and_sums};
use crate::gpu::tiles::{enqueue_predict, strides};
use crate::sampled_field::{AnchorClasses, Leavings, PredictBy, SampleToMeasure, TuningOnTiles};
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::token::TOKENS;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::{WORDS, Words};
use ferrosz_codec::predict::interp::tune::cost::CLASSES;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::tile::{RUN_TILES, TileGrid};
use ferrosz_codec::{Bound, Element, with_order, with_shape};
use ferrosz_gpu_kernels::choice::clear_holes::{ClearHoles, ClearHolesParams};
use ferrosz_gpu_kernels::choice::sample_anchors::{SampleAnchors, SampleAnchorsParams};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
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

/// A field on the machine with tiles that are predicted.
pub(super) struct FieldOfTiles {
    pub(super) words: View<u32>,
    pub(super) tiles: TileGrid,
    /// The tiles, and the place of the first of them among all of the sample that are predicted.
    pub(super) taken: TakenTiles,
    pub(super) first: u64,
    /// The holes of its tiles, whose values are not those of the sample: parameters without codes.
    pub(super) holes: Option<ClearHolesParams>,
}

/// What the host gives for a prediction, in numbers from some place on.
pub(super) enum GivenWay {
    Nothing,
    /// Parameters.
    Parameters(Range<usize>),
    /// For each group of tiles those that coefficients are fitted to, and those that candidates are scored on.
    Tuning(Vec<[Range<usize>; 2]>),
}

impl GivenWay {
    /// Adds it to what the host gives.
    pub(super) fn add<T: Element>(
        way: &PredictBy<T>,
        groups: &Groups,
        given: &mut Vec<u64>,
    ) -> Self {
        match way {
            PredictBy::Lorenzo => Self::Nothing,
            PredictBy::Given(resolved) => {
                let mut words = resolved.to_words().to_vec();
                words.resize(words.len().next_multiple_of(2), 0);
                Self::Parameters(add(
                    given,
                    &bytemuck::pod_collect_to_vec::<u32, u64>(&words),
                ))
            }
            PredictBy::Tuned(tuning) => {
                let divided = |numbers: &[u64]| groups.divided(numbers.iter().map(|it| [*it, 1]));
                let (fitted, scored) = (divided(&tuning.fitted), divided(&tuning.scored));
                let of_groups = fitted.iter().zip(&scored);
                let both = of_groups.map(|(fitted, scored)| {
                    [fitted, scored].map(|numbers| add(given, numbers.as_flattened()))
                });
                Self::Tuning(both.collect())
            }
        }
    }
}

/// Adds numbers to what the host gives; where they are.
pub(super) fn add(given: &mut Vec<u64>, numbers: &[u64]) -> Range<usize> {
    given.resize(given.len().next_multiple_of(ALIGNMENT), 0);
    let first = given.len();
    given.extend(numbers);
    first..given.len()
}

/// Numbers of what the host has given, on the machine.
pub(super) fn part(given: View<u64>, range: &Range<usize>) -> View<u64> {
    given.from(range.start as u64).first(range.len() as u64)
}

/// A prediction of a sample on the machine.
pub(super) struct Prediction<'a, T> {
    pub(super) layout: &'a TileLayout,
    pub(super) way: &'a PredictBy<T>,
    /// The fields that have its tiles, a group each.
    pub(super) fields: &'a [FieldOfTiles],
    /// What the host has given, and the part for this prediction.
    pub(super) given: View<u64>,
    pub(super) own: &'a GivenWay,
    pub(super) to: PartViews,
}

/// The cells of what the predictions of a sample leave on the machine.
pub(super) fn result_cells<T>(sample: &SampleToMeasure<T>) -> usize {
    let count = sample.taken.len();
    let predictions = sample.predictions.iter();
    predictions
        .map(|(layout, _)| Parts::new(layout, count).end)
        .sum()
}

/// What the predictions of a sample have left, from these cells. `order` has the place of each tile among those of the sample.
///
/// # Errors
///
/// [`Error::NotChosen`] if they are not what kernels leave.
pub(super) fn of_cells<T: Element>(
    sample: &SampleToMeasure<T>,
    order: &[usize],
    mut cells: &[u64],
) -> Result<Vec<Leavings<T>>, Error> {
    let mut next = |(layout, way): &(TileLayout, PredictBy<T>)| {
        let parts = Parts::new(layout, sample.taken.len());
        let (own, behind) = cells.split_at(parts.end);
        cells = behind;
        parts.leavings((layout, way), order, own)
    };
    sample.predictions.iter().map(&mut next).collect()
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
    /// Takes the cells that the predictions of all samples need, each with its groups.
    pub(super) fn new<'a, T: Element>(
        wanted: impl Iterator<Item = (&'a SampleToMeasure<T>, &'a Groups)>,
        sections: &mut Sections,
    ) -> Self {
        let (mut tiles, mut sums, mut known) = (0, 0, 0);
        for (sample, groups) in wanted.filter(|(sample, _)| !sample.predictions.is_empty()) {
            tiles = tiles.max(sample.taken.len() as u64);
            for (layout, _) in &sample.predictions {
                sums = sums.max(coefficients_and_sums(layout)[1]);
                let of_groups = groups.all.iter();
                let of_groups = of_groups.map(|group| known_words::<T>(layout, &group.tiles));
                known = of_groups.fold(known, u64::max);
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

/// Words of the rounded anchors of a field with these tiles. Those of cubes stay as they are.
fn known_words<T: Element>(layout: &TileLayout, tiles: &TileGrid) -> u64 {
    match (layout.shape(), layout.codec.predictor.geometry()) {
        (Shape::Cube, _) | (_, None) => 0,
        (shape, Some(geometry)) => {
            let coarse = tiles.coarse(geometry.spacing(shape));
            coarse.elements() * T::WORDS as u64
        }
    }
}

/// The cells of what a prediction leaves on the machine: how often symbols occur, and behind that the weights of tiles with
/// codes; the classes of anchors; the parameters of all candidates, and the coefficients; the records of tiles in bit planes.
pub(super) struct Parts {
    counts: Range<usize>,
    classes: Range<usize>,
    parameters: Range<usize>,
    records: Range<usize>,
    end: usize,
}

/// The parts on the machine.
pub(super) struct PartViews {
    counts: View<u64>,
    classes: View<u64>,
    parameters: View<u32>,
    records: View<u32>,
}

impl Parts {
    pub(super) fn new(layout: &TileLayout, tiles: usize) -> Self {
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

    /// How many cells they have.
    pub(super) const fn cells(&self) -> usize {
        self.end
    }

    pub(super) fn views(&self, all: View<u64>) -> PartViews {
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
        (layout, way): (&TileLayout, &PredictBy<T>),
        order: &[usize],
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
            PredictBy::Lorenzo => None,
            PredictBy::Given(resolved) => Some(*resolved),
            PredictBy::Tuned(_) => {
                let words = Words(|at| words.get(at).copied().unwrap_or(0));
                let fitted = layout.codec.predictor.fitted();
                Some(words.read(layout.shape(), fitted).ok_or(Error::NotChosen)?)
            }
        };
        let records: &[u32] = bytemuck::cast_slice(of(&self.records)?);
        let records = records.chunks_exact(RECORD_WORDS as usize);
        let mut planes = vec![0; order.len()];
        for (place, record) in order.iter().zip(records) {
            planes[*place] = Record::image_bytes(record);
        }
        Ok(Leavings {
            resolved,
            counts,
            coded: of(&self.counts)?[COUNTERS as usize],
            anchors,
            planes,
        })
    }
}

impl<T: Element> Prediction<'_, T> {
    /// About how many kernels run one after the other.
    pub(super) fn steps(&self) -> u32 {
        match (self.way, self.layout.codec.predictor.fitted()) {
            (PredictBy::Lorenzo | PredictBy::Given(_), _) => 3,
            (PredictBy::Tuned(_), fitted) => {
                // Each round of a fit has two kernels; the first coefficients take as long as one.
                8 + 2 * (fitted.rounds() + u32::from(fitted.has_first()))
            }
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

/// A lane of a machine.
pub(super) struct Lane<'a, T, E> {
    pub(super) executor: &'a E,
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
        if let PredictBy::Tuned(tuning) = self.prediction.way {
            self.tune(tuning)?;
        }
        let mut fields = self.prediction.fields.iter();
        fields.try_for_each(|field| match field.taken.count() {
            0 => Ok(()),
            _ => self.predict(field),
        })
    }

    /// Predicts the tiles of a field, and counts what that leaves.
    fn predict(&self, field: &FieldOfTiles) -> Result<(), Error> {
        let Prediction {
            layout,
            way,
            own,
            given,
            to,
            ..
        } = self.prediction;
        // 1. The codes of the tiles.
        let mut parameters = View::empty();
        match (way, own) {
            (PredictBy::Given(_), GivenWay::Parameters(range)) => {
                parameters = part(*given, range).words().first(WORDS as u64);
                self.interpolate(field, FittedKind::None, parameters)?;
            }
            (PredictBy::Tuned(_), _) => {
                parameters = to.parameters.first(WORDS as u64);
                self.interpolate(field, layout.codec.predictor.fitted(), to.parameters)?;
            }
            _ => self.predict_lorenzo(field)?,
        }
        let (executor, workspace) = (self.lane.executor, self.lane.workspace);
        let blocks = self.blocks(field.taken.count())?;
        if let Some(holes) = field.holes {
            let holes = ClearHolesParams {
                counted: (!parameters.is_empty()).into(),
                codes: workspace.regions,
                ..holes
            };
            with_shape!(layout.shape(), S => executor.launch::<ClearHoles<T, S>>(blocks, &holes))?;
        }
        // 2. Their symbols.
        let order = layout.codec.order(layout.shape());
        let tiling = Tiling::of_taken(field.tiles, order, field.taken.count());
        let statistics = StatisticsParams {
            tiling,
            regions: workspace.regions,
            tiles: workspace.tiles,
            parameters,
            counts: to.counts,
            counted: Counted::new(0, field.tiles.runs()),
            tiles_a_block: 1,
            taken: field.taken,
        };
        with_order!(order, S => executor.launch::<Statistics<S>>(blocks, &statistics))?;
        // 3. Their lengths in bit planes.
        let measure = MeasureParams {
            tiling,
            regions: workspace.regions,
            tiles: workspace.tiles,
            records: to.records.from(field.first * RECORD_WORDS),
            cells: workspace.cells,
            element_words: T::WORDS as u32,
            taken: field.taken,
        };
        executor.launch::<Measure>(blocks, &measure)
    }

    fn predict_lorenzo(&self, field: &FieldOfTiles) -> Result<(), Error> {
        let params = LorenzoParams {
            field: field.words,
            strides: strides(&field.tiles),
            codes: self.lane.workspace.regions,
            first_run: 0,
            lengths: field.tiles.slice_lengths(),
            cells: View::empty(),
            quantizer: self.lane.quantizer.to_bits(),
            flags: 0,
            first_tile: 0,
            taken: field.taken,
            slices: field.tiles.slices(),
        };
        let blocks = self.blocks(field.taken.count())?;
        let executor = self.lane.executor;
        with_shape!(self.prediction.layout.shape(), S => executor.launch::<LorenzoPredict<T, S>>(blocks, &params))
    }

    /// Finds the parameters, and the coefficients if there are any.
    fn tune(&self, tuning: &TuningOnTiles) -> Result<(), Error> {
        let Prediction {
            layout,
            fields,
            given,
            own,
            to,
            ..
        } = self.prediction;
        let GivenWay::Tuning(of_groups) = own else {
            return Err(Error::NotChosen);
        };
        let tiles = layout.fine.tiles();
        let samples = |which: usize| -> Vec<TuningSamples> {
            let of_groups = fields.iter().zip(of_groups);
            let of_groups = of_groups.filter(|(_, ranges)| !ranges[which].is_empty());
            let of_group = |(field, ranges): (&FieldOfTiles, &[Range<usize>; 2])| {
                let taken = TakenTiles::of(part(*given, &ranges[which]));
                TuningSamples {
                    part: self.part(field, to.parameters, TakenTiles::all()),
                    sampled: Sampled::given(taken, tiles),
                }
            };
            of_groups.map(of_group).collect()
        };
        let workspace = self.lane.workspace;
        let job = TuneJob {
            search: tuning.search,
            bound: Bound::default(),
            error: Some(self.lane.quantizer.error().to_bits64()),
            radius: Some(RADIUS),
            max_radius: RADIUS,
            fitted: &samples(0),
            scored: &samples(1),
            others: Others::default(),
            workspace: workspace.cells,
            cells: workspace.costs,
            parameters: to.parameters,
            sums: workspace.sums.first(coefficients_and_sums(layout)[1]),
        };
        enqueue_tune::<T, E>(self.lane.executor, &job)
    }

    /// Predicts the tiles of a field with these parameters, and the coefficients behind them if there are any.
    fn interpolate(
        &self,
        field: &FieldOfTiles,
        fitted: FittedKind,
        parameters: View<u32>,
    ) -> Result<(), Error> {
        let Prediction { layout, to, .. } = self.prediction;
        let blocks = self.blocks(field.taken.count())?;
        let known = known_words::<T>(layout, &field.tiles);
        let known = self.lane.workspace.known.first(known);
        let part = self.part(field, parameters, field.taken);
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

    /// The interpolation's parameters for a field.
    fn part(&self, field: &FieldOfTiles, parameters: View<u32>, taken: TakenTiles) -> InterpParams {
        InterpParams {
            field: field.words,
            strides: strides(&field.tiles),
            anchors: View::empty(),
            codes: self.lane.workspace.regions,
            first_run: 0,
            known: View::empty(),
            parameters,
            slices: field.tiles.slices(),
            lengths: field.tiles.slice_lengths(),
            is_coarse: 0,
            first_tile: 0,
            taken,
        }
    }

    fn blocks(&self, tasks: u64) -> Result<u32, Error> {
        blocks_of::<T>(tasks, self.prediction.layout.fine.elements())
    }
}
