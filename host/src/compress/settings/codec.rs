//! The codec, or the codecs that a preset may choose, and the bounds of their levels.

use crate::choice::Choice;
use crate::choose;
use crate::compress::Compressor;
use crate::error::Error;
use crate::tolerance::Tolerance;
use ferrosz_codec::predict::interp::parameters::Tightening;
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::{Bound, Codec, Preference, Preset};

impl Compressor {
    /// Takes only codecs whose decoded values come back as they are when they are compressed again with the same absolute
    /// bound. So errors never add up where an array is written in parts, or copied by programs that decode and encode it: its
    /// values stay within the bound of the original ones. A preset then chooses among the codecs without splines.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(1e-3)?).rewritable()?;
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&field)?)?;
    /// let again: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&decoded)?)?;
    /// assert_eq!(decoded, again);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotRewritable`] if a codec was given that has splines; [`Error::NoLevels`] if quality is preferred.
    pub fn rewritable(mut self) -> Result<Self, Error> {
        match self.named().filter(|codec| !codec.keeps_signs_and_zeros()) {
            Some(codec) => Err(Error::NotRewritable(codec)),
            None => {
                self.rewritable = true;
                self.checked()
            }
        }
    }

    /// Sets the preference: few bytes, or small errors besides the largest one. It is for codecs that predict level by level,
    /// each level with a bound of its own. With [`Preference::Quality`] the coarse levels, on which the errors of all values
    /// depend, have the bounds of Eq. 2 in the paper of cuSZ-i, by the ratio of the bound to the range of the values, and at
    /// least a quarter of the field's bound. So the PSNR at the same bound is higher, and streams are mostly longer
    /// ([measured](https://github.com/ferrosz/ferrosz/blob/main/docs/measurements/quality.md)). No value is off by more than
    /// the bound.
    ///
    /// A preset chooses the shortest stream as before, in which codecs with levels have these bounds. If it chooses another
    /// codec, there are no levels, and the preference changes nothing.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Preference};
    ///
    /// let field: Vec<f32> = (0..96 * 96).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let compressor = Compressor::new(Codec::INTERP, Bound::abs(0.02)?).extents(&[96, 96])?;
    /// let squares = |preference| {
    ///     let stream = compressor.prefer(preference)?.compress(&field)?;
    ///     let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    ///     Ok::<f32, ferrosz::Error>(field.iter().zip(&decoded).map(|(x, y)| (x - y) * (x - y)).sum())
    /// };
    /// assert!(squares(Preference::Quality)? < squares(Preference::Ratio)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoLevels`] for [`Preference::Quality`] if neither the codec nor any codec of the preset has levels.
    pub fn prefer(mut self, preference: Preference) -> Result<Self, Error> {
        self.tightening = preference.tightening();
        self.checked()
    }

    /// The compressor, if it has levels where bounds of levels are wished for, or levels that are coded apart.
    pub(in crate::compress) fn checked(self) -> Result<Self, Error> {
        let needs_levels =
            self.levels() > 0 || self.tightening != Preference::default().tightening();
        match !needs_levels || self.has_levels() {
            true if self.rewritable && self.has_wavelets() => {
                Err(Error::NotRewritable(Codec::DIRECT_RANS))
            }
            true => Ok(self),
            false => Err(Error::NoLevels(self.choice)),
        }
    }

    fn has_levels(&self) -> bool {
        self.codecs().iter().any(|codec| codec.has_levels())
    }

    /// The same compressor with these bounds of levels; a preset then chooses among the codecs with levels. None if it has no
    /// such codecs.
    pub(crate) fn with_levels(mut self, tightening: Tightening) -> Option<Self> {
        self.tightening = TighteningChoice::Given(tightening);
        self.has_levels().then_some(self)
    }

    /// The compressor with the codec, shape and levels' bounds of another one.
    pub(crate) fn like(self, other: &Self) -> Self {
        Self {
            choice: other.choice,
            shape: other.shape,
            tightening: other.tightening,
            ..self
        }
    }

    /// The codec; none if it, or the order of the axes, is not yet chosen.
    pub fn codec(&self) -> Option<Codec> {
        self.named().filter(|_| !self.searches_axes())
    }

    /// The codec that was given or chosen, whether the axes are chosen or not.
    pub(crate) fn named(&self) -> Option<Codec> {
        match self.choice {
            Choice::Codec(codec) => Some(codec),
            Choice::Preset(_) => None,
        }
    }

    /// The codecs that may be chosen.
    pub(in crate::compress) fn codecs(&self) -> &'static [Codec] {
        match self.choice {
            Choice::Codec(codec) => choose::only(codec),
            Choice::Preset(preset) if self.rewritable => choose::by_themselves(preset.codecs()),
            Choice::Preset(preset)
                if self.levels() > 0 || matches!(self.tightening, TighteningChoice::Given(_)) =>
            {
                choose::with_levels(preset.codecs())
            }
            Choice::Preset(preset) => preset.codecs(),
        }
    }

    /// The choice of the levels' bounds. Of a codec without levels it is the default one, for which nothing must be known.
    pub(crate) fn tightening(&self) -> TighteningChoice {
        match self.named().is_none_or(Codec::has_levels) {
            true => self.tightening,
            false => Preference::default().tightening(),
        }
    }

    /// The tolerance with a bound of the coded field.
    pub(crate) fn tolerance(&self, bound: Bound) -> Tolerance {
        Tolerance {
            bound,
            tightening: self.tightening(),
        }
    }

    /// The preset that will choose the codec; none if a codec was given or is chosen.
    pub fn preset(&self) -> Option<Preset> {
        match self.choice {
            Choice::Codec(_) => None,
            Choice::Preset(preset) => Some(preset),
        }
    }
}
