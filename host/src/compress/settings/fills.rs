//! Fill values, and the mask that they need.

use crate::compress::Compressor;
use crate::error::Error;
use crate::fill::{Fill, Fills, Found};
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::{BoundMode, Dtype, Element, Value};

impl Compressor {
    /// Names a value that stands for missing elements; up to four times. These elements come back bit for bit. They
    /// count neither in the range of the field nor in the bound, and cost little: their places are coded apart, and
    /// the values around them are predicted as if they were not there. All streams of this compressor have a mask, also
    /// those of fields without missing elements.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let mut field: Vec<f32> = (0..9000).map(|i| 280.0 + (i as f32 * 0.01).sin()).collect();
    /// field[4000..5000].fill(1e20);
    /// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).fill(1e20)?;
    /// let stream = compressor.compress(&field)?;
    /// assert!(ferrosz::info(&stream)?.absolute_error < 0.003);
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert_eq!(decoded[4000..5000], field[4000..5000]);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub fn fill(mut self, fill: impl Into<Fill>) -> Result<Self, Error> {
        self.fills = self.fills.with(fill.into())?;
        Ok(self)
    }

    /// Names the fill values of a field, beside those named before: of these values those that elements have, or are so close
    /// to that they could become them, and those that [`Fill::detect`] finds, with an absolute bound only if streams become
    /// shorter or they are usual marks of missing elements. NaN is named only if it is found. If the values are too many, or
    /// values close to them need their places in the mask, the last ones are left away. A mask costs some bytes, so it has no
    /// others.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Fill, Preset};
    ///
    /// let mut field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// field[4000..4100].fill(0.5);
    /// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?);
    /// let stream = compressor.fills_of(&field, &[0.5.into(), 1e20.into()]).compress(&field)?;
    /// assert!(ferrosz::info(&stream)?.fills.contains(&0.5));
    /// assert!(!ferrosz::info(&stream)?.fills.contains(&1e20));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn fills_of<V: Value>(self, field: &[V], named: &[Fill]) -> Self {
        let has_zeros = self.keeping.always.zeros || self.bound.mode() == BoundMode::Pwrel;
        let found = Found::of(field);
        let named = named.iter().copied();
        let named = named.filter(|fill| fill.is_in(field) || self.may_become(*fill, field));
        let named: Vec<Fill> = named.collect();
        let with = |found: &[Fill]| Self {
            fills: self.fills.and::<V>(&named, found, has_zeros),
            ..self
        };
        let [all, sure] = [found.all(), found.sure()].map(|found| with(&found));
        // Where the bound does not depend on the range, values that are no usual marks of missing elements are only ordinary
        // values that a mask may code in fewer bytes.
        let must_pay = !self.bound.needs_extremes() && self.bound.value() > 0.0;
        let taken = match must_pay && all.fills != sure.fills && !all.is_shorter(&sure, field) {
            true => sure,
            false => all,
        };
        taken.with_room(field, self.fills.count())
    }

    /// Whether elements of a field are so close to a value that they could be decoded to it.
    fn may_become<V: Value>(self, fill: Fill, field: &[V]) -> bool {
        let alone = Self {
            fills: Fills::default(),
            ..self
        };
        // A value that the type does not have is close to none.
        let coder = alone.fill(fill).and_then(|it| it.coder_of(field));
        coder.is_ok_and(|(_, _, nearby)| nearby.is_some())
    }

    /// Without the last fill values, but the first `kept` ones, as long as a mask has no room for their neighbours, which values
    /// close to them become.
    fn with_room<V: Value>(mut self, field: &[V], kept: usize) -> Self {
        let is_too_full = |it: &Self| {
            let coder = it.coder_of(field).map(|(coder, ..)| coder);
            let mapping = coder.and_then(|coder| coder.value_mapping(V::Coded::DTYPE));
            matches!(mapping, Err(Error::TooManyFills(_)))
        };
        // There is always room for the neighbours of one.
        while self.fills.count() > kept.max(1) && is_too_full(&self) {
            self.fills = self.fills.without_last();
        }
        self
    }

    /// The fill values of fields of this type, and whether signs and zeros need a mask to be kept. Without a codec they need
    /// none.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyFills`].
    pub(crate) fn value_mapping(&self, dtype: Dtype) -> Result<ValueMapping, Error> {
        self.fills.mapping(dtype, self.bound, self.keep())
    }

    /// Whether a mask has room for zeros and signs beside the fill values.
    pub(crate) fn has_room_for_classes(&self, dtype: Dtype) -> bool {
        let all = Keep {
            zeros: true,
            signs: true,
        };
        self.fills.mapping(dtype, self.bound, all).is_ok()
    }

    /// The bits of missing values of a type.
    pub(crate) fn missing<V: Value>(&self) -> Result<Vec<u64>, Error> {
        self.fills.missing::<V>()
    }
}
