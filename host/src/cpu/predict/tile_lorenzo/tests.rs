//! Compares tiles with the definition, element by element.

use super::*;
use ferrosz_codec::tile::TileGrid;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// The codes of a tile, from the definition.
fn definition<T: Element>(
    shape: Shape,
    tile: &TileBox,
    quantizer: &Quantizer<T>,
    value: impl Fn([u64; 3]) -> T,
) -> Vec<u16> {
    let extents = tile::extents(shape);
    let flat = |[z, y, x]: [u32; 3]| ((z * extents[1] + y) * extents[2] + x) as usize;
    let mut known = vec![0i32; TILE];
    let mut codes = vec![0; TILE];
    for at in 0..TILE as u32 {
        let x = at % extents[2];
        let y = at / extents[2] % extents[1];
        let z = at / extents[2] / extents[1];
        let position = [z, y, x];
        if !tile.has(position) {
            continue;
        }
        let mut prediction = 0i32;
        for set in 1..1u32 << shape.rank() {
            let back = [set >> 2 & 1, set >> 1 & 1, set & 1];
            if (0..3).all(|i| position[i] >= back[i]) {
                let code = known[flat(core::array::from_fn(|i| position[i] - back[i]))];
                prediction = if set.count_ones() % 2 == 1 {
                    prediction.wrapping_add(code)
                } else {
                    prediction.wrapping_sub(code)
                };
            }
        }
        let code = quantizer.quantize(value(tile.at(position)));
        let residual = code.map(|code| code.wrapping_sub(prediction));
        let is_coded = residual.is_some_and(|d| (-32_767..=32_767).contains(&d));
        known[at as usize] = match code {
            Some(code) if is_coded || at == 0 => code,
            _ => prediction,
        };
        codes[tile::index(shape, position) as usize] = match residual {
            Some(d) if is_coded && d < 0 => (-2 * d - 1) as u16,
            Some(d) if is_coded => (2 * d) as u16,
            _ => 65_535,
        };
    }
    codes
}

/// The properties of a generated field.
#[derive(Clone, Copy)]
struct Kind {
    offset: f64,
    /// One value in this many is a spike, NaN, infinite, or a step that lasts; 0 is none.
    strange: u32,
    error: f64,
}

const KINDS: [Kind; 7] = [
    Kind {
        offset: 0.0,
        strange: 0,
        error: 1e-3,
    },
    Kind {
        offset: 0.0,
        strange: 400,
        error: 1e-4,
    },
    Kind {
        offset: 1e6,
        strange: 0,
        error: 1e-1,
    },
    Kind {
        offset: 1e6,
        strange: 5_000,
        error: 1e-3,
    },
    Kind {
        offset: -3.0,
        strange: 7,
        error: 1e-6,
    },
    Kind {
        offset: 0.0,
        strange: 2,
        error: 0.0,
    },
    Kind {
        offset: 0.0,
        strange: 30,
        error: 0.25,
    },
];

fn field<T: Element>(grid: &TileGrid, kind: Kind, random: &mut StdRng) -> Vec<T> {
    let mut level = kind.offset;
    let mut values = Vec::new();
    for i in 0..grid.elements() {
        let smooth = (i as f64 * 0.05).sin() + (i as f64 * 0.0007).cos();
        let is_strange = kind.strange != 0 && random.random_range(0..kind.strange) == 0;
        let value = match random.random_range(0..7) {
            _ if !is_strange => level + smooth,
            0 => 1e9,
            1 => f64::NAN,
            2 => f64::NEG_INFINITY,
            3 => 0.0,
            4 => -0.0,
            5 => level + smooth.signum() * 32_767.0 * 2.0 * kind.error,
            _ => {
                level += 0.3;
                level
            }
        };
        values.push(T::from_f64(value));
    }
    values
}

