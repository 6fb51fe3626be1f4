//! Compiles a crate of kernels to PTX, and assembles the PTX; for programs that build kernels, as build scripts do.
//!
//! A crate of kernels is a library without `std`. An entry point is a function for the GPU alone, on one line:
//! `#[unsafe(no_mangle)] unsafe extern "ptx-kernel" fn name(params: Params)`. It runs a [`Kernel`](crate::Kernel) of
//! the same name. The build program depends on the same crate, and takes the shape of the blocks from a list of
//! [`Launch`](crate::Launch)es.
//! ```no_run
//! use ferrosz_simt::Launch;
//! use ferrosz_simt::build::{Compiler, Package, Ptxas, Rule, split, violations, with_directives};
//!
//! # const KERNELS: &[Launch] = &[];
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // The folder and the name of the crate.
//!     let package = Package::new("kernels", "my-kernels");
//!     let built = Compiler::find()?.compile(&package)?;
//!     // `my_kernels::KERNELS` in a real program: `&[Launch::of::<MyKernel>()]`.
//!     let ptx = with_directives(&built.ptx, KERNELS)?;
//!     if let Some(violation) = violations(&ptx, &[Rule::Call, Rule::LocalMemory]).first() {
//!         return Err(violation.to_string().into());
//!     }
//!     let kernels = split(&ptx)?;
//!     kernels.write("target/kernels")?;
//!     for kernel in Ptxas::find()?.assembled(&kernels, "sm_80", "target/assembled")? {
//!         println!("{}: {} registers, {} bytes spilled", kernel.name, kernel.registers, kernel.spills);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The compiler is any Rust toolchain with the target `nvptx64-nvidia-cuda` or with the source of Rust's own library;
//! it may differ from the toolchain of the build program. Without an assembler, the PTX is built all the same, and the
//! driver of a GPU compiles it.

mod blocks;
mod compiler;
mod dependence;
mod directives;
mod embed;
mod error;
mod manifest;
pub mod occupancy;
mod package;
mod program;
mod ptxas;
mod rules;
mod signs;
mod split;
mod toolchain;
mod uniform;
mod values;

pub use compiler::{Built, Compiler};
pub use directives::with_directives;
pub use embed::embed;
pub use error::Error;
pub use manifest::{Manifest, fnv};
pub use package::Package;
pub use ptxas::{Assembled, Ptxas};
pub use rules::{Rule, Violation, violations};
pub use split::{Kernels, split};
pub use toolchain::Toolchain;
