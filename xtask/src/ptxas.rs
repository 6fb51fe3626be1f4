//! NVIDIA's assembler: what it makes of the PTX for each chip.

use crate::split::Kernels as Texts;
use crate::{Failure, output, root};
use std::collections::BTreeMap;
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
    /// What the chip executes, in the form that a driver loads.
    pub machine_code: Vec<u8>,
}

/// What the assembler makes of all kernels.
pub struct Assembled {
    /// The assembler's version.
    pub version: String,
    /// Kernels by name, by chip.
    pub chips: BTreeMap<&'static str, Vec<Kernel>>,
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

    /// Assembles kernels for chips.
    pub fn assembled(&self, texts: &Texts, chips: &[&'static str]) -> Result<Assembled, Failure> {
        let of_chip = |chip: &&'static str| Ok((*chip, self.kernels(texts, chip)?));
        Ok(Assembled {
            version: self.version.clone(),
            chips: chips.iter().map(of_chip).collect::<Result<_, Failure>>()?,
        })
    }

    /// Assembles kernels for a chip, on all processors.
    fn kernels(&self, texts: &Texts, chip: &str) -> Result<Vec<Kernel>, Failure> {
        let folder = root().join("target/ptx/kernels");
        fs::create_dir_all(&folder)?;
        let texts: Vec<_> = texts.iter().collect();
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<Kernel>, String> {
            let mut kernels = Vec::new();
            while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                kernels.push(self.assemble(&folder, name, text, chip)?);
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

    /// Assembles a kernel for a chip, in a folder for its files. Their names are relative, as the machine code holds the
    /// command's line, and would differ between machines.
    fn assemble(
        &self,
        folder: &Path,
        name: &str,
        text: &str,
        chip: &str,
    ) -> Result<Kernel, String> {
        let ptx = format!("{name}.ptx");
        let cubin = format!("{name}.{chip}.cubin");
        let failed = |error: std::io::Error| format!("ptxas for {chip}: {name}: {error}");
        fs::write(folder.join(&ptx), text).map_err(failed)?;
        let result = Command::new(&self.path)
            .current_dir(folder)
            .args(["-v", "-arch", chip, "-o", &cubin, &ptx])
            .output()
            .map_err(failed)?;
        let report = String::from_utf8_lossy(&result.stderr).into_owned();
        if !result.status.success() {
            return Err(format!("ptxas for {chip}: {name}: {report}"));
        }
        let kernel = parse(&report).ok_or_else(|| format!("ptxas says nothing of {name}"))?;
        Ok(Kernel {
            machine_code: fs::read(folder.join(&cubin)).map_err(failed)?,
            ..kernel
        })
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

/// The kernel of a report of `ptxas -v`.
fn parse(report: &str) -> Option<Kernel> {
    let (_, rest) = report.split_once("Compiling entry function '")?;
    let mut kernel = Kernel {
        name: rest.split('\'').next()?.to_owned(),
        ..Kernel::default()
    };
    for line in rest.lines() {
        for (unit, number) in [
            (" bytes stack frame", &mut kernel.stack),
            (" bytes spill stores", &mut kernel.spills),
            (" registers", &mut kernel.registers),
            (" bytes smem", &mut kernel.static_shared),
        ] {
            *number = number_before(line, unit).unwrap_or(*number);
        }
    }
    Some(kernel)
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
            ptxas info    : Used 80 registers, used 1 barriers, 96 bytes cumulative stack size, 48 bytes smem\n";
        let kernel = Kernel {
            name: "ferrosz_b".to_owned(),
            registers: 80,
            stack: 96,
            spills: 92,
            static_shared: 48,
            machine_code: Vec::new(),
        };
        assert_eq!(parse(report), Some(kernel));
        assert_eq!(parse("ptxas info    : 0 bytes gmem\n"), None);
    }

    #[test]
    fn versions_are_read() {
        let text = "ptxas: NVIDIA (R) Ptx optimizing assembler\n\
            Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler\n";
        assert_eq!(version_in(text), Some("13.0.88"));
        assert_eq!(version_in("gcc 12.2"), None);
    }
}
