//! A stream compared with its original.

use crate::judge::{Judgement, judge};
use crate::missing;
use crate::numbers::numbers;
use crate::quality::{self, Class, Kept, Quality};
use crate::safeguards::{Broken, Pair};
use ferrosz::scratch::Copies;
use ferrosz::{Bound, BoundError, BoundMode, Error, Info, Safeguard, Value};

/// A stream compared with its original.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// In exact arithmetic.
    pub judgement: Judgement,
    /// In rounded sums.
    pub quality: Quality,
    /// The finite fill values. NaNs are among the values that are not finite.
    pub fills: Kept,
    /// The safeguards that are not kept.
    pub broken: Vec<Broken>,
}

/// What is said about an array and its decoded form.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Lengths of the array, slowest first.
    pub extents: Vec<u64>,
    /// The bound to judge by.
    pub bound: Bound,
    /// The absolute error that is promised; infinite if each value has its own.
    pub absolute_error: f64,
    /// The values of missing elements, which come back.
    pub fills: Vec<f64>,
    /// The safeguards.
    pub safeguards: Vec<Safeguard>,
    /// The bounds of values, if they are known.
    pub bounds: Option<Vec<f64>>,
}

impl Claim {
    /// What a stream says about itself.
    ///
    /// # Errors
    ///
    /// The error of a bound that cannot be used.
    pub fn of(info: &Info) -> Result<Self, Error> {
        Ok(Self {
            extents: info.extents.clone(),
            bound: bound_of(info)?,
            absolute_error: info.absolute_error,
            fills: info.fills.clone(),
            safeguards: info.safeguards.clone(),
            bounds: None,
        })
    }
}

impl Comparison {
    /// Compares an array with the one that a stream, which says this about itself, was decoded to.
    ///
    /// ```
    /// use ferrosz::{Bound, Compressor, Decompressor, Preset};
    /// use ferrosz_verify::Comparison;
    ///
    /// let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).extents(&[60, 100])?;
    /// let stream = compressor.compress(&field)?;
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// let found = Comparison::new(&field, &decoded, &ferrosz::info(&stream)?)?;
    /// assert!(found.judgement.is_kept());
    /// assert!(found.judgement.psnr() > 60.0);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`] if an array has another number of elements than the stream; the error of a bound that
    /// cannot be used, or of a copy of an array.
    pub fn new<V: Value>(original: &[V], decoded: &[V], info: &Info) -> Result<Self, Error> {
        Self::of_claim(original, decoded, &Claim::of(info)?)
    }

    /// Compares an array with the one that a stream was decoded to, where the stream says nothing about itself.
    ///
    /// # Errors
    ///
    /// As [`Comparison::new`].
    pub fn of_claim<V: Value>(original: &[V], decoded: &[V], claim: &Claim) -> Result<Self, Error> {
        for array in [original, decoded] {
            check_length(array.len() as u64, &claim.extents)?;
        }
        let broken = Pair {
            original,
            decoded,
            extents: &claim.extents,
            fills: &claim.fills,
        }
        .broken(&claim.safeguards, claim.bounds.as_deref())?;
        let (mut array, mut decoded) = (numbers(original)?, numbers(decoded)?);
        let mut fills = Kept { count: 0, kept: 0 };
        if claim.fills.iter().any(|fill| fill.is_finite()) {
            let (array, decoded) = (
                array.to_mut(Copies::InFiles)?,
                decoded.to_mut(Copies::InFiles)?,
            );
            fills = missing::remove(&claim.fills, array, decoded);
        }
        let decoded = &decoded[..];
        let judgement = judge(&array, decoded, claim.bound, claim.absolute_error);
        let mut quality =
            quality::measure(&array, decoded, &claim.extents, judgement.largest_error);
        // Finite fill values became NaNs, and are a class of their own.
        for (_, nans) in (quality.classes.iter_mut()).filter(|(class, _)| *class == Class::Nan) {
            nans.count -= fills.count;
            nans.kept -= fills.kept;
        }
        Ok(Self {
            judgement,
            quality,
            fills,
            broken,
        })
    }

    /// Whether the bound, the promise of the stream and its safeguards are kept.
    pub fn is_kept(&self) -> bool {
        self.judgement.is_kept() && self.broken.is_empty()
    }

    /// The RMSE over the range; none if the range is 0.
    pub fn nrmse(&self) -> Option<f64> {
        let range = self.judgement.range;
        (range > 0.0).then(|| self.quality.rmse / range)
    }

    /// The largest error divided by the error that the stream promises.
    pub fn largest_over_promise(&self, info: &Info) -> f64 {
        match info.bound.mode() == BoundMode::Pwrel && !info.is_lossless() {
            true => self.quality.largest_relative_error / info.bound.value(),
            false => self.judgement.largest_over_promise(),
        }
    }
}

fn check_length(elements: u64, extents: &[u64]) -> Result<(), Error> {
    let product = extents.iter().product();
    match elements == product {
        true => Ok(()),
        false => Err(Error::ExtentsMismatch {
            extents: extents.to_vec(),
            product,
            elements,
        }),
    }
}

/// The bound to judge by. An update may change the range or the maximum that a relative bound was resolved with; for an
/// updated stream it is therefore the absolute error, which updates preserve.
fn bound_of(info: &Info) -> Result<Bound, BoundError> {
    match info.update_bytes {
        0 => Ok(info.bound),
        _ if !info.bound.needs_extremes() => Ok(info.bound),
        _ => Bound::abs(info.absolute_error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz::{Codec, Compressor};

    #[test]
    fn arrays_of_other_lengths_are_refused() {
        let field: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.25).unwrap());
        let info = ferrosz::info(&compressor.compress(&field).unwrap()).unwrap();
        assert!(Comparison::new(&field, &field, &info).is_ok());
        for (original, decoded) in [(&field[..99], &field[..]), (&field[..], &field[..99])] {
            let found = Comparison::new(original, decoded, &info);
            assert!(
                matches!(found, Err(Error::ExtentsMismatch { elements: 99, .. })),
                "{found:?}"
            );
        }
    }
}
