//! Interpolation of one tile: the work of a CPU thread.

mod piece;
mod products;
mod quantize;
mod rows;
mod samples;
mod seen;
mod slices;
mod stencils;
mod store;
#[cfg(feature = "toy")]
mod toy_fitted;

pub use products::Sums;
pub use samples::{classes_of_tile, sums_of_tile};
pub use store::TileStore;

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::quantize::{Limits, Predicted};
use crate::cpu::predict::interp::rows::{Positions, Visitor, walk};
use crate::cpu::predict::interp::samples::FitTile;
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

    /// Predicts all positions of a tile that are of this level or a higher one, whose values and anchors are set.
    #[inline(always)]
    fn walk(
        &self,
        version: Version,
        shape: Shape,
        (tile, lowest): (&TileBox, u32),
        known: &mut TileStore<T>,
        visitor: &mut impl Visitor<T>,
    ) {
        let parameters = &self.resolved.parameters;
        match self.coefficients {
            None => walk(
                version,
                shape,
                (tile, lowest),
                parameters,
                None,
                known,
                visitor,
            ),
            Some(Fitted::Stencils(all)) => {
                let all = Some(all);
                walk(
                    version,
                    shape,
                    (tile, lowest),
                    parameters,
                    all,
                    known,
                    visitor,
                );
            }
            Some(Fitted::Slices(all)) => {
                slices::walk(version, (tile, lowest), parameters, all, known, visitor);
            }
            #[cfg(feature = "toy")]
            Some(Fitted::ToyFitted(factor)) => {
                let mut visitor = toy_fitted::Scaled::new(visitor, *factor);
                walk(
                    version,
                    shape,
                    (tile, lowest),
                    parameters,
                    None,
                    known,
                    &mut visitor,
                );
            }
        }
    }

    /// Adds the sums of the tile's own positions, which have these known values.
    #[inline(always)]
    fn add_sums(&self, fit: &FitTile<'_, T>, known: &mut TileStore<T>, sums: &mut Sums) {
        let resolved = self.resolved;
        match self.coefficients {
            None | Some(Fitted::Stencils(_)) => fit.sum_stencils(resolved, known, sums),
            Some(Fitted::Slices(_)) => slices::sum(fit, resolved, known, sums),
            #[cfg(feature = "toy")]
            Some(Fitted::ToyFitted(_)) => toy_fitted::sum(fit, resolved, sums),
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

    /// Decodes the positions of a tile and its far faces that are of this level or a higher one into `known`. Positions are
    /// counted in the unit of the level.
    ///
    /// `read` fills a slice, of at most a step, with the codes of every second position along x from a position of the
    /// tile or its far faces on. `raw` gives the value of a position without a code, and `anchor` the value at a
    /// position of the anchors.
    pub fn decode(
        &self,
        (tile, lowest): (&TileBox, u32),
        mut read: impl FnMut([u32; 3], &mut [u16]),
        raw: impl Fn([u32; 3]) -> T,
        anchor: impl Fn([u64; 3]) -> T,
        known: &mut TileStore<T>,
    ) {
        self.version.run_apart(Decode {
            predictor: self,
            tile,
            lowest,
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
        model.walk(version, shape, (tile, 0), known, &mut visitor);
        known.refine_codes(levels);
        known.read_codes(tile, self.codes);
    }
}

/// [`Predictor::decode`].
struct Decode<'a, T> {
    predictor: &'a Predictor<'a, T>,
    tile: &'a TileBox,
    lowest: u32,
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
            lowest,
            known,
            ..
        } = self;
        let (levels, model) = (predictor.levels(), &predictor.model);
        let tile = &model.tile(tile);
        known.set_codes((tile, lowest), self.read);
        known.coarsen_codes(lowest, levels);
        known.set_raw(lowest, levels, self.raw);
        predictor.set_anchors(tile, self.anchor, known);
        let mut visitor = Dequantize {
            version: predictor.version,
            quantizers: predictor.quantizers(),
            limits: predictor.limits(),
        };
        let (version, shape) = (predictor.version, predictor.shape());
        model.walk(version, shape, (tile, lowest), known, &mut visitor);
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
mod tests;
