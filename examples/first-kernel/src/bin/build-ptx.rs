//! Compiles the kernel to `target/block_sum.ptx`, and says what it needs on a GPU.

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
    // 1. To PTX, in which the blocks' shape is added, as Rust has no attribute for it.
    let built = Compiler::find()?.compile(&Package::new(folder, "first-kernel"))?;
    let ptx = with_directives(&built.ptx, KERNELS)?;
    // 2. A call or an array in local memory would be slow, and a collective in assembly wrong.
    let rules = [Rule::Call, Rule::LocalMemory, Rule::CollectiveInAssembly];
    if let Some(violation) = violations(&ptx, &rules).first() {
        return Err(violation.to_string().into());
    }
    // 3. A file for each kernel.
    let kernels = split(&ptx)?;
    kernels.write(folder.join("target"))?;
    println!("target/block_sum.ptx, for GPUs of compute capability 8.0 and later");
    // 4. What NVIDIA's assembler makes of it, if it is here.
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
