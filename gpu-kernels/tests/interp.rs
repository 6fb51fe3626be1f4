//! Prediction and reconstruction of tiles on the emulator, beside the codec's own.

use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::oracle;
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::geometry::Geometry;
use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::store::is_own;
use ferrosz_codec::predict::slices;
use ferrosz_codec::predict::stencil::coefficients::{Coefficients, GEOMETRY, count};
use ferrosz_codec::shape::{Cube, Line, Plane, StaticShape};
use ferrosz_codec::tile::Part;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_codec::tile::code::RAW;
use ferrosz_codec::tile::{self, TileGrid};
use ferrosz_codec::{Element, Shape};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::pipeline::tiles::codes;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::method::{Method, Slices, Splines, Stencils};
use ferrosz_gpu_kernels::predict::interp::predict::Predict;
use ferrosz_gpu_kernels::predict::interp::prepare::PARAMETER_WORDS;
use ferrosz_gpu_kernels::predict::interp::reconstruct::{Reconstruct, ReconstructParams};
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::predict::interp::{Model, Predictor};
use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::cell::RefCell;

/// What output buffers hold before.
const POISON: u32 = 0xdead_beef;

/// A buffer of words that a kernel may take four at a time.
struct Words(Vec<[u64; 2]>, usize);

impl Words {
    fn new(words: &[u32]) -> Self {
        let mut buffer = vec![[0; 2]; words.len().div_ceil(4)];
        bytemuck::cast_slice_mut::<_, u32>(&mut buffer)[..words.len()].copy_from_slice(words);
        Self(buffer, words.len())
    }

    fn of<T: Element>(values: &[T]) -> Self {
        Self::new(bytemuck::cast_slice(values))
    }

    fn view(&mut self) -> View<u32> {
        // SAFETY: the buffer outlives the launches of the test that made it, and holds so many words.
        unsafe { View::new(self.0.as_mut_ptr().cast(), self.1 as u64) }
    }

    fn words(&self) -> &[u32] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

fn field<T: Element>(grid: &TileGrid, random: &mut StdRng) -> Vec<T> {
    (0..grid.elements())
        .map(|i| {
            let smooth = (i as f64 * 0.05).sin() + (i as f64 * 0.0007).cos();
            T::from_f64(match random.random_range(0..700) {
                0 => 1e9,
                1 => f64::NAN,
                2 => 3e38,
                _ => smooth,
            })
        })
        .collect()
}

/// The first chunk of the codes.
const FIRST_RUN: u64 = 2;

/// The number of a tile's first code.
fn first_code(tile: u64) -> usize {
    2 * codes::first_word(FIRST_RUN, tile) as usize
}

/// A part of a field, and its parameters.
struct Case<'a, T> {
    predictor: Predictor<'a, T>,
    resolved: &'a Resolved<T>,
    coefficients: Option<&'a Fitted>,
    is_coarse: bool,
    /// The tiles of the part, and of its anchors.
    grid: TileGrid,
    coarse: TileGrid,
    /// The field's elements, and how far those of the part are apart in it.
    values: &'a [T],
    strides: [u64; 3],
    /// The field's anchors.
    anchors: &'a [T],
}

impl<'a, T: Element> Case<'a, T> {
    fn new(
        field: &TileGrid,
        model: Model<'a, T>,
        part: Part,
        values: &'a [T],
        anchors: &'a [T],
    ) -> Self {
        let predictor = Predictor::new(Version::best(), field, model, part);
        let Model {
            resolved,
            coefficients,
        } = model;
        let is_coarse = part == Part::Coarse;
        let spacing = resolved.parameters.geometry.spacing(field.shape());
        let step = if is_coarse { u64::from(spacing) } else { 1 };
        let [_, height, width] = field.lengths();
        Self {
            resolved,
            coefficients,
            is_coarse,
            grid: *predictor.grid(),
            coarse: predictor.grid().coarse(spacing),
            values,
            strides: match field.shape() {
                Shape::Line => [0, 0, step],
                Shape::Plane => [height * width, step * width, step],
                Shape::Cube => [step * height * width, step * width, step],
            },
            anchors,
            predictor,
        }
    }

    fn value(&self, at: [u64; 3]) -> T {
        let at: u64 = at
            .iter()
            .zip(&self.strides)
            .map(|(at, stride)| at * stride)
            .sum();
        self.values[at as usize]
    }

