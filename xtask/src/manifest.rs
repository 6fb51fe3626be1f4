//! `gpu-kernels/ptx/manifest.txt`: the compiler that made the committed PTX of all crates, and the sources that it read.
//!
//! Whether the PTX is that of the sources is seen only by building it again, which `cargo xtask check ptx` does. The
//! manifest tells in no time, without that compiler, that a source has changed since: before a GPU is lent to test
//! kernels of yesterday.

use crate::{Failure, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const COMPILER: &str = "compiler: ";
const SOURCE: &str = "source: ";

/// What begins the tests of a source, with which it ends.
const TESTS: &str = "\n#[cfg(test)]\nmod tests {";

/// What made the PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// As the compiler says itself.
    pub compiler: String,
    /// Sources from the repository's root, and what they hash to.
    sources: BTreeMap<String, String>,
}

fn path() -> PathBuf {
    root().join("gpu-kernels/ptx/manifest.txt")
}

impl Manifest {
    /// That of a compiler which has read these sources, of which those of build scripts do not count.
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

    /// The committed one.
    pub fn read() -> Result<Self, Failure> {
        let text = fs::read_to_string(path())
            .map_err(|error| format!("{}: {error}: run `cargo xtask ptx`", path().display()))?;
        Self::parse(&text).ok_or_else(|| format!("{}: not a manifest", path().display()).into())
    }

    /// Commits it to its file.
    pub fn write(&self) -> Result<(), Failure> {
        Ok(fs::write(path(), self.text())?)
    }

    /// Refuses sources that have changed since.
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

/// A hash of what the compiler reads of a source: no comments, no blank lines, no tests.
fn hash(text: &str) -> String {
    // FNV-1a, 64 bits: against forgetting, not against malice.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let (text, _) = text.split_once(TESTS).unwrap_or((text, ""));
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    for byte in code.flat_map(|line| line.bytes().chain([b'\n'])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
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
