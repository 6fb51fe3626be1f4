//! Files and folders that have a temporary name until they are complete.
//!
//! If the process ends early, they are removed: after an error by `Drop`, after a signal by [`remove_all`].

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names that are tried before the creation fails.
const TRIES: u32 = 1000;

/// The unfinished files of this process. The lock is held while a file appears or vanishes, so that a signal finds all.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished files, and prevents new ones.
pub fn remove_all() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // There is no reader for an error message.
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
    }
    // The process ends now. Until then no thread may finish or begin a file.
    std::mem::forget(unfinished);
}

/// A file with a temporary name, removed when dropped.
pub struct Temporary {
    path: PathBuf,
    /// The file, open for writing.
    pub file: File,
}

impl Temporary {
    /// Creates a file in a folder, with the permissions of ordinary new files.
    ///
    /// # Errors
    ///
    /// The errors of the folder; they do not name the file, since the user did not name it.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        let mut unfinished = unfinished();
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..TRIES {
            let path = folder.join(format!(".ferrosz-{}-{number}.part", process::id()));
            let mut options = OpenOptions::new();
            // A mapped file is read, too.
            match options.read(true).write(true).create_new(true).open(&path) {
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

    /// Gives the file its final name, in the same folder.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if such a file exists and `replace` is false; the errors of the folder.
    pub fn finish(self, path: &Path, replace: bool) -> io::Result<()> {
        let _no_signal = unfinished();
        match replace {
            true => fs::rename(&self.path, path),
            false => rename_to_new(&self.path, path),
        }
        // Dropping `self` removes any remaining file under the temporary name, after `_no_signal` is dropped.
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        let _ = fs::remove_file(&self.path);
        unfinished.retain(|path| *path != self.path);
    }
}

/// A folder with a temporary name, removed with its files when dropped.
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Creates a folder in the folder that will hold another one.
    ///
    /// # Errors
    ///
    /// The errors of the folder.
    pub fn beside(folder: &Path) -> io::Result<Self> {
        let mut unfinished = unfinished();
        let name = format!(".ferrosz-{}.part", process::id());
        let path = folder.with_file_name(name);
        fs::create_dir(&path)?;
        unfinished.push(path.clone());
        Ok(Self { path })
    }

    /// Its temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its final name, beside it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] if there is such a folder or file; the errors of the folder.
    pub fn finish(self, path: &Path) -> io::Result<()> {
        let _no_signal = unfinished();
        // An empty folder would be replaced.
        match fs::symlink_metadata(path) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.path, path),
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        let _ = fs::remove_dir_all(&self.path);
        unfinished.retain(|path| *path != self.path);
    }
}

/// Renames without replacing: a hard link fails if the target exists, whereas `rename` would replace it.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links.
        Err(_) if fs::symlink_metadata(to).is_err() => fs::rename(from, to),
        done => done,
    }
}
