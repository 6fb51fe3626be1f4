//! ferrosz on the ranks of MPI: each compresses its box of a field, and together they write one file, with the bytes that
//! one process would write.
//!
//! ```no_run
//! use ferrosz::{Bound, Codec, Compressor};
//! use mpi::traits::*;
//!
//! let universe = mpi::initialize().ok_or("MPI was initialised before")?;
//! let world = universe.world();
//! // Each rank has a slab of a field of 64 x 100 x 100.
//! let (rank, size) = (world.rank() as u64, world.size() as u64);
//! let own = [64 * rank / size..64 * (rank + 1) / size, 0..100, 0..100];
//! let values = vec![rank as f32; 10_000 * (own[0].end - own[0].start) as usize];
//!
//! let compressor = Compressor::new(Codec::INTERP, Bound::range(1e-3)?).extents(&[64, 100, 100])?;
//! let length = ferrosz_mpi::compress_part(&compressor, &world, "field.fsz".as_ref(), &own, &values)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod ranks;

pub use ranks::Ranks;

use ferrosz::{Compressor, Error, Value};
use mpi::traits::Communicator;
use std::ops::Range;
use std::path::Path;

/// Compresses the part of a field that this rank has. All ranks of the communicator call it, and together they write one
/// file. Returns its length. See [`Compressor::compress_part`].
///
/// The file is opened, and emptied, when all ranks have compressed their parts. Its header is written last: if a rank dies, the
/// file is no stream.
///
/// # Errors
///
/// Those of [`Compressor::compress_part`]; an error of one rank is an error of all. Errors of the communicator end the program,
/// unless it has another error handler.
pub fn compress_part<V: Value>(
    compressor: &Compressor,
    comm: &impl Communicator,
    path: &Path,
    own: &[Range<u64>],
    values: &[V],
) -> Result<u64, Error> {
    compressor.compress_part(&Ranks::new(comm, path), own, values)
}
