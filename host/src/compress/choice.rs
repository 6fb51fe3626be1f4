//! The codec, rank, axes and length of chunks that a preset chooses for a field, and the absolute error of a relative bound.

use crate::choose::{self, Chosen, Request};
use crate::compress::{Compressor, Converted};
use crate::cpu::mapping::conversion;
use crate::cpu::{self, Version};
use crate::error::Error;
use crate::preset::Choice;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::{Bound, Element, Value};

impl Compressor {
    /// The same compressor with codec, rank and axes chosen for a field, if they are not yet chosen.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::AxesMismatch`].
    pub fn choose<V: Value>(&self, field: &[V]) -> Result<Self, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(request) = self.request(&extents)? else {
            return Ok(*self);
        };
        let Converted { coder, coded, .. } = self.convert(field)?;
        let mapping = coder.value_mapping(V::Coded::DTYPE)?;
        let (chosen, _) = choose::choose_for(coder.bound, &mapping, self.copies, &request, &coded)?;
        Ok(self.with_chosen(chosen))
    }

    /// As [`Compressor::choose`] for a coded field, and the bound to compress it with: if the choice has resolved one that is
    /// relative, the absolute one that it is, so that the extremes of the field are searched once.
    pub(super) fn choose_on_coded<T: Element>(&self, field: &[T]) -> Result<(Self, Bound), Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(request) = self.request(&extents)? else {
            return Ok((*self, self.bound));
        };
        let mapping = self.value_mapping(T::DTYPE)?;
        let (chosen, error) =
            choose::choose_for(self.bound, &mapping, self.copies, &request, field)?;
        let bound = match self.bound.needs_extremes() {
            true => Bound::abs(error)?,
            false => self.bound,
        };
        Ok((self.with_chosen(chosen), bound))
    }

    /// The same compressor with the absolute bound that a bound relative to this field resolves to, for windows of it.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    ///
    /// let compressor = Compressor::new(Preset::Fast, Bound::range(0.25)?);
    /// let absolute = compressor.absolute_for(&[1.0f32, 3.0, f32::NAN])?;
    /// assert_eq!(absolute.bound(), Bound::abs(0.5)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::FillOfOtherType`].
    pub fn absolute_for<V: Value>(&self, field: &[V]) -> Result<Self, Error> {
        if !self.bound.needs_extremes() {
            return Ok(*self);
        }
        let missing = self.missing::<V>()?;
        let extremes = match missing.is_empty() && V::TYPE.is_coded_as_is() {
            true => cpu::extremes::<V::Coded>(Version::best(), bytemuck::cast_slice(field)),
            false => conversion::extremes(&missing, field),
        };
        Ok(self.with_bound(Bound::abs(self.bound.absolute(&extremes))?))
    }

    /// What to choose from for a field of these extents; none if codec and rank are chosen.
    pub(crate) fn request(&self, extents: &Extents) -> Result<Option<Request>, Error> {
        self.coded_extents(extents)?;
        Ok(self.preset().map(|preset| Request {
            codecs: preset.codecs(),
            shape: self.shape,
            extents: *extents,
            axes: self.axes,
            chunk: self.chunk,
        }))
    }

    /// The same compressor with the codec, rank, axes and length of chunks that were chosen.
    pub(crate) fn with_chosen(self, Chosen { layout, axes }: Chosen) -> Self {
        Self {
            choice: Choice::Codec(layout.codec),
            shape: Some(layout.shape),
            axes,
            chunk: Some(layout.chunk),
            ..self
        }
    }
}
