//! The Lorenzo predictor's kernels on the emulator, beside the codec's own.

use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Cube, Line, Plane, StaticShape};
use ferrosz_codec::tile::{self, TileGrid};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::pipeline::tiles::codes;
use ferrosz_gpu_kernels::predict::tile_lorenzo::LorenzoParams;
use ferrosz_gpu_kernels::predict::tile_lorenzo::predict::Predict;
use ferrosz_gpu_kernels::predict::tile_lorenzo::reconstruct::{Reconstruct, ReconstructParams};
use ferrosz_host::cpu::predict::tile_lorenzo;
use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What output buffers hold before.
const POISON: u32 = 0xdead_beef;

/// What a field is like, and its bound.
#[derive(Clone, Copy)]
struct Kind {
    offset: f64,
    /// One value in so many is strange; 0 is none.
    strange: u32,
    error: f64,
}

const KINDS: [Kind; 6] = [
    // All in codes.
    kind(0.0, 0, 1e-3),
    // One value a tile that is stored as it is.
    kind(1e6, 0, 1e-1),
    // Some, and many.
    kind(0.0, 700, 1e-3),
    kind(2e3, 9, 1e-4),
    // Bounds that values touch: the slow way of the quantiser.
    kind(0.5, 0, 0.5),
    // Only zeros have a code.
    kind(0.0, 2, 0.0),
];

const fn kind(offset: f64, strange: u32, error: f64) -> Kind {
    Kind {
        offset,
        strange,
        error,
    }
}

fn field<T: Element>(grid: &TileGrid, kind: Kind, random: &mut StdRng) -> Vec<T> {
    let mut level = kind.offset;
    (0..grid.elements())
        .map(|i| {
            let smooth = (i as f64 * 0.05).sin() + (i as f64 * 0.0007).cos();
            let is_strange = kind.strange != 0 && random.random_range(0..kind.strange) == 0;
            T::from_f64(match random.random_range(0..7) {
                _ if kind.error == 0.5 => level + random.random_range(-9..9) as f64 * 0.5,
                _ if !is_strange => level + smooth,
                0 => 1e9,
                1 => f64::NAN,
                2 => f64::INFINITY,
                3 => 0.0,
                4 => level + smooth.signum() * 32_767.0 * 2.0 * kind.error,
                5 => level - smooth.signum() * 32_768.0 * 2.0 * kind.error,
                _ => {
                    level += 0.3;
                    level
                }
            })
        })
        .collect()
}

/// A view of words.
fn view<W: bytemuck::Pod>(buffer: &mut [W]) -> View<W> {
    // SAFETY: the buffer outlives the launches of the test that made it.
    unsafe { View::new(buffer.as_mut_ptr(), buffer.len() as u64) }
}

/// A tile's codes as the codec makes them.
fn right_codes<T: Element>(
    grid: &TileGrid,
    number: u64,
    quantizer: &Quantizer<T>,
    values: &[T],
) -> [u16; tile::TILE] {
    let mut codes = [1; tile::TILE];
    let read = |at, row: &mut [T]| {
        let first = grid.flat(at) as usize;
        row.copy_from_slice(&values[first..first + row.len()]);
    };
    tile_lorenzo::encode(
        grid.shape(),
        &grid.tile(number),
        quantizer,
        read,
        &mut codes,
    );
    codes
}

/// Calls for each position of a tile that is in the field: the number of its code, and its number in the field.
fn each_position(grid: &TileGrid, number: u64, mut call: impl FnMut(usize, usize)) {
    let tile = grid.tile(number);
    for code in 0..tile::TILE as u32 {
        let position = tile::position(grid.shape(), code / tile::LANES, code % tile::LANES);
        if tile.has(position) {
            call(code as usize, grid.flat(tile.at(position)) as usize);
        }
    }
}

