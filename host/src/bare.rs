//! Other compressors' own byte streams, without ferrosz's container: on the CPU, in parallel.

pub mod aatrox;
pub mod cuszp;

/// The first error in order, whoever finds his first; else all results.
fn in_order<T, E>(results: Vec<Result<T, E>>) -> Result<Vec<T>, E> {
    results.into_iter().collect()
}
