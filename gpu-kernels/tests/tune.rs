//! Tuning on the emulator: the words that it leaves are those that the codec comes to.

use ferrosz_codec::predict::fitted::{Fitted, FittedKind};
use ferrosz_codec::predict::interp::geometry::Geometry;
use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use ferrosz_codec::predict::interp::resolved::{Resolved, WORDS};
use ferrosz_codec::predict::interp::spline::Spline;
use ferrosz_codec::predict::interp::tune::sample::{Samples, Scope};
use ferrosz_codec::predict::interp::tune::score::Score;
use ferrosz_codec::predict::interp::tune::search::{Costs, Round, Search};
use ferrosz_codec::predict::interp::tune::{Preference, Tuning, relative_of};
use ferrosz_codec::predict::slices;
use ferrosz_codec::predict::stencil::coefficients::count;
use ferrosz_codec::shape::{Cube, Line, Plane, Shape, StaticShape};
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::pipeline::cells::{self, Given};
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::fit::{Fit, FitParams};
use ferrosz_gpu_kernels::predict::interp::method::{Method, Slices, Splines, Stencils};
use ferrosz_gpu_kernels::predict::interp::prepare::{
    CELLS, CLASS_CELLS, PARAMETER_WORDS, Prepare, PrepareParams, candidate_words,
};
use ferrosz_gpu_kernels::predict::interp::sampled::Sampled;
use ferrosz_gpu_kernels::predict::interp::scores::{Scores, ScoresParams};
use ferrosz_gpu_kernels::predict::interp::slice_fit::SliceFit;
use ferrosz_gpu_kernels::predict::interp::slice_sums::SliceSums;
use ferrosz_gpu_kernels::predict::interp::sums::{Shares, Sums, SumsParams};
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::predict::interp::TileStore;
use ferrosz_host::cpu::predict::rows_of;
use ferrosz_host::cpu::predict::tune::radius_of_samples;
use ferrosz_host::cpu::predict::tune::{score_of_sample, tune};
use ferrosz_simt::emulator::{BlockOrder, Emulator};
use ferrosz_simt::{Kernel, View};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A bound of the radius that some fields come up to.
const MAX_RADIUS: u32 = 2048;

/// What memory holds before.
const POISON: u32 = 0xdead_beef;

fn view<W>(items: &mut [W]) -> View<W> {
    // SAFETY: the items outlive the launches of the test that borrows them.
    unsafe { View::new(items.as_mut_ptr(), items.len() as u64) }
}

/// Smooth along one axis, rough along another, with some values that are not finite.
fn field<T: Element>(grid: &TileGrid, random: &mut StdRng) -> Vec<T> {
    let [_, height, width] = grid.lengths();
    let slopes: [f64; 3] = std::array::from_fn(|_| random.random_range(0.02..0.9));
    (0..grid.elements())
        .map(|i| {
            let at = [i / width / height, i / width % height, i % width];
            let waves: f64 = (0..3)
                .map(|axis| (at[axis] as f64 * slopes[axis]).sin())
                .sum();
            T::from_f64(match random.random_range(0..900) {
                0 => 1e9,
                1 => f64::NAN,
                2 => f64::NEG_INFINITY,
                _ => waves + random.random_range(-0.01..0.01),
            })
        })
        .collect()
}

/// The field of these words, and nothing else.
fn part_of(grid: &TileGrid, words: &mut [u32]) -> InterpParams {
    let [_, height, width] = grid.lengths();
    InterpParams {
        field: view(words),
        strides: [height * width, width, 1],
        anchors: View::empty(),
        codes: View::empty(),
        first_run: 0,
        known: View::empty(),
        parameters: View::empty(),
        slices: grid.slices(),
        lengths: grid.slice_lengths(),
        is_coarse: 0,
        first_tile: 0,
        taken: TakenTiles::all(),
    }
}

