//! A stream of one format or the other.

use crate::{aatrox, cuszp};

/// The format and the parameters of a stream without a header. Both sides must know them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bare<T> {
    /// A stream of cuSZp's.
    Cuszp(cuszp::Params<T>),
    /// A bare stream of AATROX's.
    Aatrox(aatrox::Params<T>),
}

impl<T> From<cuszp::Params<T>> for Bare<T> {
    fn from(params: cuszp::Params<T>) -> Self {
        Self::Cuszp(params)
    }
}

impl<T> From<aatrox::Params<T>> for Bare<T> {
    fn from(params: aatrox::Params<T>) -> Self {
        Self::Aatrox(params)
    }
}
