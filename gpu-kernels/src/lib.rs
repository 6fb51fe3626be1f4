//! The ferrosz GPU kernels: how a thread block does what `ferrosz_codec` defines.
//!
//! Read [`simt`] first, then a kernel in [`kernel`]; both are short.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(internal_features),
    feature(abi_ptx, asm_experimental_arch, link_llvm_intrinsics, stdarch_nvptx)
)]

#[cfg(feature = "emulator")]
extern crate std;

pub mod kernel;
pub mod list;
pub mod look_back;
pub mod scan;
pub mod simt;
pub mod wide;

/// The kernels of [`list`], compiled by `cargo xtask ptx` from these sources.
#[cfg(not(target_arch = "nvptx64"))]
pub const PTX: &str = include_str!("../ptx/ferrosz.ptx");

/// The parts of [`PTX`] that make up one kernel alone, one behind the other: a driver compiles in
/// milliseconds what of all kernels would take it seconds. None if there is no such entry point.
#[cfg(not(target_arch = "nvptx64"))]
pub fn ptx_of(name: &str) -> Option<[&'static str; 2]> {
    const ENTRY: &str = ".visible .entry ";
    let (head, _) = PTX.split_once(ENTRY)?;
    let mut starts = PTX.match_indices(ENTRY).map(|(at, _)| at).peekable();
    while let Some(start) = starts.next() {
        let entry = &PTX[start..starts.peek().copied().unwrap_or(PTX.len())];
        let rest = entry[ENTRY.len()..].strip_prefix(name);
        if rest.is_some_and(|rest| rest.starts_with('(')) {
            return Some([head, entry]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_its_ptx() {
        for name in list::NAMES {
            let [head, entry] = ptx_of(name).expect(name);
            assert!(head.contains(".target") && !head.contains(".entry"));
            assert_eq!(entry.matches(".entry").count(), 1, "{name}");
            let (_, behind) = entry.rsplit_once('}').expect("a body");
            let is_comment = |line: &str| line.is_empty() || line.starts_with("//");
            assert!(behind.lines().map(str::trim).all(is_comment), "{name}");
        }
        assert!(ptx_of("ferrosz_compress").is_none());
    }
}
