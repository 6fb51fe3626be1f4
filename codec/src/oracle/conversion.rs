//! Conversion of values in plain loops (FORMAT.md, section 24).
//!
//! A type of half precision is the table of its finite numbers, in their order; numbers are found there by search.

use crate::bound::{Bound, Extremes, subtract_down};
use crate::element::Element;
use crate::mapping::conversion::Kind;
use crate::quantize::field::is_within;
use crate::value::{Value, ValueType};
use alloc::vec::Vec;

/// The conversion of a field, and the quantiser's error.
pub(super) struct Chosen {
    pub(super) kind: Kind,
    pub(super) offset: i64,
    /// The absolute error of values.
    pub(super) absolute: f64,
    /// The absolute error of elements.
    pub(super) error: f64,
}

/// The finite numbers of a type of half precision, the smallest first, each with its bits; zero once, without a sign.
struct Halves {
    numbers: Vec<(f64, u16)>,
    /// Bits of the significand.
    significand: u32,
}

impl Halves {
    fn new(value_type: ValueType) -> Self {
        let significand = if value_type == ValueType::F16 { 10 } else { 7 };
        let mut numbers = Vec::new();
        for bits in (0x8001..=u16::MAX).rev().chain(0..0x8000) {
            let number = number_of(bits, significand);
            if number.is_finite() {
                numbers.push((number, bits));
            }
        }
        Self {
            numbers,
            significand,
        }
    }

    fn place(&self, number: f64) -> usize {
        self.numbers.partition_point(|(other, _)| *other < number)
    }

    /// The distance, rounded down, from a number of the type to the nearest number on one side that is rounded to another
    /// number, off by more than `absolute`. Infinite if there is none.
    fn room(&self, number: f64, absolute: f64, is_above: bool) -> f64 {
        let at = self.place(number);
        let is_kept = |place: &(f64, u16)| is_within(place.0, number, absolute);
        let ends = match is_above {
            true => {
                let kept = self.numbers[at..].partition_point(is_kept);
                [at + kept - 1, at + kept]
            }
            false => {
                let lost = self.numbers[..=at].partition_point(|place| !is_kept(place));
                [lost, lost.wrapping_sub(1)]
            }
        };
        let [Some((last, _)), Some((lost, _))] = ends.map(|end| self.numbers.get(end)) else {
            return f64::INFINITY;
        };
        let end = last / 2.0 + lost / 2.0;
        match is_above {
            true => subtract_down(end, number),
            false => subtract_down(number, end),
        }
    }

    /// The bits of the number nearest to another one, of two the even ones.
    fn nearest(&self, number: f64) -> u16 {
        let above = self.place(number);
        let sign = if number.is_sign_negative() { 0x8000 } else { 0 };
        let bits = match (above.checked_sub(1), self.numbers.get(above)) {
            (None, Some((_, bits))) => *bits,
            (Some(below), None) => self.numbers[below].1,
            (Some(below), Some((high, high_bits))) => {
                let (low, low_bits) = self.numbers[below];
                let (to_low, to_high) = (number - low, high - number);
                if to_low < to_high || to_low == to_high && low_bits % 2 == 0 {
                    low_bits
                } else {
                    *high_bits
                }
            }
            (None, None) => 0,
        };
        // Zero keeps the sign.
        if bits == 0 { sign } else { bits }
    }

    /// The value of an element that is the same number.
    fn of_element(&self, element: f32) -> u16 {
        if element.is_finite() {
            return self.nearest(f64::from(element));
        }
        let sign = (element.to_bits() >> 16) as u16 & 0x8000;
        let infinity = 0x7fff >> self.significand << self.significand;
        let payload = (element.to_bits() & 0x7f_ffff) >> (23 - self.significand);
        match (element.is_nan(), payload as u16) {
            (false, _) => sign | infinity,
            (true, 0) => sign | infinity | 1 << (self.significand - 1),
            (true, payload) => sign | infinity | payload,
        }
    }
}

