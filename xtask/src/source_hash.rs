//! The hash of all that the PTX is made from. Also part of `build.rs`, which has no dependencies.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders and files that the PTX is made from, from the repository's root.
const SOURCES: [&str; 4] = [
    "codec/Cargo.toml",
    "codec/src",
    "gpu-kernels/Cargo.toml",
    "gpu-kernels/src",
];

/// What is beneath them but never compiled for the GPU.
const LEFT_OUT: [&str; 2] = ["codec/src/reference.rs", "gpu-kernels/src/simt/emulator"];

/// The line of the PTX that holds the hash.
pub const HASH_LINE: &str = "// sources: ";

/// The hash of the sources under `root`, as it stands in the PTX.
pub fn source_hash(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&root.join(source), &mut files)?;
    }
    files.sort();
    // FNV-1a, 64 bits: against forgetting, not against malice.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file);
        let name = name.to_string_lossy().replace('\\', "/");
        if LEFT_OUT.iter().any(|left_out| name.starts_with(left_out)) {
            continue;
        }
        let text = fs::read(&file)?;
        let bytes = name.bytes().chain(text).filter(|byte| *byte != b'\r');
        for byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
