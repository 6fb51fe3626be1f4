//! Conversion: from values of the user's type to elements of the coded field, and back. FORMAT.md, section 24.
//!
//! It is the outermost mapping: an encoder converts first, and a decoder last. All other mappings and the codecs work with
//! elements. A field of `f32` or `f64` has no conversion.
//!
//! The quantiser's error is chosen so that each decoded element is rounded to a value within the user's bound. Let the
//! *room* of a value be the distance to the nearest number on either side that is rounded to a value beyond the bound; the
//! error is less than the room of every value of the field.

use crate::bound::{Bound, Extremes, subtract_down};
use crate::container::record;
use crate::container::record_kind::RecordKind;
use crate::element::Element;
use crate::error::FormatError;
use crate::quantize::field::is_within;
use crate::value::{HalfFormat, Value, ValueType};

/// How values become elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The element is the same number.
    Widened,
    /// The element is the number of the value among all values of half precision in their order. Every value comes back
    /// bit for bit.
    Ordered,
    /// The element is the value less an integer, for integers so large that they would have no code.
    Shifted,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Widened, Self::Ordered, Self::Shifted];

    /// Its number in the stream.
    pub const fn id(self) -> u8 {
        match self {
            Self::Widened => 0,
            Self::Ordered => 1,
            Self::Shifted => 2,
        }
    }

    /// The kind with this number in the stream.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Whether values of a type are converted in this way.
    pub const fn takes(self, value_type: ValueType) -> bool {
        match self {
            Self::Widened => true,
            Self::Ordered => value_type.is_half(),
            Self::Shifted => matches!(value_type, ValueType::I32 | ValueType::U32),
        }
    }
}

/// The conversion of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    value_type: ValueType,
    kind: Kind,
    /// The absolute error of values; 0 is lossless. Unused if values are coded as they are.
    error: f64,
    /// What [`Kind::Shifted`] subtracts; otherwise 0.
    offset: i64,
}

/// Bytes of the record's contents without an offset.
const SHORT: usize = 8;

/// Bytes of the record's contents with an offset.
const LONG: usize = 16;

impl Conversion {
    /// No conversion.
    pub const fn none(value_type: ValueType) -> Self {
        Self {
            value_type,
            kind: Kind::Widened,
            error: 0.0,
            offset: 0,
        }
    }

    /// The conversion of a type by a kind, without an absolute error or an offset.
    pub const fn of(value_type: ValueType, kind: Kind) -> Self {
        Self {
            kind,
            ..Self::none(value_type)
        }
    }

    /// Whether values are coded as they are.
    pub const fn is_none(&self) -> bool {
        self.value_type.is_coded_as_is()
    }

    /// The type of the values.
    pub const fn value_type(&self) -> ValueType {
        self.value_type
    }

    /// How values become elements.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The integer that [`Kind::Shifted`] subtracts; otherwise 0.
    pub const fn offset(&self) -> i64 {
        self.offset
    }

    /// The absolute error that no value exceeds; 0 is lossless. None without a conversion: then it is the quantiser's.
    pub fn absolute_error(&self) -> Option<f64> {
        (!self.is_none()).then_some(self.error)
    }

    /// The element of a value. `V` must be the type of the values.
    #[inline(always)]
    pub fn to_coded<V: Value>(&self, value: V) -> V::Coded {
        match self.kind {
            Kind::Widened => value.widened(),
            Kind::Ordered => V::Coded::from_i32(order_of(value.to_value_bits() as u16)),
            // Exact: both are integers of at most 33 bits.
            Kind::Shifted => value.widened() - V::Coded::from_f64(self.offset as f64),
        }
    }

    /// The value of a decoded element. `V` must be the type of the values.
    #[inline(always)]
    pub fn to_value<V: Value>(&self, coded: V::Coded) -> V {
        match self.kind {
            Kind::Widened | Kind::Shifted => V::narrowed(coded, self.offset),
            Kind::Ordered if coded.to_f64().is_nan() => {
                V::from_number(f64::NAN).unwrap_or_default()
            }
            // As an integer type rounds and limits.
            Kind::Ordered => {
                let order = i16::narrowed(f32::from_f64(coded.to_f64()), 0);
                V::from_value_bits(bits_of_order(order).into())
            }
        }
    }

