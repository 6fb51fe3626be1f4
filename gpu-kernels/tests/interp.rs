//! Prediction and reconstruction of tiles on the emulator, beside the codec's own.

use ferrosz_codec::interp::geometry::Geometry;
use ferrosz_codec::interp::parameters::{LevelFlags, Parameters, Tightening};
use ferrosz_codec::interp::quantize::RADIUS;
use ferrosz_codec::interp::reference;
use ferrosz_codec::interp::resolved::Resolved;
use ferrosz_codec::interp::store;
use ferrosz_codec::interp::tile::{Part, Predictor, RAW, is_own};
use ferrosz_codec::shape::{Cube, Line, Plane, StaticShape};
use ferrosz_codec::tile::{self, TileGrid};
use ferrosz_codec::{Element, Shape};
use ferrosz_gpu_kernels::kernel::interp::predict::Predict;
use ferrosz_gpu_kernels::kernel::interp::reconstruct::Reconstruct;
use ferrosz_gpu_kernels::kernel::interp::{InterpParams, codes};
use ferrosz_gpu_kernels::simt::emulator::Emulator;
use ferrosz_gpu_kernels::simt::{Kernel, View};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

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

fn check<T: Element, S: StaticShape>(lengths: [u64; 3], geometry: Geometry, seed: u64)
where
    Predict<T, S>: Kernel<Params = InterpParams>,
    Reconstruct<T, S>: Kernel<Params = InterpParams>,
{
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(S::SHAPE, lengths);
    let parameters = Parameters {
        geometry,
        levels: core::array::from_fn(|_| LevelFlags::from_bits(random.random_range(0..8))),
        tightening: Tightening {
            alpha: 1.5,
            beta: 3.0,
        },
    };
    let radius = [RADIUS, 40][random.random_range(0..2)];
    let resolved = Resolved::new(parameters, T::from_f64(1e-3)).with_radius(radius);
    let values: Vec<T> = field(&grid, &mut random);
    let spacing = geometry.spacing(S::SHAPE);
    let anchors = reference::anchors(&grid, spacing, &values);
    for part in [Part::Fine, Part::Coarse] {
        let predictor = Predictor::new(&grid, &resolved, part);
        let is_coarse = part == Part::Coarse;
        let of_part = *predictor.grid();
        let [_, height, width] = lengths;
        let step = if is_coarse { u64::from(spacing) } else { 1 };
        let strides = match S::SHAPE {
            Shape::Line => [0, 0, step],
            Shape::Plane => [height * width, step * width, step],
            Shape::Cube => [step * height * width, step * width, step],
        };
        let value = |[z, y, x]: [u64; 3]| {
            values[(z * strides[0] + y * strides[1] + x * strides[2]) as usize]
        };
        let coarse = of_part.coarse(spacing);
        let anchor = |at: [u64; 3]| {
            if is_coarse {
                let first = 3 - usize::from(S::SHAPE.rank());
                value(std::array::from_fn(|i| {
                    at[i] * if i < first { 1 } else { u64::from(spacing) }
                }))
            } else {
                anchors[coarse.flat(at) as usize]
            }
        };
        let first_chunk = 2;
        let chunks = first_chunk + of_part.chunks();
        let mut input = Words::of(&values);
        let mut all_codes = Words::new(&vec![POISON; (chunks * codes::REGION_WORDS) as usize]);
        let mut known = Words::new(&vec![POISON; of_part.elements() as usize * T::WORDS]);
        let mut given = Words::of(&anchors);
        let mut words = Words::new(&resolved.to_words());
        let params = InterpParams {
            field: input.view(),
            strides,
            anchors: if is_coarse {
                View::empty()
            } else {
                given.view()
            },
            codes: all_codes.view(),
            first_chunk,
            known: known.view(),
            parameters: words.view(),
            lengths: of_part.lengths(),
            is_coarse: u32::from(is_coarse),
            first_tile: 0,
        };
        let emulator = Emulator::new().seed(seed);
        let blocks = of_part.tiles() as u32;
        emulator
            .launch::<Predict<T, S>>(blocks, &params)
            .expect("no fault");
        let found_codes: &[u16] = bytemuck::cast_slice(all_codes.words());
        let mut output = vec![T::NAN; of_part.elements() as usize];
        let mut store = vec![T::NAN; store::len(S::SHAPE) as usize];
        let mut right = [0; tile::TILE];
        for number in 0..of_part.tiles() {
            let tile = of_part.tile(number);
            predictor.encode(&tile, value, anchor, &mut store, &mut right);
            let first = 2 * codes::first_word(first_chunk, number) as usize;
            assert_eq!(found_codes[first..first + tile::TILE], right);
            for at in 0..tile::TILE as u32 {
                let place = tile::place(S::SHAPE, at / tile::LANES, at % tile::LANES);
                if tile.has(place) && is_own(S::SHAPE, place) {
                    let at = of_part.flat(tile.at(place)) as usize;
                    output[at] = store[store::index(S::SHAPE, place) as usize];
                }
            }
        }
        assert!(known.words() == bytemuck::cast_slice::<T, u32>(&output));
        // Back, with the values that have no code where the field will be, and the anchors that are known.
        let [_, height, width] = of_part.lengths();
        let mut start = vec![T::NAN; of_part.elements() as usize];
        for number in 0..of_part.tiles() {
            let tile = of_part.tile(number);
            let first = 2 * codes::first_word(first_chunk, number) as usize;
            for at in 0..tile::TILE {
                let place = tile::place(S::SHAPE, at as u32 / tile::LANES, at as u32 % tile::LANES);
                if found_codes[first + at] == RAW {
                    let at = of_part.flat(tile.at(place)) as usize;
                    start[at] = output[at];
                }
            }
        }
        let mut start = Words::of(&start);
        let raw_anchors: Vec<T> = (0..coarse.elements())
            .map(|i| {
                let [_, height, width] = coarse.lengths();
                anchor([i / width / height, i / width % height, i % width])
            })
            .collect();
        let mut raw_anchors = Words::of(&raw_anchors);
        let params = InterpParams {
            field: start.view(),
            strides: [height * width, width, 1],
            anchors: raw_anchors.view(),
            known: View::empty(),
            ..params
        };
        emulator
            .launch::<Reconstruct<T, S>>(blocks, &params)
            .expect("no fault");
        assert!(start.words() == bytemuck::cast_slice::<T, u32>(&output));
    }
}

#[test]
fn cubes_agree() {
    for (seed, geometry) in (0..).zip(Geometry::ALL) {
        check::<f32, Cube>([17, 18, 70], geometry, seed);
        check::<f64, Cube>([5, 33, 64], geometry, seed + 3);
        check::<f32, Cube>([16, 16, 64], geometry, seed + 6);
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
