//! Files and folders that have a temporary name until they are complete.
//!
//! If the process ends early, they are removed: after an error by `Drop`, after a signal by [`remove_all`], and where no lock
//! may be taken by `unlink_in_a_handler`.

use crate::output::folder_of;
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

/// Creates something in a folder under a name that nothing has: a process that was killed may have left what it had.
fn create<T>(folder: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let mut unfinished = unfinished();
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..TRIES {
        let path = folder.join(format!(".ferrosz-{}-{number}.part", process::id()));
        match make(&path) {
            Ok(made) => {
                unfinished.push(path.clone());
                return Ok((path, made));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
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
        // A mapped file is read, too.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let (path, file) = create(folder, |path| options.open(path))?;
        #[cfg(target_os = "linux")]
        handler::unlinks(&path);
        Ok(Self { path, file })
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
        #[cfg(target_os = "linux")]
        handler::forgets();
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
        let (path, ()) = create(&folder_of(folder), |path| fs::create_dir(path))?;
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

#[cfg(target_os = "linux")]
pub use handler::unlink_in_a_handler;

/// What the handler of a signal may do: the name of the last file is there for it, which it reads without a lock.
#[cfg(target_os = "linux")]
mod handler {
    use std::ffi::{CString, c_char};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    static LAST: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());

    /// Names the file that is begun. The name is never freed, as a handler may read it at any time.
    pub fn unlinks(path: &Path) {
        if let Ok(name) = CString::new(path.as_os_str().as_bytes()) {
            LAST.store(name.into_raw(), Ordering::Release);
        }
    }

    /// The file has its name, or is gone.
    pub fn forgets() {
        LAST.store(ptr::null_mut(), Ordering::Release);
    }

    /// Removes the file, without a lock or memory.
    pub fn unlink_in_a_handler() {
        let name = LAST.load(Ordering::Acquire);
        if !name.is_null() {
            // SAFETY: it is a name that ends with a zero and is never freed; a handler may call this.
            unsafe { libc::unlink(name) };
        }
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