    /// Whether a value that is coded within the quantiser's `error` comes back within the absolute error. It does if it
    /// was in the field that the conversion was chosen for.
    pub fn has_room<V: Value>(&self, value: V, error: V::Coded) -> bool {
        let is_free = self.kind != Kind::Widened || !self.value_type.is_half();
        is_free || room::<V>(value, self.error).is_none_or(|room| error.to_f64() < room)
    }

    /// The record of the conversion; no bytes without one.
    #[cfg(feature = "alloc")]
    pub fn to_records(&self) -> alloc::vec::Vec<u8> {
        if self.is_none() {
            return alloc::vec::Vec::new();
        }
        let mut contents = alloc::vec::Vec::from(self.error.to_le_bytes());
        if self.kind == Kind::Shifted {
            contents.extend(self.offset.to_le_bytes());
        }
        record::to_bytes(&[record::Record {
            kind: RecordKind::CONV,
            contents: &contents,
        }])
    }

    /// The most bytes of the record of a type.
    pub const fn record_bytes(value_type: ValueType) -> u64 {
        match value_type.is_coded_as_is() {
            true => 0,
            false if Kind::Shifted.takes(value_type) => 32,
            false => 16,
        }
    }

    /// The conversion of a stream with these records, which must be whole, and with this type and kind by its header.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidRecords`] if the records have no such conversion.
    pub fn from_records(
        mut records: &[u8],
        value_type: ValueType,
        kind: Kind,
    ) -> Result<Self, FormatError> {
        let invalid = FormatError::InvalidRecords("the record CONV is not that of the type");
        let mut found = None;
        while let Some(record) = record::take(&mut records) {
            if record.kind == RecordKind::CONV && found.replace(record.contents).is_some() {
                return Err(FormatError::InvalidRecords("there are two records CONV"));
            }
        }
        let none = Self::none(value_type);
        let Some(contents) = found else {
            return none.is_none().then_some(none).ok_or(invalid);
        };
        let length = if kind == Kind::Shifted { LONG } else { SHORT };
        if none.is_none() || contents.len() != length {
            return Err(invalid);
        }
        let word = |at: usize| contents.get(at..at + 8)?.first_chunk().copied();
        let error = f64::from_le_bytes(word(0).unwrap_or_default());
        let offset = i64::from_le_bytes(word(SHORT).unwrap_or_default());
        let is_possible = error.is_finite() && error.is_sign_positive();
        if !is_possible || offset.unsigned_abs() > 1 << 32 {
            return Err(FormatError::InvalidRecords(
                "the record CONV has an impossible error or offset",
            ));
        }
        Ok(Self {
            value_type,
            kind,
            error,
            offset,
        })
    }
}

/// A conversion that is chosen for a field, and the quantiser's error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan<T> {
    /// The conversion.
    pub conversion: Conversion,
    /// The absolute error of elements.
    pub error: T,
}

impl<T: Element> Plan<T> {
    /// The conversion that keeps a bound on a field with these values, each of them at least once. Values that stand for
    /// missing elements do not count.
    pub fn new<V: Value<Coded = T>>(bound: Bound, values: impl Iterator<Item = V> + Clone) -> Self {
        let mut extremes = Extremes::default();
        for value in values.clone() {
            extremes.see(value.widened());
        }
        let rooms = || {
            let absolute = bound.absolute(&extremes);
            let rooms = values.filter_map(|value| room(value, absolute));
            rooms.fold(MOST_ROOM, f64::min)
        };
        Self::of_extremes::<V>(bound, &extremes, rooms)
    }

    /// As [`Plan::new`], by the absolute bound alone, so that decoded values that are planned and coded again come back as
    /// they are, whatever is beside them. The room of any value of half precision is more than half of the bound.
    pub fn rewritable<V: Value<Coded = T>>(
        bound: Bound,
        values: impl Iterator<Item = V> + Clone,
    ) -> Self {
        let mut extremes = Extremes::default();
        for value in values {
            extremes.see(value.widened());
        }
        let half = bound.absolute(&extremes) / 2.0;
        Self::of_extremes::<V>(bound, &extremes, || half)
    }

