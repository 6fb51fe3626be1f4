//! The kernels' code, unpacked.

use crate::error::Error;
use ferrosz_gpu_kernels::{machine_code, ptx};
use lzma_rust2::LzmaReader;
use std::io::Read;

/// The PTX of a kernel.
///
/// # Errors
///
/// [`Error::Cuda`] if there is none, because it was never built or is damaged.
pub(super) fn ptx_of(kernel: &str) -> Result<String, Error> {
    let packed = ptx::packed(kernel).ok_or_else(|| Error::Cuda {
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

/// The machine code of a kernel for a GPU of a compute capability, if there is some.
pub(super) fn machine_code_of(kernel: &str, (major, minor): (i32, i32)) -> Option<Vec<u8>> {
    let number = |number| u32::try_from(number).ok();
    unpack(machine_code::packed(
        kernel,
        number(major)?,
        number(minor)?,
    )?)
    .ok()
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

    #[test]
    fn machine_code_is_of_its_kernel_and_chip() {
        for (capability, chip) in [((8, 0), 80), ((8, 9), 80), ((9, 0), 90)] {
            for kernel in [
                "ferrosz_interp_scores_cube_f32",
                "ferrosz_entropy_decode_rans_line",
                "ferrosz_lorenzo_predict_plane_f64",
            ] {
                let code = machine_code_of(kernel, capability).unwrap();
                // The head of an ELF file: what it is, the machine (CUDA is 190), and in the flags' second byte the chip.
                assert_eq!(code[..4], *b"\x7fELF");
                assert_eq!(u16::from_le_bytes([code[18], code[19]]), 190);
                assert_eq!(code[49], chip, "{kernel}");
                let name = kernel.as_bytes();
                assert!(code.windows(name.len()).any(|window| window == name));
            }
        }
        assert_eq!(
            machine_code_of("ferrosz_interp_scores_cube_f32", (-1, 0)),
            None
        );
    }
}