    fn anchor(&self, at: [u64; 3]) -> T {
        if !self.is_coarse {
            return self.anchors[self.coarse.flat(at) as usize];
        }
        let first = 3 - usize::from(self.grid.shape().rank());
        let spacing = self.resolved.parameters.geometry.spacing(self.grid.shape());
        let factor = |i| if i < first { 1 } else { u64::from(spacing) };
        self.value(std::array::from_fn(|i| at[i] * factor(i)))
    }

    /// Calls for all positions of the part: the number of their code, their element, and their position in their tile,
    /// once `enter` was called for it.
    fn each_position(
        &self,
        mut enter: impl FnMut(u64),
        mut visit: impl FnMut(usize, usize, [u32; 3]),
    ) {
        let shape = self.grid.shape();
        for number in 0..self.grid.tiles() {
            enter(number);
            let tile = self.grid.tile(number);
            for at in 0..tile::TILE {
                let position =
                    tile::position(shape, at as u32 / tile::LANES, at as u32 % tile::LANES);
                if tile.has(position) && is_own(shape, position) {
                    let element = self.grid.flat(tile.at(position)) as usize;
                    visit(first_code(number) + at, element, position);
                }
            }
        }
    }

    /// Compares all codes with the codec's; what is known of the part then.
    fn check_codes(&self, found: &[u16]) -> Vec<T> {
        let mut known = vec![T::NAN; self.grid.elements() as usize];
        let store = RefCell::new(self.predictor.store());
        let mut right = [0; tile::TILE];
        let enter = |number| {
            let read = |[z, y, x]: [u64; 3], row: &mut [T]| {
                for (x, position) in (x..).zip(row) {
                    *position = self.value([z, y, x]);
                }
            };
            let anchor = |at| self.anchor(at);
            let tile = self.grid.tile(number);
            (self.predictor).encode(&tile, read, anchor, &mut store.borrow_mut(), &mut right);
            assert_eq!(found[first_code(number)..][..tile::TILE], right);
        };
        self.each_position(enter, |_, element, position| {
            known[element] = store.borrow().value(position);
        });
        known
    }

    /// The anchors as they are known.
    fn known_anchors(&self) -> Vec<T> {
        let [_, height, width] = self.coarse.lengths();
        (0..self.coarse.elements())
            .map(|i| self.anchor([i / width / height, i / width % height, i % width]))
            .collect()
    }

    fn check<S: StaticShape, M: Method>(&self, seed: u64)
    where
        Predict<T, S, M>: Kernel<Params = InterpParams>,
        Reconstruct<T, S, M>: Kernel<Params = ReconstructParams>,
    {
        let code_words = (FIRST_RUN + self.grid.runs()) * codes::RUN_WORDS;
        let mut codes = Words::new(&vec![POISON; code_words as usize]);
        let mut known = Words::new(&vec![POISON; self.grid.elements() as usize * T::WORDS]);
        let mut given = Words::of(self.anchors);
        let mut input = Words::of(self.values);
        let mut words = self.resolved.to_words().to_vec();
        words.resize(PARAMETER_WORDS as usize, POISON);
        match self.coefficients {
            None => {}
            Some(Fitted::Stencils(all)) => {
                let bits = |number| all.get::<f32>(number).to_bits();
                words.extend((0..count(S::SHAPE)).map(bits));
            }
            Some(Fitted::Slices(all)) => words.extend(all.words()),
        }
        let mut words = Words::new(&words);
        let params = InterpParams {
            field: input.view(),
            strides: self.strides,
            anchors: if self.is_coarse {
                View::empty()
            } else {
                given.view()
            },
            codes: codes.view(),
            first_run: FIRST_RUN,
            known: known.view(),
            parameters: words.view(),
            slices: self.grid.slices(),
            lengths: self.grid.slice_lengths(),
            is_coarse: u32::from(self.is_coarse),
            first_tile: 0,
            taken: TakenTiles::all(),
        };
        let emulator = Emulator::new().seed(seed);
        let blocks = self.grid.tiles() as u32;
        emulator
            .launch::<Predict<T, S, M>>(blocks, &params)
            .expect("no fault");
        let found: &[u16] = bytemuck::cast_slice(codes.words());
        let right = self.check_codes(found);
        assert!(known.words() == bytemuck::cast_slice::<T, u32>(&right));
        // Back, with the values that have no code where the field will be, and the anchors that are known.
        let mut start = vec![T::NAN; right.len()];
        self.each_position(
            |_| {},
            |code, element, _| {
                if found[code] == RAW {
                    start[element] = right[element];
                }
            },
        );
        let (mut output, mut anchors) = (Words::of(&start), Words::of(&self.known_anchors()));
        let [_, height, width] = self.grid.lengths();
        let params = InterpParams {
            field: output.view(),
            strides: [height * width, width, 1],
            anchors: anchors.view(),
            known: View::empty(),
            ..params
        };
        emulator
            .launch::<Reconstruct<T, S, M>>(blocks, &ReconstructParams::all(params))
            .expect("no fault");
        assert!(output.words() == bytemuck::cast_slice::<T, u32>(&right));
    }
}