    /// As [`Plan::new`], for a field with these extremes. `least_room` gives the least of the rooms of its values within
    /// the bound ([`room`]), or [`MOST_ROOM`]; it is not called for integers.
    #[inline(always)]
    pub fn of_extremes<V: Value<Coded = T>>(
        bound: Bound,
        extremes: &Extremes<T>,
        least_room: impl FnOnce() -> f64,
    ) -> Self {
        let absolute = bound.absolute(extremes);
        match V::TYPE.is_half() {
            true => Self::of_halves::<V>(absolute, extremes, least_room),
            false => Self::of_integers::<V>(absolute, extremes),
        }
    }

    /// Integers within e of an integer are those within floor(e); numbers within 1/2 more are rounded to them.
    fn of_integers<V: Value<Coded = T>>(absolute: f64, extremes: &Extremes<T>) -> Self {
        let most = match V::TYPE.bytes() {
            bytes @ 1..4 => (1 << (8 * bytes)) - 1,
            _ => u32::MAX,
        };
        // Rounds down, and is limited to the type.
        let steps = (absolute as u32).min(most);
        let (min, max) = extremes.values().unwrap_or((T::ZERO, T::ZERO));
        let [min, max] = [min, max].map(|value| value.to_f64() as i64);
        let largest = min.unsigned_abs().max(max.unsigned_abs());
        let is_shifted = largest >= MOST_CODE * (2 * u64::from(steps) + 1);
        // The offset has code 0 without an offset, too: so the values of codes do not depend on it.
        let step = 2 * i64::from(steps) + 1;
        let (kind, offset) = match is_shifted {
            true => (Kind::Shifted, (min + max).div_euclid(2 * step) * step),
            false => (Kind::Widened, 0),
        };
        Self {
            conversion: Conversion {
                value_type: V::TYPE,
                kind,
                error: f64::from(steps),
                offset,
            },
            error: before(T::from_f64(f64::from(steps) + 0.5)),
        }
    }

    fn of_halves<V: Value<Coded = T>>(
        absolute: f64,
        extremes: &Extremes<T>,
        least_room: impl FnOnce() -> f64,
    ) -> Self {
        let ordered = Self {
            conversion: Conversion {
                value_type: V::TYPE,
                kind: Kind::Ordered,
                error: 0.0,
                offset: 0,
            },
            error: before(T::HALF),
        };
        let Some((min, max)) = extremes.values().filter(|_| absolute > 0.0) else {
            return ordered;
        };
        let room = least_room().min(T::MAX.to_f64());
        let error = before(T::from_f64_down(room));
        // Of the two conversions, the one that has fewer steps between the extremes. Both zeros are one step.
        let place = |end: T| {
            let magnitude = (V::narrowed(end, 0).to_value_bits() & 0x7fff) as f64;
            if end < T::ZERO { -magnitude } else { magnitude }
        };
        let steps = place(max) - place(min);
        if max.to_f64() - min.to_f64() >= 2.0 * error.to_f64() * steps {
            return ordered;
        }
        Self {
            conversion: Conversion {
                value_type: V::TYPE,
                kind: Kind::Widened,
                error: absolute,
                offset: 0,
            },
            error,
        }
    }
}

/// The number before one that is not negative; 0 before 0.
fn before<T: Element>(value: T) -> T {
    T::from_bits64(value.to_bits64().saturating_sub(1))
}

/// More than the room of any value.
pub const MOST_ROOM: f64 = f64::MAX;

/// Integers of more steps than this are shifted.
const MOST_CODE: u64 = 1 << 29;

/// The number of a value of half precision among all of them in their order: from -1 downwards if it has a sign, from 0
/// upwards otherwise. NaNs lie beyond the infinities.
pub(super) const fn order_of(bits: u16) -> i32 {
    match bits >> 15 {
        0 => bits as i32,
        _ => -1 - (bits & 0x7fff) as i32,
    }
}

/// The bits of the value with this number.
pub(super) const fn bits_of_order(order: i16) -> u16 {
    match order < 0 {
        true => 0x8000 | (-1 - order) as u16,
        false => order as u16,
    }
}

