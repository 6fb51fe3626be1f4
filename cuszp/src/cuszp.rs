//! cuSZp's own byte streams: version 3 in one to three dimensions, and version 1.
//!
//! Such a stream has no header: its reader must give its [`Params`]. The stream is
//!
//! ```text
//! [ one rate byte a block ][ up to 3 zero bytes, in 2D and 3D ][ the blocks' bodies ]
//! ```
//!
//! It equals the streams of cuSZp (SC'23), cuSZp2 (SC'24) and cuSZp3 (SC'25) to the byte. The arithmetic is cuSZp's,
//! too, and exceeds the bound where cuSZp exceeds it: see [`Quantizer`]. [`Params::strict`] refuses the known failures.
//!
//! The modules below [`reference`](mod@reference) allocate nothing and serve GPU threads of 32
//! positions each: [`layout`] says which elements these are, [`quantizer`] gives their codes, and
//! [`rate`] a block's rate byte. Differences and bits are those of [`ferrosz_codec::predict::group`] and
//! [`ferrosz_codec::code::fixed_length`].

#[cfg(feature = "host")]
mod devices;
pub mod error;
pub mod layout;
pub mod quantizer;
pub mod rate;
#[cfg(feature = "host")]
pub mod reference;
pub mod strict;

#[cfg(feature = "host")]
pub use crate::cuszp::devices::{compress, compress_on, decompress, decompress_on};
pub use crate::cuszp::error::{CuszpError, RateFault, Refusal};
pub use crate::cuszp::layout::Layout;
pub use crate::cuszp::quantizer::Quantizer;

use ferrosz_codec::predict::Predictor;
use ferrosz_codec::{Dtype, Shape};

/// Blocks of one of cuSZp's thread blocks. The stream shows them only where the size that cuSZp returns
/// is wrong, and in the rate-32 anomaly.
#[inline(always)]
pub const fn chunk_blocks(shape: Shape, dtype: Dtype) -> u32 {
    match (shape, dtype) {
        (Shape::Line, _) | (_, Dtype::F64) => 1024,
        (_, Dtype::F32) => 512,
    }
}

/// The prediction and storage of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The codes themselves.
    Fixed,
    /// Differences of neighbours; in 1D this is cuSZp2-P.
    Plain,
    /// As plain, but a block's first difference is stored separately where that is shorter; in 1D this is cuSZp2-O.
    Outlier,
}

impl Mode {
    /// All modes, in the order of cuSZp's numbers for them since version 3.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Plain, Self::Outlier];

    /// The name on cuSZp's command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Plain => "plain",
            Self::Outlier => "outlier",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// The predictor of the codes.
    #[inline(always)]
    pub const fn predictor(self) -> Predictor {
        match self {
            Self::Fixed => Predictor::Zero,
            Self::Plain | Self::Outlier => Predictor::Difference,
        }
    }
}

/// The arrangement of a stream.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Of cuSZp 2 and 3.
    V3,
    /// Of cuSZp 1, which has only the plain mode in 1D.
    V1,
}

/// The parameters of a stream. The stream does not hold them; both sides must have the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params<T> {
    /// The shape of a block; the slices of planes are independent.
    pub shape: Shape,
    /// The prediction and storage of differences.
    pub mode: Mode,
    /// Lengths, slowest first; leading ones of an array with fewer dimensions are 1.
    pub dims: [u64; 3],
    /// The absolute error bound. cuSZp's command line and general API carry it in an `f32`, also
    /// for `f64` data: their streams are equal only to those with `f64::from(bound as f32)`.
    pub error: T,
    /// The arrangement of the stream.
    pub framing: Framing,
    /// Compression: refuse an array that cuSZp would not decompress, or not to values within the bound.
    /// A [`Refusal`] names the case.
    pub strict: bool,
    /// Decompression: read the up to 3 bytes at the end as zero that are missing in files saved
    /// with the size that cuSZp returns ([`CuszpError::TailMissing`]).
    pub allow_missing: bool,
}

impl<T> Params<T> {
    /// For a stream of version 3, neither strict nor with bytes allowed to be missing.
    pub const fn new(shape: Shape, mode: Mode, dims: [u64; 3], error: T) -> Self {
        Self {
            shape,
            mode,
            dims,
            error,
            framing: Framing::V3,
            strict: false,
            allow_missing: false,
        }
    }

    /// The positions of the elements.
    ///
    /// # Errors
    ///
    /// If there are too many, or the framing does not know the rank or mode.
    pub fn layout(&self) -> Result<Layout, CuszpError> {
        let is_v1 = self.framing == Framing::V1;
        if is_v1 && (self.shape != Shape::Line || self.mode != Mode::Plain) {
            return Err(CuszpError::V1IsPlain);
        }
        Layout::new(self.shape, self.framing, self.dims)
    }
}
