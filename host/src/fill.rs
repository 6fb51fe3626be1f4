//! Fill values: the values that stand for missing elements.

use crate::error::Error;
use crate::outlying::{Outlying, find};
use crate::parallel;
use ferrosz_codec::mapping::mask::{ClassCount, MAX_CLASSES};
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::{Bound, BoundMode, Dtype, Value, ValueType, with_element, with_value};
use std::collections::BTreeSet;

/// A value that stands for missing elements. It comes back bit for bit, and counts neither in the range of the field nor
/// in the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// The number of the element type that is nearest to this one, such as 1e20; NaN as [`Fill::Nan`].
    Value(f64),
    /// NaN, as processors and NumPy make it, with and without a sign.
    Nan,
    /// The value of these bits. For types of fewer than 64 bits they are the low ones.
    Bits(u64),
}

impl From<f64> for Fill {
    fn from(value: f64) -> Self {
        match value.is_nan() {
            true => Self::Nan,
            false => Self::Value(value),
        }
    }
}

impl Fill {
    /// The values of a field that look like fill values: NaN, if its NaNs are so many that a mask of them is shorter
    /// than the values, and have one or two bit patterns; and repeated values far outside the others, such as 1e20,
    /// 9.96921e36 or -9999.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::Fill;
    ///
    /// let mut field: Vec<f32> = (0..1000).map(|i| 280.0 + i as f32 * 0.01).collect();
    /// assert_eq!(Fill::detect(&field), []);
    /// field[10..20].fill(-9999.0);
    /// assert_eq!(Fill::detect(&field), [Fill::Value(-9999.0)]);
    /// ```
    pub fn detect<V: Value>(field: &[V]) -> Vec<Self> {
        Found::of(field).all()
    }

    /// Whether an element of a field is it. NaN is in none: it comes back bit for bit without a mask.
    pub(crate) fn is_in<V: Value>(self, field: &[V]) -> bool {
        // A value that the type does not have is in no field of the type.
        let Ok(bits) = self.bits::<V>() else {
            return false;
        };
        if V::from_value_bits(bits[0]).to_number().is_nan() {
            return false;
        }
        let is_fill = |value: &V| bits.contains(&value.to_value_bits());
        let has = |block: &[V]| block.iter().any(is_fill);
        parallel::map(field.chunks(BLOCK), has).contains(&true)
    }

