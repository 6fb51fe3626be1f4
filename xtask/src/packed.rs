//! The committed code of kernels: a compressed file for each.
//!
//! It is committed compressed, for that is what the library embeds: its package holds the files as they are, no build has
//! to compress them, and the history grows by less than with texts, whose register numbers all change with one
//! instruction. `xz -dc FILE` shows what is in one.

use crate::Failure;
use crate::crates::KernelCrate;
use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

/// A folder of such files.
pub struct Files {
    folder: PathBuf,
    suffix: &'static str,
    /// Bytes of an instruction, or 1 for a text.
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

    /// What is in them, by kernel.
    pub fn read(&self) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
        let mut kernels = BTreeMap::new();
        for (name, path) in self.list()? {
            let packed = fs::read(&path)?;
            let bytes = unpack(&packed).map_err(|error| format!("{}: {error}", path.display()))?;
            kernels.insert(name, bytes);
        }
        Ok(kernels)
    }

    /// Writes those whose files hold other bytes, and removes files of kernels that are no more; how many files changed.
    pub fn write<B: AsRef<[u8]>>(&self, kernels: &BTreeMap<String, B>) -> Result<usize, Failure> {
        if !kernels.is_empty() {
            fs::create_dir_all(&self.folder)?;
        }
        let before = self.read().unwrap_or_default();
        let mut changed = 0;
        for (name, bytes) in kernels {
            let bytes = bytes.as_ref();
            if before.get(name).is_none_or(|before| before != bytes) {
                let path = self.folder.join(format!("{name}{}", self.suffix));
                fs::write(path, pack(bytes, self.unit_bytes)?)?;
                changed += 1;
            }
        }
        for (name, path) in self.list()? {
            if !kernels.contains_key(&name) {
                fs::remove_file(path)?;
                changed += 1;
            }
        }
        Ok(changed)
    }

    /// Kernels whose files do not hold these bytes, or that have a file and are not among these.
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

    /// The kernel and the path of each.
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
    // Literals and matches depend on their place in an instruction; in a text they do not.
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
            assert_eq!(files.write(&first).unwrap(), 3);
            assert_eq!(files.read().unwrap(), first);
            assert_eq!(files.write(&first).unwrap(), 0);
            let second = kernels(&[("a", "add %r1;\n"), ("b", "sub %r3;\n"), ("d", "ret;\n")]);
            // One is other, one new, one gone.
            assert_eq!(files.differences(&second).unwrap(), ["b", "c", "d"]);
            assert_eq!(files.write(&second).unwrap(), 3);
            assert_eq!(files.read().unwrap(), second);
            assert!(files.differences(&second).unwrap().is_empty());
            fs::write(files.folder.join("a.code.lzma"), b"not of this format").unwrap();
            assert!(files.read().is_err());
        }
    }
}
