//! The kernels' code, unpacked.

use crate::error::Error;
use crate::gpu::executor::KernelEntry;
use ferrosz_simt::Package;
use lzma_rust2::LzmaReader;
use std::io::Read;

/// The code of a kernel for GPUs.
pub(super) struct Code {
    package: &'static Package,
    kernel: &'static str,
}

impl Code {
    /// That of a kernel.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] if a source has changed since the kernel was compiled.
    pub(super) fn of(kernel: &KernelEntry) -> Result<Self, Error> {
        let (package, kernel) = (kernel.package, kernel.launch.name);
        match package.outdated {
            None => Ok(Self { package, kernel }),
            Some(source) => Err(Error::Cuda {
                action: "find a kernel",
                reason: format!(
                    "{source} has changed since {kernel} was compiled: run `cargo xtask ptx`, and build again"
                ),
            }),
        }
    }

    /// The PTX.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] if there is none, because it was not built, or if it is damaged.
    pub(super) fn ptx(&self) -> Result<String, Error> {
        let kernel = self.kernel;
        let packed = self.package.ptx_of(kernel).ok_or_else(|| Error::Cuda {
            action: "find a kernel",
            reason: format!("there is no PTX of {kernel}"),
        })?;
        let text = unpack(packed).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|error| std::io::Error::other(error.to_string()))
        });
        text.map_err(|error| Error::Cuda {
            action: "unpack a kernel",
            reason: format!("{kernel}: {error}"),
        })
    }

    /// The machine code for GPUs of a compute capability; none if there is no such code.
    pub(super) fn machine_code(&self, (major, minor): (i32, i32)) -> Option<Vec<u8>> {
        let number = |number| u32::try_from(number).ok();
        let (major, minor) = (number(major)?, number(minor)?);
        let packed = self.package.machine_code_of(self.kernel, major, minor)?;
        unpack(packed).ok()
    }
}

fn unpack(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    LzmaReader::new_mem_limit(packed, u32::MAX, None)
        .map_err(std::io::Error::other)?
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::code::entropy::states::Rans;
    use ferrosz_codec::shape::{Cube, Line, Plane};
    use ferrosz_gpu_kernels::code::entropy::decode::Decode;
    use ferrosz_gpu_kernels::predict::interp::scores::Scores;
    use ferrosz_gpu_kernels::predict::tile_lorenzo::predict::Predict as LorenzoPredict;

    fn check(entry: KernelEntry) {
        let name = entry.launch.name;
        // Also if it is outdated.
        let code = Code {
            package: entry.package,
            kernel: name,
        };
        for (capability, chip) in [((8, 0), 80), ((8, 9), 80), ((9, 0), 90)] {
            let code = code.machine_code(capability).unwrap();
            // The head of an ELF file: its magic number, the machine (CUDA is 190), and the chip in the flags' second
            // byte.
            assert_eq!(code[..4], *b"\x7fELF");
            assert_eq!(u16::from_le_bytes([code[18], code[19]]), 190);
            assert_eq!(code[49], chip, "{name}");
            let name = name.as_bytes();
            assert!(code.windows(name.len()).any(|window| window == name));
        }
        assert_eq!(code.machine_code((-1, 0)), None);
    }

    #[test]
    fn machine_code_is_of_its_kernel_and_chip() {
        check(KernelEntry::of::<Scores<f32, Cube>>());
        check(KernelEntry::of::<Decode<Rans, Line>>());
        check(KernelEntry::of::<LorenzoPredict<f64, Plane>>());
    }

    #[test]
    fn outdated_code_is_refused() {
        static OLD: Package = Package::EMPTY.outdated_by("codec/src/bound.rs");
        let mut entry = KernelEntry::of::<Scores<f32, Cube>>();
        entry.package = &OLD;
        let error = Code::of(&entry).err().unwrap().to_string();
        assert_eq!(
            error,
            "CUDA failed to find a kernel: codec/src/bound.rs has changed since ferrosz_interp_scores_cube_f32 was \
             compiled: run `cargo xtask ptx`, and build again"
        );
    }
}
