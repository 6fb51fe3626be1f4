//! The codec, rank, axes and length of chunks that a preset chooses for a field, and the absolute error of a relative bound.

use crate::axes_setting::AxesSetting;
use crate::choice::Choice;
use crate::choose::{self, Chosen, Request};
use crate::compress::{Compressor, Converted};
use crate::cpu::mapping::conversion;
use crate::cpu::{self, Version};
use crate::error::Error;
use crate::keeping::Keeping;
use crate::number::Number;
use crate::scratch::Coded;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::conversion::{Conversion, Kind};
use ferrosz_codec::{Bound, Dtype, Element, Value, with_value};

impl Compressor {
    /// The same compressor with codec, rank and axes chosen for a field, if they are not yet chosen.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::AxesMismatch`].
    pub fn choose<N: Number>(&self, field: &[N]) -> Result<Self, Error> {
        let parts: &[N::Part] = bytemuck::cast_slice(field);
        self.for_numbers::<N>()?.choose_from(parts, true)
    }

    /// As [`Compressor::choose`], for streams that have no mask, as those of fields in parts: codecs that would need one for
    /// what is kept of the field are left out.
    ///
    /// # Errors
    ///
    /// As [`Compressor::choose`].
    pub fn choose_without_mask<V: Value>(&self, field: &[V]) -> Result<Self, Error> {
        self.choose_from(field, false)
    }

    fn choose_from<V: Value>(&self, field: &[V], has_masks: bool) -> Result<Self, Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(choose: fn(&Compressor, &[W], bool) -> Result<Compressor, Error> = Compressor::choose_from_of);
            choose()(self, bytemuck::cast_slice(field), has_masks)
        })
    }

    fn choose_from_of<V: Value>(&self, field: &[V], has_masks: bool) -> Result<Self, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(request) = self.request(&extents)? else {
            return Ok(*self);
        };
        let request = Request {
            has_masks,
            ..request
        };
        let (coder, coded, request) = self.prepared(request, field)?;
        let mapping = coder.value_mapping(V::Coded::DTYPE)?;
        let (chosen, _) = choose::choose_for(coder.bound, &mapping, self.copies, &request, &coded)?;
        Ok(self.with_chosen(chosen))
    }

    /// The coded field of a field, the compressor for it, and what to choose from for it.
    fn prepared<'a, V: Value>(
        &self,
        request: Request,
        field: &'a [V],
    ) -> Result<(Self, Coded<'a, V::Coded>, Request), Error> {
        let Converted {
            conversion,
            coder,
            coded,
        } = self.convert(field)?;
        let request = coder.request_of(request, &conversion, V::Coded::DTYPE);
        Ok((coder, coded, request))
    }

    /// Whether the stream of a field is predicted to be shorter than that of another compressor.
    pub(super) fn is_shorter<V: Value>(&self, other: &Self, field: &[V]) -> bool {
        let bytes = |it: &Self| it.predicted_bytes(field);
        // What fails here fails in the compression, too.
        matches!((bytes(self), bytes(other)), (Ok(own), Ok(other)) if own < other)
    }

    /// The predicted bytes of chunk table, payload and mask.
    fn predicted_bytes<V: Value>(&self, field: &[V]) -> Result<u128, Error> {
        with_value!(V::TYPE, W => {
            compiled_here!(predicted: fn(&Compressor, &[W]) -> Result<u128, Error> = Compressor::predicted_bytes_of);
            predicted()(self, bytemuck::cast_slice(field))
        })
    }

    fn predicted_bytes_of<V: Value>(&self, field: &[V]) -> Result<u128, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let open = Self {
            choice: self.preset().unwrap_or_default().into(),
            ..*self
        };
        let mut request = open.request(&extents)?.ok_or(Error::NotChosen)?;
        if let Some(codec) = self.named() {
            // A field of few dimensions may have another codec than the one that was named.
            let coded = self.coded_extents(&extents)?;
            request.codecs = choose::only(self.layout_of(codec, coded).codec);
            request.keeping = Keeping::NONE;
        }
        let (coder, coded, request) = self.prepared(request, field)?;
        let mapping = coder.value_mapping(V::Coded::DTYPE)?;
        choose::predicted_bytes(coder.bound, &mapping, self.copies, &request, &coded)
    }

    /// As [`Compressor::choose`] for a coded field, and the bound to compress it with: if the choice has resolved one that is
    /// relative, the absolute one that it is, so that the extremes of the field are searched once.
    pub(super) fn choose_on_coded<T: Element>(
        &self,
        conversion: &Conversion,
        field: &[T],
    ) -> Result<(Self, Bound), Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let Some(request) = self.request(&extents)? else {
            return Ok((*self, self.bound));
        };
        let request = self.request_of(request, conversion, T::DTYPE);
        let mapping = self.value_mapping(T::DTYPE)?;
        let (chosen, error) =
            choose::choose_for(self.bound, &mapping, self.copies, &request, field)?;
        // Zeros that the mask has do not count in the extremes.
        let bound = match self.bound.needs_extremes() && !chosen.keep.zeros {
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

    /// What to choose from for a field of these extents; none if codec, rank and axes are chosen.
    pub(crate) fn request(&self, extents: &Extents) -> Result<Option<Request>, Error> {
        self.coded_extents(extents)?;
        if self.codec().is_some() && !self.has_open_parts() {
            return Ok(None);
        }
        let open = Request {
            codecs: self.codecs(),
            is_named: false,
            tightening: self.tightening(),
            shape: self.shape,
            open_shape: self.shape.is_none(),
            extents: *extents,
            axes: self.axes_for(extents),
            turns: self.given_axes().is_none(),
            is_complex: self.is_complex(),
            interleaves: self.has_open_parts(),
            chunk: self.chunk,
            keeping: self.keeping,
            has_masks: true,
        };
        Ok(Some(match self.named() {
            None => open,
            // The axes alone are open.
            Some(codec) => {
                let layout = self.layout_of(codec, self.coded_extents(extents)?);
                Request {
                    turns: self.searches_axes(),
                    codecs: choose::only(layout.codec),
                    is_named: true,
                    shape: Some(layout.shape),
                    chunk: Some(layout.chunk),
                    keeping: Keeping::just(self.keeping.always),
                    ..open
                }
            }
        }))
    }

    /// The request for a field that is converted so.
    pub(crate) fn request_of(
        &self,
        request: Request,
        conversion: &Conversion,
        dtype: Dtype,
    ) -> Request {
        let keeping = request.keeping.converted(conversion);
        // 0 is another number in a field that is shifted, so its signs and zeros are not seen there.
        let is_blind = conversion.kind() == Kind::Shifted && keeping != Keeping::NONE;
        Request {
            codecs: match is_blind {
                true => choose::by_themselves(request.codecs),
                false => request.codecs,
            },
            keeping,
            has_masks: request.has_masks && self.has_room_for_classes(dtype),
            ..request
        }
    }

    /// The same compressor with the codec, rank, axes, length of chunks and mask that were chosen.
    pub(crate) fn with_chosen(self, chosen: Chosen) -> Self {
        let Chosen { layout, axes, keep } = chosen;
        Self {
            keeping: Keeping::just(keep),
            choice: Choice::Codec(layout.codec),
            shape: Some(layout.shape),
            axes: axes.map(AxesSetting::Roles),
            chunk: Some(layout.chunk),
            ..self
        }
    }
}
