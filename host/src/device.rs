//! The devices that compression and decompression run on.

use crate::error::Error;
#[cfg(feature = "cuda")]
use crate::gpu::executor::cuda::Kernels;
use std::fmt;
use std::str::FromStr;
use std::thread::JoinHandle;

/// A device that compression and decompression run on. The bytes are the same on all devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Device {
    /// An NVIDIA GPU, if there is one that is expected to finish before the CPU, including its start-up of half a
    /// second and the transfer of the data; otherwise the CPU.
    /// [`Compressor::device_for`](crate::Compressor::device_for) gives the choice.
    #[default]
    Auto,
    /// All cores of the CPU.
    Cpu,
    /// The NVIDIA GPU with this number.
    Cuda(usize),
    /// Several GPUs, each with a slab of the field. See [`Gpus`].
    Gpus(Gpus),
    /// The GPU's kernels on the emulator: slow, but checked at every step.
    Emulator,
}

/// Several GPUs of one machine, which compress or decompress one field together: each has a slab of whole chunks along the
/// slowest axis. The bytes are those of one GPU.
///
/// Fields are divided if they have several layers of chunks and no mask, and if neither their axes get another order, nor their
/// values are converted, nor their levels are coded apart. The first GPU does all other work alone.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::{Device, Gpus};
///
/// let all: Device = "cuda:all".parse()?;
/// assert_eq!(all, Device::Gpus(Gpus::ALL));
/// let two: Device = "cuda:0,2".parse()?;
/// assert_eq!(two, Device::Gpus(Gpus::new(&[2, 0])?));
/// assert_eq!(two.to_string(), "cuda:0,2");
/// assert!(Gpus::new(&[1, 1]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gpus(pub(crate) Members);

/// The members of [`Gpus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Members {
    /// All NVIDIA GPUs of the machine.
    All,
    /// The NVIDIA GPUs whose bits are set.
    Listed(u64),
    /// So many emulated GPUs.
    Emulated(usize),
}

impl Gpus {
    /// All NVIDIA GPUs of the machine.
    pub const ALL: Self = Self(Members::All);

    /// The most GPUs of a list, and the limit of their numbers.
    const MOST: usize = u64::BITS as usize;

    /// The NVIDIA GPUs with these numbers, in any order. The one with the lowest number has the first slab.
    ///
    /// # Errors
    ///
    /// [`Error::BadGpus`] if there is none, or one is named twice, or a number is above 63.
    pub fn new(ordinals: &[usize]) -> Result<Self, Error> {
        let mut set = 0u64;
        for ordinal in ordinals {
            if *ordinal >= Self::MOST {
                return Err(Error::BadGpus(format!("the number {ordinal} is above 63")));
            }
            if set >> ordinal & 1 == 1 {
                return Err(Error::BadGpus(format!("GPU {ordinal} is named twice")));
            }
            set |= 1 << ordinal;
        }
        match set {
            0 => Err(Error::BadGpus("it is empty".to_owned())),
            _ => Ok(Self(Members::Listed(set))),
        }
    }

    /// So many GPUs on the emulator, for tests.
    ///
    /// # Errors
    ///
    /// [`Error::BadGpus`] if there are none, or more than 64.
    pub fn emulated(count: usize) -> Result<Self, Error> {
        match count {
            1..=Self::MOST => Ok(Self(Members::Emulated(count))),
            _ => Err(Error::BadGpus(format!(
                "{count} emulated GPUs are not 1 to 64"
            ))),
        }
    }

    /// The numbers of the GPUs of a list.
    pub(crate) fn listed(set: u64) -> impl Iterator<Item = usize> {
        (0..Self::MOST).filter(move |ordinal| set >> ordinal & 1 == 1)
    }
}

/// The start of a GPU. Its end waits for the thread, as a process that ends while its driver starts may crash.
#[must_use = "its end waits for the start"]
pub struct Start(Option<JoinHandle<()>>);

impl Drop for Start {
    fn drop(&mut self) {
        // The call that uses the GPU tells what failed.
        let _ = self.0.take().map(JoinHandle::join);
    }
}

