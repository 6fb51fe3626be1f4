//! Finding a Rust compiler that can make PTX.

use crate::{Failure, output, root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "nvptx64-nvidia-cuda";

/// The oldest GPUs that the kernels run on.
const CHIP: &str = "sm_80";

/// A Rust toolchain that can compile for the GPU.
pub struct Compiler {
    rustc: PathBuf,
    cargo: PathBuf,
    /// Its version, as the PTX records it.
    pub version: String,
    has_target: bool,
    has_source: bool,
}

impl Compiler {
    /// The first that can.
    pub fn find() -> Result<Self, Failure> {
        Self::all().into_iter().next().ok_or_else(|| {
            "no Rust compiler here can make PTX: add the target nvptx64-nvidia-cuda or the \
             component rust-src to a rustup toolchain, or on Debian install rustc-web, \
             cargo-web and rust-web-src"
                .into()
        })
    }

    /// That of a version, as the compiler says it itself. Others make other PTX.
    pub fn of_version(version: &str) -> Result<Self, Failure> {
        let all = Self::all();
        let found: Vec<String> = all
            .iter()
            .map(|compiler| compiler.version.clone())
            .collect();
        let same = all.into_iter().find(|compiler| compiler.version == version);
        same.ok_or_else(|| {
            format!(
                "the PTX was made by {version}, which is not here (but {}): install it, or run \
                 `cargo xtask ptx` and commit what another makes",
                found.join(", ")
            )
            .into()
        })
    }

    /// All that can: rustup's toolchains, then that of the system, which Debian's packages `rustc-web`,
    /// `cargo-web` and `rust-web-src` bring.
    fn all() -> Vec<Self> {
        (toolchains().into_iter())
            .filter_map(|(rustc, cargo)| Self::new(rustc, cargo))
            .collect()
    }

    /// The first that has the source of Rust's own library, and so can compile for any target.
    pub fn with_source() -> Result<Self, Failure> {
        (Self::all().into_iter())
            .find(|compiler| compiler.has_source)
            .ok_or_else(|| {
                "no Rust compiler here has the source of its library: add the component rust-src to a \
                 rustup toolchain, or on Debian install rustc-web, cargo-web and rust-web-src"
                    .into()
            })
    }

    /// Compiles a package without features, and these crates of Rust's own library, for a target.
    pub fn check(&self, package: &str, target: &str, library: &str) -> Result<(), Failure> {
        run(Command::new(&self.cargo)
            .current_dir(root())
            // Building the library is not stable.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTC", &self.rustc)
            .env("CARGO_TARGET_DIR", root().join("target/other"))
            .env_remove("RUSTFLAGS")
            .env_remove("RUSTUP_TOOLCHAIN")
            .args(["check", "--quiet", "--no-default-features"])
            .args(["--package", package, "--target", target])
            .arg(format!("-Zbuild-std={library}")))
    }

    fn new(rustc: PathBuf, cargo: PathBuf) -> Option<Self> {
        let version = output(Command::new(&rustc).arg("--version"))?;
        let sysroot = output(Command::new(&rustc).args(["--print", "sysroot"]))?;
        let rustlib = Path::new(&sysroot).join("lib/rustlib");
        let has_target = rustlib.join(TARGET).join("lib").is_dir();
        let has_source = rustlib.join("src/rust/library/core").is_dir();
        (has_target || has_source).then_some(Self {
            rustc,
            cargo,
            version,
            has_target,
            has_source,
        })
    }

    /// Compiles the kernels.
    pub fn compile(&self) -> Result<Built, Failure> {
        let folder = root().join("target/ptx");
        let mut command = Command::new(&self.cargo);
        command
            .current_dir(root())
            // The PTX ABI and assembly are not stable; nothing else asks for this.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTC", &self.rustc)
            .env("CARGO_TARGET_DIR", &folder)
            // PTX is text; there is nothing to link.
            .env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true")
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env_remove("RUSTFLAGS")
            .env_remove("RUSTUP_TOOLCHAIN")
            .args([
                "rustc",
                "--quiet",
                "--release",
                "--package",
                "ferrosz-gpu-kernels",
            ])
            // LTO happens only when this is the sole crate type.
            .args(["--crate-type", "cdylib", "--target", TARGET]);
        if !self.has_target {
            command.arg("-Zbuild-std=core");
        }
        command.args(["--", "--emit=asm", "-C"]);
        command.arg(format!("target-cpu={CHIP}"));
        // Arrays stay in registers only if every index is a constant, so loops over the elements
        // of a block must be unrolled whole.
        command.args([
            "-C",
            "llvm-args=-unroll-threshold=20000 -unroll-runtime=false",
        ]);
        // This pass copies code behind a branch into its arms, not knowing that the lanes of a warp
        // must come to a collective together. LLVM knows.
        command.arg("-Zmir-enable-passes=-JumpThreading");
        run(&mut command)?;
        let release = folder.join(TARGET).join("release");
        let made = release.join("deps/ferrosz_gpu_kernels.s");
        let read = release.join("ferrosz_gpu_kernels.d");
        Ok(Built {
            ptx: text_of(&made)?,
            sources: sources_in(&text_of(&read)?),
        })
    }
}

/// What a compiler made.
pub struct Built {
    /// The PTX as LLVM wrote it.
    pub ptx: String,
    /// The files of this repository that it was made from.
    pub sources: Vec<PathBuf>,
}

fn text_of(path: &Path) -> Result<String, Failure> {
    Ok(fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// The sources that a file of dependencies names, as `make` reads it: one rule, spaces in paths behind backslashes.
fn sources_in(rule: &str) -> Vec<PathBuf> {
    let (_, paths) = rule.split_once(": ").unwrap_or_default();
    let paths = paths.trim_end().replace("\\ ", "\0");
    (paths.split(' '))
        .map(|path| PathBuf::from(path.replace('\0', " ")))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| path.file_name().is_some_and(|name| name != "build.rs"))
        .collect()
}

/// `rustc` and `cargo` of rustup's toolchains, and where those of the system would be.
pub fn toolchains() -> Vec<(PathBuf, PathBuf)> {
    let names = output(Command::new("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let from_rustup = names
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter_map(|name| Some((which(name, "rustc")?, which(name, "cargo")?)));
    let of_system = (
        PathBuf::from("/usr/bin/rustc"),
        PathBuf::from("/usr/bin/cargo"),
    );
    from_rustup.chain([of_system]).collect()
}

/// The path of a tool of a rustup toolchain.
fn which(toolchain: &str, tool: &str) -> Option<PathBuf> {
    output(Command::new("rustup").args(["which", "--toolchain", toolchain, tool]))
        .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_from_a_rule() {
        let rule = "/a\\ b/lib.so: /a\\ b/codec/src/lib.rs /a\\ b/gpu-kernels/build.rs /a\\ b/gpu-kernels/ptx /c.rs\n";
        let wanted = ["/a b/codec/src/lib.rs", "/c.rs"].map(PathBuf::from);
        assert_eq!(sources_in(rule), wanted);
    }
}