/// The room of a value of half precision: the distance, rounded down, to the nearest number on either side that is rounded
/// to a value off by more than `absolute`. None if the value is not finite, or there are no such numbers.
#[inline(always)]
pub fn room<V: Value>(value: V, absolute: f64) -> Option<f64> {
    let format = HalfFormat::of(V::TYPE)?;
    let bits = value.to_value_bits() as u16;
    let magnitude = i32::from(bits & 0x7fff);
    if magnitude > i32::from(format.largest()) {
        return None;
    }
    let above = room_above(format, magnitude, absolute);
    let below = room_above(format, -magnitude, absolute);
    match (above, below) {
        (Some(above), Some(below)) => Some(above.min(below)),
        (one, other) => one.or(other),
    }
}

/// The room above a value, which is given by the number of its magnitude, negative for negative values. None if no value
/// above it is off by more than `absolute`.
fn room_above(format: HalfFormat, value: i32, absolute: f64) -> Option<f64> {
    let number = |value: i32| {
        let magnitude = f64::from(format.widen(value.unsigned_abs() as u16));
        if value < 0 { -magnitude } else { magnitude }
    };
    let is_kept = |other: i32| is_within(number(other), number(value), absolute);
    let (mut low, mut high) = (value, i32::from(format.largest()));
    if is_kept(high) {
        return None;
    }
    // `low` is kept, `high` is not.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_kept(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Exact: neighbours have a common unit.
    let end = (number(low) + number(high)) / 2.0;
    Some(subtract_down(end, number(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantize::field::Quantizer;
    use crate::value::{Bf16, F16};

    #[test]
    fn order_has_every_value_once() {
        let mut last = None;
        for order in i16::MIN..=i16::MAX {
            let bits = bits_of_order(order);
            assert_eq!(order_of(bits), i32::from(order));
            let value = F16::from_bits(bits).to_number();
            if value.is_finite() {
                assert!(last.is_none_or(|last| value >= last));
                last = Some(value);
            }
        }
        assert_eq!([order_of(0x8000), order_of(0)], [-1, 0]);
    }

    #[test]
    fn rooms_end_half_way_to_the_next_value() {
        let of = |value: f64, absolute| room(F16::from_number(value).expect("a half"), absolute);
        // The unit is 1 / 1024 above 1 and half of it below.
        assert_eq!(of(1.0, 1e-9), Some(1.0 / 4096.0));
        assert_eq!(of(1.5, 1e-9), Some(1.0 / 2048.0));
        assert_eq!(of(1.5, 1.0 / 1024.0), Some(1.5 / 1024.0));
        assert_eq!(of(-1.5, 1.9 / 1024.0), Some(1.5 / 1024.0));
        assert_eq!(of(65_504.0, 1.0), Some(16.0));
        assert_eq!(of(0.0, 1e6), None);
        assert_eq!(of(f64::NAN, 1.0), None);
        assert_eq!(of(f64::INFINITY, 1.0), None);
    }

    #[test]
    fn records_come_back_or_are_refused() {
        for value_type in ValueType::ALL {
            for kind in Kind::ALL.into_iter().filter(|kind| kind.takes(value_type)) {
                let conversion = match value_type.is_coded_as_is() {
                    true => Conversion::none(value_type),
                    false => Conversion {
                        value_type,
                        kind,
                        error: 0.25,
                        offset: if kind == Kind::Shifted { -77 } else { 0 },
                    },
                };
                let records = conversion.to_records();
                assert!(records.len() as u64 <= Conversion::record_bytes(value_type));
                let of = |records: &[u8]| Conversion::from_records(records, value_type, kind);
                assert_eq!(of(&records), Ok(conversion));
                if records.is_empty() {
                    continue;
                }
                assert!(of(&[]).is_err());
                assert!(of(&[&records[..], &records].concat()).is_err());
                for bad in [f64::NAN, -0.0, f64::INFINITY] {
                    let bad = Conversion {
                        error: bad,
                        ..conversion
                    };
                    assert!(of(&bad.to_records()).is_err());
                }
                let other = Conversion::from_records(&records, ValueType::F32, Kind::Widened);
                assert!(other.is_err());
            }
        }
    }

    #[test]
    fn all_bits_come_back_from_their_elements() {
        for value_type in [
            ValueType::F16,
            ValueType::Bf16,
            ValueType::I16,
            ValueType::U16,
        ] {
            for kind in Kind::ALL.into_iter().filter(|kind| kind.takes(value_type)) {
                let conversion = Conversion {
                    value_type,
                    kind,
                    error: 0.0,
                    offset: 0,
                };
                with_value!(value_type, V => {
                    for bits in 0..1 << 16 {
                        let value = V::from_value_bits(bits);
                        let coded = conversion.to_coded(value);
                        assert_eq!(conversion.to_value::<V>(coded).to_value_bits(), bits);
                    }
                });
            }
        }
    }

    #[test]
    fn the_conversion_with_fewer_steps_is_chosen() {
        let plan = |bound, values: &[f64]| {
            let values = values.iter().filter_map(|value| F16::from_number(*value));
            Plan::new(Bound::abs(bound).expect("a bound"), values)
                .conversion
                .kind()
        };
        assert_eq!(plan(0.0, &[-1.0, 1.0]), Kind::Ordered);
        assert_eq!(plan(0.01, &[-1.0, 0.1, 1.0]), Kind::Widened);
        assert_eq!(plan(0.01, &[280.0, 290.0]), Kind::Ordered);
        assert_eq!(plan(0.01, &[]), Kind::Ordered);
        let none = Plan::new(Bound::default(), core::iter::empty::<Bf16>());
        assert_eq!(none.error, 0.5f32.next_down());
    }

    /// Each value of half precision, alone or beside another that changes the plan, coded again and again.
    #[test]
    fn rewritten_halves_stay_within_the_bound_of_the_first() {
        fn again<V: Value<Coded = f32>>(bound: f64, original: V) {
            let within = Bound::abs(bound).expect("a bound");
            let others = [0.0, 3.0, 1e4].map(|other| V::from_number(other).unwrap_or_default());
            let mut value = original;
            for round in 0..6 {
                let beside = others[round % others.len()];
                let plan = Plan::rewritable::<V>(within, [value, beside].into_iter());
                let quantizer = Quantizer::from_error(plan.error);
                let coded = plan.conversion.to_coded(value);
                let decoded = quantizer
                    .quantize(coded)
                    .map_or(coded, |code| quantizer.dequantize(code));
                value = plan.conversion.to_value(decoded);
                let off = (value.to_number() - original.to_number()).abs();
                assert!(off <= bound, "{bound}: {original:?} {value:?}");
            }
        }
        for bound in [1e-3, 0.007, 0.015_625, 0.05, 0.3, 1.0, 7.3, 100.0] {
            for bits in (0..1 << 16).step_by(7) {
                let value = F16::from_value_bits(bits);
                if value.to_number().is_finite() {
                    again(bound, value);
                }
                let value = Bf16::from_value_bits(bits);
                if value.to_number().abs() < 1e5 {
                    again(bound, value);
                }
            }
        }
    }

    #[test]
    fn large_integers_are_shifted() {
        let plan = |bound, values: [i32; 2]| {
            Plan::new(Bound::abs(bound).expect("a bound"), values.into_iter()).conversion
        };
        assert_eq!(plan(0.0, [-5, 1 << 28]).kind(), Kind::Widened);
        let shifted = plan(0.9, [1_700_000_000, 1_700_000_101]);
        assert_eq!(
            (shifted.kind(), shifted.offset),
            (Kind::Shifted, 1_700_000_050)
        );
        assert_eq!(shifted.to_coded(1_700_000_000i32), -50.0);
        assert_eq!(shifted.to_value::<i32>(51.3), 1_700_000_101);
        // A multiple of 3, as without an offset.
        let shifted = plan(1.0, [2_000_000_001, 2_147_483_647]);
        assert_eq!(shifted.kind(), Kind::Shifted);
        assert_eq!(shifted.offset, 2_073_741_824 / 3 * 3);
        assert_eq!(plan(1.0, [1_300_000_000; 2]).kind(), Kind::Widened);
        assert_eq!(
            plan(f64::MAX, [i32::MIN, i32::MAX]).absolute_error(),
            Some(4_294_967_295.0)
        );
    }
}