struct Case<'a, T> {
    grid: &'a TileGrid,
    values: &'a [T],
    error: T,
    bound: Bound,
    range: f64,
    tuning: Tuning,
    /// 0 if it is to be found.
    radius: u32,
    /// Blocks that run at the same time, for each sample.
    blocks_of_sample: u32,
}

impl<T: Element> Case<'_, T> {
    /// The words of the parameters, and of the coefficients, if there are any.
    fn on_codec(&self) -> (Vec<u32>, Vec<u32>) {
        let mut scratch = TileStore::new(self.grid.shape());
        let (version, read) = (Version::best(), rows_of(self.grid, self.values));
        let relative = relative_of(self.bound, self.error.to_f64(), self.range);
        let tuned = tune(
            version,
            self.grid,
            &read,
            self.error,
            relative,
            &self.tuning,
        );
        let parameters = tuned.parameters;
        let resolved = Resolved::new(parameters, self.error);
        let radius = match self.radius {
            0 => radius_of_samples(
                version,
                self.grid,
                read,
                &resolved,
                MAX_RADIUS,
                &mut scratch,
            ),
            radius => radius,
        };
        let shape = self.grid.shape();
        let coefficients = match tuned.coefficients {
            None => Vec::new(),
            Some(Fitted::Stencils(all)) => (0..count(shape))
                .map(|number| all.get::<f32>(number).to_bits())
                .collect(),
            Some(Fitted::Slices(all)) => all.words().to_vec(),
        };
        (
            resolved.with_radius(radius).to_words().to_vec(),
            coefficients,
        )
    }

    fn on_emulator<S: StaticShape, M: Method>(
        &self,
        emulator: &Emulator,
        error_in_cells: bool,
    ) -> (Vec<u32>, Vec<u32>)
    where
        Scores<T, S, M>: Kernel<Params = ScoresParams>,
        Sums<T, S>: Kernel<Params = SumsParams>,
        SliceSums<T>: Kernel<Params = SumsParams>,
        Fit<S>: Kernel<Params = FitParams>,
        Prepare<T>: Kernel<Params = PrepareParams>,
    {
        let mut words: Vec<u32> = bytemuck::cast_slice(self.values).to_vec();
        let mut workspace = vec![u64::from(POISON); cells::count(0) as usize];
        workspace[cells::RANGE as usize] = self.range.to_bits();
        let mut error = Given::known([self.error.to_bits64()]);
        if error_in_cells {
            workspace[cells::QUANTIZER as usize] = self.error.to_bits64();
            error = Given::in_cells();
        }
        let mut tuning_cells = vec![u64::from(POISON); CELLS as usize];
        let (stored, sums) = (M::KIND.words(S::SHAPE), M::KIND.sums(S::SHAPE));
        let mut parameters = vec![POISON; PARAMETER_WORDS as usize + stored];
        let search = Search::of_field(self.tuning, self.grid);
        let scores = ScoresParams {
            part: InterpParams {
                parameters: view(&mut parameters),
                ..part_of(self.grid, &mut words)
            },
            sampled: Sampled::whole(self.grid.tiles()),
            parameters: view(&mut parameters).from(WORDS as u64),
            cells: view(&mut tuning_cells),
            classes: View::empty(),
        };
        let mut prepare = PrepareParams {
            search,
            rounds: 0,
            error,
            bound: self.bound.value(),
            mode: u32::from(self.bound.mode().id()),
            workspace: view(&mut workspace),
            cells: scores.cells,
            parameters: view(&mut parameters),
            radius: self.radius,
            max_radius: MAX_RADIUS,
        };
        let samples = self.tuning.samples(self.grid.tiles()).count();
        emulator
            .launch::<Prepare<T>>(1, &prepare)
            .expect("no fault");
        if M::IS_FITTED {
            let mut all = vec![0; sums];
            let candidate = candidate_words(search.number_before_fit());
            let shares = Shares::of(samples, self.blocks_of_sample * samples);
            let sums = SumsParams {
                part: scores.part,
                sampled: scores.sampled,
                parameters: prepare.parameters.from(candidate),
                sums: view(&mut all),
                shares,
            };
            let fit = FitParams {
                sums: sums.sums,
                coefficients: scores.part.coefficients(),
            };
            let blocks = shares.blocks(samples);
            if M::IN_SLICES {
                for _ in 0..slices::fit::ROUNDS {
                    emulator
                        .launch::<SliceFit>(SliceFit::BLOCKS, &fit)
                        .expect("no fault");
                    all.fill(0);
                    emulator
                        .launch::<SliceSums<T>>(blocks, &sums)
                        .expect("no fault");
                }
                emulator
                    .launch::<SliceFit>(SliceFit::BLOCKS, &fit)
                    .expect("no fault");
            } else {
                emulator
                    .launch::<Sums<T, S>>(blocks, &sums)
                    .expect("no fault");
                emulator
                    .launch::<Fit<S>>(Fit::<S>::BLOCKS, &fit)
                    .expect("no fault");
            }
        }
        for round in Round::ALL {
            prepare.rounds += 1;
            let candidates = search.candidates(round);
            if candidates > 0 {
                emulator
                    .launch::<Scores<T, S, M>>(candidates * samples, &scores)
                    .expect("no fault");
            }
            emulator
                .launch::<Prepare<T>>(1, &prepare)
                .expect("no fault");
        }
        if self.radius == 0 {
            prepare.rounds += 1;
            let scores = ScoresParams {
                parameters: prepare.parameters,
                classes: scores.cells.from(CLASS_CELLS),
                ..scores
            };
            emulator
                .launch::<Scores<T, S, M>>(samples, &scores)
                .expect("no fault");
            emulator
                .launch::<Prepare<T>>(1, &prepare)
                .expect("no fault");
        }
        let coefficients = parameters.split_off(PARAMETER_WORDS as usize);
        (parameters[..WORDS].to_vec(), coefficients)
    }
}