/// The number of these bits: infinite and NaN as such.
fn number_of(bits: u16, significand: u32) -> f64 {
    let sign = if bits >= 0x8000 { -1.0 } else { 1.0 };
    let exponents = 15 - significand;
    let exponent = u32::from(bits & 0x7fff) >> significand;
    let fraction = f64::from(bits & ((1 << significand) - 1));
    if exponent == (1 << exponents) - 1 {
        return if fraction == 0.0 {
            sign * f64::INFINITY
        } else {
            f64::NAN
        };
    }
    let whole = f64::from(1u32 << significand);
    let mut number = if exponent == 0 {
        fraction
    } else {
        whole + fraction
    } / whole;
    let bias = (1 << (exponents - 1)) - 1;
    for _ in bias..exponent.max(1) {
        number *= 2.0;
    }
    for _ in exponent.max(1)..bias {
        number /= 2.0;
    }
    sign * number
}

/// The number of a value among all of half precision: those with a sign count downwards from -1.
fn order(bits: u16) -> i32 {
    if bits < 0x8000 {
        i32::from(bits)
    } else {
        0x7fff - i32::from(bits)
    }
}

/// The number before one that is above 0, of the element type.
fn before<T: Element>(number: f64) -> f64 {
    let nearest = T::from_f64_down(number);
    T::from_bits64(nearest.to_bits64().max(1) - 1).to_f64()
}

/// The conversion for values within a bound; `values` are those that are not missing.
pub(super) fn choose<V: Value>(bound: Bound, values: &[V]) -> Chosen {
    let mut extremes = Extremes::default();
    for value in values {
        extremes.see(V::Coded::from_f64(value.to_number()));
    }
    let absolute = bound.absolute(&extremes);
    let ends = extremes.values();
    let ends = ends.map(|(min, max)| (min.to_f64(), max.to_f64()));
    match V::TYPE {
        ValueType::F16 | ValueType::Bf16 => of_halves(absolute, ends, values),
        _ => of_integers::<V>(absolute, ends),
    }
}

fn of_integers<V: Value>(absolute: f64, ends: Option<(f64, f64)>) -> Chosen {
    let mut steps = 0.0;
    let most = match V::TYPE {
        ValueType::I16 | ValueType::U16 => 65_535.0,
        #[cfg(feature = "toy")]
        ValueType::ToyValue => 255.0,
        _ => 4_294_967_295.0,
    };
    if absolute >= most {
        steps = most;
    } else if absolute >= 1.0 {
        steps = absolute as u64 as f64;
    }
    let (min, max) = ends.unwrap_or((0.0, 0.0));
    let largest = min.abs().max(max.abs());
    let mut chosen = Chosen {
        kind: Kind::Widened,
        offset: 0,
        absolute: steps,
        error: before::<V::Coded>(steps + 0.5),
    };
    if largest / (2.0 * steps + 1.0) >= 536_870_912.0 {
        chosen.kind = Kind::Shifted;
        let sum = min as i64 + max as i64;
        let middle = (sum - sum.rem_euclid(2)) / 2;
        chosen.offset = middle - middle.rem_euclid(2 * steps as i64 + 1);
    }
    chosen
}

fn of_halves<V: Value>(absolute: f64, ends: Option<(f64, f64)>, values: &[V]) -> Chosen {
    let ordered = Chosen {
        kind: Kind::Ordered,
        offset: 0,
        absolute: 0.0,
        error: before::<V::Coded>(0.5),
    };
    let Some((min, max)) = ends.filter(|_| absolute > 0.0) else {
        return ordered;
    };
    let halves = Halves::new(V::TYPE);
    let mut room = V::Coded::MAX.to_f64();
    let mut numbers: Vec<f64> = values.iter().map(|value| value.to_number()).collect();
    numbers.retain(|number| number.is_finite());
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    for number in numbers {
        for is_above in [false, true] {
            room = room.min(halves.room(number, absolute, is_above));
        }
    }
    let error = before::<V::Coded>(room);
    let steps = halves.place(max) - halves.place(min);
    if max - min >= steps as f64 * (2.0 * error) {
        return ordered;
    }
    Chosen {
        kind: Kind::Widened,
        offset: 0,
        absolute,
        error,
    }
}

