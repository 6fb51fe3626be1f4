//! What tuning needs of a sample tile: the classes of its codes, and the sums of a fit.

use crate::cpu::lanes::Lanes;
use crate::cpu::predict::interp::piece::PIECE;
use crate::cpu::predict::interp::products::Sums;
use crate::cpu::predict::interp::quantize::{self, Limits, Predicted};
use crate::cpu::predict::interp::rows::{Positions, Rows, Visitor};
use crate::cpu::predict::interp::{Model, Quantize, ReadRow, TileStore};
use crate::cpu::version::{Version, Work};
use ferrosz_codec::code::entropy::token::magnitude;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::interp::resolved::{LEVELS, Resolved};
use ferrosz_codec::predict::interp::tune::anchor::has_rounded_anchors;
use ferrosz_codec::predict::interp::tune::cost::CLASSES;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::tune::score::{CellCounts, cell};
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::TileBox;
use ferrosz_codec::tile::code::{RADIUS, RAW};

/// The number of codes of each class in a tile, by cell, for the own positions in `scope`. Anchors have errors as
/// large as in a stream. `read` is as for [`Predictor::encode`](super::Predictor::encode).
pub fn classes_of_tile<T: Element>(
    version: Version,
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    model: Model<'_, T>,
    mut read: impl FnMut([u64; 3], &mut [T]),
    store: &mut TileStore<T>,
) -> CellCounts {
    version.run_apart(Classes {
        version,
        shape,
        scope,
        tile,
        model,
        read: &mut read,
        store,
    })
}

/// [`classes_of_tile`].
struct Classes<'a, T> {
    version: Version,
    shape: Shape,
    scope: Scope,
    tile: &'a TileBox,
    model: Model<'a, T>,
    read: ReadRow<'a, T>,
    store: &'a mut TileStore<T>,
}

impl<T: Element> Work for Classes<'_, T> {
    type Output = CellCounts;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Self::Output {
        let resolved = self.model.resolved;
        let levels = resolved.parameters.geometry.levels(self.shape);
        let tile = self.model.tile(self.tile);
        self.store.set_values(&tile, self.read);
        self.store.coarsen_values(levels);
        if has_rounded_anchors(self.shape) {
            let quantizer = &resolved.quantizers[levels as usize];
            self.store.round_anchors(levels, quantizer);
        }
        let mut count = Count {
            version: self.version,
            scope: self.scope,
            quantizers: resolved.quantizers,
            limits: Limits {
                error: resolved.error,
                radius: RADIUS,
            },
            counts: CellCounts::default(),
        };
        let store = self.store;
        (self.model).walk(self.version, self.shape, (&tile, 0), store, &mut count);
        count.counts
    }
}

/// The sums of a tile's positions in `scope` to which coefficients are fitted, given the model with which the tile is predicted
/// before. Anchors have their exact values. `read` is as for [`Predictor::encode`](super::Predictor::encode).
pub fn sums_of_tile<T: Element>(
    version: Version,
    shape: Shape,
    scope: Scope,
    tile: &TileBox,
    model: Model<'_, T>,
    mut read: impl FnMut([u64; 3], &mut [T]),
    store: &mut TileStore<T>,
) -> Box<Sums> {
    version.run_apart(SumTile {
        version,
        shape,
        scope,
        tile,
        model,
        read: &mut read,
        store,
    })
}

/// [`sums_of_tile`].
struct SumTile<'a, T> {
    version: Version,
    shape: Shape,
    scope: Scope,
    tile: &'a TileBox,
    model: Model<'a, T>,
    read: ReadRow<'a, T>,
    store: &'a mut TileStore<T>,
}