fn check<T: Element, S: StaticShape>(lengths: [u64; 3], seed: u64)
where
    Scores<T, S, Splines>: Kernel<Params = ScoresParams>,
    Scores<T, S, Stencils>: Kernel<Params = ScoresParams>,
    Scores<T, S, Slices>: Kernel<Params = ScoresParams>,
    SliceSums<T>: Kernel<Params = SumsParams>,
    Sums<T, S>: Kernel<Params = SumsParams>,
    Fit<S>: Kernel<Params = FitParams>,
    Prepare<T>: Kernel<Params = PrepareParams>,
{
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(S::SHAPE, lengths);
    let values: Vec<T> = field(&grid, &mut random);
    let given = Some(Tightening::new(1.375, 2.5));
    let tunings = (0..6).filter_map(|mode| {
        let geometry = Geometry::ALL[random.random_range(0..3)];
        Tuning::of_mode(mode, geometry, given.filter(|_| seed.is_multiple_of(2)))
    });
    let presets = [Preference::Ratio, Preference::Quality].map(Tuning::preferring);
    let presets = presets
        .into_iter()
        .chain(Preference::ALL.map(|it| Tuning::of_fitted(FittedKind::Stencils, it.tightening())));
    let of_slices =
        Preference::ALL.map(|it| Tuning::of_fitted(FittedKind::Slices, it.tightening()));
    let of_slices = (S::SHAPE == Shape::Cube).then_some(of_slices);
    let presets = presets.chain(of_slices.into_iter().flatten());
    for (number, tuning) in (0..).zip(tunings.chain(presets)) {
        let case = Case {
            grid: &grid,
            values: &values,
            error: T::from_f64(10f64.powi(-(number % 4) - 1)),
            bound: if number % 2 == 0 {
                Bound::range(2e-3).unwrap()
            } else {
                Bound::abs(1.0).unwrap()
            },
            range: 17.0,
            tuning,
            // Up to the most shares, and beyond.
            blocks_of_sample: [1, 2, 5, 31][number as usize % 4],
            radius: match tuning.is_fitted() {
                true => 77,
                false => [0, 77][number as usize % 2],
            },
        };
        let emulator = Emulator::new().seed(seed).block_order(BlockOrder::Shuffled);
        let in_cells = number % 3 == 0;
        let found = match tuning.fitted {
            FittedKind::None => case.on_emulator::<S, Splines>(&emulator, in_cells),
            FittedKind::Stencils => case.on_emulator::<S, Stencils>(&emulator, in_cells),
            FittedKind::Slices => case.on_emulator::<S, Slices>(&emulator, in_cells),
        };
        assert!(found == case.on_codec(), "{} {tuning:?}", S::SHAPE);
    }
}

