//! The kind of a record.

use core::fmt;

/// The kind of a record: four letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordKind(pub [u8; 4]);

impl RecordKind {
    /// The order of the axes: see [`crate::mapping::axes`].
    pub const AXES: Self = Self(*b"AXES");

    /// Complex numbers: see [`crate::mapping::axes::Order::is_complex`].
    pub const CPLX: Self = Self(*b"CPLX");

    /// The conversion of values: see [`crate::mapping::conversion`].
    pub const CONV: Self = Self(*b"CONV");

    /// The classes of the mask: see [`crate::mapping::mask`].
    pub const MASK: Self = Self(*b"MASK");

    /// Whether a reader that does not know the kind must refuse the stream.
    pub const fn is_critical(self) -> bool {
        self.0[0].is_ascii_uppercase()
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|letter| write!(f, "{}", letter.escape_ascii()))
    }
}
