//! The toy among the fitted predictors: positions that splines predict, their predictions times a factor.

use crate::cpu::predict::interp::Quantize;
use crate::cpu::predict::interp::Sums;
use crate::cpu::predict::interp::piece::PIECE;
use crate::cpu::predict::interp::quantize::Limits;
use crate::cpu::predict::interp::rows::{Positions, Visitor, walk};
use crate::cpu::predict::interp::samples::FitTile;
use ferrosz_codec::element::Element;
use ferrosz_codec::predict::fitted::toy_fitted::{products, scaled};
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::tile::code::RADIUS;

/// A visitor of positions with scaled predictions.
pub(super) struct Scaled<'a, V> {
    visitor: &'a mut V,
    factor: f32,
}

impl<'a, V> Scaled<'a, V> {
    pub(super) fn new(visitor: &'a mut V, factor: f32) -> Self {
        Self { visitor, factor }
    }
}

impl<T: Element, V: Visitor<T>> Visitor<T> for Scaled<'_, V> {
    fn scope(&self) -> Scope {
        self.visitor.scope()
    }

    fn visit(
        &mut self,
        positions: Positions,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    ) {
        let mut all = [T::ZERO; PIECE];
        for (to, prediction) in all.iter_mut().zip(predictions) {
            *to = scaled(*prediction, self.factor);
        }
        let all = &all[..predictions.len()];
        self.visitor.visit(positions, all, values, codes);
    }
}

/// Adds the sums of the tile's own positions that count.
pub(super) fn sum<T: Element>(fit: &FitTile<'_, T>, resolved: &Resolved<T>, sums: &mut Sums) {
    let mut visitor = Sum {
        scope: fit.scope,
        sums,
        quantize: Quantize {
            version: fit.version,
            quantizers: resolved.quantizers,
            limits: Limits {
                error: resolved.error,
                radius: RADIUS,
            },
        },
    };
    let (parameters, mut known) = (&resolved.parameters, fit.values.clone());
    let (version, shape, tile) = (fit.version, fit.shape, fit.tile);
    walk(
        version,
        shape,
        (tile, 0),
        parameters,
        None,
        &mut known,
        &mut visitor,
    );
}

/// Adds the products of positions, and quantises them.
struct Sum<'a, T> {
    scope: Scope,
    sums: &'a mut Sums,
    quantize: Quantize<T>,
}

impl<T: Element> Visitor<T> for Sum<'_, T> {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn visit(
        &mut self,
        positions: Positions,
        predictions: &[T],
        values: &mut [T],
        codes: &mut [u16],
    ) {
        let inverse = self.quantize.quantizers[positions.level as usize].inverse;
        for (prediction, value) in predictions.iter().zip(&*values).take(positions.own) {
            let products = products(*prediction, *value, inverse);
            for (sum, product) in self.sums.iter_mut().zip(products) {
                *sum = sum.wrapping_add(product);
            }
        }
        (self.quantize).visit(positions, predictions, values, codes);
    }
}
