//! NVIDIA's assembler, `ptxas`: machine code and resources of each kernel.

use super::program::output;
use super::{Error, Kernels};
use std::borrow::ToOwned;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::string::{String, ToString};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::vec::Vec;
use std::{format, fs};

/// The assembler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptxas {
    path: PathBuf,
    version: String,
}

/// A kernel assembled for one chip, and the resources of its threads and blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The entry point.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Bytes of registers that are spilled to memory.
    pub spills: u32,
    /// Bytes of a block's static shared memory.
    pub static_shared: u32,
    /// The machine code, in the form that a driver loads.
    pub machine_code: Vec<u8>,
}

impl Ptxas {
    /// The assembler `$PTXAS`, `ptxas` on the path, or the one of the Python package; the first that runs.
    pub fn find() -> Result<Self, Error> {
        let named = std::env::var_os("PTXAS").map(PathBuf::from);
        [named, Some(PathBuf::from("ptxas"))]
            .into_iter()
            .flatten()
            .chain(in_python())
            .find_map(Self::at)
            .ok_or(Error::NoAssembler)
    }

    fn at(path: PathBuf) -> Option<Self> {
        let text = output(Command::new(&path).arg("--version"))?;
        let version = version_in(&text)?.to_owned();
        Some(Self { path, version })
    }

    /// The assembler's version, as in `13.0.88`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Assembles kernels for a chip, on all processors; returns them by name. Writes the PTX and the machine code of
    /// each to `folder`.
    pub fn assembled(
        &self,
        kernels: &Kernels,
        chip: &str,
        folder: impl AsRef<Path>,
    ) -> Result<Vec<Assembled>, Error> {
        let folder = folder.as_ref();
        kernels.write(folder)?;
        let names: Vec<&String> = kernels.0.keys().collect();
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<Assembled>, Error> {
            let mut kernels = Vec::new();
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                kernels.push(self.assemble(folder, name, chip)?);
            }
            Ok(kernels)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let parts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut assembled = Vec::with_capacity(names.len());
        for part in parts {
            assembled.extend(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        assembled.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(assembled)
    }

    /// Assembles a kernel from its file in a folder. File names are relative, because the machine code contains the
    /// command line, which would differ between machines.
    fn assemble(&self, folder: &Path, name: &str, chip: &str) -> Result<Assembled, Error> {
        let ptx = format!("{name}.ptx");
        let cubin = format!("{name}.{chip}.cubin");
        let failed = |report: &str| Error::Assembler {
            kernel: name.to_owned(),
            chip: chip.to_owned(),
            report: report.to_owned(),
        };
        let result = Command::new(&self.path)
            .current_dir(folder)
            .args(["-v", "-arch", chip, "-o", &cubin, &ptx])
            .output()
            .map_err(|error| failed(&error.to_string()))?;
        let report = String::from_utf8_lossy(&result.stderr);
        if !result.status.success() {
            return Err(failed(&report));
        }
        let kernel = parse(&report).ok_or_else(|| failed("it says nothing of the kernel"))?;
        let cubin = folder.join(cubin);
        Ok(Assembled {
            machine_code: fs::read(&cubin).map_err(Error::file(&cubin))?,
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

/// Parses a report of `ptxas -v` about one kernel.
fn parse(report: &str) -> Option<Assembled> {
    let (_, rest) = report.split_once("Compiling entry function '")?;
    let mut kernel = Assembled {
        name: rest.split('\'').next()?.to_owned(),
        ..Assembled::default()
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
        let kernel = Assembled {
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
