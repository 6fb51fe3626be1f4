//! Compiles a crate of kernels.

use super::program::{output, run};
use super::signs::with_exact_signs;
use super::{Error, Package, Toolchain};
use std::borrow::ToOwned;
use std::format;
use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use std::string::String;
use std::vec::Vec;

const TARGET: &str = "nvptx64-nvidia-cuda";

/// A Rust toolchain that can compile for the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    toolchain: Toolchain,
    has_target: bool,
    has_source: bool,
}

/// The output of a compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The PTX of all kernels, as LLVM wrote it, but for instructions that would change more than a sign.
    pub ptx: String,
    /// The Rust sources that the compiler read: those of the package, of all packages that it depends on by path, and
    /// their build scripts.
    pub sources: Vec<PathBuf>,
}

impl Compiler {
    /// The first toolchain that can compile for the GPU.
    pub fn find() -> Result<Self, Error> {
        Self::all().into_iter().next().ok_or(Error::NoCompiler)
    }

    /// The toolchain of a version, as `rustc --version` prints it. Other versions make other PTX.
    pub fn of_version(version: &str) -> Result<Self, Error> {
        let all = Self::all();
        let found = (all.iter()).map(|compiler| compiler.version().to_owned());
        let found = found.collect();
        let same = all
            .into_iter()
            .find(|compiler| compiler.version() == version);
        same.ok_or_else(|| Error::NoSuchCompiler {
            wanted: version.to_owned(),
            found,
        })
    }

    /// All toolchains that can compile for the GPU: first those of rustup, then the system's (Debian's packages
    /// `rustc-web`, `cargo-web` and `rust-web-src`).
    pub fn all() -> Vec<Self> {
        (Toolchain::all().into_iter())
            .filter_map(Self::new)
            .collect()
    }

    fn new(toolchain: Toolchain) -> Option<Self> {
        let sysroot = output(Command::new(&toolchain.rustc).args(["--print", "sysroot"]))?;
        let rustlib = Path::new(&sysroot).join("lib/rustlib");
        let has_target = rustlib.join(TARGET).join("lib").is_dir();
        let has_source = rustlib.join("src/rust/library/core").is_dir();
        (has_target || has_source).then_some(Self {
            toolchain,
            has_target,
            has_source,
        })
    }

    /// The version, as `rustc --version` prints it.
    pub fn version(&self) -> &str {
        self.toolchain.version()
    }

    /// Whether the toolchain has the source of Rust's own library, and so can compile for any target.
    pub fn has_source(&self) -> bool {
        self.has_source
    }

    /// The toolchain's cargo, with unstable features enabled: the PTX ABI, PTX assembly, and building Rust's own
    /// library.
    pub fn cargo(&self) -> Command {
        let mut command = self.toolchain.cargo();
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    }

    /// Compiles the kernels of a package.
    pub fn compile(&self, package: &Package) -> Result<Built, Error> {
        let folder = absolute(&package.folder).map_err(Error::file(&package.folder))?;
        let target = absolute(&package.target).map_err(Error::file(&package.target))?;
        let mut command = self.cargo();
        command
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", &target)
            // PTX is text; there is nothing to link.
            .env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .args(["rustc", "--quiet", "--release", "--lib"])
            .arg("--manifest-path")
            .arg(folder.join("Cargo.toml"))
            .args(["--package", &package.name])
            // LTO happens only if this is the only crate type.
            .args(["--crate-type", "cdylib", "--target", TARGET]);
        if !package.default_features {
            command.arg("--no-default-features");
        }
        if !package.features.is_empty() {
            command.args(["--features", &package.features.join(",")]);
        }
        if !self.has_target {
            command.arg("-Zbuild-std=core");
        }
        command.args(["--", "--emit=asm", "-C"]);
        command.arg(format!("target-cpu={}", package.chip));
        // Arrays stay in registers only if every index is a constant, so loops over the elements of a block must be
        // unrolled completely.
        command.args([
            "-C",
            "llvm-args=-unroll-threshold=20000 -unroll-runtime=false",
        ]);
        // This pass copies code after a branch into its arms. It does not know that all lanes of a warp must reach a
        // collective together; LLVM does.
        command.arg("-Zmir-enable-passes=-JumpThreading");
        run(&mut command)?;
        let release = target.join(TARGET).join("release");
        let made = release.join("deps").join(format!("{}.s", package.library));
        let read = release.join(format!("{}.d", package.library));
        Ok(Built {
            ptx: with_exact_signs(&text_of(&made)?),
            sources: sources_in(&text_of(&read)?),
        })
    }
}

fn text_of(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::file(path))
}

/// The sources that a dependency file of `make` names: one rule, in which a backslash precedes a space in a path.
fn sources_in(rule: &str) -> Vec<PathBuf> {
    let (_, paths) = rule.split_once(": ").unwrap_or_default();
    let paths = paths.trim_end().replace("\\ ", "\0");
    (paths.split(' '))
        .map(|path| PathBuf::from(path.replace('\0', " ")))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_from_a_rule() {
        let rule = "/a\\ b/lib.so: /a\\ b/codec/src/lib.rs /a\\ b/gpu-kernels/build.rs /a\\ b/gpu-kernels/ptx /c.rs\n";
        let wanted = [
            "/a b/codec/src/lib.rs",
            "/a b/gpu-kernels/build.rs",
            "/c.rs",
        ]
        .map(PathBuf::from);
        assert_eq!(sources_in(rule), wanted);
    }
}
