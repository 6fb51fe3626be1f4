//! Interpolation of one tile: the work of a CPU thread, and of each thread block.

use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::resolved::{LEVELS, Resolved};
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::store::{each_position, is_own};
use ferrosz_codec::predict::interp::walk::{Visitor, walk};
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::{RAW, unzigzag};
use ferrosz_codec::tile::{self, Part, TileBox, TileGrid};

/// The predictor of a field or of its anchors.
#[derive(Debug, Clone, Copy)]
pub struct Predictor<'a, T> {
    grid: TileGrid,
    resolved: &'a Resolved<T>,
    part: Part,
}

impl<'a, T: Element> Predictor<'a, T> {
    /// The predictor of a part of the field; `grid` has the tiles of the field.
    pub fn new(grid: &TileGrid, resolved: &'a Resolved<T>, part: Part) -> Self {
        let spacing = resolved.parameters.geometry.spacing(grid.shape());
        Self {
            grid: match part {
                Part::Fine => *grid,
                Part::Coarse => grid.coarse(spacing),
            },
            resolved,
            part,
        }
    }

    /// The tiles of the part.
    pub fn grid(&self) -> &TileGrid {
        &self.grid
    }

    /// The positions of the part's anchors.
    pub fn anchor_grid(&self) -> TileGrid {
        self.grid.coarse(self.spacing())
    }

    fn shape(&self) -> Shape {
        self.grid.shape()
    }

    fn spacing(&self) -> u32 {
        self.resolved.parameters.geometry.spacing(self.shape())
    }

    /// Encodes a tile. Its codes are zigzag or [`RAW`], in the order of steps and lanes, and 0 at anchors and outside
    /// the field. `known`, of [`store::len`] values, receives the decoded values.
    ///
    /// `value` and `anchor` give the value at a position of the part and of its anchors.
    #[inline(always)]
    pub fn encode(
        &self,
        tile: &TileBox,
        value: impl Fn([u64; 3]) -> T,
        anchor: impl Fn([u64; 3]) -> T,
        known: &mut [T],
        codes: &mut [u16; tile::TILE],
    ) {
        let shape = self.shape();
        each_position(shape, tile, |position| {
            known[store::index(shape, position) as usize] = value(tile.at(position));
        });
        self.set_anchors(tile, anchor, known);
        codes.fill(0);
        let mut encode = Encode {
            shape,
            quantizers: self.resolved.quantizers_of(self.part, shape),
            error: self.resolved.error,
            radius: self.resolved.radius,
            codes,
        };
        walk(shape, tile, &self.resolved.parameters, known, &mut encode);
    }

    /// Decodes a tile and its far faces into `known`, of [`store::len`] values.
    ///
    /// `code` gives the code of a position of the tile or its far faces, `raw` the value of a position without a code,
    /// and `anchor` the value at a position of the anchors.
    #[inline(always)]
    pub fn decode(
        &self,
        tile: &TileBox,
        code: impl Fn([u32; 3]) -> u16,
        raw: impl Fn([u64; 3]) -> T,
        anchor: impl Fn([u64; 3]) -> T,
        known: &mut [T],
    ) {
        self.set_anchors(tile, anchor, known);
        let mut decode = Decode {
            quantizers: self.resolved.quantizers_of(self.part, self.shape()),
            error: self.resolved.error,
            radius: self.resolved.radius,
            code,
            raw: |position| raw(tile.at(position)),
        };
        walk(
            self.shape(),
            tile,
            &self.resolved.parameters,
            known,
            &mut decode,
        );
    }

    #[inline(always)]
    fn set_anchors(&self, tile: &TileBox, anchor: impl Fn([u64; 3]) -> T, known: &mut [T]) {
        let shape = self.shape();
        let spacing = self.spacing();
        let coarse = self.anchor_grid();
        let ends: [u32; 3] = core::array::from_fn(|i| store::extents(shape)[i].min(tile.left[i]));
        for z in (0..ends[0]).step_by(spacing as usize) {
            for y in (0..ends[1]).step_by(spacing as usize) {
                for x in (0..ends[2]).step_by(spacing as usize) {
                    let position = [z, y, x];
                    let at = self.grid.to_coarse(&coarse, spacing, tile.at(position));
                    known[store::index(shape, position) as usize] = anchor(at);
                }
            }
        }
    }
}

struct Encode<'a, T> {
    shape: Shape,
    quantizers: [LevelQuantizer<T>; LEVELS],
    error: T,
    radius: u32,
    codes: &'a mut [u16; tile::TILE],
}

impl<T: Element> Visitor<T> for Encode<'_, T> {
    #[inline(always)]
    fn visit(&mut self, level: u32, position: [u32; 3], slot: T, prediction: T) -> T {
        let quantized =
            self.quantizers[level as usize].encode(slot, prediction, self.error, self.radius);
        if is_own(self.shape, position) {
            let at = tile::index(self.shape, position) as usize;
            self.codes[at] = quantized.code as u16;
        }
        quantized.known
    }
}