/// The element of a value.
pub(super) fn to_element<V: Value>(kind: Kind, offset: i64, value: V) -> V::Coded {
    let number = value.to_number();
    if kind == Kind::Ordered {
        return V::Coded::from_i32(order(value.to_value_bits() as u16));
    }
    if number.is_nan() {
        // The bits of a binary32: sign, exponent and payload, which is in the highest bits.
        let significand = if V::TYPE == ValueType::F16 { 10 } else { 7 };
        let bits = value.to_value_bits();
        let payload = bits & ((1 << significand) - 1);
        let wide = bits >> 15 << 31 | 0xff << 23 | payload << (23 - significand);
        return V::Coded::from_bits64(wide);
    }
    V::Coded::from_f64(number - offset as f64)
}

/// The values of elements.
pub(super) fn to_values<V: Value>(kind: Kind, offset: i64, elements: &[V::Coded]) -> Vec<V> {
    if V::TYPE.is_coded_as_is() {
        let bits = elements.iter().map(|element| element.to_bits64());
        return bits.map(V::from_value_bits).collect();
    }
    let halves = V::TYPE.is_half().then(|| Halves::new(V::TYPE));
    let of = |element: &V::Coded| match (&halves, kind) {
        (Some(_), Kind::Ordered) if element.to_f64().is_nan() => {
            if V::TYPE == ValueType::F16 {
                0x7e00
            } else {
                0x7fc0
            }
        }
        (Some(_), Kind::Ordered) => {
            let order = integer(element.to_f64(), 0, -32_768, 32_767);
            (if order < 0 { 0x7fff - order } else { order }) as u64
        }
        (Some(halves), _) => halves
            .of_element(f32::from_bits(element.to_bits64() as u32))
            .into(),
        (None, _) if element.to_f64().is_nan() => 0,
        (None, _) => {
            let (least, most) = match V::TYPE {
                ValueType::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
                ValueType::U16 => (0, i64::from(u16::MAX)),
                ValueType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
                #[cfg(feature = "toy")]
                ValueType::ToyValue => (i64::from(i8::MIN), i64::from(i8::MAX)),
                _ => (0, i64::from(u32::MAX)),
            };
            integer(element.to_f64(), offset, least, most) as u64
        }
    };
    elements
        .iter()
        .map(|element| V::from_value_bits(of(element)))
        .collect()
}

/// The integer nearest to a number, of two the even one, plus an offset, within limits.
fn integer(number: f64, offset: i64, least: i64, most: i64) -> i64 {
    let far = 1e12;
    let number = if number > far { far } else { number };
    let number = if number < -far { -far } else { number };
    let mut low = number as i64;
    if low as f64 > number {
        low -= 1;
    }
    let rest = number - low as f64;
    let is_high = rest > 0.5 || rest == 0.5 && low.rem_euclid(2) == 1;
    (low + i64::from(is_high) + offset).max(least).min(most)
}

/// The record of a conversion.
pub(super) fn record(chosen: &Chosen) -> Vec<u8> {
    let mut contents = Vec::from(chosen.absolute.to_bits().to_le_bytes());
    if chosen.kind == Kind::Shifted {
        contents.extend(chosen.offset.to_le_bytes());
    }
    let mut record = b"CONV".to_vec();
    record.extend((contents.len() as u32).to_le_bytes());
    record.extend(contents);
    while !record.len().is_multiple_of(16) {
        record.push(0);
    }
    record
}