#[test]
fn cubes_are_tuned_alike() {
    check::<f32, Cube>([17, 18, 70], 1);
    check::<f64, Cube>([33, 5, 64], 2);
}

#[test]
fn planes_are_tuned_alike() {
    check::<f32, Plane>([2, 260, 65], 3);
    check::<f64, Plane>([1, 31, 130], 4);
}

#[test]
fn lines_are_tuned_alike() {
    check::<f32, Line>([1, 1, 40_000], 5);
    check::<f64, Line>([1, 1, 1_000], 6);
}

/// What parameters cost on all samples, by level.
fn check_costs<T: Element, S: StaticShape>(lengths: [u64; 3], seed: u64)
where
    Scores<T, S, Splines>: Kernel<Params = ScoresParams>,
{
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(S::SHAPE, lengths);
    let values: Vec<T> = field(&grid, &mut random);
    let (version, read) = (Version::best(), rows_of(&grid, &values));
    let samples = Samples::new(grid.tiles());
    for geometry in Geometry::ALL {
        let mut parameters = Parameters {
            geometry,
            ..Parameters::default()
        };
        for flags in &mut parameters.levels {
            *flags = LevelFlags {
                is_multi: random.random(),
                is_reverse: random.random(),
                spline: [Spline::NotAKnot, Spline::Natural][random.random_range(0..2)],
            };
        }
        let resolved = Resolved::new(parameters, T::from_f64(1e-2));
        let mut scratch = TileStore::new(S::SHAPE);
        let scores = (0..samples.count())
            .map(|sample| score_of_sample(version, &grid, sample, &resolved, read, &mut scratch));
        let right = scores.fold(Score::default(), |all, of_sample| all.with(&of_sample));
        let mut found = Costs::default();
        let mut words: Vec<u32> = bytemuck::cast_slice(&values).to_vec();
        let mut parameter_words = resolved.to_words();
        let params = ScoresParams {
            part: part_of(&grid, &mut words),
            sampled: Sampled::whole(grid.tiles()),
            parameters: view(&mut parameter_words),
            cells: view(&mut found),
            classes: View::empty(),
        };
        Emulator::new()
            .seed(seed)
            .launch::<Scores<T, S>>(samples.count(), &params)
            .expect("no fault");
        assert_eq!(found, right.costs, "{} {parameters:?}", S::SHAPE);
    }
}

#[test]
fn costs_are_those_of_the_codec() {
    check_costs::<f32, Cube>([33, 40, 130], 7);
    check_costs::<f64, Plane>([1, 300, 130], 8);
    check_costs::<f32, Line>([1, 1, 40_000], 9);
}

#[test]
fn costs_of_so_many_tiles_that_half_of_each_is_looked_at_are_those_of_the_codec() {
    let lengths = [16, 2, 64 * 8192];
    let samples = Samples::new(TileGrid::new(Shape::Cube, lengths).tiles());
    assert_eq!(samples.scope(), Scope::HalfOfFinest);
    check_costs::<f32, Cube>(lengths, 10);
}
