//! Inputs and outputs: a file, a variable in a file, a URL, or `-` for a pipe.

use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// The suffixes of NetCDF and HDF5 files.
const VARIABLE_FILES: [&str; 8] = ["nc", "nc3", "nc4", "cdf", "h5", "hdf5", "he5", "hdf"];

/// The beginnings of URLs that streams are read from.
const SCHEMES: [&str; 3] = ["http://", "https://", "s3://"];

/// A place of an array or a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Standard input or output, whichever applies.
    Pipe,
    /// A file.
    File(PathBuf),
    /// A variable in a NetCDF or HDF5 file: `FILE.nc:NAME`.
    Variable {
        /// The file.
        file: PathBuf,
        /// The variable's name, with its groups before it: `NAME` or `/GROUP/NAME`.
        name: String,
    },
    /// An object on a server: `https://...` or `s3://BUCKET/KEY`.
    Url(String),
}

impl Location {
    /// Whether the name ends in `.npy`.
    pub fn is_npy(&self) -> bool {
        match self {
            Self::File(path) => path
                .extension()
                .is_some_and(|suffix| suffix.eq_ignore_ascii_case("npy")),
            Self::Pipe | Self::Variable { .. } | Self::Url(_) => false,
        }
    }

    /// The name of an output in messages.
    pub fn output_name(&self) -> String {
        match self {
            Self::Pipe => "standard output".to_owned(),
            other => other.to_string(),
        }
    }

    /// The name in the objects of `--json`, which has every character of it. If the name is not UTF-8, a byte that is none is
    /// `\xNN`, and a backslash is two: see [`Location::is_escaped`].
    pub fn json_name(&self) -> String {
        match self {
            Self::Pipe => self.to_string(),
            Self::File(path) => unescaped(path).unwrap_or_else(|| escaped(path)),
            Self::Variable { file, name } => match unescaped(file) {
                Some(file) => format!("{file}:{name}"),
                None => format!("{}:{}", escaped(file), name.replace('\\', r"\\")),
            },
            Self::Url(url) => url.clone(),
        }
    }

    /// Whether [`Location::json_name`] is escaped.
    pub fn is_escaped(&self) -> bool {
        self.file().is_some_and(|path| unescaped(path).is_none())
    }

    /// Whether both are the same existing file, even by different paths.
    pub fn is_same_file(&self, other: &Self) -> bool {
        match (self.file(), other.file()) {
            (Some(one), Some(other)) => match (one.canonicalize(), other.canonicalize()) {
                (Ok(one), Ok(other)) => one == other,
                _ => false,
            },
            _ => false,
        }
    }

    /// The path that names of outputs are derived from: of a variable, its name beside the file; of a URL, its last
    /// segment in the current folder.
    pub fn stem(&self) -> Option<PathBuf> {
        match self {
            Self::Pipe => None,
            Self::File(path) => Some(path.clone()),
            Self::Variable { file, name } => {
                let mut stem = file.file_stem()?.to_owned();
                for part in name.split('/').filter(|part| !part.is_empty()) {
                    stem.push("-");
                    stem.push(part);
                }
                Some(file.with_file_name(stem))
            }
            Self::Url(url) => {
                let path = url.split(['?', '#']).next()?;
                path.rsplit('/').next().map(PathBuf::from)
            }
        }
    }

    /// The refusal of a variable or a URL where only files and pipes can be used.
    pub fn is_no_file(&self, use_: &str) -> Failure {
        Failure::usage(format_args!("{self}: {use_} a file or '-'"))
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Self::Pipe | Self::Url(_) => None,
            Self::File(path) | Self::Variable { file: path, .. } => Some(path),
        }
    }
}

impl From<OsString> for Location {
    /// A file that exists is taken as a file, whatever its name.
    fn from(argument: OsString) -> Self {
        if argument == "-" {
            return Self::Pipe;
        }
        if !Path::new(&argument).exists()
            && let Some(text) = argument.to_str()
        {
            if SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
                return Self::Url(text.to_owned());
            }
            if let Some((file, name)) = split_variable(text) {
                return Self::Variable { file, name };
            }
        }
        Self::File(argument.into())
    }
}

