//! A stream of one format or the other.

use crate::aatrox::params::Params as AatroxParams;
use crate::cuszp::params::Params as CuszpParams;

/// The format and the parameters of a stream without a header. Both sides must know them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bare<T> {
    /// A stream of cuSZp's.
    Cuszp(CuszpParams<T>),
    /// A bare stream of AATROX's.
    Aatrox(AatroxParams<T>),
}

impl<T> From<CuszpParams<T>> for Bare<T> {
    fn from(params: CuszpParams<T>) -> Self {
        Self::Cuszp(params)
    }
}

impl<T> From<AatroxParams<T>> for Bare<T> {
    fn from(params: AatroxParams<T>) -> Self {
        Self::Aatrox(params)
    }
}