impl Device {
    /// Begins to start the GPU that this names, the first of several, on a thread of its own: a start takes a quarter of a second,
    /// in which the caller can read its data. What fails here fails in the call that uses the GPU.
    pub fn start(self) -> Start {
        #[cfg(feature = "cuda")]
        if let Self::Cuda(ordinal) = self.first() {
            let start = move || {
                if let Ok(kernels) = Kernels::of_device(ordinal) {
                    kernels.prepare_copies();
                }
            };
            // Without a thread the call starts the GPU itself.
            return Start(std::thread::Builder::new().spawn(start).ok());
        }
        Start(None)
    }

    /// The device itself, or the CPU instead of [`Device::Auto`].
    pub(crate) fn or_cpu(self) -> Self {
        match self {
            Self::Auto => Self::Cpu,
            device => device,
        }
    }

    /// The device itself, or the first one of several GPUs.
    pub(crate) fn first(self) -> Self {
        match self {
            Self::Gpus(Gpus(Members::All)) => Self::Cuda(0),
            Self::Gpus(Gpus(Members::Listed(set))) => Self::Cuda(set.trailing_zeros() as usize),
            Self::Gpus(Gpus(Members::Emulated(_))) => Self::Emulator,
            device => device,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Self::Gpus(gpus) => gpus.fmt(f),
            Self::Emulator => f.write_str("emulator"),
        }
    }
}

impl fmt::Display for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Members::All => f.write_str("cuda:all"),
            Members::Listed(set) => {
                let ordinals: Vec<String> = Self::listed(set)
                    .map(|ordinal| ordinal.to_string())
                    .collect();
                write!(f, "cuda:{}", ordinals.join(","))
            }
            Members::Emulated(count) => write!(f, "emulator:{count}"),
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "'{name}' is not a device: auto, cpu, cuda, cuda:N, cuda:N,M,..., cuda:all or emulator"
            )
        };
        let of = |gpus: Result<Gpus, Error>| {
            gpus.map(Self::Gpus)
                .map_err(|error| format!("'{name}': {error}"))
        };
        match name.split_once(':') {
            None => match name {
                "auto" => Ok(Self::Auto),
                "cpu" => Ok(Self::Cpu),
                "cuda" => Ok(Self::Cuda(0)),
                "emulator" => Ok(Self::Emulator),
                _ => Err(unknown()),
            },
            Some(("cuda", "all")) => Ok(Self::Gpus(Gpus::ALL)),
            Some(("cuda", list)) => {
                let ordinals = list
                    .split(',')
                    .map(str::parse)
                    .collect::<Result<Vec<_>, _>>();
                match &ordinals.map_err(|_| unknown())?[..] {
                    [ordinal] => Ok(Self::Cuda(*ordinal)),
                    ordinals => of(Gpus::new(ordinals)),
                }
            }
            Some(("emulator", count)) => of(Gpus::emulated(count.parse().map_err(|_| unknown())?)),
            Some(_) => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "auto",
            "cpu",
            "cuda",
            "cuda:7",
            "cuda:all",
            "cuda:0,1",
            "cuda:3,5,63",
            "emulator",
            "emulator:4",
        ] {
            let device: Device = name.parse().expect(name);
            assert_eq!(device.to_string(), name);
        }
        assert_eq!("cuda:0".parse(), Ok(Device::Cuda(0)));
        assert_eq!("cuda:5,3,63".parse::<Device>(), "cuda:3,5,63".parse());
    }

    #[test]
    fn errors_name_their_cause() {
        for (name, words) in [
            ("gpu", "'gpu' is not a device"),
            ("cuda:", "is not a device"),
            ("cuda:a", "is not a device"),
            ("cuda:0,", "is not a device"),
            ("cpu:1", "is not a device"),
            ("cuda:1,2,1", "GPU 1 is named twice"),
            ("cuda:1,64", "the number 64 is above 63"),
            ("emulator:0", "0 emulated GPUs"),
        ] {
            let error = name.parse::<Device>().expect_err(name);
            assert!(error.contains(words), "{name}: {error}");
        }
        assert!(Gpus::new(&[]).is_err());
    }

    #[test]
    fn the_first_of_several_is_the_lowest() {
        let first = |name: &str| name.parse::<Device>().expect(name).first();
        assert_eq!(first("cuda:5,3"), Device::Cuda(3));
        assert_eq!(first("cuda:all"), Device::Cuda(0));
        assert_eq!(first("emulator:2"), Device::Emulator);
        assert_eq!(first("cpu"), Device::Cpu);
    }
}