/// A path that is UTF-8.
fn unescaped(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

/// A path with each byte that is not UTF-8 as `\xNN`, and each backslash twice.
fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text += &chunk.valid().replace('\\', r"\\");
        for byte in chunk.invalid() {
            text += &format!("\\x{byte:02x}");
        }
    }
    text
}

/// The file and the name of `FILE:NAME`: FILE has a known suffix or exists.
fn split_variable(text: &str) -> Option<(PathBuf, String)> {
    let is_known = |file: &str| {
        let path = Path::new(file);
        let suffix = path.extension().and_then(OsStr::to_str);
        let known = |suffix: &str| {
            let mut all = VARIABLE_FILES.iter();
            all.any(|known| known.eq_ignore_ascii_case(suffix))
        };
        suffix.is_some_and(known) || path.is_file()
    };
    let colons = text.match_indices(':').map(|(at, _)| text.split_at(at));
    let (file, name) = colons.into_iter().find(|(file, _)| is_known(file))?;
    Some((file.into(), name[1..].to_owned()))
}

/// The name of an input in messages.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipe => f.write_str("standard input"),
            Self::File(path) => shown(path).fmt(f),
            Self::Variable { file, name } => write!(f, "{}:{}", shown(file), visible(name)),
            Self::Url(url) => f.write_str(&visible(url)),
        }
    }
}

/// A path in messages.
pub fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// A name whose control characters a terminal does not obey: they are escaped, as `\u{1b}`.
fn visible(name: &str) -> String {
    let character = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    name.chars().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(file: &str, name: &str) -> Location {
        Location::Variable {
            file: file.into(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn names_tell_files_variables_and_urls() {
        let url = |text: &str| Location::Url(text.to_owned());
        for (text, expected) in [
            ("-", Location::Pipe),
            ("t.npy", Location::File("t.npy".into())),
            ("t.nc", Location::File("t.nc".into())),
            ("t.npy:x", Location::File("t.npy:x".into())),
            ("t.nc:temp", variable("t.nc", "temp")),
            ("a/t.H5:/group/x", variable("a/t.H5", "/group/x")),
            ("C:\\t.nc:x:y", variable("C:\\t.nc", "x:y")),
            ("t.nc:", variable("t.nc", "")),
            ("https://h/t.fsz", url("https://h/t.fsz")),
            ("s3://b/t.nc:x", url("s3://b/t.nc:x")),
        ] {
            assert_eq!(Location::from(OsString::from(text)), expected, "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.nc:x");
        std::fs::write(&path, b"").unwrap();
        assert_eq!(
            Location::from(path.clone().into_os_string()),
            Location::File(path)
        );
    }

    #[test]
    fn terminals_do_not_obey_names() {
        let name = |text: &str| Location::File(text.into()).to_string();
        assert_eq!(name("a\u{1b}[31m\n.npy"), r"a\u{1b}[31m\n.npy");
        assert_eq!(name("\u{e9}\u{9b}x"), "\u{e9}\\u{9b}x");
    }

    #[cfg(unix)]
    #[test]
    fn names_for_programs_lose_nothing() {
        use std::os::unix::ffi::OsStrExt;
        let file = |bytes: &[u8]| Location::File(OsStr::from_bytes(bytes).into());
        for (bytes, name, is_escaped) in [
            (&b"a\\\x1b.npy"[..], "a\\\u{1b}.npy", false),
            (b"a\xff\\\xc3\xa9", "a\\xff\\\\\u{e9}", true),
        ] {
            let location = file(bytes);
            assert_eq!(
                (location.json_name(), location.is_escaped()),
                (name.to_owned(), is_escaped)
            );
        }
    }

    #[test]
    fn outputs_are_named_after_variables_and_objects() {
        for (location, stem) in [
            (variable("a/t.nc", "temp"), "a/t-temp"),
            (variable("t.h5", "/group/x"), "t-group-x"),
            (Location::Url("https://h/p/t.fsz?key=1".into()), "t.fsz"),
        ] {
            assert_eq!(location.stem(), Some(stem.into()), "{location}");
        }
    }
}
