//! Fields of complex numbers: real ones whose last axis has the real and the imaginary parts.

use crate::axes_setting::AxesSetting;
use crate::choose;
use crate::compress::Compressor;
use crate::error::Error;
use crate::number::Number;
use ferrosz_codec::ValueType;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::axes::{Axes, PARTS};

impl Compressor {
    /// Says that the values are the parts of complex numbers: `f32` or `f64`, and along the last axis, of length 2, the real
    /// and the imaginary part. The stream says so, too. Extents have this axis; without extents the field is a line of pairs.
    /// [`Compressor::compress`] of [`Complex`](crate::Complex) numbers does not need this call.
    ///
    /// Each part keeps the bound. The range and the largest value of a relative bound are those of all parts, and
    /// [`Bound::pwrel`](crate::Bound::pwrel) is relative to each part.
    ///
    /// Real parts are coded apart from imaginary ones, as slices, unless the axes are set. In host memory a sample decides
    /// whether pairs of neighbours are shorter.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Complex, Compressor, Decompressor, Preset};
    ///
    /// let phases = (0..6000).map(|i| i as f32 * 0.01);
    /// let wave: Vec<_> = phases.map(|x| Complex::new(x.cos(), x.sin())).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(1e-3)?);
    /// let stream = compressor.extents(&[60, 100])?.compress(&wave)?;
    /// let parts = compressor.extents(&[60, 100, 2])?.complex().compress(Complex::parts(&wave))?;
    /// assert_eq!(stream, parts);
    /// let back: Vec<Complex<f32>> = Decompressor::new().decompress(&stream)?;
    /// let error = |x: &Complex<f32>, y: &Complex<f32>| (x.re - y.re).abs().max((x.im - y.im).abs());
    /// assert!(wave.iter().zip(&back).all(|(x, y)| error(x, y) <= 1e-3));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn complex(self) -> Self {
        self.with_complex(true)
    }

    /// [`Compressor::complex`], or a compressor of real numbers.
    #[must_use]
    pub(crate) fn with_complex(self, is_complex: bool) -> Self {
        Self { is_complex, ..self }
    }

    /// Whether the values are the parts of complex numbers.
    pub fn is_complex(&self) -> bool {
        self.is_complex
    }

    /// The same compressor for the parts of numbers of a type. Of complex numbers the extents get the axis of the parts, unless
    /// they have it.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`] if there are eight axes already.
    pub(crate) fn for_numbers<N: Number>(self) -> Result<Self, Error> {
        if self.is_complex || !N::IS_COMPLEX {
            return Ok(self);
        }
        let Some(extents) = self.extents else {
            return Ok(self.complex());
        };
        let with_parts = [extents.lengths(), &[PARTS]].concat();
        Ok(self.extents(&with_parts)?.complex())
    }

    /// Whether it is open how the parts of complex numbers are coded.
    pub(crate) fn has_open_parts(&self) -> bool {
        self.is_complex && self.given_axes().is_none()
    }

    /// The axes that were given or chosen, or those that the parts of complex numbers take by default.
    pub(crate) fn axes_for(&self, extents: &Extents) -> Option<Axes> {
        match self.has_open_parts() {
            true => choose::axes::parts_apart(extents),
            false => self.given_axes(),
        }
    }

    /// The same compressor with pairs of neighbours, if this is open.
    pub(super) fn interleaved(&self, elements: u64) -> Result<Option<Self>, Error> {
        if !self.has_open_parts() {
            return Ok(None);
        }
        let axes = choose::axes::parts_last(&self.extents_for(elements)?);
        Ok(axes.map(|axes| Self {
            axes: Some(AxesSetting::Roles(axes)),
            ..*self
        }))
    }

    /// The extents from which the default shape of a coded field follows: those of the numbers, if their parts are slices.
    pub(super) fn extents_of_shape(&self, coded: Extents) -> Extents {
        let is_apart = self.has_open_parts() && !coded.roles().is_default();
        let numbers = coded.lengths().get(1..).filter(|_| is_apart);
        numbers.and_then(Extents::new).unwrap_or(coded)
    }

    /// Checks that values of a type can be parts of complex numbers, if they are.
    ///
    /// # Errors
    ///
    /// [`Error::ComplexOfType`].
    pub(crate) fn check_complex(&self, value_type: ValueType) -> Result<(), Error> {
        match self.is_complex && !value_type.is_coded_as_is() {
            true => Err(Error::ComplexOfType(value_type)),
            false => Ok(()),
        }
    }
}

/// The extents of a line of complex numbers with so many parts.
///
/// # Errors
///
/// [`Error::ComplexExtents`] if the number is odd.
pub(super) fn line(elements: u64) -> Result<Extents, Error> {
    let numbers = elements / PARTS;
    Extents::new(&[numbers, PARTS])
        .filter(|extents| extents.elements() == elements)
        .ok_or(Error::ComplexExtents(vec![elements]))
}
