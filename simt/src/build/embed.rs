//! Putting committed compiled code into the crate of its kernels.

use super::manifest::{self, Manifest};
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
/// In a checkout, the package is marked as [outdated](crate::Package::outdated) where a source of the kernels differs from
/// the one that `ptx/manifest.txt` names, and cargo prints a warning. A package of a registry has no other crate's sources,
/// and is taken as it is.
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
    let mut package = format!("ferrosz_simt::Package::new(\n    {ptx},\n    {machine_code},\n)\n");
    if is_wanted && let Some(source) = changed_source(&here)? {
        println!(
            "cargo::warning={source} has changed since the kernels were compiled: no GPU runs them before `cargo xtask ptx`"
        );
        writeln!(package, ".outdated_by({source:?})").map_err(io::Error::other)?;
    }
    fs::write(out.join("package.rs"), package)
}

/// The first source of the kernels of the crate in a folder that has changed since they were compiled. None if this is a
/// package, whose folder has not the name that it has in the repository. The build script runs again when a source changes.
fn changed_source(folder: &Path) -> io::Result<Option<String>> {
    let Some(root) = folder.parent() else {
        return Ok(None);
    };
    if !manifest::path_in(folder).is_file() {
        return Ok(None);
    }
    let manifest = Manifest::read(folder).map_err(io::Error::other)?;
    if !manifest.paths(root).any(|path| path.starts_with(folder)) {
        return Ok(None);
    }
    for path in manifest.paths(root) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(manifest.changed_source(root).map(str::to_owned))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_sources_are_found_in_a_checkout_alone() {
        let root = env::temp_dir().join(format!("ferrosz-embed-{}", std::process::id()));
        let (folder, package) = (root.join("kernels"), root.join("my-kernels-0.1.0"));
        let source = folder.join("lib.rs");
        fs::create_dir_all(folder.join("ptx")).unwrap();
        // No manifest: nothing is known.
        assert_eq!(changed_source(&folder).unwrap(), None);
        fs::write(&source, "fn one() {}\n").unwrap();
        let manifest = Manifest::new("rustc 1.2.3", &root, std::slice::from_ref(&source)).unwrap();
        manifest.write(&folder).unwrap();
        assert_eq!(changed_source(&folder).unwrap(), None);
        fs::write(&source, "fn two() {}\n").unwrap();
        let changed = changed_source(&folder).unwrap();
        assert_eq!(changed.as_deref(), Some("kernels/lib.rs"));
        // The folder of a package, beside which is another crate.
        fs::create_dir_all(package.join("ptx")).unwrap();
        manifest.write(&package).unwrap();
        assert_eq!(changed_source(&package).unwrap(), None);
        fs::write(folder.join("ptx/manifest.txt"), "not a manifest\n").unwrap();
        assert!(changed_source(&folder).is_err());
        fs::remove_dir_all(&root).unwrap();
    }
}
