//! The description of a machine in reports.

use super::gpu::OneGpu;
use ferrosz::Device;
use ferrosz_cli::failure::Failure;
use std::fs;

/// A machine's device and software.
#[derive(Debug, Clone)]
pub struct About {
    /// The device, as on the command line.
    pub device: Device,
    /// The processor's name.
    pub name: String,
    /// The version of the GPU's driver.
    pub driver: Option<String>,
    /// Threads of the CPU backend; none for a GPU.
    pub threads: Option<usize>,
}

impl About {
    /// The description of the CPU.
    pub fn cpu() -> Self {
        Self {
            device: Device::Cpu,
            name: processor(),
            driver: None,
            threads: Some(rayon::current_num_threads()),
        }
    }

    /// The description of the GPU of this number.
    ///
    /// # Errors
    ///
    /// If its name is not known.
    pub fn gpu(at: &OneGpu, ordinal: usize) -> Result<Self, Failure> {
        Ok(Self {
            device: Device::Cuda(ordinal),
            name: at.name()?,
            driver: driver(),
            threads: None,
        })
    }
}

/// The processor's name if the system tells it, otherwise its architecture.
fn processor() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    (known.lines())
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or(std::env::consts::ARCH, |(_, name)| name.trim())
        .to_owned()
}

/// The version of the driver, if the system tells it: the first word of only digits and dots in
/// `NVRM version: NVIDIA ... 580.95.05  Release Build ...`.
fn driver() -> Option<String> {
    version_in(&fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

fn version_in(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_version_is_found() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n\
                    GCC version:  gcc version 12.2.0\n";
        assert_eq!(version_in(text).as_deref(), Some("580.95.05"));
        assert_eq!(version_in("NVIDIA"), None);
    }
}
