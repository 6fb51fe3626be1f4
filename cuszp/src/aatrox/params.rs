//! The parameters of a stream.

/// The parameters of a stream. The stream does not hold them; both sides must have the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params<T> {
    /// Number of elements.
    pub elements: u64,
    /// The absolute error bound.
    pub error: T,
}
