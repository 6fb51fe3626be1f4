//! What NVIDIA's assembler makes of the PTX: registers, stack and spills of every kernel.

use crate::{Failure, output};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The chips that the PTX is assembled for.
const CHIPS: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Assembles the PTX for each chip, prints a table, and refuses stack and spills.
pub fn check(ptx: &Path) -> Result<(), Failure> {
    let ptxas = find().ok_or(
        "ptxas is missing: `pip install 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*'`, or set \
         PTXAS to its path",
    )?;
    println!(
        "{:<8}{:<32}{:>10}{:>8}{:>8}",
        "chip", "kernel", "registers", "stack", "spills"
    );
    let mut refused = 0;
    for chip in CHIPS {
        for kernel in resources(&ptxas, ptx, chip)? {
            let Kernel {
                name,
                registers,
                stack,
                spills,
            } = &kernel;
            println!("{chip:<8}{name:<32}{registers:>10}{stack:>8}{spills:>8}");
            refused += u32::from(*stack > 0 || *spills > 0);
        }
    }
    if refused > 0 {
        return Err(format!("{refused} kernels use local memory").into());
    }
    Ok(())
}

struct Kernel {
    name: String,
    registers: u32,
    stack: u32,
    spills: u32,
}

fn resources(ptxas: &Path, ptx: &Path, chip: &str) -> Result<Vec<Kernel>, Failure> {
    let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let result = Command::new(ptxas)
        .args(["-v", "-arch", chip, "-o", null])
        .arg(ptx)
        .output()?;
    let report = String::from_utf8_lossy(&result.stderr).into_owned();
    if !result.status.success() {
        return Err(format!("ptxas for {chip}: {report}").into());
    }
    Ok(parse(&report))
}

/// Kernels of a report of `ptxas -v`.
fn parse(report: &str) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernels.push(Kernel {
                name: rest.split('\'').next().unwrap_or_default().to_owned(),
                registers: 0,
                stack: 0,
                spills: 0,
            });
        }
        if let Some(kernel) = kernels.last_mut() {
            kernel.stack = number_before(line, " bytes stack frame").unwrap_or(kernel.stack);
            kernel.spills = number_before(line, " bytes spill stores").unwrap_or(kernel.spills);
            kernel.registers = number_before(line, " registers").unwrap_or(kernel.registers);
        }
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    kernels
}

fn number_before(line: &str, unit: &str) -> Option<u32> {
    let (before, _) = line.split_once(unit)?;
    before.rsplit([' ', ',']).next()?.parse().ok()
}

/// The assembler: `$PTXAS`, the one on the path, or that of the Python package.
fn find() -> Option<PathBuf> {
    let named = std::env::var_os("PTXAS").map(PathBuf::from);
    let works = |path: &PathBuf| output(Command::new(path).arg("--version")).is_some();
    let in_python = || {
        let script = "import nvidia, pathlib\n\
             for folder in nvidia.__path__:\n    \
                 for path in pathlib.Path(folder).glob('*/bin/ptxas'): print(path)";
        let paths = output(Command::new("python3").args(["-c", script]))?;
        paths.lines().next().map(PathBuf::from)
    };
    named
        .or_else(|| Some(PathBuf::from("ptxas")).filter(works))
        .or_else(in_python)
        .filter(works)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let report = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'ferrosz_a' for 'sm_90'\n\
            ptxas info    : Function properties for ferrosz_a\n    \
            96 bytes stack frame, 92 bytes spill stores, 88 bytes spill loads\n\
            ptxas info    : Used 80 registers, used 1 barriers, 96 bytes cumulative stack size\n";
        let kernels = parse(report);
        assert_eq!(kernels.len(), 1);
        assert_eq!(kernels[0].name, "ferrosz_a");
        assert_eq!(
            (kernels[0].registers, kernels[0].stack, kernels[0].spills),
            (80, 96, 92)
        );
    }
}
