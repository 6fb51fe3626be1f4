//! Other compressors' own byte streams, without ferrosz's container.

pub mod aatrox;
pub mod cuszp;
pub(crate) mod kernels;

/// The first error in order, whoever finds his first; else all results.
fn in_order<T, E>(results: Vec<Result<T, E>>) -> Result<Vec<T>, E> {
    results.into_iter().collect()
}
