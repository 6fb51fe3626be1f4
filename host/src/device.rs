//! The devices that compression and decompression run on.

use std::fmt;
use std::str::FromStr;

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
    /// The GPU's kernels on the emulator: slow, but checked at every step.
    Emulator,
}

impl Device {
    /// The device itself, or the CPU instead of [`Device::Auto`].
    pub(crate) fn or_cpu(self) -> Self {
        match self {
            Self::Auto => Self::Cpu,
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
            Self::Emulator => f.write_str("emulator"),
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "emulator" => Ok(Self::Emulator),
            _ => name
                .strip_prefix("cuda:")
                .and_then(|ordinal| ordinal.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| {
                    format!("'{name}' is not a device: auto, cpu, cuda, cuda:N or emulator")
                }),
        }
    }
}
