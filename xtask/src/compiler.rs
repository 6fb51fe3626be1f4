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
}

impl Compiler {
    /// The first that can: rustup's toolchains, then those of the system, which Debian's packages
    /// `rustc-web`, `cargo-web` and `rust-web-src` bring.
    pub fn find() -> Result<Self, Failure> {
        let toolchains = output(Command::new("rustup").args(["toolchain", "list"]));
        let toolchains = toolchains.unwrap_or_default();
        let from_rustup = toolchains
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter_map(|name| Some((which(name, "rustc")?, which(name, "cargo")?)));
        let of_system = (
            PathBuf::from("/usr/bin/rustc"),
            PathBuf::from("/usr/bin/cargo"),
        );
        from_rustup
            .chain([of_system])
            .find_map(|(rustc, cargo)| Self::new(rustc, cargo))
            .ok_or_else(|| {
                "no Rust compiler here can make PTX: add the target nvptx64-nvidia-cuda or the \
                 component rust-src to a rustup toolchain, or on Debian install rustc-web, \
                 cargo-web and rust-web-src"
                    .into()
            })
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
        })
    }

    /// Compiles the kernels; the PTX as LLVM wrote it.
    pub fn compile(&self) -> Result<String, Failure> {
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
        let made = folder
            .join(TARGET)
            .join("release/deps/ferrosz_gpu_kernels.s");
        Ok(fs::read_to_string(&made).map_err(|error| format!("{}: {error}", made.display()))?)
    }
}

/// The path of a tool of a rustup toolchain.
fn which(toolchain: &str, tool: &str) -> Option<PathBuf> {
    output(Command::new("rustup").args(["which", "--toolchain", toolchain, tool]))
        .map(PathBuf::from)
}
