//! The committed PTX: a compressed file for each kernel.
//!
//! The texts are committed compressed, for they are what the library embeds: its package holds them as they are, no
//! build has to compress them, and the history grows by less than with texts, whose register numbers all change with
//! one instruction. `xz -dc FILE` shows the text.

use crate::split::Kernels;
use crate::{Failure, root};
use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".ptx.lzma";

/// Where the files are.
pub fn folder() -> PathBuf {
    root().join("gpu-kernels/ptx")
}

/// The texts of all files of a folder.
pub fn read(folder: &Path) -> Result<Kernels, Failure> {
    let mut kernels = Kernels::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = kernel_of(&path) else {
            continue;
        };
        let bytes = fs::read(&path)?;
        let text = unpack(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        kernels.insert(name, text);
    }
    Ok(kernels)
}

/// Writes those texts whose files hold others, and removes files of kernels that are no more; how many files changed.
pub fn write(folder: &Path, kernels: &Kernels) -> Result<usize, Failure> {
    fs::create_dir_all(folder)?;
    let before = read(folder).unwrap_or_default();
    let mut changed = 0;
    for (name, text) in kernels {
        if before.get(name) != Some(text) {
            fs::write(folder.join(format!("{name}{SUFFIX}")), pack(text)?)?;
            changed += 1;
        }
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if kernel_of(&path).is_some_and(|name| !kernels.contains_key(&name)) {
            fs::remove_file(path)?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// Bytes of all files.
pub fn bytes(folder: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if kernel_of(&entry.path()).is_some() {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

/// The kernel whose text is in this file, if it is one of those.
fn kernel_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(SUFFIX).map(str::to_owned)
}

fn pack(text: &str) -> Result<Vec<u8>, Failure> {
    let mut options = LzmaOptions::with_preset(9);
    // The texts are shorter than this window, and have no pattern of 2 or 4 bytes.
    options.dict_size = 1 << 20;
    options.pb = 0;
    let length = Some(text.len() as u64);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, length)?;
    writer.write_all(text.as_bytes())?;
    Ok(writer.finish()?)
}

fn unpack(bytes: &[u8]) -> Result<String, Failure> {
    let mut text = String::new();
    LzmaReader::new_mem_limit(bytes, u32::MAX, None)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_changed_kernels_are_written() {
        let folder = root().join("target/xtask-packed-test");
        let _ = fs::remove_dir_all(&folder);
        let kernels = |texts: &[(&str, &str)]| -> Kernels {
            let own = |(name, text): &(&str, &str)| ((*name).to_owned(), text.repeat(100));
            texts.iter().map(own).collect()
        };
        let first = kernels(&[("a", "add %r1;\n"), ("b", "sub %r2;\n"), ("c", "ret;\n")]);
        assert_eq!(write(&folder, &first).unwrap(), 3);
        assert_eq!(read(&folder).unwrap(), first);
        assert_eq!(write(&folder, &first).unwrap(), 0);
        let second = kernels(&[("a", "add %r1;\n"), ("b", "sub %r3;\n"), ("d", "ret;\n")]);
        // One is other, one new, one gone.
        assert_eq!(write(&folder, &second).unwrap(), 3);
        assert_eq!(read(&folder).unwrap(), second);
        fs::write(folder.join("a.ptx.lzma"), b"no file of this format").unwrap();
        assert!(read(&folder).is_err());
    }
}
