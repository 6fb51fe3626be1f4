//! The coefficients of a field by each order of levels. For an error of coefficients, the order that costs less is taken.

use crate::cpu::mapping::coded::fill_field;
use crate::error::Error;
use crate::parallel;
use crate::scratch::Copies;
use crate::wavelet::rounding::Rounded;
use crate::wavelet::transform;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::wavelet::{FieldBoxes, LevelOrder, line_levels};
use ferrosz_codec::predict::tile_lorenzo::fits;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Bound, Codec, Element};
use std::borrow::Cow;

/// Coefficients of a task.
const TASK: usize = 1 << 16;

/// The coefficients of a field.
pub(crate) struct FieldCoefficients<T> {
    boxes: FieldBoxes,
    of_orders: Vec<(LevelOrder, Vec<T>)>,
}

impl<T: Element> FieldCoefficients<T> {
    /// Those of a field; `has_holes` tells whether missing elements are holes in it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(extents: &Extents, field: &[T], has_holes: bool) -> Result<Self, Error> {
        let mut field = Cow::Borrowed(field);
        if has_holes {
            fill_field(Copies::InMemory, &as_filled(extents), field.to_mut())?;
        }
        let (boxes, field) = (FieldBoxes::new(extents), finite(&field));
        let of_order = |order| Ok((order, transform::coefficients(&boxes, order, &field)?));
        let of_orders = orders(&boxes).iter().map(|order| of_order(*order));
        Ok(Self {
            boxes,
            of_orders: of_orders.collect::<Result<_, Error>>()?,
        })
    }

    /// The order of levels whose coefficients cost less to code with a quantiser, and these coefficients, rounded.
    pub(super) fn best(self, quantizer: &Quantizer<T>) -> (LevelOrder, Vec<T>) {
        match quantizer.is_lossless() {
            true => self.of_orders.into_iter().next().unwrap_or_default(),
            false => self.rounded(quantizer),
        }
    }

    fn rounded(&self, quantizer: &Quantizer<T>) -> (LevelOrder, Vec<T>) {
        let all = self.of_orders.iter();
        let rounded = all.map(|(order, all)| (*order, Rounded::new(quantizer, all)));
        let best = rounded.reduce(|best, next| {
            if next.1.cost < best.1.cost {
                next
            } else {
                best
            }
        });
        best.map(|(order, best)| (order, best.coefficients))
            .unwrap_or_default()
    }

    /// The decoded values with this absolute error of coefficients, before corrections.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn decoded(&self, error: f64) -> Result<Vec<T>, Error> {
        let quantizer = Bound::abs(error)?.resolve::<T>(&Extremes::default());
        if quantizer.is_lossless() {
            let (order, coefficients) = &self.of_orders[0];
            return transform::field(&self.boxes, *order, coefficients);
        }
        let (order, mut coefficients) = self.rounded(&quantizer);
        parallel::each(coefficients.chunks_mut(TASK), |values| {
            for value in values {
                if let Some(code) = quantizer.quantize(*value).filter(|code| fits(*code)) {
                    *value = quantizer.dequantize(code);
                }
            }
        });
        transform::field(&self.boxes, order, &coefficients)
    }
}

/// The orders that differ.
fn orders(boxes: &FieldBoxes) -> &'static [LevelOrder] {
    let [depth, ..] = boxes.at(0).lengths;
    match line_levels(depth) {
        0 => &LevelOrder::ALL[..1],
        _ => &LevelOrder::ALL,
    }
}

/// The layout whose codec has holes filled as wavelets: all over the field, as with stencils.
pub(super) fn as_filled(extents: &Extents) -> Layout {
    Layout::new(Codec::STENCIL, Shape::Cube, *extents)
}

/// The values with numbers in place of those that are not finite: the last number before.
fn finite<T: Element>(values: &[T]) -> Cow<'_, [T]> {
    if values.iter().all(|value| value.is_finite()) {
        return Cow::Borrowed(values);
    }
    let mut last = T::ZERO;
    let number = |value: &T| {
        if value.is_finite() {
            last = *value;
        }
        last
    };
    Cow::Owned(values.iter().map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order that is best for a field of 40 x 40 x 40 values.
    fn best(value: impl Fn([f64; 3]) -> f64) -> LevelOrder {
        let extents = Extents::new(&[40, 40, 40]).unwrap();
        let at = |i: u32| [i / 1600, i / 40 % 40, i % 40].map(f64::from);
        let field: Vec<f32> = (0..64_000).map(|i| value(at(i)) as f32).collect();
        let quantizer = Bound::abs(0.02).unwrap().resolve(&Extremes::default());
        let coefficients = FieldCoefficients::new(&extents, &field, false).unwrap();
        coefficients.best(&quantizer).0
    }

    #[test]
    fn fields_have_the_order_that_their_axes_need() {
        let ball = |at: [f64; 3]| {
            let from_middle = at.map(|x| (x - 20.3).powi(2)).iter().sum::<f64>();
            f64::from(u8::from(from_middle < 150.0))
        };
        assert_eq!(best(ball), LevelOrder::ByTurns);
        let layers = |[z, y, x]: [f64; 3]| (0.02 * z).sin() * (0.9 * y).sin() * (1.1 * x).cos();
        assert_eq!(best(layers), LevelOrder::ZFirst);
    }
}
