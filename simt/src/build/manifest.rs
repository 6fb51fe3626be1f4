//! `ptx/manifest.txt` of a crate of kernels: the compiler that made its committed PTX, and the sources that it read.
//!
//! Only a second build shows whether the PTX is what the sources give. The manifest shows immediately, and without the
//! compiler, whether a source has changed since the build.

use super::Error;
use std::borrow::ToOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::string::String;
use std::{format, fs, io};

const COMPILER: &str = "compiler: ";
const SOURCE: &str = "source: ";

/// The start of a source's tests, which are at its end.
const TESTS: &str = "\n#[cfg(test)]\nmod tests {";

/// The compiler and the sources of a crate's committed PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The compiler's version, as it prints it.
    pub compiler: String,
    /// Sources by path from the folder that holds the crate's, and the hash of each.
    sources: BTreeMap<String, String>,
}

impl Manifest {
    /// The manifest of a compiler and the sources that it read, without build scripts. Their paths are stored relative to
    /// `root`, the folder that holds the crate's.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if a source cannot be read.
    pub fn new(compiler: &str, root: &Path, sources: &[PathBuf]) -> Result<Self, Error> {
        let paths = (sources.iter()).map(|path| path.strip_prefix(root).unwrap_or(path));
        let hashed = |path: &Path| {
            let text = fs::read_to_string(root.join(path)).map_err(Error::file(path))?;
            Ok((path.to_string_lossy().replace('\\', "/"), hash_of(&text)))
        };
        Ok(Self {
            compiler: compiler.to_owned(),
            sources: (paths.filter(|path| !is_of_build(path)).map(hashed))
                .collect::<Result<_, Error>>()?,
        })
    }

    /// Reads the manifest of the crate in a folder.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if it cannot be read, or is no manifest.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = path_in(folder);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        let fault = || io::Error::new(io::ErrorKind::InvalidData, "not a manifest");
        Self::parse(&text)
            .ok_or_else(fault)
            .map_err(Error::file(&path))
    }

    /// Writes the manifest of the crate in a folder.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = path_in(folder);
        fs::write(&path, self.text()).map_err(Error::file(&path))
    }

    /// The path of each source in `root`.
    pub(super) fn paths(&self, root: &Path) -> impl Iterator<Item = PathBuf> {
        self.sources.keys().map(|name| root.join(name))
    }

    /// The first source in `root` that is missing, or has changed since the build. Comments and tests do not count.
    pub fn changed_source(&self, root: &Path) -> Option<&str> {
        let differs = |(name, hash): &(&String, &String)| {
            let text = fs::read_to_string(root.join(name));
            text.map_or(true, |text| hash_of(&text) != **hash)
        };
        self.sources.iter().find(differs).map(|(name, _)| &**name)
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

/// The path of the manifest of the crate in a folder.
pub(super) fn path_in(folder: &Path) -> PathBuf {
    folder.join("ptx/manifest.txt")
}

/// Whether a source is of a build script, of this module, which those use, or made by one.
fn is_of_build(path: &Path) -> bool {
    path.ends_with("build.rs") || path.starts_with("simt/src/build") || path.starts_with("target")
}

/// A hash of the parts of a source that affect the PTX: no comments, no blank lines, no tests.
fn hash_of(text: &str) -> String {
    let (text, _) = text.split_once(TESTS).unwrap_or((text, ""));
    let lines = text.lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    fnv(code.flat_map(|line| [line.as_bytes(), b"\n"]))
}

/// FNV-1a of 64 bits, of the parts one after the other: it protects against mistakes, not against malice.
pub fn fnv<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    // Loops: build scripts are not optimised, and closures would take them longer.
    for part in parts {
        for byte in part {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    const SOURCE_TEXT: &str = "/// Adds.\nfn add() -> u32 {\n    1 + 1\n}\n";

    #[test]
    fn comments_and_tests_do_not_count() {
        let same = "// Other words.\n\nfn add() -> u32 {\n    // Two.\n    1 + 1\n}\n\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(hash_of(SOURCE_TEXT), hash_of(same));
        let other = SOURCE_TEXT.replace("1 + 1", "1 + 2");
        assert_ne!(hash_of(SOURCE_TEXT), hash_of(&other));
        // The value that the authors of FNV publish for "foobar".
        assert_eq!(fnv([&b"foo"[..], b"bar"]), "85944171f73967e8");
    }

    #[test]
    fn a_source_that_has_changed_or_is_gone_is_found() {
        let root = std::env::temp_dir().join(format!("ferrosz-manifest-{}", std::process::id()));
        let folder = root.join("kernels");
        fs::create_dir_all(folder.join("ptx")).unwrap();
        let names = ["kernels/lib.rs", "kernels/build.rs", "target/package.rs"];
        let sources = names.map(|name| root.join(name));
        fs::write(&sources[0], SOURCE_TEXT).unwrap();
        Manifest::new("rustc 1.2.3 (built by hand)", &root, &sources)
            .unwrap()
            .write(&folder)
            .unwrap();

        let manifest = Manifest::read(&folder).unwrap();
        assert_eq!(manifest.compiler, "rustc 1.2.3 (built by hand)");
        assert_eq!(manifest.paths(&root).collect::<Vec<_>>(), sources[..1]);
        assert_eq!(manifest.changed_source(&root), None);
        fs::write(&sources[0], SOURCE_TEXT.replace("1 + 1", "1 + 2")).unwrap();
        assert_eq!(manifest.changed_source(&root), Some(names[0]));
        fs::remove_file(&sources[0]).unwrap();
        assert_eq!(manifest.changed_source(&root), Some(names[0]));

        fs::write(path_in(&folder), "source: 1 a\n").unwrap();
        let error = Manifest::read(&folder).unwrap_err().to_string();
        assert!(error.ends_with("not a manifest"), "{error}");
        fs::remove_dir_all(&root).unwrap();
    }
}
