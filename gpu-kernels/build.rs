//! Lists the committed PTX for `src/ptx.rs`. A kernel whose PTX is still to be built by `cargo xtask ptx` is left out:
//! all but an NVIDIA GPU works without.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=ptx");
    if env::var_os("CARGO_FEATURE_PTX").is_none() {
        return Ok(());
    }
    let variable = |name| env::var(name).map_err(io::Error::other);
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("ptx");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(kernel) = name.strip_suffix(".ptx.lzma") {
            files.push((kernel.to_owned(), folder.join(&name)));
        }
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (kernel, path) in &files {
        let path = path.display().to_string();
        writeln!(list, "    ({kernel:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
    }
    list.push(']');
    fs::write(Path::new(&variable("OUT_DIR")?).join("ptx.rs"), list)
}
