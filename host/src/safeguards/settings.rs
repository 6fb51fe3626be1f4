//! Safeguards as settings of a compressor.

use crate::compress::Compressor;
use crate::error::Error;
use crate::progress::{Reporting, SILENT};
use ferrosz_codec::safeguard::{MOST_EXEMPT, Safeguard, Safeguards};
use ferrosz_codec::{Bound, Codec, Value, ValueType};

impl Compressor {
    /// Adds a promise about each value, beside the bound. Fill values and values that are not finite are not touched.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset, Safeguard};
    ///
    /// let field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(0.1)?);
    /// let compressor = compressor.safeguard(Safeguard::KeepAbove(0.5))?;
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&compressor.compress(&field)?)?;
    /// assert!(field.iter().zip(&decoded).all(|(x, y)| (*x >= 0.5) == (*y >= 0.5)));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::BadSafeguard`] if a number of it cannot be one, there is one of its kind that cannot be there twice, or there
    /// are too many.
    pub fn safeguard(mut self, safeguard: Safeguard) -> Result<Self, Error> {
        let with = self.safeguards.with(safeguard);
        self.safeguards = with.ok_or(Error::BadSafeguard(safeguard))?;
        Ok(self)
    }

    /// The compressor with a bound for each value, beside the bound of all: the absolute error of value number i is at most
    /// `bounds[i]`. The bounds are not in the stream. They are not negative; infinity is none.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    ///
    /// let field: Vec<f32> = (0..9000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let bounds: Vec<f64> = (0..9000).map(|i| if i < 100 { 0.0 } else { 0.1 }).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(0.1)?);
    /// let stream = compressor.bounds_of_values(&bounds).compress(&field)?;
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert_eq!(field[..100], decoded[..100]);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn bounds_of_values<'p>(&self, bounds: &'p [f64]) -> Reporting<'p, Self> {
        Reporting {
            calls: *self,
            progress: SILENT,
            bounds: Some(bounds),
        }
    }

    /// An upper bound on the bytes that safeguards add to a stream; 0 without any.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`].
    pub(crate) fn most_bytes_of_safeguards(
        &self,
        elements: u64,
        value_type: ValueType,
    ) -> Result<u64, Error> {
        if self.safeguards.is_empty() {
            return Ok(0);
        }
        let too_large = Error::TooLarge {
            elements,
            dtype: value_type,
        };
        let coder = Self::new(Codec::LORENZO_RANS, Bound::default());
        let corrections = coder.max_compressed_len(elements, ValueType::I16)?;
        // A run for each value that replaces a decoded one.
        let replaced = elements.checked_mul(16 + value_type.bytes() as u64);
        let most = replaced.and_then(|bytes| bytes.checked_add(corrections));
        // The record, the heads of sections, and padding.
        most.and_then(|bytes| bytes.checked_add(2048))
            .ok_or(too_large)
    }

    /// Whether streams have safeguards.
    pub fn has_safeguards(&self) -> bool {
        !self.safeguards.is_empty()
    }

    /// The safeguards of the stream of values of a type, whose limits are values of the type.
    ///
    /// # Errors
    ///
    /// [`Error::BadSafeguard`]; [`Error::FillOfOtherType`].
    pub(super) fn safeguards_of<V: Value>(&self, has_bounds: bool) -> Result<Safeguards, Error> {
        let mut safeguards = self.safeguards;
        if has_bounds {
            safeguards = safeguards.with_bounds();
        }
        let [low, high] = safeguards.limits();
        let limits = [up::<V>(low), -up::<V>(-high)];
        if limits[0] > limits[1] {
            return Err(Error::BadSafeguard(Safeguard::Limits(low, high)));
        }
        safeguards = safeguards.with_limits(limits);
        for bits in self.missing::<V>()? {
            if !V::from_value_bits(bits).to_number().is_nan() {
                let with = safeguards.with_exempt(bits);
                safeguards = with.ok_or(Error::TooManyFills(MOST_EXEMPT + 1))?;
            }
        }
        Ok(safeguards)
    }
}

/// The least number of a type that is not less than a number; the number itself if it is infinite.
fn up<V: Value>(number: f64) -> f64 {
    if !number.is_finite() {
        return number;
    }
    if V::TYPE.is_integer() {
        return number.ceil();
    }
    let Some(nearest) = V::from_number(number) else {
        return number;
    };
    let found = nearest.to_number();
    if found >= number {
        return found;
    }
    // The neighbour above: its magnitude is the next one, or the one before of negative numbers.
    let bits = nearest.to_value_bits();
    let next = match found < 0.0 {
        true => bits - 1,
        false => bits + 1,
    };
    V::from_value_bits(next).to_number()
}
