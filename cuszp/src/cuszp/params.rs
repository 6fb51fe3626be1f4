//! The parameters of a stream.

use crate::cuszp::error::CuszpError;
use crate::cuszp::framing::Framing;
use crate::cuszp::layout::Layout;
use crate::cuszp::mode::Mode;
use ferrosz_codec::Shape;

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
    /// A [`Refusal`](crate::cuszp::Refusal) names the case.
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

    /// For an array of one to three lengths, slowest first. Blocks have as many dimensions; those of version 1 have one.
    ///
    /// # Errors
    ///
    /// [`CuszpError::Dimensions`].
    pub fn of_array(
        extents: &[u64],
        framing: Framing,
        mode: Mode,
        error: T,
    ) -> Result<Self, CuszpError> {
        let (shape, dims) = match *extents {
            [x] => (Shape::Line, [1, 1, x]),
            [y, x] => (Shape::Plane, [1, y, x]),
            [z, y, x] => (Shape::Cube, [z, y, x]),
            _ => {
                let found = extents.len();
                return Err(CuszpError::Dimensions { found });
            }
        };
        let shape = match framing {
            Framing::V1 => Shape::Line,
            Framing::V3 => shape,
        };
        Ok(Self {
            framing,
            ..Self::new(shape, mode, dims, error)
        })
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