fn agrees<T: Element>(shape: Shape, lengths: [u64; 3], kind: Kind, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(shape, lengths);
    let values: Vec<T> = field(&grid, kind, &mut random);
    let quantizer = Quantizer::from_error(T::from_f64(kind.error));
    let mut decoded = vec![T::NAN; values.len()];
    let mut codes = [1; TILE];
    for number in 0..grid.tiles() {
        let tile = grid.tile(number);
        let value = |at| values[grid.flat(at) as usize];
        let read = |at, row: &mut [T]| {
            let first = grid.flat(at) as usize;
            row.copy_from_slice(&values[first..first + row.len()]);
        };
        encode(shape, &tile, &quantizer, read, &mut codes);
        let right = definition(shape, &tile, &quantizer, value);
        assert!(codes == *right, "{shape} {lengths:?} tile {number}");
        let raw = |at: [u64; 3]| {
            let [z, y, x]: [u32; 3] = core::array::from_fn(|i| (at[i] - tile.origin[i]) as u32);
            assert_eq!(codes[tile::index(shape, [z, y, x]) as usize], RAW);
            value(at)
        };
        decode(shape, &tile, &quantizer, &codes, raw, |at, row| {
            let first = grid.flat(at) as usize;
            decoded[first..first + row.len()].copy_from_slice(row);
        });
        for at in 0..TILE as u32 {
            let position = tile::position(shape, at / tile::LANES, at % tile::LANES);
            if tile.has(position) {
                let is_raw = codes[at as usize] == RAW;
                let at = grid.flat(tile.at(position)) as usize;
                keeps_the_promise(&quantizer, values[at], decoded[at], is_raw);
            }
        }
    }
}

fn keeps_the_promise<T: Element>(quantizer: &Quantizer<T>, value: T, decoded: T, is_raw: bool) {
    let is_kept = value.to_bits64() == decoded.to_bits64();
    if is_raw {
        assert!(is_kept);
    } else {
        let code = quantizer.quantize(value).expect("it has a code");
        assert_eq!(
            decoded.to_bits64(),
            quantizer.dequantize(code).to_bits64(),
            "{value}"
        );
        assert!(ferrosz_codec::quantize::field::is_within(
            value,
            decoded,
            quantizer.error()
        ));
    }
}

#[test]
fn tiles_agree_with_the_definition() {
    for (seed, kind) in (0..).zip(KINDS) {
        for (shape, lengths) in [
            (Shape::Cube, [17, 33, 70]),
            (Shape::Cube, [16, 16, 64]),
            (Shape::Cube, [3, 2, 130]),
            (Shape::Plane, [2, 300, 70]),
            (Shape::Plane, [1, 17, 129]),
            (Shape::Line, [1, 1, 40_000]),
            (Shape::Line, [1, 1, 5]),
            (Shape::Line, [1, 1, 1]),
        ] {
            agrees::<f32>(shape, lengths, kind, seed);
            agrees::<f64>(shape, lengths, kind, seed + 10);
        }
    }
}

/// A field far from 0 has one raw position in each tile.
#[test]
fn an_offset_costs_one_value() {
    for shape in Shape::ALL {
        let grid = TileGrid::new(shape, tile::extents(shape).map(u64::from));
        let quantizer = Quantizer::from_error(1e-3);
        let mut codes = [1; TILE];
        let read = |at: [u64; 3], row: &mut [f64]| {
            for (x, value) in row.iter_mut().enumerate() {
                *value = 1e5 + ((at[0] + at[1] + at[2]) as f64 + x as f64) * 1e-2;
            }
        };
        encode(shape, &grid.tile(0), &quantizer, read, &mut codes);
        assert_eq!(codes[0], RAW);
        assert!(codes[1..].iter().all(|code| *code < 100));
    }
}

/// Decoding of any codes ends, and requests no value outside the field.
#[test]
fn any_codes_decode() {
    let mut random = StdRng::seed_from_u64(5);
    for shape in Shape::ALL {
        let grid = TileGrid::new(shape, [1, 3, 70]);
        for number in 0..grid.tiles() {
            let mut codes = [RAW; TILE];
            for code in &mut codes {
                if random.random() {
                    *code = random.random();
                }
            }
            let tile = grid.tile(number);
            let is_in_field = |at: [u64; 3]| (0..3).all(|i| at[i] < grid.lengths()[i]);
            let raw = |at: [u64; 3]| {
                assert!(is_in_field(at));
                f32::NAN
            };
            let quantizer = Quantizer::from_error(1e-3f32);
            decode(shape, &tile, &quantizer, &codes, raw, |at, row| {
                assert!(is_in_field([at[0], at[1], at[2] + row.len() as u64 - 1]));
            });
        }
    }
}

#[test]
fn a_tile_without_places_has_no_codes() {
    let tile = TileBox {
        origin: [0; 3],
        left: [0; 3],
    };
    let mut codes = [1; TILE];
    let quantizer = Quantizer::from_error(1e-3f32);
    encode(
        Shape::Line,
        &tile,
        &quantizer,
        |_, _| panic!("nothing to read"),
        &mut codes,
    );
    assert!(codes == [0; TILE]);
}
