//! `gpu-kernels/ptx/manifest.txt`: the compiler that made the committed PTX of all crates, and the sources that it read.
//!
//! Only `cargo xtask check ptx`, which builds the PTX a second time, shows whether it belongs to the sources. The
//! manifest shows immediately, and without the compiler, whether a source has changed since the build, so that no GPU
//! time is spent on outdated kernels.

use crate::{Failure, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const COMPILER: &str = "compiler: ";
const SOURCE: &str = "source: ";

/// The start of a source's tests, which are at its end.
const TESTS: &str = "\n#[cfg(test)]\nmod tests {";

/// The compiler and the sources of the committed PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The compiler's version, as it prints it.
    pub compiler: String,
    /// Sources by path from the repository's root, and the hash of each.
    sources: BTreeMap<String, String>,
}

fn path() -> PathBuf {
    root().join("gpu-kernels/ptx/manifest.txt")
}

impl Manifest {
    /// The manifest of a compiler and the sources that it read, without build scripts.
    pub fn new(compiler: &str, sources: &[PathBuf]) -> Result<Self, Failure> {
        let hashed = |path: &PathBuf| -> Result<_, Failure> {
            let name = path.strip_prefix(root()).unwrap_or(path);
            let name = name.to_string_lossy().replace('\\', "/");
            Ok((name, hash_of(path)?))
        };
        let sources = sources.iter().filter(|path| !is_of_build(path));
        Ok(Self {
            compiler: compiler.to_owned(),
            sources: sources.map(hashed).collect::<Result<_, _>>()?,
        })
    }

    /// Reads the committed manifest.
    pub fn read() -> Result<Self, Failure> {
        let text = fs::read_to_string(path())
            .map_err(|error| format!("{}: {error}: run `cargo xtask ptx`", path().display()))?;
        Self::parse(&text).ok_or_else(|| format!("{}: not a manifest", path().display()).into())
    }

    /// Writes the committed manifest.
    pub fn write(&self) -> Result<(), Failure> {
        Ok(fs::write(path(), self.text())?)
    }

    /// Refuses sources that have changed since the build.
    pub fn check_sources(&self) -> Result<(), Failure> {
        let changed = |(name, hash): &(&String, &String)| {
            hash_of(&root().join(name)).ok().as_ref() != Some(*hash)
        };
        match self.sources.iter().find(changed) {
            None => Ok(()),
            Some((name, _)) => Err(format!(
                "{name} has changed since the PTX was built: run `cargo xtask ptx`"
            )
            .into()),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{COMPILER}{}\n", self.compiler);
        for (name, hash) in &self.sources {
            text.push_str(&format!("{SOURCE}{hash} {name}\n"));
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let compiler = text.lines().find_map(|line| line.strip_prefix(COMPILER))?;
        let sources = (text.lines())
            .filter_map(|line| line.strip_prefix(SOURCE))
            .map(|line| line.split_once(' '))
            .map(|line| line.map(|(hash, name)| (name.to_owned(), hash.to_owned())))
            .collect::<Option<_>>()?;
        Some(Self {
            compiler: compiler.to_owned(),
            sources,
        })
    }
}

/// Whether a source is of a build script, of the module of `simt` that those use, or made by one.
fn is_of_build(path: &Path) -> bool {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.ends_with("build.rs") || path.starts_with("simt/src/build") || path.starts_with("target")
}

fn hash_of(path: &Path) -> Result<String, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(hash(&text))
}

/// A hash of the parts of a source that affect the PTX: no comments, no blank lines, no tests.
fn hash(text: &str) -> String {
    let (text, _) = text.split_once(TESTS).unwrap_or((text, ""));
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    fnv(code.flat_map(|line| line.bytes().chain([b'\n'])))
}

/// FNV-1a, 64 bits: it protects against mistakes, not against malice.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> String {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, add);
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_tests_do_not_count() {
        let source = "/// Adds.\nfn add() -> u32 {\n    1 + 1\n}\n";
        let same = "// Other words.\n\nfn add() -> u32 {\n    // Two.\n    1 + 1\n}\n\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(hash(source), hash(same));
        assert_ne!(hash(source), hash(&source.replace("1 + 1", "1 + 2")));
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let sources = [
            "xtask/src/manifest.rs",
            "gpu-kernels/build.rs",
            "simt/src/build/embed.rs",
        ]
        .map(|path| root().join(path));
        let manifest = Manifest::new("rustc 1.2.3 (built by hand)", &sources).unwrap();
        assert_eq!(manifest.sources.len(), 1);
        assert_eq!(Manifest::parse(&manifest.text()), Some(manifest.clone()));
        assert!(manifest.check_sources().is_ok());
        let mut other = manifest;
        for hash in other.sources.values_mut() {
            hash.replace_range(..1, "x");
        }
        let error = other.check_sources().unwrap_err().to_string();
        assert!(
            error.starts_with("xtask/src/manifest.rs has changed"),
            "{error}"
        );
        assert_eq!(Manifest::parse("source: 1 a\n"), None);
    }
}
