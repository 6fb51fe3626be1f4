//! Temporary files without names: for copies of a field that the library makes, and for arrays and streams that come from or
//! go to a pipe, if they are large.

use crate::{location::Location, output};
use ferrosz::scratch::{self, LARGE};
use std::fs::File;
use std::io;

/// Puts temporary files into the folder of an output, which has room for large files; the usual folder may be in memory.
/// The variable TMPDIR is the user's choice, and goes before. The folder of the first call is that of all.
pub fn beside(output: &Location) {
    if let Some(path) = output::seekable(output)
        && std::env::var_os("TMPDIR").is_none()
    {
        // A later output keeps the folder of the first one.
        let _ = tempfile::env::override_temp_dir(&output::folder_of(path));
    }
}

/// A file for so many bytes; none if they are few, or if there can be no file, so that memory has to do.
pub fn file_for(bytes: u64) -> Option<File> {
    match bytes < LARGE {
        true => None,
        false => tempfile::tempfile().ok(),
    }
}

/// The error of a temporary file, which names its folder.
pub fn fault(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), scratch::fault(error))
}
