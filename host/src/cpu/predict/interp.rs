//! Interpolation of one tile: the work of a CPU thread.

mod piece;
mod quantize;
mod rows;
mod samples;
mod slices;
mod stencils;
mod store;

pub use samples::{Sums, classes_of_tile, sums_of_tile};
pub use store::TileStore;

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::quantize::{Limits, Predicted};
use crate::cpu::predict::interp::rows::{Positions, Visitor, walk};
use crate::cpu::version::{Version, Work};
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::{LEVELS, Resolved};
use ferrosz_codec::predict::interp::store::extents;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{Part, TileBox, TileGrid};

/// The parameters of a field's predictions.
#[derive(Debug, Clone, Copy)]
pub struct Model<'a, T> {
    /// The parameters of the levels.
    pub resolved: &'a Resolved<T>,
    /// The coefficients that are fitted to the field; without them all levels are predicted by splines.
    pub coefficients: Option<&'a Fitted>,
}

impl<T: Element> Model<'_, T> {
    /// Whether slices are predicted one by one.
    fn has_slices(&self) -> bool {
        matches!(self.coefficients, Some(Fitted::Slices(_)))
    }

    /// Memory for a tile.
    pub fn store(&self, shape: Shape) -> TileStore<T> {
        match self.has_slices() {
            true => TileStore::of_slices(),
            false => TileStore::new(shape),
        }
    }

    /// The tile as it is predicted: slices do not need those behind the tile.
    fn tile(&self, tile: &TileBox) -> TileBox {
        match self.has_slices() {
            true => tile.without_far_slices(),
            false => *tile,
        }
    }

    /// Predicts all positions of a tile whose values and anchors are set.
    #[inline(always)]
    fn walk(
        &self,
        version: Version,
        shape: Shape,
        tile: &TileBox,
        known: &mut TileStore<T>,
        visitor: &mut impl Visitor<T>,
    ) {
        let parameters = &self.resolved.parameters;
        match self.coefficients {
            None => walk(version, shape, tile, parameters, None, known, visitor),
            Some(Fitted::Stencils(all)) => {
                walk(version, shape, tile, parameters, Some(all), known, visitor);
            }
            Some(Fitted::Slices(all)) => {
                slices::walk(version, tile, parameters, all, known, visitor);
            }
        }
    }
}

impl<'a, T> From<&'a Resolved<T>> for Model<'a, T> {
    fn from(resolved: &'a Resolved<T>) -> Self {
        Self {
            resolved,
            coefficients: None,
        }
    }
}

/// The predictor of a field or of its anchors.
#[derive(Debug, Clone, Copy)]
pub struct Predictor<'a, T> {
    version: Version,
    grid: TileGrid,
    model: Model<'a, T>,
    part: Part,
}

