//! The kind of a record or a section.

use core::fmt;

/// The kind of a record or a section: four letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordKind(pub [u8; 4]);

impl RecordKind {
    /// The order of the axes: see [`crate::mapping::axes`].
    pub const AXES: Self = Self(*b"AXES");

    /// Complex numbers: see [`crate::mapping::axes::Order::is_complex`].
    pub const CPLX: Self = Self(*b"CPLX");

    /// The conversion of values: see [`crate::mapping::conversion`].
    pub const CONV: Self = Self(*b"CONV");

    /// Corrections: the section has a stream of them, whose record names the stream that they belong to. See
    /// [`crate::safeguard`].
    pub const CORR: Self = Self(*b"CORR");

    /// Values in place of decoded ones, in a section: see [`crate::safeguard`].
    pub const EXAC: Self = Self(*b"EXAC");

    /// The safeguards: see [`crate::safeguard`].
    pub const SAFE: Self = Self(*b"SAFE");

    /// The coded field has the coefficients of wavelets: see [`crate::mapping::wavelet`].
    pub const WAVE: Self = Self(*b"WAVE");

    /// The classes of the mask: see [`crate::mapping::mask`].
    pub const MASK: Self = Self(*b"MASK");

    /// Whether a reader that does not know the kind must refuse the stream.
    pub const fn is_critical(self) -> bool {
        self.0[0].is_ascii_uppercase()
    }

    /// Whether it is four letters, as all kinds are.
    pub fn is_letters(self) -> bool {
        self.0.iter().all(u8::is_ascii_alphabetic)
    }

    /// Whether a reader that knows these kinds may read the stream.
    pub fn is_known(self, known: &[Self]) -> bool {
        !self.is_critical() || known.contains(&self)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|letter| write!(f, "{}", letter.escape_ascii()))
    }
}
