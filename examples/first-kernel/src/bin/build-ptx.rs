//! Compiles the kernel to `target/block_sum.ptx`, and prints its resources on a GPU.

use ferrosz_simt::Launch;
use ferrosz_simt::build::{
    Compiler, Error, Package, Ptxas, Rule, split, violations, with_directives,
};
use first_kernel::BlockSum;
use std::path::Path;
use std::process::ExitCode;

/// All entry points of the crate.
const KERNELS: &[Launch] = &[Launch::of::<BlockSum>()];

fn main() -> ExitCode {
    match build(Path::new(env!("CARGO_MANIFEST_DIR"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("build-ptx: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    // 1. Compile to PTX, and add the shape of blocks, for which Rust has no attribute.
    let built = Compiler::find()?.compile(&Package::new(folder, "first-kernel"))?;
    let ptx = with_directives(&built.ptx, KERNELS)?;
    // 2. Check rules: calls and arrays in local memory are slow, and collectives in assembly are wrong.
    let rules = [Rule::Call, Rule::LocalMemory, Rule::CollectiveInAssembly];
    if let Some(violation) = violations(&ptx, &rules).first() {
        return Err(violation.to_string().into());
    }
    // 3. Write a file for each kernel.
    let kernels = split(&ptx)?;
    kernels.write(folder.join("target"))?;
    println!("target/block_sum.ptx, for GPUs of compute capability 8.0 and later");
    // 4. Print the resources by NVIDIA's assembler, if it is installed.
    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(error @ Error::NoAssembler) => {
            println!("{error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    for chip in ["sm_80", "sm_90"] {
        for kernel in ptxas.assembled(&kernels, chip, folder.join("target/assembled"))? {
            println!(
                "{} on {chip}: {} registers, {} bytes spilled",
                kernel.name, kernel.registers, kernel.spills
            );
        }
    }
    Ok(())
}
