//! Which device does the work.

use ferrosz::Device;
use ferrosz::cuda::Gpu;

/// The device that work asked of `device` is done on, as `--device` has it.
pub fn used(device: Device) -> String {
    match device {
        Device::Auto if Gpu::new(0).is_ok() => Device::Cuda(0).to_string(),
        Device::Auto => Device::Cpu.to_string(),
        named => named.to_string(),
    }
}
