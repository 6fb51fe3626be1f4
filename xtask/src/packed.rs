//! The committed code of kernels: one compressed file for each kernel.
//!
//! The files are committed compressed because the library embeds them so: the package contains the same files, no build
//! has to compress them, and the history grows less than with texts, in which one instruction changes all register
//! numbers. `cargo xtask ptx --show KERNEL` prints the PTX of a kernel.

use crate::Failure;
use crate::crates::KernelCrate;
use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

/// A folder of compressed files.
pub struct Files {
    folder: PathBuf,
    suffix: &'static str,
    /// Bytes of an instruction; 1 for a text.
    unit_bytes: u32,
}

impl Files {
    /// Those of the PTX of a crate.
    pub fn ptx(of: &KernelCrate) -> Self {
        Self {
            folder: of.folder().join("ptx"),
            suffix: ".ptx.lzma",
            unit_bytes: 1,
        }
    }

    /// Those of the machine code of a crate for a chip, whose instructions have 16 bytes. There need be none.
    pub fn machine_code(of: &KernelCrate, chip: &str) -> Self {
        Self {
            folder: of.folder().join("machine-code").join(chip),
            suffix: ".cubin.lzma",
            unit_bytes: 16,
        }
    }

    /// The contents of the files, by kernel.
    pub fn read(&self) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let mut kernels = BTreeMap::new();
        for (name, path) in self.list()? {
            let packed = fs::read(&path)?;
            let bytes = unpack(&packed).map_err(|error| format!("{}: {error}", path.display()))?;
            kernels.insert(name, bytes);
        }
        Ok(kernels)
    }

    /// Writes the files whose contents change, and removes files of other kernels; returns those kernels.
    pub fn write<B: AsRef<[u8]>>(
        &self,
        kernels: &BTreeMap<String, B>,
    ) -> Result<Vec<String>, Failure> {
        if !kernels.is_empty() {
            fs::create_dir_all(&self.folder)?;
        }
        let before = self.read().unwrap_or_default();
        let mut changed = Vec::new();
        for (name, bytes) in kernels {
            let bytes = bytes.as_ref();
            if before.get(name).is_none_or(|before| before != bytes) {
                let path = self.folder.join(format!("{name}{}", self.suffix));
                fs::write(path, pack(bytes, self.unit_bytes)?)?;
                changed.push(name.clone());
            }
        }
        let removed = self.remove(|name| !kernels.contains_key(name))?;
        changed.extend(removed);
        Ok(changed)
    }

    /// Removes the files of some kernels, and returns these.
    pub fn remove(&self, is_removed: impl Fn(&str) -> bool) -> Result<Vec<String>, Failure> {
        let mut removed = Vec::new();
        for (name, path) in self.list()? {
            if is_removed(&name) {
                fs::remove_file(path)?;
                removed.push(name);
            }
        }
        Ok(removed)
    }

    /// Kernels whose files have other contents, are missing, or should not exist.
    pub fn differences<B: AsRef<[u8]>>(
        &self,
        kernels: &BTreeMap<String, B>,
    ) -> Result<Vec<String>, Failure> {
        let files = self.read()?;
        let differs = |name: &&String| {
            let (wanted, file) = (kernels.get(*name), files.get(*name));
            wanted.map(AsRef::as_ref) != file.map(AsRef::as_ref)
        };
        let mut names: Vec<String> = (kernels.keys().chain(files.keys()))
            .filter(differs)
            .cloned()
            .collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> Result<u64, Failure> {
        let mut bytes = 0;
        for (_, path) in self.list()? {
            bytes += fs::metadata(path)?.len();
        }
        Ok(bytes)
    }

    /// The kernel and the path of each file.
    fn list(&self) -> Result<Vec<(String, PathBuf)>, Failure> {
        let mut files = Vec::new();
        if !self.folder.is_dir() {
            return Ok(files);
        }
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if let Some(name) = entry
                .file_name()
                .to_string_lossy()
                .strip_suffix(self.suffix)
            {
                files.push((name.to_owned(), entry.path()));
            }
        }
        Ok(files)
    }
}

fn pack(bytes: &[u8], unit_bytes: u32) -> Result<Vec<u8>, Failure> {
    let mut options = LzmaOptions::with_preset(9);
    // No kernel is longer than this window.
    options.dict_size = 1 << 20;
    // In machine code, literals and matches depend on their position in an instruction.
    options.pb = unit_bytes.ilog2();
    if unit_bytes > 1 {
        (options.lc, options.lp) = (0, unit_bytes.ilog2());
    }
    let length = Some(bytes.len() as u64);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, length)?;
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    LzmaReader::new_mem_limit(packed, u32::MAX, None)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn only_files_of_changed_kernels_are_written() {
        for unit_bytes in [1, 16] {
            let files = Files {
                folder: root().join(format!("target/xtask-packed-test-{unit_bytes}")),
                suffix: ".code.lzma",
                unit_bytes,
            };
            let _ = fs::remove_dir_all(&files.folder);
            let kernels = |texts: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
                let own =
                    |(name, text): &(&str, &str)| ((*name).to_owned(), text.repeat(100).into());
                texts.iter().map(own).collect()
            };
            let first = kernels(&[("a", "add %r1;\n"), ("b", "sub %r2;\n"), ("c", "ret;\n")]);
            assert_eq!(files.write(&first).unwrap(), ["a", "b", "c"]);
            assert_eq!(files.read().unwrap(), first);
            assert!(files.write(&first).unwrap().is_empty());
            let second = kernels(&[("a", "add %r1;\n"), ("b", "sub %r3;\n"), ("d", "ret;\n")]);
            // One is changed, one is new, and one is removed.
            assert_eq!(files.differences(&second).unwrap(), ["b", "c", "d"]);
            assert_eq!(files.write(&second).unwrap(), ["b", "d", "c"]);
            assert_eq!(files.read().unwrap(), second);
            assert!(files.differences(&second).unwrap().is_empty());
            fs::write(files.folder.join("a.code.lzma"), b"not of this format").unwrap();
            assert!(files.read().is_err());
        }
    }
}
