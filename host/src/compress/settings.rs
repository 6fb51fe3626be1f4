//! The settings of a [`Compressor`], and the layout, mapping and device that they give a field of some length.

mod axes;
mod codec;
mod device;
mod fills;
mod keeping;
mod layout;
mod wavelets;
mod ways;

use crate::choice::Choice;
use crate::compress::Compressor;
use crate::device::Device;
use crate::fill::Fills;
use crate::keeping::Keeping;
use crate::scratch::Copies;
use crate::statistics::StatisticsPolicy;
use ferrosz_codec::safeguard::Safeguards;
use ferrosz_codec::{Bound, Preference};

impl Compressor {
    /// Compression within `bound` by a [`Preset`](crate::Preset) or a [`Codec`](crate::Codec).
    ///
    /// A preset chooses the codec, the rank of blocks or tiles, the length of chunks, and the roles of the axes, by the shortest stream that
    /// a sample of each field predicts. The choice depends only on the field, its extents and the bound.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Preset};
    ///
    /// let slope: Vec<f32> = (0..64 * 64).map(|i| (i / 64 + i % 64) as f32).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(0.1)?).extents(&[64, 64])?;
    /// let chosen = compressor.choose(&slope)?;
    /// assert_eq!((chosen.codec(), chosen.rank()), (Some(Codec::LORENZO_RANS), Some(2)));
    /// assert_eq!(chosen.compress(&slope)?, compressor.compress(&slope)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    pub fn new(choice: impl Into<Choice>, bound: Bound) -> Self {
        Self {
            choice: choice.into(),
            bound,
            shape: None,
            extents: None,
            fills: Fills::default(),
            keeping: Keeping::default(),
            rewritable: false,
            axes: None,
            is_complex: false,
            chunk: None,
            levels: 0,
            tightening: Preference::default().tightening(),
            wavelets: None,
            statistics_policy: StatisticsPolicy::default(),
            device: Device::default(),
            copies: Copies::default(),
            safeguards: Safeguards::default(),
        }
    }

    /// Keeps copies of the field in temporary files without names, if they have 64 MiB or more, in the folder of
    /// [`std::env::temp_dir`]. A field with fill values, another order of axes, logarithms or a conversion of its values is
    /// copied, up to once for each. [`Compressor::compress_seek`] and [`Compressor::compress_read`] do so without this call.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    ///
    /// let field: Vec<u16> = (0..6000).map(|i| 500 + i % 100).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::abs(2.0)?).bounded_memory();
    /// let chosen = compressor.choose(&field)?;
    /// assert_eq!(chosen.compress(&field)?, compressor.compress(&field)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn bounded_memory(mut self) -> Self {
        self.copies = Copies::InFiles;
        self
    }

    /// Puts statistics of the field into its stream: smallest and largest value and mean of groups of chunks, without missing
    /// values. They are a thousandth of the stream at most, or one group. See [`Statistics`](crate::stream::Statistics) and
    /// [`Decompressor::find`](crate::Decompressor::find). They are made on the CPU, in one more pass over the field.
    #[must_use]
    pub fn statistics(mut self, are_noted: bool) -> Self {
        self.statistics_policy = match are_noted {
            true => StatisticsPolicy::Always,
            false => StatisticsPolicy::Never,
        };
        self
    }

    /// As [`Compressor::statistics`], but only if they are a thousandth of the stream at most.
    #[must_use]
    pub fn small_statistics(mut self) -> Self {
        self.statistics_policy = StatisticsPolicy::IfSmall;
        self
    }

    /// The error bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// The same compressor with another error bound.
    #[must_use]
    pub fn with_bound(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }
}
