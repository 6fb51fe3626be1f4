//! Lists the committed PTX for `src/ptx.rs`, and the committed machine code for `src/machine_code.rs`. A kernel whose PTX
//! is still to be built by `cargo xtask ptx` is left out: all but an NVIDIA GPU works without.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=ptx");
    println!("cargo::rerun-if-changed=machine-code");
    if env::var_os("CARGO_FEATURE_PTX").is_none() {
        return Ok(());
    }
    let variable = |name| env::var(name).map_err(io::Error::other);
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    write_list(
        &out.join("ptx.rs"),
        &files(&here.join("ptx"), ".ptx.lzma", "")?,
    )?;
    let mut machine_code = Vec::new();
    for folder in fs::read_dir(here.join("machine-code"))? {
        let folder = folder?;
        let name = folder.file_name().to_string_lossy().into_owned();
        if let Some(chip) = name.strip_prefix("sm_") {
            let chip = format!("{chip}, ");
            machine_code.extend(files(&folder.path(), ".cubin.lzma", &chip)?);
        }
    }
    write_list(&out.join("machine_code.rs"), &machine_code)
}

/// An entry of the list for each file of a folder: the kernel, `detail`, and the file's bytes.
fn files(folder: &Path, suffix: &str, detail: &str) -> io::Result<Vec<String>> {
    let mut entries = Vec::new();
    for file in fs::read_dir(folder)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        if let Some(kernel) = name.strip_suffix(suffix) {
            let path = folder.join(&name).display().to_string();
            entries.push(format!("({kernel:?}, {detail}include_bytes!({path:?}))"));
        }
    }
    Ok(entries)
}

/// Writes a list, ordered by kernel.
fn write_list(path: &Path, entries: &[String]) -> io::Result<()> {
    let mut entries = entries.to_vec();
    entries.sort();
    let mut list = String::from("&[\n");
    for entry in entries {
        writeln!(list, "    {entry},").map_err(io::Error::other)?;
    }
    list.push(']');
    fs::write(path, list)
}