impl<T: Element> Work for SumTile<'_, T> {
    type Output = Box<Sums>;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Self::Output {
        let (shape, store, scope) = (self.shape, self.store, self.scope);
        let resolved = self.model.resolved;
        let levels = resolved.parameters.geometry.levels(shape);
        let tile = self.model.tile(self.tile);
        store.set_values(&tile, self.read);
        store.coarsen_values(levels);
        let values = store.clone();
        let mut quantize = Known {
            scope,
            quantize: Quantize {
                version: self.version,
                quantizers: resolved.quantizers,
                limits: Limits {
                    error: resolved.error,
                    radius: RADIUS,
                },
            },
        };
        (self.model).walk(self.version, shape, (&tile, 0), store, &mut quantize);
        let mut sums = Box::new([0; _]);
        let fit = FitTile {
            version: self.version,
            shape,
            scope,
            tile: &tile,
            values: &values,
        };
        self.model.add_sums(&fit, store, &mut sums);
        sums
    }
}

/// A tile whose values coefficients are fitted to.
pub(super) struct FitTile<'a, T> {
    pub(super) version: Version,
    pub(super) shape: Shape,
    /// The positions that count.
    pub(super) scope: Scope,
    pub(super) tile: &'a TileBox,
    /// The values of the field.
    pub(super) values: &'a TileStore<T>,
}

impl<T: Element> FitTile<'_, T> {
    /// Adds the sums of stencils. `known` has the decoded values.
    #[inline(always)]
    pub(super) fn sum_stencils(
        &self,
        resolved: &Resolved<T>,
        known: &TileStore<T>,
        sums: &mut Sums,
    ) {
        let (version, shape, parameters) = (self.version, self.shape, &resolved.parameters);
        for level in 0..parameters.geometry.levels(shape) {
            let (tile, layout, scope) = (self.tile, known.level(level), self.scope);
            let rows = Rows::new(
                version, shape, shape, tile, parameters, layout, level, scope,
            );
            let inverse = resolved.quantizers[level as usize].inverse;
            rows.sum(self.values, known, inverse, sums);
        }
    }
}

/// Values to known values.
struct Known<T> {
    scope: Scope,
    quantize: Quantize<T>,
}

impl<T: Element> Visitor<T> for Known<T> {
    #[inline(always)]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[inline(always)]
    fn visit(
        &mut self,
        positions: Positions,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    ) {
        (self.quantize).visit(positions, predictions, values, codes);
    }
}

/// Counts the classes of codes.
struct Count<T> {
    version: Version,
    scope: Scope,
    quantizers: [LevelQuantizer<T>; LEVELS],
    limits: Limits<T>,
    counts: CellCounts,
}

impl<T: Element> Visitor<T> for Count<T> {
    #[inline(always)]
    fn scope(&self) -> Scope {
        self.scope
    }

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
            values: &mut *values,
            codes: &mut *codes,
        });
        self.version.run(AddClasses {
            known: &values[..positions.own],
            codes: &codes[..positions.own],
            counts: &mut self.counts[cell(positions.level, positions.oddness) as usize],
        });
    }
}

/// Adds the classes of a piece's codes to `counts`: those of [`class`](ferrosz_codec::predict::interp::tune::cost::class). `known` has the decoded values.
struct AddClasses<'a, T> {
    known: &'a [T],
    codes: &'a [u16],
    counts: &'a mut [u32; CLASSES],
}

impl<T: Element> Work for AddClasses<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Self {
            known,
            codes,
            counts,
        } = self;
        // For each code in the same number of operations, so in vectors.
        let mut magnitudes = [0u16; PIECE];
        let mut raw = 0;
        for (magnitude_of, code) in magnitudes.iter_mut().zip(codes) {
            let is_raw = *code == RAW;
            let magnitude = magnitude(u32::from(*code)) as u16;
            *magnitude_of = if is_raw { 0 } else { magnitude };
            raw += u32::from(is_raw);
        }
        let mut at_least = codes.len() as u32 - raw;
        for (bits, count) in counts[..CLASSES - 1].iter_mut().enumerate() {
            let least = 1 << bits;
            let above: u16 = (magnitudes.iter())
                .map(|magnitude| u16::from(*magnitude >= least))
                .sum();
            *count += at_least - u32::from(above);
            at_least = u32::from(above);
            if at_least == 0 {
                break;
            }
        }
        if raw > 0 {
            let raw = known.iter().zip(codes).filter(|(_, code)| **code == RAW);
            counts[CLASSES - 1] += raw.filter(|(known, _)| known.is_finite()).count() as u32;
        }
    }
}