fn check<T: Element, S: StaticShape>(lengths: [u64; 3], geometry: Geometry, seed: u64)
where
    Predict<T, S, Splines>: Kernel<Params = InterpParams>,
    Reconstruct<T, S, Splines>: Kernel<Params = ReconstructParams>,
    Predict<T, S, Stencils>: Kernel<Params = InterpParams>,
    Reconstruct<T, S, Stencils>: Kernel<Params = ReconstructParams>,
    Predict<T, S, Slices>: Kernel<Params = InterpParams>,
    Reconstruct<T, S, Slices>: Kernel<Params = ReconstructParams>,
{
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(S::SHAPE, lengths);
    let mut levels = std::array::from_fn(|_| LevelFlags::from_bits(random.random_range(0..8)));
    if seed % 2 == 1 {
        // The level that has columns.
        levels[0] = LevelFlags::FITTED;
    }
    let parameters = Parameters {
        geometry,
        levels,
        tightening: Tightening::new(1.5, 3.0),
        shifts: Shifts::NONE,
    };
    let radius = [RADIUS, 40][random.random_range(0..2)];
    let resolved = Resolved::new(parameters, T::from_f64(1e-3)).with_radius(radius);
    let values: Vec<T> = field(&grid, &mut random);
    let anchors = oracle::interp::anchors(&grid, geometry.spacing(S::SHAPE), &values);
    let mut of_stencils = Coefficients::default();
    for number in 0..count(S::SHAPE) {
        of_stencils.set(number, &[random.random_range(-0.2..0.2)]);
    }
    let mut of_slices = slices::coefficients::Coefficients::of_sums(|_| 0);
    for number in 0..slices::coefficients::COUNT {
        of_slices.set(number, random.random_range(-400..400));
    }
    let stencils = Fitted::Stencils(of_stencils);
    let of_slices = Fitted::Slices(of_slices);
    for part in [Part::Fine, Part::Coarse] {
        let case = |coefficients| {
            let resolved = &resolved;
            let model = Model {
                resolved,
                coefficients,
            };
            Case::new(&grid, model, part, &values, &anchors)
        };
        case(None).check::<S, Splines>(seed);
        if geometry == GEOMETRY {
            case(Some(&stencils)).check::<S, Stencils>(seed);
        }
        // The coarse field is predicted by splines.
        if geometry == slices::GEOMETRY && S::SHAPE == Shape::Cube && part == Part::Fine {
            case(Some(&of_slices)).check::<S, Slices>(seed);
        }
    }
}

#[test]
fn cubes_agree() {
    for (seed, geometry) in (0..).zip(Geometry::ALL) {
        check::<f32, Cube>([17, 18, 70], geometry, seed);
        check::<f64, Cube>([5, 33, 64], geometry, seed + 3);
        check::<f32, Cube>([16, 16, 64], geometry, seed + 6);
    }
    for seed in 9..21 {
        let lengths = [
            [31, 18, 70],
            [33, 31, 63],
            [32, 16, 129],
            [16, 15, 64],
            [17, 33, 67],
        ];
        check::<f32, Cube>(lengths[seed as usize % 5], GEOMETRY, seed);
    }
}

#[test]
fn planes_agree() {
    for (seed, geometry) in (0..).zip(Geometry::ALL) {
        check::<f32, Plane>([2, 260, 65], geometry, seed);
        check::<f64, Plane>([1, 31, 130], geometry, seed + 3);
    }
}

#[test]
fn lines_agree() {
    for (seed, geometry) in (0..).zip(Geometry::ALL) {
        check::<f32, Line>([1, 1, 20_000], geometry, seed);
        check::<f64, Line>([1, 1, 1_000], geometry, seed + 3);
        check::<f32, Line>([1, 1, 1], geometry, seed + 6);
    }
}