impl<'a, T: Element> Predictor<'a, T> {
    /// The predictor of a part of the field; `grid` has the tiles of the field.
    pub fn new(
        version: Version,
        grid: &TileGrid,
        model: impl Into<Model<'a, T>>,
        part: Part,
    ) -> Self {
        let Model {
            resolved,
            coefficients,
        } = model.into();
        let spacing = resolved.parameters.geometry.spacing(grid.shape());
        Self {
            version,
            grid: match part {
                Part::Fine => *grid,
                Part::Coarse => grid.coarse(spacing),
            },
            model: Model {
                resolved,
                // The coarse field is predicted by splines alone.
                coefficients: coefficients.filter(|_| part == Part::Fine),
            },
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
        self.model
            .resolved
            .parameters
            .geometry
            .spacing(self.shape())
    }

    fn levels(&self) -> u32 {
        self.model.resolved.parameters.geometry.levels(self.shape())
    }

    /// Memory for a tile.
    pub fn store(&self) -> TileStore<T> {
        self.model.store(self.shape())
    }

    /// Encodes a tile. Its codes are zigzag or [`RAW`](ferrosz_codec::tile::code::RAW), in the order of steps and lanes,
    /// and 0 at anchors and outside the field. `known` receives the decoded values.
    ///
    /// `read` fills a slice with the values of the part along x from a position on; `anchor` gives the value at a
    /// position of its anchors.
    pub fn encode(
        &self,
        tile: &TileBox,
        mut read: impl FnMut([u64; 3], &mut [T]),
        anchor: impl Fn([u64; 3]) -> T,
        known: &mut TileStore<T>,
        codes: &mut TileCodes,
    ) {
        self.version.run_apart(Encode {
            predictor: self,
            tile,
            read: &mut read,
            anchor: &anchor,
            known,
            codes,
        });
    }

    /// Decodes a tile and its far faces into `known`.
    ///
    /// `read` fills a slice, of at most a step, with the codes of every second position along x from a position of the
    /// tile or its far faces on. `raw` gives the value of a position without a code, and `anchor` the value at a
    /// position of the anchors.
    pub fn decode(
        &self,
        tile: &TileBox,
        mut read: impl FnMut([u32; 3], &mut [u16]),
        raw: impl Fn([u32; 3]) -> T,
        anchor: impl Fn([u64; 3]) -> T,
        known: &mut TileStore<T>,
    ) {
        self.version.run_apart(Decode {
            predictor: self,
            tile,
            read: &mut read,
            raw: &raw,
            anchor: &anchor,
            known,
        });
    }

    fn quantizers(&self) -> [LevelQuantizer<T>; LEVELS] {
        self.model.resolved.quantizers_of(self.part, self.shape())
    }

    fn limits(&self) -> Limits<T> {
        Limits {
            error: self.model.resolved.error,
            radius: self.model.resolved.radius,
        }
    }

    #[inline(always)]
    fn set_anchors(
        &self,
        tile: &TileBox,
        anchor: impl Fn([u64; 3]) -> T,
        known: &mut TileStore<T>,
    ) {
        let shape = self.shape();
        let spacing = self.spacing();
        let coarse = self.anchor_grid();
        let ends: [u32; 3] = core::array::from_fn(|i| extents(shape)[i].min(tile.left[i]));
        for z in (0..ends[0]).step_by(spacing as usize) {
            for y in (0..ends[1]).step_by(spacing as usize) {
                for x in (0..ends[2]).step_by(spacing as usize) {
                    let position = [z, y, x];
                    let at = self.grid.to_coarse(&coarse, spacing, tile.at(position));
                    let position = position.map(|at| at / spacing);
                    known.set_value_of(self.levels(), position, anchor(at));
                }
            }
        }
    }
}

/// Gives the value at a position of the anchors.
type Anchor<'a, T> = &'a dyn Fn([u64; 3]) -> T;

/// Fills a slice with values along x from a position on.
type ReadRow<'a, T> = &'a mut dyn FnMut([u64; 3], &mut [T]);

/// [`Predictor::encode`].
struct Encode<'a, T> {
    predictor: &'a Predictor<'a, T>,
    tile: &'a TileBox,
    read: ReadRow<'a, T>,
    anchor: Anchor<'a, T>,
    known: &'a mut TileStore<T>,
    codes: &'a mut TileCodes,
}

impl<T: Element> Work for Encode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self {
            predictor,
            tile,
            known,
            ..
        } = self;
        let (levels, model) = (predictor.levels(), &predictor.model);
        let tile = &model.tile(tile);
        known.set_values(tile, self.read);
        known.coarsen_values(levels);
        predictor.set_anchors(tile, self.anchor, known);
        let mut visitor = Quantize {
            version: predictor.version,
            quantizers: predictor.quantizers(),
            limits: predictor.limits(),
        };
        let (version, shape) = (predictor.version, predictor.shape());
        model.walk(version, shape, tile, known, &mut visitor);
        known.refine_codes(levels);
        known.read_codes(tile, self.codes);
    }
}

/// [`Predictor::decode`].
struct Decode<'a, T> {
    predictor: &'a Predictor<'a, T>,
    tile: &'a TileBox,
    read: &'a mut dyn FnMut([u32; 3], &mut [u16]),
    raw: &'a dyn Fn([u32; 3]) -> T,
    anchor: Anchor<'a, T>,
    known: &'a mut TileStore<T>,
}

impl<T: Element> Work for Decode<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self {
            predictor,
            tile,
            known,
            ..
        } = self;
        let (levels, model) = (predictor.levels(), &predictor.model);
        let tile = &model.tile(tile);
        known.set_codes(tile, self.read);
        known.coarsen_codes(levels);
        known.set_raw(levels, self.raw);
        predictor.set_anchors(tile, self.anchor, known);
        let mut visitor = Dequantize {
            version: predictor.version,
            quantizers: predictor.quantizers(),
            limits: predictor.limits(),
        };
        let (version, shape) = (predictor.version, predictor.shape());
        model.walk(version, shape, tile, known, &mut visitor);
    }
}

