//! A file that the ranks of a communicator write together. The crate `mpi` does not wrap these calls of MPI.

use ferrosz::Error;
use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::ffi::{CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::path::Path;

const OPEN: &str = "open the file";
const WRITE: &str = "write the file";

/// A file that all ranks of a communicator have opened for writing. All calls are made by all ranks, also its drop, which
/// closes it.
pub struct File(ffi::MPI_File);

impl File {
    /// Opens a file. It may fail on some of the ranks alone.
    pub fn open(comm: &SimpleCommunicator, path: &Path) -> Result<Self, Error> {
        // No file has a name with a zero byte, and none an empty one.
        let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap_or_default();
        let mode = (ffi::MPI_MODE_CREATE | ffi::MPI_MODE_WRONLY) as c_int;
        let info = Info::new()?;
        let mut file = MaybeUninit::uninit();
        // SAFETY: the name ends with a zero byte, and communicator and info are those of MPI.
        let status = unsafe {
            ffi::MPI_File_open(
                comm.as_raw(),
                name.as_ptr(),
                mode,
                info.0,
                file.as_mut_ptr(),
            )
        };
        check(OPEN, status)?;
        // SAFETY: MPI has opened it.
        Ok(Self(unsafe { file.assume_init() }))
    }

    /// Removes what is in the file.
    pub fn empty(&self) -> Result<(), Error> {
        // SAFETY: the file is open.
        check(WRITE, unsafe { ffi::MPI_File_set_size(self.0, 0) })
    }

    /// Writes the parts of this rank, in ascending order of their positions, fewer bytes than a `c_int` can count: the view of
    /// the file has their places alone.
    pub fn write(&self, parts: &[(u64, &[u8])]) -> Result<(), Error> {
        let lengths: Vec<c_int> = parts.iter().map(|part| part.1.len() as c_int).collect();
        let starts: Vec<ffi::MPI_Aint> = parts.iter().map(|part| part.0 as ffi::MPI_Aint).collect();
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.1).copied().collect();
        let byte = u8::equivalent_datatype().as_raw();
        let info = Info::new()?;
        let mut places = byte;
        let mut status = MaybeUninit::uninit();
        // SAFETY: lengths and starts are as many as are said, the type is committed before it is used, and the buffer has as
        // many bytes as are written.
        unsafe {
            if !parts.is_empty() {
                let (count, lengths, starts) =
                    (parts.len() as c_int, lengths.as_ptr(), starts.as_ptr());
                ffi::MPI_Type_create_hindexed(count, lengths, starts, byte, &mut places);
                ffi::MPI_Type_commit(&mut places);
            }
            let native = c"native".as_ptr();
            let seen = ffi::MPI_File_set_view(self.0, 0, byte, places, native, info.0);
            let (from, count) = (bytes.as_ptr().cast(), bytes.len() as c_int);
            let written = ffi::MPI_File_write_all(self.0, from, count, byte, status.as_mut_ptr());
            if !parts.is_empty() {
                ffi::MPI_Type_free(&mut places);
            }
            check(WRITE, seen).and(check(WRITE, written))
        }
    }

    /// Returns when what this rank has written is in the file system.
    pub fn flush(&self) -> Result<(), Error> {
        // SAFETY: the file is open.
        check(WRITE, unsafe { ffi::MPI_File_sync(self.0) })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the file is open, and used no more.
        unsafe { ffi::MPI_File_close(&mut self.0) };
    }
}

/// An info without entries. `MPI_INFO_NULL` is a macro of C, which the crate `mpi` does not have.
struct Info(ffi::MPI_Info);

impl Info {
    fn new() -> Result<Self, Error> {
        let mut info = MaybeUninit::uninit();
        // SAFETY: MPI makes it.
        check(OPEN, unsafe { ffi::MPI_Info_create(info.as_mut_ptr()) })?;
        // SAFETY: MPI has made it.
        Ok(Self(unsafe { info.assume_init() }))
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: it was made, and is used no more.
        unsafe { ffi::MPI_Info_free(&mut self.0) };
    }
}

/// The result of a call of MPI, with MPI's text.
fn check(action: &'static str, status: c_int) -> Result<(), Error> {
    if status == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0 as c_char; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: MPI writes at most as many characters as there is room for.
    unsafe { ffi::MPI_Error_string(status, text.as_mut_ptr(), &mut length) };
    let text: Vec<u8> = (text.iter().take(length.max(0) as usize))
        .map(|character| *character as u8)
        .collect();
    Err(Error::Group {
        action,
        reason: String::from_utf8_lossy(&text).into_owned(),
    })
}
