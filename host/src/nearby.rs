//! Valid values so close to a fill value that a decoder might make it of them.
//!
//! They would be missing then. So each becomes the neighbour of the fill value on its own side, which is nearer to it than the
//! fill value, and the neighbour becomes a class of the mask: it comes back bit for bit.

use crate::parallel;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::{Scale, ValueMapping};
use ferrosz_codec::quantize::field::{Quantizer, is_within};
use ferrosz_codec::{Element, Value};
use std::sync::atomic::{AtomicU8, Ordering};

/// Values of a task of one thread.
const TASK: usize = 1 << 16;

/// Which values are close to a fill value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reach<T> {
    /// Those at most so far away.
    Absolute(f64),
    /// Those at most this share of themselves away.
    Relative(f64),
    /// Those with a code that stands for it. All others would be decoded to other values, by codecs that code each value by
    /// itself.
    Codes {
        quantizer: Quantizer<T>,
        conversion: Conversion,
        scale: Scale,
    },
}

impl<T: Element> Reach<T> {
    /// Whether a value that is close to a fill value may become a number beside it.
    fn bounds<V: Value<Coded = T>>(&self, value: V, number: f64) -> bool {
        match self {
            Self::Codes {
                quantizer,
                scale: Scale::Linear,
                ..
            } => is_within(value.to_number(), number, quantizer.error().to_f64()),
            Self::Codes { .. } => true,
            Self::Absolute(_) | Self::Relative(_) => self.has(value, number),
        }
    }

    fn has<V: Value<Coded = T>>(&self, value: V, fill: f64) -> bool {
        let number = value.to_number();
        match self {
            Self::Absolute(error) => is_within(number, fill, *error),
            // The product may be rounded down.
            Self::Relative(share) => is_within(number, fill, (share * number.abs()).next_up()),
            Self::Codes {
                quantizer,
                conversion,
                scale,
            } => {
                let mapping = ValueMapping {
                    scale: *scale,
                    ..ValueMapping::default()
                };
                let element = conversion.to_coded(value);
                let code = quantizer.quantize(mapping.coded(element, false));
                code.is_some_and(|code| {
                    let decoded = mapping.back().element(quantizer.dequantize(code));
                    let decoded = match scale {
                        Scale::Linear => decoded,
                        // Signs are kept apart.
                        Scale::Logarithm => {
                            T::from_bits64(decoded.to_bits64() | element.to_bits64() & T::SIGN_BIT)
                        }
                    };
                    conversion.to_value::<V>(decoded).to_number() == fill
                })
            }
        }
    }
}

/// A fill value, and what values close to it become.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Near<V> {
    fill: V,
    number: f64,
    /// The values next to it, below and above; none beyond the ends of the type.
    next: [Option<V>; 2],
}

impl<V: Value> Near<V> {
    /// A fill value by its bits; none if it is not finite: no other value is close to it.
    fn new(bits: u64) -> Option<Self> {
        let fill = V::from_value_bits(bits);
        let number = fill.to_number();
        number.is_finite().then(|| Self {
            fill,
            number,
            next: [below(fill), above(fill)],
        })
    }

    /// The side of a value that is close, 0 below and 1 above; None if it is not close, or is the fill value.
    #[inline(always)]
    fn side(&self, reach: &Reach<V::Coded>, value: V) -> Option<usize> {
        let number = value.to_number();
        let is_close = number != self.number && reach.has(value, self.number);
        is_close.then(|| usize::from(number > self.number))
    }
}

/// The values that are close to the fill values of a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Nearby<V: Value> {
    near: Vec<Near<V>>,
    reach: Reach<V::Coded>,
    /// The neighbours that values of the field become.
    neighbours: Vec<u64>,
}

impl<V: Value> Nearby<V> {
    /// Those of a field with these fill values, given as bits. A mask has room for so many neighbours; if there would be more,
    /// values on both sides of a fill value become the same one.
    pub(crate) fn of(fills: &[u64], reach: Reach<V::Coded>, room: usize, field: &[V]) -> Self {
        let near: Vec<Near<V>> = fills.iter().filter_map(|bits| Near::new(*bits)).collect();
        let mut nearby = Self {
            near,
            reach,
            neighbours: Vec::new(),
        };
        let sides: Vec<AtomicU8> = nearby.near.iter().map(|_| AtomicU8::new(0)).collect();
        if !sides.is_empty() {
            parallel::each(field.chunks(TASK), |values| {
                for (near, sides) in nearby.near.iter().zip(&sides) {
                    let found = values.iter().fold(0, |found, value| {
                        let side = near.side(&reach, *value);
                        found | side.map_or(0, |side| 1 << side)
                    });
                    sides.fetch_or(found, Ordering::Relaxed);
                }
            });
        }
        let sides: Vec<u8> = sides.into_iter().map(AtomicU8::into_inner).collect();
        nearby.take_neighbours(&sides);
        if nearby.neighbours.len() > room {
            for near in &mut nearby.near {
                let [below, above] = near.next;
                near.next = [above.or(below); 2];
            }
            nearby.take_neighbours(&sides);
        }
        nearby
    }