/// Values to codes.
struct Quantize<T> {
    version: Version,
    quantizers: [LevelQuantizer<T>; LEVELS],
    limits: Limits<T>,
}

impl<T: Element> Visitor<T> for Quantize<T> {
    #[inline(always)]
    fn visit(
        &mut self,
        positions: Positions,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    ) {
        self.version.run(quantize::Encode {
            predicted: Predicted {
                quantizer: &self.quantizers[positions.level as usize],
                limits: self.limits,
                count: positions.all,
                predictions,
            },
            values,
            codes,
        });
    }
}

/// Codes to values.
struct Dequantize<T> {
    version: Version,
    quantizers: [LevelQuantizer<T>; LEVELS],
    limits: Limits<T>,
}

impl<T: Element> Visitor<T> for Dequantize<T> {
    #[inline(always)]
    fn visit(
        &mut self,
        positions: Positions,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    ) {
        self.version.run(quantize::Decode {
            predicted: Predicted {
                quantizer: &self.quantizers[positions.level as usize],
                limits: self.limits,
                count: positions.all,
                predictions,
            },
            values,
            codes,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::predict::rows_of;
    use ferrosz_codec::code::entropy::shifts::Shifts;
    use ferrosz_codec::oracle;
    use ferrosz_codec::oracle::interp::{Method, Slices, Stencils, decompose_by};
    use ferrosz_codec::predict::fitted::FittedKind;
    use ferrosz_codec::predict::interp::geometry::Geometry;
    use ferrosz_codec::predict::interp::parameters::{LevelFlags, Parameters, Tightening};
    use ferrosz_codec::predict::interp::store::{each_position, is_own};
    use ferrosz_codec::predict::slices;
    use ferrosz_codec::predict::stencil::coefficients::{Coefficients, GEOMETRY, count};
    use ferrosz_codec::tile;
    use ferrosz_codec::tile::code::{RADIUS, RAW, zigzag};
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    fn field<T: Element>(grid: &TileGrid, random: &mut StdRng) -> Vec<T> {
        let [depth, height, width] = grid.lengths();
        let mut values = Vec::new();
        let holes = random.random_range(0..2 * width);
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
                        4.. if x > holes => f64::NAN,
                        _ => smooth + noise,
                    }));
                }
            }
        }
        values
    }

    /// Coefficients for this computer's code and for the oracle.
    enum Sample {
        None,
        Stencils(Fitted, Stencils),
        Slices(Fitted, Slices),
    }

    impl Sample {
        fn new(kind: FittedKind, shape: Shape, random: &mut StdRng) -> Self {
            match kind {
                FittedKind::None => Self::None,
                FittedKind::Stencils => {
                    let all = (0..count(shape)).map(|_| random.random_range(-0.2f32..0.2));
                    let all: Vec<f32> = all.collect();
                    let mut coefficients = Coefficients::default();
                    coefficients.set(0, &all);
                    Self::Stencils(Fitted::Stencils(coefficients), Stencils(all))
                }
                FittedKind::Slices => {
                    let all =
                        (0..slices::coefficients::COUNT).map(|_| random.random_range(-400..400));
                    let all: Vec<i16> = all.collect();
                    let mut coefficients = slices::coefficients::Coefficients::of_sums(|_| 0);
                    for (number, bits) in all.iter().enumerate() {
                        coefficients.set(number, *bits);
                    }
                    Self::Slices(Fitted::Slices(coefficients), Slices(all))
                }
            }
        }

        fn fitted(&self) -> Option<&Fitted> {
            match self {
                Self::None => None,
                Self::Stencils(fitted, _) | Self::Slices(fitted, _) => Some(fitted),
            }
        }

        fn method(&self) -> Method<'_> {
            match self {
                Self::None => Method::Splines,
                Self::Stencils(_, stencils) => Method::Stencils(stencils),
                Self::Slices(_, slices) => Method::Slices(slices),
            }
        }
    }

    fn agrees<T: Element>(grid: TileGrid, geometry: Geometry, kind: FittedKind, seed: u64) {
        let mut random = StdRng::seed_from_u64(seed);
        let shape = grid.shape();
        let sample = Sample::new(kind, shape, &mut random);
        let parameters = Parameters {
            geometry,
            levels: core::array::from_fn(|_| LevelFlags::from_bits(random.random_range(0..8))),
            tightening: Tightening {
                alpha: 1.5,
                beta: 3.0,
            },
            shifts: Shifts::NONE,
        };
        let error = T::from_f64(10f64.powi(random.random_range(-4..0)));
        let radius = [RADIUS, 100, 1][random.random_range(0..3)];
        let resolved = Resolved::new(parameters, error).with_radius(radius);
        let values: Vec<T> = field(&grid, &mut random);
        let spacing = geometry.spacing(shape);
        let anchors = oracle::interp::anchors(&grid, spacing, &values);
        let method = sample.method();
        let right = decompose_by(&grid, &resolved, method, radius, &values, &anchors);
        let model = Model {
            resolved: &resolved,
            coefficients: sample.fitted(),
        };
        let coarse = grid.coarse(spacing);
        let anchor = |at| anchors[coarse.flat(at) as usize];
        let code_of = |at: usize| right.codes[at].map_or(RAW, zigzag);
        let read = rows_of(&grid, &values);
        for version in Version::all() {
            let predictor = Predictor::new(version, &grid, model, Part::Fine);
            let mut known = predictor.store();
            let mut codes = [0; tile::TILE];
            for number in 0..grid.tiles() {
                let tile = grid.tile(number);
                let flat = |position| grid.flat(tile.at(position)) as usize;
                predictor.encode(&tile, read, anchor, &mut known, &mut codes);
                each_position(shape, &model.tile(&tile), |position| {
                    let at = flat(position);
                    let found = known.value(position);
                    assert_eq!(found.to_bits64(), right.known[at].to_bits64());
                    if is_own(shape, position) {
                        let found = codes[tile::index(shape, position) as usize];
                        assert_eq!(found, code_of(at));
                    }
                    let value = values[at];
                    let is_kept = found.to_bits64() == value.to_bits64();
                    assert!(is_kept || (found.to_f64() - value.to_f64()).abs() <= error.to_f64());
                });
                for at in 0..tile::TILE as u32 {
                    let position = tile::position(shape, at / tile::LANES, at % tile::LANES);
                    assert!(tile.has(position) || codes[at as usize] == 0);
                }
                let raw = |position| values[flat(position)];
                let read = |position: [u32; 3], codes: &mut [u16]| {
                    let [z, y, x] = position;
                    for (x, code) in (x..).step_by(2).zip(codes) {
                        *code = code_of(flat([z, y, x]));
                    }
                };
                predictor.decode(&tile, read, raw, anchor, &mut known);
                each_position(shape, &model.tile(&tile), |position| {
                    let found = known.value(position);
                    assert_eq!(found.to_bits64(), right.known[flat(position)].to_bits64());
                });
            }
        }
    }

    #[test]
    fn tiles_agree_with_the_whole_field() {
        let grids = [
            TileGrid::new(Shape::Cube, [17, 33, 70]),
            TileGrid::new(Shape::Cube, [32, 16, 64]),
            TileGrid::new(Shape::Cube, [3, 2, 130]),
            TileGrid::new(Shape::Cube, [18, 1, 67]),
            TileGrid::new(Shape::Cube, [1, 20, 3]),
            TileGrid::sliced(Shape::Cube, 3, [19, 4, 66]),
            TileGrid::new(Shape::Plane, [2, 300, 70]),
            TileGrid::new(Shape::Plane, [1, 17, 129]),
            TileGrid::new(Shape::Plane, [3, 270, 1]),
            TileGrid::new(Shape::Line, [1, 1, 40_000]),
            TileGrid::new(Shape::Line, [1, 1, 5]),
            TileGrid::new(Shape::Line, [1, 1, 1]),
        ];
        for (seed, geometry) in (0..).zip(Geometry::ALL) {
            for (number, grid) in (0..).zip(grids) {
                agrees::<f32>(grid, geometry, FittedKind::None, seed + 10 * number);
                agrees::<f64>(grid, geometry, FittedKind::None, seed + 10 * number + 5);
                if geometry == GEOMETRY {
                    agrees::<f32>(grid, geometry, FittedKind::Stencils, seed + 10 * number + 3);
                    agrees::<f64>(grid, geometry, FittedKind::Stencils, seed + 10 * number + 8);
                }
                if geometry == slices::GEOMETRY && grid.shape() == Shape::Cube {
                    agrees::<f32>(grid, geometry, FittedKind::Slices, seed + 10 * number + 4);
                    agrees::<f64>(grid, geometry, FittedKind::Slices, seed + 10 * number + 9);
                }
            }
        }
    }
}