    /// The bits that it has as a value; once or twice.
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`] if the type has no such value.
    fn bits<V: Value>(self) -> Result<[u64; 2], Error> {
        let of = |fill: f64| {
            let value = V::from_number(fill).ok_or(Error::FillOfOtherType {
                fill,
                value_type: V::TYPE,
            });
            value.map(V::to_value_bits)
        };
        match self {
            Self::Value(value) if !value.is_nan() => Ok([of(value)?; 2]),
            Self::Value(_) | Self::Nan => {
                let (nan, sign) = (of(f64::NAN)?, of(-0.0)?);
                Ok([nan & !sign, nan | sign])
            }
            Self::Bits(bits) => Ok([V::from_value_bits(bits).to_value_bits(); 2]),
        }
    }
}

/// The fill values that are found in a field.
pub(crate) struct Found {
    outlying: Vec<Outlying>,
    nans: Vec<u64>,
}

impl Found {
    pub(crate) fn of<V: Value>(field: &[V]) -> Self {
        let mut outlying = find(field);
        outlying.truncate(MOST - MOST_NANS);
        Self {
            outlying,
            nans: nans(field),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Fill> {
        self.those(|_| true)
    }

    /// Those that often mark missing measurements, and NaN.
    pub(crate) fn sure(&self) -> Vec<Fill> {
        self.those(|found| found.is_mark)
    }

    fn those(&self, is_taken: impl Fn(&Outlying) -> bool) -> Vec<Fill> {
        let outlying = self.outlying.iter().filter(|found| is_taken(found));
        let outlying = outlying.map(|found| Fill::Value(found.value));
        outlying
            .chain(self.nans.iter().copied().map(Fill::Bits))
            .collect()
    }
}

/// The most fill values of a call.
pub(crate) const MOST: usize = 4;

/// The same where zeros and signs have classes, too.
const MOST_WITH_ZEROS: usize = 3;

/// The most fill values of a call, where zeros and signs may have classes.
fn most(has_zeros: bool) -> usize {
    if has_zeros { MOST_WITH_ZEROS } else { MOST }
}

/// Classes of zeros, which are of both signs.
const ZEROS: usize = 2;

/// The most patterns of NaN that are found.
const MOST_NANS: usize = 2;

/// A field with fewer NaNs has no mask: exceptions take fewer bytes.
const FEWEST_NANS: usize = 16;

/// And with fewer than one NaN of so many elements.
const ELEMENTS_OF_NAN: usize = 1 << 14;

/// Values in a task of one thread.
const BLOCK: usize = 1 << 16;

/// The bits of the NaNs of a field, if a mask of them is worth it.
fn nans<V: Value>(field: &[V]) -> Vec<u64> {
    // The first patterns, one more than a mask would have, and the number of all NaNs.
    let of_block = |block: &[V]| {
        let (mut bits, mut count) = (BTreeSet::new(), 0);
        let is_nan = |value: &V| value.to_number().is_nan();
        // Without a branch, so that blocks without NaN are read with vectors.
        if !block.iter().fold(false, |any, value| any | is_nan(value)) {
            return (bits, count);
        }
        for value in block.iter().filter(|value| is_nan(value)) {
            count += 1;
            if bits.len() <= MOST_NANS {
                bits.insert(value.to_value_bits());
            }
        }
        (bits, count)
    };
    let join = |(mut bits, count): (BTreeSet<u64>, usize), other: (BTreeSet<u64>, usize)| {
        bits.extend(other.0);
        (bits, count + other.1)
    };
    let blocks = parallel::map(field.chunks(BLOCK), of_block);
    let (bits, count) = blocks.into_iter().fold(Default::default(), join);
    match count >= FEWEST_NANS.max(field.len() / ELEMENTS_OF_NAN) && bits.len() <= MOST_NANS {
        true => bits.into_iter().collect(),
        false => Vec::new(),
    }
}

/// The fill values of a call.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Fills {
    /// Those of a user are at most [`MOST`]. As bits they may be twice as many.
    known: [Option<Fill>; 2 * MOST],
}

impl Fills {
    /// These values and another one.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub(crate) fn with(mut self, fill: Fill) -> Result<Self, Error> {
        let place = self.known[..MOST].iter_mut().find(|known| known.is_none());
        *place.ok_or(Error::TooManyFills(MOST))? = Some(fill);
        Ok(self)
    }

    /// These values, named ones, and those that were found in a field, each once and as far as there is room.
    pub(crate) fn and<V: Value>(mut self, named: &[Fill], found: &[Fill], has_zeros: bool) -> Self {
        let bits_of = |fill: &Fill| fill.bits::<V>().ok();
        for fill in named.iter().chain(found).copied() {
            let mut known = self.known.iter().flatten().filter_map(bits_of).flatten();
            if bits_of(&fill).is_some_and(|bits| known.any(|known| known == bits[0])) {
                continue;
            }
            let places = &mut self.known[..most(has_zeros)];
            if let Some(place) = places.iter_mut().find(|known| known.is_none()) {
                *place = Some(fill);
            }
        }
        self
    }

    /// All but the last one.
    pub(crate) fn without_last(mut self) -> Self {
        if let Some(last) = self.known.iter_mut().rfind(|known| known.is_some()) {
            *last = None;
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known[0].is_none()
    }

    /// Their number.
    pub(crate) fn count(&self) -> usize {
        self.known.iter().flatten().count()
    }

    /// The fill values with these bits, at most twice as many as a user gives.
    pub(crate) fn of_bits(bits: impl Iterator<Item = u64>) -> Self {
        let mut fills = Self::default();
        for (place, bits) in fills.known.iter_mut().zip(bits) {
            *place = Some(Fill::Bits(bits));
        }
        fills
    }

    /// The different bits of these values.
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`].
    pub(crate) fn missing<V: Value>(&self) -> Result<Vec<u64>, Error> {
        let mut missing = Vec::new();
        for fill in self.known.iter().flatten() {
            for bits in fill.bits::<V>()? {
                if !missing.contains(&bits) {
                    missing.push(bits);
                }
            }
        }
        Ok(missing)
    }

    /// The mapping of the values of coded fields of a type, with classes of these values and of what is kept.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub(crate) fn mapping(
        &self,
        dtype: Dtype,
        bound: Bound,
        keep: Keep,
    ) -> Result<ValueMapping, Error> {
        let mapping = with_element!(dtype, E => {
            ValueMapping::new::<E>(bound, keep, self.missing::<E>()?)
        });
        let has_zeros = keep.zeros || bound.mode() == BoundMode::Pwrel;
        mapping.ok_or(Error::TooManyFills(most(has_zeros)))
    }

    /// The most classes of a mask of fields of a type.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`] and [`Error::FillOfOtherType`].
    pub(crate) fn most_classes(
        &self,
        value_type: ValueType,
        keep: Keep,
    ) -> Result<ClassCount, Error> {
        let missing = with_value!(value_type, V => self.missing::<V>()?.len());
        let values = missing + if keep.zeros { ZEROS } else { 0 };
        // The hole is a class, too.
        let hole = usize::from(values > 0);
        let all = values + hole + usize::from(keep.signs);
        match all <= MAX_CLASSES {
            true => Ok(ClassCount {
                fills: (values + hole) as u8,
                has_signs: keep.signs,
            }),
            false => Err(Error::TooManyFills(most(keep.zeros))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_become_the_bits_of_elements() {
        let classes = |fill: Fill| {
            let fills = Fills::default().with(fill).unwrap();
            let mapping = fills.mapping(Dtype::F32, Bound::default(), Keep::default());
            mapping.unwrap().classes.fills().to_vec()
        };
        let nan = u64::from(f32::NAN.to_bits());
        assert_eq!(classes(1e20.into()), [u64::from(1e20f32.to_bits()), nan]);
        assert_eq!(classes(f64::NAN.into()), [nan, nan | 1 << 31]);
        assert_eq!(classes(Fill::Bits(7)), [7, nan]);
    }

    #[test]
    fn named_values_are_taken_once_where_they_occur() {
        let bits = |value: f32| Fill::Bits(value.to_bits().into());
        let fills = |named: &[Fill], field: &[f32], has_zeros| {
            let named = named.iter().copied().filter(|fill| fill.is_in(field));
            let named: Vec<Fill> = named.collect();
            let fills = Fills::default().and::<f32>(&named, &Fill::detect(field), has_zeros);
            fills.known.into_iter().flatten().collect::<Vec<Fill>>()
        };
        let mut field: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        assert_eq!(fills(&[bits(0.5), bits(-0.0)], &field, false), []);
        assert_eq!(fills(&[bits(7.0)], &field, false), [bits(7.0)]);
        field[10..20].fill(1e20);
        let found = Fill::Value(f64::from(1e20f32));
        assert_eq!(fills(&[bits(1e20)], &field, false), [bits(1e20)]);
        assert_eq!(fills(&[bits(7.0)], &field, false), [bits(7.0), found]);
        field[20..40].fill(f32::NAN);
        assert_eq!(fills(&[Fill::Nan], &field, false), [found, bits(f32::NAN)]);
        assert_eq!(fills(&[Fill::Nan], &field[..21], false), [found]);
        let named = [1.0, 2.0, 3.0].map(bits);
        assert_eq!(
            fills(&named, &field, false),
            [named[0], named[1], named[2], found]
        );
        assert_eq!(fills(&named, &field, true), named);
    }

    #[test]
    fn more_fills_than_classes_are_refused() {
        let mut fills = Fills::default();
        for i in 0..MOST {
            fills = fills.with(Fill::Value(i as f64)).unwrap();
        }
        assert!(fills.with(Fill::Nan).is_err());
    }
}