struct Decode<T, C, R> {
    quantizers: [LevelQuantizer<T>; LEVELS],
    error: T,
    radius: u32,
    code: C,
    raw: R,
}

impl<T: Element, C: Fn([u32; 3]) -> u16, R: Fn([u32; 3]) -> T> Visitor<T> for Decode<T, C, R> {
    #[inline(always)]
    fn visit(&mut self, level: u32, position: [u32; 3], _: T, prediction: T) -> T {
        let quantizer = &self.quantizers[level as usize];
        let code = (self.code)(position);
        if code == RAW {
            quantizer.known((self.raw)(position), prediction, self.error, self.radius)
        } else {
            quantizer.decode(prediction, unzigzag(code))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::oracle;
    use ferrosz_codec::predict::interp::geometry::Geometry;
    use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
    use ferrosz_codec::tile::code::{RADIUS, zigzag};
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn field<T: Element>(grid: &TileGrid, random: &mut StdRng) -> Vec<T> {
        let [depth, height, width] = grid.lengths();
        let mut values = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let smooth = (x as f64 * 0.11).sin() + (y as f64 * 0.07 + z as f64 * 0.2).cos();
                    let noise: f64 = random.random_range(-0.01..0.01);
                    values.push(T::from_f64(match random.random_range(0..500) {
                        0 => 1e9,
                        1 => f64::NAN,
                        2 => f64::INFINITY,
                        3 => 3e38,
                        _ => smooth + noise,
                    }));
                }
            }
        }
        values
    }

    fn agrees<T: Element>(shape: Shape, lengths: [u64; 3], geometry: Geometry, seed: u64) {
        let mut random = StdRng::seed_from_u64(seed);
        let grid = TileGrid::new(shape, lengths);
        let parameters = Parameters {
            geometry,
            levels: core::array::from_fn(|_| LevelFlags::from_bits(random.random_range(0..8))),
            tightening: Tightening {
                alpha: 1.5,
                beta: 3.0,
            },
        };
        let error = T::from_f64(10f64.powi(random.random_range(-4..0)));
        let radius = [RADIUS, 100][random.random_range(0..2)];
        let resolved = Resolved::new(parameters, error).with_radius(radius);
        let values: Vec<T> = field(&grid, &mut random);
        let spacing = geometry.spacing(shape);
        let anchors = oracle::interp::anchors(&grid, spacing, &values);
        let right = oracle::interp::decompose(&grid, &resolved, radius, &values, &anchors);
        let predictor = Predictor::new(&grid, &resolved, Part::Fine);
        let coarse = grid.coarse(spacing);
        let anchor = |at| anchors[coarse.flat(at) as usize];
        let mut known = vec![T::NAN; store::len(shape) as usize];
        let mut codes = [0; tile::TILE];
        for number in 0..grid.tiles() {
            let tile = grid.tile(number);
            let value = |at| values[grid.flat(at) as usize];
            known.fill(T::NAN);
            predictor.encode(&tile, value, anchor, &mut known, &mut codes);
            let code_of = |at: usize| right.codes[at].map_or(RAW, zigzag);
            each_position(shape, &tile, |position| {
                let at = grid.flat(tile.at(position)) as usize;
                let found = known[store::index(shape, position) as usize];
                assert_eq!(found.to_bits64(), right.known[at].to_bits64());
                if is_own(shape, position) {
                    assert_eq!(codes[tile::index(shape, position) as usize], code_of(at));
                }
                let is_kept = found.to_bits64() == values[at].to_bits64();
                assert!(is_kept || (found.to_f64() - values[at].to_f64()).abs() <= error.to_f64());
            });
            known.fill(T::NAN);
            let code = |position| code_of(grid.flat(tile.at(position)) as usize);
            predictor.decode(&tile, code, value, anchor, &mut known);
            each_position(shape, &tile, |position| {
                let at = grid.flat(tile.at(position)) as usize;
                let found = known[store::index(shape, position) as usize];
                assert_eq!(found.to_bits64(), right.known[at].to_bits64());
            });
        }
    }

    #[test]
    fn tiles_agree_with_the_whole_field() {
        for (seed, geometry) in (0..).zip(Geometry::ALL) {
            for (shape, lengths) in [
                (Shape::Cube, [17, 33, 70]),
                (Shape::Cube, [32, 16, 64]),
                (Shape::Cube, [3, 2, 130]),
                (Shape::Plane, [2, 300, 70]),
                (Shape::Plane, [1, 17, 129]),
                (Shape::Line, [1, 1, 40_000]),
                (Shape::Line, [1, 1, 5]),
            ] {
                agrees::<f32>(shape, lengths, geometry, seed);
                agrees::<f64>(shape, lengths, geometry, seed + 10);
            }
        }
    }
}
