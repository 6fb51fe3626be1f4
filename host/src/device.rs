//! Where to run.

use std::fmt;
use std::str::FromStr;

/// Where compression and decompression run. The bytes are the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Device {
    /// An NVIDIA GPU if there is one that is expected to be done earlier than the CPU, its start-up of half a second
    /// and the way of the data to it included; else the CPU.
    /// [`Compressor::device_for`](crate::Compressor::device_for) tells which.
    #[default]
    Auto,
    /// All cores of the CPU.
    Cpu,
    /// The NVIDIA GPU of this number.
    Cuda(usize),
    /// The GPU's kernels on the emulator: slow, and checked at every step.
    Emulator,
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
