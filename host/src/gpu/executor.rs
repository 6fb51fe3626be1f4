//! The operations of a machine that runs kernels: memory, copies, launches.

#[cfg(feature = "cuda")]
mod code;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "emulator")]
pub mod emulator;
#[cfg(feature = "cuda")]
pub(crate) mod pinned;
#[cfg(feature = "cuda")]
pub mod pool;
#[cfg(feature = "cuda")]
pub(crate) mod recorder;

use crate::error::Error;
use ferrosz_codec::Element;
use ferrosz_gpu_kernels::primitives::put::{self, Put, PutParams};
use ferrosz_simt::{Kernel, Launch, Package, View};
use std::any::Any;

/// Writes words to the start of a view of at least as many, at most [`put::MAX_WORDS`], with a launch, so that the
/// words are part of a captured graph.
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

/// The blocks of a launch: one for each task, such as a chunk.
///
/// # Errors
///
/// [`Error::TooLarge`].
pub fn blocks_of<T: Element>(tasks: u64, elements: u64) -> Result<u32, Error> {
    i32::try_from(tasks)
        .map(i32::cast_unsigned)
        .map_err(|_| Error::TooLarge {
            elements,
            dtype: T::TYPE,
        })
}

/// Bytes of a piece of a long copy.
pub(crate) const PIECE: usize = 1 << 24;

/// A kernel and its parameters, whose types are known to fit together and no more: code that launches is so compiled once,
/// not for each kernel.
pub struct Task<'a> {
    pub(crate) kernel: KernelEntry,
    params: &'a dyn Any,
}

/// The shape of a kernel's launch, and its code for each machine.
#[derive(Clone, Copy)]
pub(crate) struct KernelEntry {
    pub(crate) launch: Launch,
    /// The compiled code of its crate.
    pub(crate) package: &'static Package,
}

impl KernelEntry {
    pub(crate) const fn of<K: Kernel>() -> Self {
        Self {
            launch: Launch::of::<K>(),
            package: const { &K::PACKAGE },
        }
    }
}

impl<'a> Task<'a> {
    fn of<K: Kernel>(params: &'a K::Params) -> Self {
        Self {
            kernel: KernelEntry::of::<K>(),
            params,
        }
    }
}

/// The number of blocks of a launch.
#[derive(Clone, Copy)]
pub enum Blocks {
    /// This many blocks, at least one.
    Just(u32),
    /// As many blocks as run at the same time, but at most this number of tasks.
    Over(u32),
}

/// A machine that runs kernels. Work runs in the order in which it is enqueued; only [`Executor::download`] waits for
/// it.
pub trait Executor {
    /// Memory of the machine.
    type Memory: Send;

    /// Memory of at least `bytes` bytes, 16-byte aligned, with unspecified contents.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or an error of the machine.
    fn allocate(&self, bytes: u64) -> Result<Self::Memory, Error>;

    /// A view of the whole memory, as items of type `W`. It must not outlive the memory, which launched kernels may
    /// still use.
    fn view<W>(&self, memory: &Self::Memory) -> View<W>;

    /// Sets all cells to 0.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    fn clear(&self, cells: View<u64>) -> Result<(), Error>;

    /// Copies bytes to the start of a view of at least as many bytes. Not for calls that can be captured in a graph,
    /// which would read the bytes at each replay, when they may be freed. See [`put`].
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    fn upload(&self, bytes: &[u8], to: View<u32>) -> Result<(), Error>;

    /// Copies bytes from byte `from` on of a view that holds them, after all enqueued work has finished.
    ///
    /// # Errors
    ///
    /// Errors of the machine, also those of the enqueued work.
    fn download<W>(&self, view: View<W>, from: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// As [`Executor::download`], of `length` bytes, which `take` gets in pieces, in their order.
    ///
    /// # Errors
    ///
    /// As [`Executor::download`]; those of `take`.
    fn download_to<W>(
        &self,
        view: View<W>,
        from: u64,
        length: u64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut piece = vec![0; PIECE.min(length as usize)];
        for start in (0..length).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min((length - start) as usize)];
            self.download(view, from + start, piece)?;
            take(piece)?;
        }
        Ok(())
    }

    /// Calls `work` for each of so many lanes, with an executor for it. What a lane enqueues waits for all work so far, but not
    /// for other lanes; work after this waits for all lanes. Lanes only launch kernels and clear cells. Not for calls that can be
    /// captured in a graph.
    ///
    /// # Errors
    ///
    /// Errors of the machine; those of `work`.
    fn in_lanes(
        &self,
        lanes: usize,
        work: &mut dyn FnMut(&Self, usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        (0..lanes).try_for_each(|lane| work(self, lane))
    }

    /// How many blocks of a kernel run at the same time, at least one.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    fn blocks_at_once<K: Kernel>(&self) -> Result<u32, Error>;

    /// Runs a kernel.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    fn run(&self, task: &Task<'_>, blocks: Blocks) -> Result<(), Error>;

    /// Runs a kernel with this many blocks, at least one.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    fn launch<K: Kernel>(&self, blocks: u32, params: &K::Params) -> Result<(), Error> {
        self.run(&Task::of::<K>(params), Blocks::Just(blocks))
    }

    /// Runs a kernel whose blocks take tasks, at least one, until none is left. The number of blocks is the number that
    /// the machine runs at the same time, but at most the number of tasks.
    ///
    /// # Errors
    ///
    /// Errors of the machine.
    fn launch_over<K: Kernel>(&self, tasks: u32, params: &K::Params) -> Result<(), Error> {
        self.run(&Task::of::<K>(params), Blocks::Over(tasks))
    }
}
