//! Is the committed PTX made from these kernel sources? Says so if not, and fails in CI.

use std::path::Path;
use std::{env, fs};

#[path = "xtask/src/source_hash.rs"]
mod source_hash;

fn main() {
    println!("cargo::rerun-if-changed=codec");
    println!("cargo::rerun-if-changed=gpu-kernels");
    println!("cargo::rerun-if-env-changed=CI");
    let Some(root) = env::var_os("CARGO_MANIFEST_DIR") else {
        return;
    };
    let root = Path::new(&root);
    // A published package has the library alone; its kernels come from the registry, checked there.
    let Ok(ptx) = fs::read_to_string(root.join("gpu-kernels/ptx/ferrosz.ptx")) else {
        return;
    };
    let Ok(now) = source_hash::source_hash(root) else {
        return;
    };
    let made_from = ptx
        .lines()
        .find_map(|line| line.strip_prefix(source_hash::HASH_LINE));
    if made_from != Some(now.as_str()) {
        let level = if env::var_os("CI").is_some() {
            "error"
        } else {
            "warning"
        };
        println!(
            "cargo::{level}=gpu-kernels/ptx/ferrosz.ptx is not made from these kernel sources: \
             run `cargo xtask ptx`"
        );
    }
}