    /// Takes the neighbours of the fill values on the sides that values are on.
    fn take_neighbours(&mut self, sides: &[u8]) {
        self.neighbours.clear();
        for (near, sides) in self.near.iter().zip(sides) {
            for (side, next) in near.next.iter().enumerate() {
                let bits = next.map(V::to_value_bits);
                let bits =
                    bits.filter(|bits| sides >> side & 1 == 1 && !self.neighbours.contains(bits));
                self.neighbours.extend(bits);
            }
        }
    }

    /// Whether no value of the field is close to a fill value.
    pub(crate) fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// The bits of the neighbours that values of the field become.
    pub(crate) fn neighbours(&self) -> &[u64] {
        &self.neighbours
    }

    /// What a value becomes: the neighbour of a fill value that it is close to, the fill value if it is the same number with
    /// other bits, and else itself.
    #[inline(always)]
    pub(crate) fn apart(&self, value: V) -> V {
        let number = value.to_number();
        for near in &self.near {
            if number == near.number {
                return near.fill;
            }
            if let Some(side) = near.side(&self.reach, value) {
                // On the other side of a fill value it may be too far away.
                let is_within = |next: &V| self.reach.bounds(value, next.to_number());
                let next = near.next[side].filter(is_within);
                return next.unwrap_or(value);
            }
        }
        value
    }
}

/// Whether an element is at most so far from one of these, and none of them.
pub(crate) fn is_close<T: Element>(
    fills: impl IntoIterator<Item = T>,
    error: T,
    element: T,
) -> bool {
    let mut fills = fills.into_iter().filter(|fill| fill.is_finite());
    fills.any(|fill| element != fill && is_within(element, fill, error))
}

/// Whether these bits are those of a neighbour of a fill value of these.
pub(crate) fn is_neighbour<V: Value>(fills: &[u64], bits: u64) -> bool {
    let near = fills.iter().filter_map(|fill| Near::<V>::new(*fill));
    let mut next = near.flat_map(|near| near.next).flatten();
    next.any(|next| next.to_value_bits() == bits)
}

/// The next greater value of the type.
fn above<V: Value>(value: V) -> Option<V> {
    step(value, 1.0)
}

/// The next smaller value of the type.
fn below<V: Value>(value: V) -> Option<V> {
    step(value, -1.0)
}

/// The next value in a direction.
fn step<V: Value>(value: V, direction: f64) -> Option<V> {
    let number = value.to_number();
    if V::TYPE.is_integer() {
        return V::from_number(number + direction);
    }
    let sign = V::from_number(-0.0)?.to_value_bits();
    let magnitude = value.to_value_bits() & !sign;
    let away = if number == 0.0 { direction } else { number };
    let bits = match away * direction > 0.0 {
        true => magnitude + 1,
        false => magnitude - 1,
    };
    let next = V::from_value_bits(if away < 0.0 { bits | sign } else { bits });
    next.to_number().is_finite().then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_next_to_a_value() {
        assert_eq!(above(1.0f32), Some(1.0f32.next_up()));
        assert_eq!(below(1.0f64), Some(1.0f64.next_down()));
        assert_eq!(above(-3.5f32), Some((-3.5f32).next_up()));
        assert_eq!(above(0.0f32), Some(f32::from_bits(1)));
        assert_eq!(below(0.0f32), Some(-f32::from_bits(1)));
        assert_eq!(above(f32::MAX), None);
        assert_eq!((below(-7i16), above(i16::MAX)), (Some(-8), None));
        assert_eq!(below(0u16), None);
    }

    #[test]
    fn close_values_become_neighbours() {
        let field = [0.0f32, -0.0, 4e-4, 1e-3, 2e-3, -1e-9, 1e20, 9.9e19];
        let fills = [0, u64::from(1e20f32.to_bits())];
        let nearby = Nearby::of(&fills, Reach::Absolute(1e-3), 7, &field);
        let least = f32::from_bits(1);
        let found = field.map(|value| nearby.apart(value));
        // The bound is less than the single-precision number 1e-3.
        assert_eq!(found, [0.0, 0.0, least, 1e-3, 2e-3, -least, 1e20, 9.9e19]);
        assert!(found[1].is_sign_positive());
        assert_eq!(nearby.neighbours().len(), 2);
        assert!(is_neighbour::<f32>(&fills, nearby.neighbours()[0]));
        assert!(!is_neighbour::<f32>(&fills, 2));
        assert!(Nearby::of(&fills, Reach::Relative(0.5), 7, &field[..3]).is_empty());
        let nearby = Nearby::of(&fills[1..], Reach::Relative(0.02), 7, &field);
        assert_eq!(nearby.apart(9.9e19), 1e20f32.next_down());
        let nearby = Nearby::of(&fills, Reach::Absolute(1e-3), 1, &field);
        assert_eq!((nearby.neighbours().len(), nearby.apart(-1e-9)), (1, least));
    }
}
