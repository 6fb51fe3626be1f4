//! Putting committed compiled code into the crate of its kernels.

use std::borrow::ToOwned;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::string::String;
use std::vec::Vec;
use std::{env, format, fs, io, println};

/// For the build script of a crate of kernels: writes `package.rs` to `OUT_DIR`, a [`Package`](crate::Package) of the
/// committed `ptx/KERNEL.ptx.lzma` and `machine-code/CHIP/KERNEL.cubin.lzma`, or of nothing if they are not wanted. A
/// kernel without a file is left out: all but an NVIDIA GPU works without.
///
/// ```ignore
/// pub const PACKAGE: ferrosz_simt::Package = include!(concat!(env!("OUT_DIR"), "/package.rs"));
/// ```
///
/// # Errors
///
/// If files cannot be read or written, or this is no build script.
pub fn embed(is_wanted: bool) -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| env::var(name).map_err(io::Error::other);
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let (mut ptx, mut machine_code) = (Vec::new(), Vec::new());
    if is_wanted {
        ptx = files(&here.join("ptx"), ".ptx.lzma", "")?;
        for (name, folder) in entries(&here.join("machine-code"))? {
            if let Some(chip) = name.strip_prefix("sm_") {
                machine_code.extend(files(&folder, ".cubin.lzma", &format!("{chip}, "))?);
            }
        }
    }
    let (ptx, machine_code) = (list(ptx)?, list(machine_code)?);
    let package = format!("ferrosz_simt::Package::new(\n    {ptx},\n    {machine_code},\n)\n");
    fs::write(out.join("package.rs"), package)
}

/// The items of a list, one for each file of a folder: the kernel, `detail`, and the file's bytes.
fn files(folder: &Path, suffix: &str, detail: &str) -> io::Result<Vec<String>> {
    let mut items = Vec::new();
    for (name, path) in entries(folder)? {
        if let Some(kernel) = name.strip_suffix(suffix) {
            items.push(format!("({kernel:?}, {detail}include_bytes!({path:?}))"));
        }
    }
    Ok(items)
}

/// The name and the path of each entry of a folder, which need not be there. The build script runs again when they
/// change.
fn entries(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut entries = Vec::new();
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push((name, entry.path()));
        }
    }
    Ok(entries)
}

/// A list in Rust, ordered by kernel.
fn list(mut items: Vec<String>) -> io::Result<String> {
    items.sort();
    let mut list = "&[\n".to_owned();
    for item in items {
        writeln!(list, "        {item},").map_err(io::Error::other)?;
    }
    list.push_str("    ]");
    Ok(list)
}
