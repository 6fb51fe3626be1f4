//! Files that are written under another name until they are complete.
//!
//! What ends the process early takes them away: an error by `Drop`, a signal by [`remove_all`].

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names that are taken before it is given up.
const TRIES: u32 = 1000;

/// The unfinished files of this process. Held while one of them appears or vanishes, so that a signal finds them all.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished files, and lets no more of them appear.
pub fn remove_all() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // Nobody is left to be told.
        let _ = fs::remove_file(path);
    }
    // The process ends now; until then no thread may finish or begin a file.
    std::mem::forget(unfinished);
}

/// A file without its final name, gone when dropped.
pub struct Temporary {
    path: PathBuf,
    /// The file, open for writing.
    pub file: File,
}

impl Temporary {
    /// A new file in a folder, with the permissions of ordinary new files.
    ///
    /// # Errors
    ///
    /// Those of the folder; they do not name the file, which nobody has asked for.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        let mut unfinished = unfinished();
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..TRIES {
            let path = folder.join(format!(".ferrosz-{}-{number}.part", process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    unfinished.push(path.clone());
                    return Ok(Self { path, file });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Gives the file its name, in the same folder.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if there is such a file and `replace` is false, and those of the folder.
    pub fn finish(self, path: &Path, replace: bool) -> io::Result<()> {
        let _no_signal = unfinished();
        match replace {
            true => fs::rename(&self.path, path),
            false => rename_to_new(&self.path, path),
        }
        // Dropping `self` removes what is left under the temporary name, after `_no_signal`.
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        let _ = fs::remove_file(&self.path);
        unfinished.retain(|path| *path != self.path);
    }
}

/// Renames, but never replaces: a second name fails where there is a file, and `rename` would not.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no second names.
        Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
        done => done,
    }
}
