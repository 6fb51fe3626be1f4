//! NVIDIA's assembler: what it makes of the PTX for each chip.

use crate::split::Kernels as Texts;
use crate::{Failure, output, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The assembler.
pub struct Ptxas {
    path: PathBuf,
    /// As it says itself: `13.0.88`.
    pub version: String,
}

/// What a kernel needs on one chip.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The entry point.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Bytes of registers that are stored for want of registers.
    pub spills: u32,
    /// Bytes of a block's static shared memory.
    pub static_shared: u32,
}

impl Ptxas {
    /// `$PTXAS`, the one on the path, or that of the Python package.
    pub fn find() -> Result<Self, Failure> {
        let named = std::env::var_os("PTXAS").map(PathBuf::from);
        [named, Some(PathBuf::from("ptxas"))]
            .into_iter()
            .flatten()
            .chain(in_python())
            .find_map(Self::at)
            .ok_or_else(|| {
                "ptxas is missing: `pip install 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*'`, \
                 or set PTXAS to its path"
                    .into()
            })
    }

    fn at(path: PathBuf) -> Option<Self> {
        let text = output(Command::new(&path).arg("--version"))?;
        let version = version_in(&text)?.to_owned();
        Some(Self { path, version })
    }

    /// Assembles kernels for a chip, on all processors.
    pub fn kernels(&self, texts: &Texts, chip: &str) -> Result<Vec<Kernel>, Failure> {
        let folder = root().join("target/ptx/kernels");
        fs::create_dir_all(&folder)?;
        let texts: Vec<_> = texts.iter().collect();
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<Kernel>, String> {
            let mut kernels = Vec::new();
            while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let file = folder.join(format!("{name}.ptx"));
                let written = fs::write(&file, text);
                written.map_err(|error| format!("{}: {error}", file.display()))?;
                kernels.extend(self.assemble(&file, chip)?);
            }
            Ok(kernels)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let parts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut kernels = Vec::new();
        for part in parts {
            kernels.extend(part.map_err(|_| "a thread that ran ptxas has panicked")??);
        }
        Ok(kernels)
    }

    /// Assembles a file for a chip; its kernels.
    fn assemble(&self, ptx: &Path, chip: &str) -> Result<Vec<Kernel>, String> {
        let null = if cfg!(windows) { "NUL" } else { "/dev/null" };
        let result = Command::new(&self.path)
            .args(["-v", "-arch", chip, "-o", null])
            .arg(ptx)
            .output()
            .map_err(|error| format!("{}: {error}", self.path.display()))?;
        let report = String::from_utf8_lossy(&result.stderr).into_owned();
        match result.status.success() {
            true => Ok(parse(&report)),
            false => Err(format!("ptxas for {chip}: {}: {report}", ptx.display())),
        }
    }
}

fn in_python() -> Option<PathBuf> {
    let script = "import nvidia, pathlib\n\
         for folder in nvidia.__path__:\n    \
             for path in pathlib.Path(folder).glob('*/bin/ptxas'): print(path)";
    let paths = output(Command::new("python3").args(["-c", script]))?;
    paths.lines().next().map(PathBuf::from)
}

/// The version in `Cuda compilation tools, release 13.0, V13.0.88`.
fn version_in(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(", V")?;
    rest.split_whitespace().next()
}

/// Kernels of a report of `ptxas -v`.
fn parse(report: &str) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernels.push(Kernel {
                name: rest.split('\'').next().unwrap_or_default().to_owned(),
                ..Kernel::default()
            });
        }
        if let Some(kernel) = kernels.last_mut() {
            for (unit, number) in [
                (" bytes stack frame", &mut kernel.stack),
                (" bytes spill stores", &mut kernel.spills),
                (" registers", &mut kernel.registers),
                (" bytes smem", &mut kernel.static_shared),
            ] {
                *number = number_before(line, unit).unwrap_or(*number);
            }
        }
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    kernels
}

fn number_before(line: &str, unit: &str) -> Option<u32> {
    let (before, _) = line.split_once(unit)?;
    before.rsplit([' ', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let report = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'ferrosz_b' for 'sm_90'\n\
            ptxas info    : Function properties for ferrosz_b\n    \
            96 bytes stack frame, 92 bytes spill stores, 88 bytes spill loads\n\
            ptxas info    : Used 80 registers, used 1 barriers, 96 bytes cumulative stack size, 48 bytes smem\n\
            ptxas info    : Compiling entry function 'ferrosz_a' for 'sm_90'\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 32 registers, used 0 barriers, 384 bytes cmem[0]\n";
        let kernel = |name: &str, [registers, stack, spills, static_shared]: [u32; 4]| Kernel {
            name: name.to_owned(),
            registers,
            stack,
            spills,
            static_shared,
        };
        assert_eq!(
            parse(report),
            [
                kernel("ferrosz_a", [32, 0, 0, 0]),
                kernel("ferrosz_b", [80, 96, 92, 48]),
            ]
        );
    }

    #[test]
    fn versions_are_read() {
        let text = "ptxas: NVIDIA (R) Ptx optimizing assembler\n\
            Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler\n";
        assert_eq!(version_in(text), Some("13.0.88"));
        assert_eq!(version_in("gcc 12.2"), None);
    }
}