fn check<T: Element, S: StaticShape>(lengths: [u64; 3], kind: Kind, seed: u64)
where
    Predict<T, S>: Kernel<Params = LorenzoParams>,
    Reconstruct<T, S>: Kernel<Params = ReconstructParams>,
{
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(S::SHAPE, lengths);
    let values: Vec<T> = field(&grid, kind, &mut random);
    let quantizer = Quantizer::from_error(T::from_f64(kind.error));
    let [_, height, width] = lengths;
    let first_run = 2;
    let chunks = first_run + grid.runs();
    let mut input: Vec<u32> = bytemuck::cast_slice(&values).to_vec();
    let mut all_codes = vec![POISON; (chunks * codes::RUN_WORDS) as usize];
    let in_cells = seed % 2 == 1;
    let mut all_cells = vec![u64::from(POISON); cells::STATES as usize];
    if in_cells {
        all_cells[cells::QUANTIZER as usize..][..3].copy_from_slice(&quantizer.to_bits());
    }
    let params = LorenzoParams {
        field: view(&mut input),
        strides: [height * width, width, 1],
        codes: view(&mut all_codes),
        first_run,
        lengths,
        cells: view(&mut all_cells),
        quantizer: if in_cells {
            [1; 3]
        } else {
            quantizer.to_bits()
        },
        flags: u32::from(in_cells),
        first_tile: 0,
        taken: TakenTiles::all(),
        slices: 1,
    };
    let emulator = Emulator::new().seed(seed);
    let blocks = grid.tiles() as u32;
    emulator
        .launch::<Predict<T, S>>(blocks, &params)
        .expect("no fault");
    let found_codes: &[u16] = bytemuck::cast_slice(&all_codes);
    // Values that have no code lie where the field will be.
    let mut output = vec![T::NAN; values.len()];
    let mut right = vec![T::NAN; values.len()];
    for number in 0..grid.tiles() {
        let first = 2 * codes::first_word(first_run, number) as usize;
        let found = &found_codes[first..first + tile::TILE];
        let right_codes = right_codes(&grid, number, &quantizer, &values);
        if let Some(at) = (0..tile::TILE).find(|at| found[*at] != right_codes[*at]) {
            panic!(
                "{lengths:?} tile {number}, code {at}: {} is not {}",
                found[at], right_codes[at]
            );
        }
        each_position(&grid, number, |code, at| {
            if right_codes[code] == RAW as u16 {
                output[at] = values[at];
            }
        });
        let raw = |at| values[grid.flat(at) as usize];
        let tile = grid.tile(number);
        tile_lorenzo::decode(S::SHAPE, &tile, &quantizer, &right_codes, raw, |at, row| {
            let first = grid.flat(at) as usize;
            right[first..first + row.len()].copy_from_slice(row);
        });
    }
    let mut output: Vec<u32> = bytemuck::cast_slice(&output).to_vec();
    let params = LorenzoParams {
        field: view(&mut output),
        ..params
    };
    emulator
        .launch::<Reconstruct<T, S>>(blocks, &ReconstructParams::all(params))
        .expect("no fault");
    assert!(output == bytemuck::cast_slice::<T, u32>(&right));
}

#[test]
fn cubes_agree() {
    for (seed, kind) in (0..).zip(KINDS) {
        check::<f32, Cube>([17, 18, 70], kind, seed);
        check::<f64, Cube>([5, 33, 64], kind, seed + 1);
        check::<f32, Cube>([16, 16, 64], kind, seed + 2);
        check::<f64, Cube>([16, 13, 33], kind, seed + 3);
    }
}

#[test]
fn planes_agree() {
    for (seed, kind) in (0..).zip(KINDS) {
        check::<f32, Plane>([2, 260, 65], kind, seed);
        check::<f64, Plane>([1, 31, 130], kind, seed + 1);
        check::<f32, Plane>([1, 256, 64], kind, seed + 2);
    }
}

#[test]
fn lines_agree() {
    for (seed, kind) in (0..).zip(KINDS) {
        check::<f32, Line>([1, 1, 20_000], kind, seed);
        check::<f64, Line>([1, 1, 16_384 + 1_000], kind, seed + 1);
        check::<f32, Line>([1, 1, 1], kind, seed + 2);
    }
}

/// Codes of no field, as damage makes them: the kernel ends as the codec does.
#[test]
fn any_codes_reconstruct() {
    fn check_shape<S: StaticShape>(lengths: [u64; 3])
    where
        Reconstruct<f32, S>: Kernel<Params = ReconstructParams>,
    {
        let mut random = StdRng::seed_from_u64(7);
        let grid = TileGrid::new(S::SHAPE, lengths);
        let mut all_codes = vec![0u32; (grid.runs() * codes::RUN_WORDS) as usize];
        for word in &mut all_codes {
            *word = if random.random() {
                u32::MAX
            } else {
                random.random()
            };
        }
        let given: Vec<f32> = (0..grid.elements()).map(|_| random.random()).collect();
        let quantizer = Quantizer::from_error(1e-3f32);
        let mut right = given.clone();
        for number in 0..grid.tiles() {
            let first = 2 * codes::first_word(0, number) as usize;
            let found: &[u16] = &bytemuck::cast_slice(&all_codes)[first..first + tile::TILE];
            let found = found.try_into().expect("a tile's codes");
            let raw = |at| given[grid.flat(at) as usize];
            let tile = grid.tile(number);
            tile_lorenzo::decode(S::SHAPE, &tile, &quantizer, found, raw, |at, row| {
                let first = grid.flat(at) as usize;
                right[first..first + row.len()].copy_from_slice(row);
            });
        }
        let mut output: Vec<u32> = bytemuck::cast_slice(&given).to_vec();
        let [_, height, width] = lengths;
        let params = LorenzoParams {
            field: view(&mut output),
            strides: [height * width, width, 1],
            codes: view(&mut all_codes),
            first_run: 0,
            lengths,
            cells: View::empty(),
            quantizer: quantizer.to_bits(),
            flags: 0,
            first_tile: 0,
            taken: TakenTiles::all(),
            slices: 1,
        };
        let blocks = grid.tiles() as u32;
        Emulator::new()
            .launch::<Reconstruct<f32, S>>(blocks, &ReconstructParams::all(params))
            .expect("no fault");
        assert!(output == bytemuck::cast_slice::<f32, u32>(&right));
    }
    check_shape::<Line>([1, 1, 17_000]);
    check_shape::<Plane>([2, 100, 65]);
    check_shape::<Cube>([17, 16, 70]);
}
