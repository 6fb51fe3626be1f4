//! The machines that have the slabs of a field.

#[cfg(not(all(feature = "cuda", feature = "emulator")))]
use crate::backend::not_built;
use crate::device::{Device, Gpus, Members};
use crate::error::Error;
#[cfg(feature = "cuda")]
use crate::gpu::driver;
use crate::gpu::executor::Executor;
#[cfg(feature = "cuda")]
use crate::gpu::executor::cuda::Kernels;
#[cfg(feature = "emulator")]
use crate::gpu::executor::emulator;

/// Machines that run kernels, in the order of their slabs.
pub(crate) enum Machines {
    /// NVIDIA GPUs.
    #[cfg(feature = "cuda")]
    Cuda(Vec<Kernels>),
    /// So many emulators.
    #[cfg(feature = "emulator")]
    Emulators(usize),
}

/// A call on several machines.
pub(crate) trait Call {
    /// The result of the call.
    type Output;

    /// Runs it to its end.
    fn on<E: Executor + Sync>(self, executors: &[E]) -> Self::Output;
}

impl Machines {
    /// How many machines several GPUs are.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if one of them does not exist.
    pub(crate) fn count(gpus: Gpus) -> Result<usize, Error> {
        match gpus.0 {
            Members::All => ordinals(None).map(|ordinals| ordinals.len()),
            Members::Listed(set) => ordinals(Some(set)).map(|ordinals| ordinals.len()),
            Members::Emulated(count) => emulators(count).map(|_| count),
        }
    }

    /// The machine of a member of a group: the members take turns.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is none.
    pub(crate) fn of_member(gpus: Gpus, rank: usize) -> Result<Device, Error> {
        let in_turn = |ordinals: Vec<usize>| Device::Cuda(ordinals[rank % ordinals.len()]);
        match gpus.0 {
            Members::All => ordinals(None).map(in_turn),
            Members::Listed(set) => ordinals(Some(set)).map(in_turn),
            Members::Emulated(_) => Ok(Device::Emulator),
        }
    }

    /// The first `count` machines.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] and [`Error::OldGpu`].
    pub(crate) fn first(gpus: Gpus, count: usize) -> Result<Self, Error> {
        match gpus.0 {
            Members::All => cuda(ordinals(None)?, count),
            Members::Listed(set) => cuda(ordinals(Some(set))?, count),
            Members::Emulated(all) => emulators(count.min(all)),
        }
    }

    /// Runs a call.
    pub(crate) fn run<C: Call>(&self, call: C) -> C::Output {
        match *self {
            #[cfg(feature = "cuda")]
            Self::Cuda(ref kernels) => {
                let executors: Vec<_> = kernels.iter().map(Kernels::on_default_stream).collect();
                call.on(&executors)
            }
            #[cfg(feature = "emulator")]
            Self::Emulators(count) => {
                let executors: Vec<_> = (0..count).map(|_| emulator::new()).collect();
                call.on(&executors)
            }
        }
    }
}

#[cfg(feature = "cuda")]
fn ordinals(listed: Option<u64>) -> Result<Vec<usize>, Error> {
    driver::ordinals(listed)
}

#[cfg(feature = "cuda")]
fn cuda(ordinals: Vec<usize>, count: usize) -> Result<Machines, Error> {
    let kernels = ordinals.into_iter().take(count).map(Kernels::of_device);
    kernels.collect::<Result<_, _>>().map(Machines::Cuda)
}

#[cfg(not(feature = "cuda"))]
fn ordinals(_: Option<u64>) -> Result<Vec<usize>, Error> {
    Err(not_built("cuda"))
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: Vec<usize>, _: usize) -> Result<Machines, Error> {
    Err(not_built("cuda"))
}

#[cfg(feature = "emulator")]
fn emulators(count: usize) -> Result<Machines, Error> {
    Ok(Machines::Emulators(count))
}

#[cfg(not(feature = "emulator"))]
fn emulators(_: usize) -> Result<Machines, Error> {
    Err(not_built("emulator"))
}
