//! What a plan asks of a machine that runs kernels: memory, copies, launches.

#[cfg(feature = "cuda")]
mod code;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "emulator")]
pub mod emulator;
#[cfg(feature = "cuda")]
pub(crate) mod recorder;

use crate::error::Error;
use ferrosz_gpu_kernels::primitives::put::{self, Put, PutParams};
use ferrosz_simt::{Kernel, View};

/// Puts words at the start of a view that has room for them, at most [`put::MAX_WORDS`], as a launch: they are part of a
/// captured graph.
///
/// # Errors
///
/// The machine's own.
pub fn put<E: Executor>(executor: &E, words: &[u32], to: View<u32>) -> Result<(), Error> {
    let mut params = PutParams {
        to: to.first(words.len() as u64),
        words: [0; put::MAX_WORDS],
    };
    params.words[..words.len()].copy_from_slice(words);
    executor.launch::<Put>(1, &params)
}

/// A machine that runs kernels. Work is done in the order in which it is asked for; only
/// [`Executor::download`] waits for it.
pub trait Executor {
    /// Memory of the machine.
    type Memory;

    /// Memory of at least `bytes` bytes, 16-byte aligned, with anything in it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] or the machine's own.
    fn allocate(&self, bytes: u64) -> Result<Self::Memory, Error>;

    /// A view of all of some memory, as items of type `W`. It must not outlive the memory, which
    /// launched kernels may still use.
    fn view<W>(&self, memory: &Self::Memory) -> View<W>;

    /// Sets all cells to 0.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn clear(&self, cells: View<u64>) -> Result<(), Error>;

    /// Copies bytes to the start of a view that has room for them. Not for calls that can be captured in a graph: it
    /// would read the bytes again when they are gone. See [`put`].
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn upload(&self, bytes: &[u8], to: View<u32>) -> Result<(), Error>;

    /// Copies bytes from byte `from` of a view that holds them, once all work before is done.
    ///
    /// # Errors
    ///
    /// The machine's own, those of the work before among them.
    fn download<W>(&self, view: View<W>, from: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// Runs a kernel with so many blocks, at least one.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn launch<K: Kernel>(&self, blocks: u32, params: &K::Params) -> Result<(), Error>;

    /// Runs a kernel whose blocks take so many tasks, at least one, until none is left: with as many
    /// blocks as the machine runs at once, and no more than there are tasks.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn launch_over<K: Kernel>(&self, tasks: u32, params: &K::Params) -> Result<(), Error>;
}
