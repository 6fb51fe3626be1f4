//! Calls that report how far they are.

use crate::compress::Compressor;
use crate::cpu::{Progress, Version};
use crate::damage::Damage;
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::number::Number;
use crate::part::Part;
use ferrosz_codec::Value;
use std::io::{Seek, Write};

/// A compressor or a decompressor whose calls report how far they are: see [`Compressor::progress`] and
/// [`Decompressor::progress`]. Each method does what the one of the same name without reports does.
#[derive(Clone, Copy)]
pub struct Reporting<'p, C> {
    pub(crate) calls: C,
    pub(crate) progress: Progress<'p>,
    /// The bounds of a compressor's values.
    pub(crate) bounds: Option<&'p [f64]>,
}

/// For calls without reports.
pub(crate) const SILENT: Progress<'static> = &|_| {};

impl Compressor {
    /// The compressor with reports: its calls call `report` from time to time, on any thread, with the number of elements done
    /// since the last report.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let (field, done) = ([1.5f32; 5000], AtomicU64::new(0));
    /// let compressor = Compressor::new(Preset::Fast, Bound::abs(0.1)?);
    /// let report = |more| drop(done.fetch_add(more, Ordering::Relaxed));
    /// let stream = compressor.progress(&report).compress(&field)?;
    /// assert_eq!(stream, compressor.compress(&field)?);
    /// assert_eq!(done.into_inner(), 5000);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn progress<'p>(&self, report: &'p (dyn Fn(u64) + Sync)) -> Reporting<'p, Self> {
        Reporting {
            calls: *self,
            progress: report,
            bounds: None,
        }
    }
}

impl<'p> Reporting<'p, Compressor> {
    /// The same calls with bounds of values: see [`Compressor::bounds_of_values`].
    #[must_use]
    pub fn bounds_of_values(self, bounds: &'p [f64]) -> Self {
        Self {
            bounds: Some(bounds),
            ..self
        }
    }

    /// [`Compressor::compress`].
    ///
    /// # Errors
    ///
    /// Those of [`Compressor::compress`].
    pub fn compress<N: Number>(&self, field: &[N]) -> Result<Vec<u8>, Error> {
        let mut stream = Vec::new();
        let Self {
            calls,
            progress,
            bounds,
        } = *self;
        let field: &[N::Part] = bytemuck::cast_slice(field);
        let calls = calls.for_numbers::<N>()?;
        calls.run_bounded(Version::best(), (field, bounds), &mut stream, progress)?;
        Ok(stream)
    }

    /// [`Compressor::compress_seek`].
    ///
    /// # Errors
    ///
    /// Those of [`Compressor::compress_seek`].
    pub fn compress_seek<N: Number>(
        &self,
        field: &[N],
        writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        (self.calls).write_stream((field, self.bounds), writer, self.progress)
    }
}

impl Decompressor {
    /// The decompressor with reports, as those of [`Compressor::progress`].
    pub fn progress<'p>(&self, report: &'p (dyn Fn(u64) + Sync)) -> Reporting<'p, Self> {
        Reporting {
            calls: *self,
            progress: report,
            bounds: None,
        }
    }
}

impl Reporting<'_, Decompressor> {
    /// [`Decompressor::decompress`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::decompress`].
    pub fn decompress<N: Number>(&self, stream: &[u8]) -> Result<Vec<N>, Error> {
        self.calls.values_of(stream, None, self.progress)
    }

    /// [`Decompressor::decompress_part`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::decompress_part`].
    pub fn decompress_part<N: Number>(&self, stream: &[u8], part: &Part) -> Result<Vec<N>, Error> {
        self.calls.values_of(stream, Some(part), self.progress)
    }

    /// [`Decompressor::decompress_into`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::decompress_into`].
    pub fn decompress_into<N: Number>(&self, stream: &[u8], out: &mut [N]) -> Result<usize, Error> {
        self.calls.values_into(stream, None, out, self.progress)
    }

    /// [`Decompressor::decompress_part_into`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::decompress_part_into`].
    pub fn decompress_part_into<N: Number>(
        &self,
        stream: &[u8],
        part: &Part,
        out: &mut [N],
    ) -> Result<usize, Error> {
        (self.calls).values_into(stream, Some(part), out, self.progress)
    }

    /// [`Decompressor::decompress_seek`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::decompress_seek`].
    pub fn decompress_seek<V: Value>(
        &self,
        stream: &[u8],
        writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        self.calls.write_values::<V>(stream, writer, self.progress)
    }

    /// [`Decompressor::salvage`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::salvage`].
    pub fn salvage<V: Value>(&self, stream: &[u8]) -> Result<(Vec<V>, Vec<Damage>), Error> {
        self.calls.salvaged(stream, self.progress)
    }

    /// [`Decompressor::check`].
    ///
    /// # Errors
    ///
    /// Those of [`Decompressor::check`].
    pub fn check(&self, stream: &[u8]) -> Result<Vec<Damage>, Error> {
        self.calls.checked(stream, self.progress)
    }
}
