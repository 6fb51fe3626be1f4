//! The committed machine code for common chips, so that a first call does not wait for the driver's compiler.

use crate::Failure;
use crate::crates::{self, KernelCrate};
use crate::packed::Files;
use crate::resources::Assembled;
use std::collections::BTreeMap;

/// The chips of the A100 and of the H100; their code also runs on later chips of the same major compute capability.
/// Other chips compile the PTX.
pub const CHIPS: [&str; 2] = ["sm_80", "sm_90"];

/// Prefixes of the kernels that have machine code: those of the codecs of tiles, which a driver takes long to compile, and those
/// of each choice of a preset: a first call needs five or six of them. Other kernels take about 0.1 s each.
const KERNELS: [&str; 8] = [
    "ferrosz_entropy_",
    "ferrosz_extremes_",
    "ferrosz_interp_",
    "ferrosz_lorenzo_",
    "ferrosz_size_blocks_",
    "ferrosz_slices_",
    "ferrosz_stencil_",
    "ferrosz_weigh_tiles_",
];

/// Bytes of all committed machine code at most: every program that uses the library on a GPU embeds it.
const MOST_BYTES: u64 = 3_100_000;

/// Writes the machine code of kernels whose instructions have changed.
pub fn write(assembled: &Assembled) -> Result<(), Failure> {
    for chip in CHIPS {
        let mut changed = 0;
        for of in &crates::ALL {
            let wanted = of_chip(assembled, of, chip)?;
            changed += Files::machine_code(of, chip).write(&wanted)?.len();
        }
        println!("machine code for {chip}: {changed} files changed");
    }
    check_bytes()
}

/// Removes the machine code of some kernels of a crate.
pub fn remove(of: &KernelCrate, kernels: &[String]) -> Result<(), Failure> {
    for chip in CHIPS {
        Files::machine_code(of, chip).remove(|name| kernels.iter().any(|kernel| kernel == name))?;
    }
    Ok(())
}

/// Refuses committed machine code that differs by a byte from the assembler's output for the PTX.
pub fn check(assembled: &Assembled) -> Result<(), Failure> {
    for chip in CHIPS {
        let mut kernels = 0;
        for of in &crates::ALL {
            let wanted = of_chip(assembled, of, chip)?;
            let other = Files::machine_code(of, chip).differences(&wanted)?;
            if !other.is_empty() {
                let other = other.join(", ");
                return Err(format!(
                    "the committed machine code for {chip} of {other} is not what the PTX gives: run `cargo xtask resources`"
                )
                .into());
            }
            kernels += wanted.len();
        }
        println!("machine code for {chip}: {kernels} kernels, the same again");
    }
    check_bytes()
}

/// That of a crate.
fn of_chip<'a>(
    assembled: &'a Assembled,
    of: &KernelCrate,
    chip: &str,
) -> Result<BTreeMap<String, &'a [u8]>, Failure> {
    let kernels = (assembled.chips.get(chip)).ok_or_else(|| format!("no kernels for {chip}"))?;
    let is_slow = |name: &str| KERNELS.iter().any(|start| name.starts_with(start));
    Ok(kernels
        .iter()
        .filter(|kernel| is_slow(&kernel.name) && of.has(&kernel.name))
        .map(|kernel| (kernel.name.clone(), kernel.machine_code.as_slice()))
        .collect())
}

fn check_bytes() -> Result<(), Failure> {
    let mut bytes = 0;
    for (of, chip) in (crates::ALL.iter()).flat_map(|of| CHIPS.map(|chip| (of, chip))) {
        bytes += Files::machine_code(of, chip).bytes()?;
    }
    println!("machine code: {bytes} bytes, of {MOST_BYTES} at most");
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err("the committed machine code is too large to be embedded".into()),
    }
}
