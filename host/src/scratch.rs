//! Arrays that need not fit in memory.
//!
//! A large one is a temporary file that is mapped: the operating system writes its pages to the file and drops them when
//! memory is short. The file has no name, so that it vanishes with the array, also if the process is killed.

use crate::error::Error;
use crate::memory::try_zeroed;
use bytemuck::{Pod, try_cast_slice, try_cast_slice_mut};
use memmap2::MmapMut;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

pub use crate::spool::spool;

/// Arrays of at least so many bytes are in files.
pub const LARGE: u64 = 1 << 26;

/// Where the copies of a field are that a call makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Copies {
    /// In memory.
    #[default]
    InMemory,
    /// Large ones in temporary files.
    InFiles,
}

/// An array in memory or in a temporary file.
pub struct Scratch<T>(Place<T>);

enum Place<T> {
    Memory(Vec<T>),
    File(MmapMut, PhantomData<T>),
}

impl<T: Pod> Scratch<T> {
    /// Zeroed elements.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; [`Error::TemporaryFile`], also if there is no room for it.
    pub fn zeroed(copies: Copies, count: u64) -> Result<Self, Error> {
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        if copies == Copies::InMemory || bytes < LARGE {
            return Ok(Self(Place::Memory(try_zeroed(count)?)));
        }
        let mut file = new_file()?;
        reserve(&mut file, bytes).map_err(fault)?;
        Self::map(&file)
    }

    /// The elements that are the bytes of a file without a name. A last part of an element is left away.
    ///
    /// # Errors
    ///
    /// [`Error::TemporaryFile`]; [`Error::OutOfMemory`] if the address space is too small.
    pub(crate) fn map(file: &File) -> Result<Self, Error> {
        let length = file.metadata().map_err(fault)?.len();
        let no_memory = Error::OutOfMemory { bytes: length };
        let length = usize::try_from(length).map_err(|_| no_memory.clone())?;
        let mut options = memmap2::MmapOptions::new();
        options.len(length / size_of::<T>() * size_of::<T>());
        // SAFETY: the file has no name, so no other process changes or shortens it. This process has the mapping alone, as
        // its callers drop the file.
        let map = unsafe { options.map_mut(file) }.map_err(|error| match error.kind() {
            // A limit of the address space.
            io::ErrorKind::OutOfMemory => no_memory,
            _ => fault(error),
        })?;
        Ok(Self(Place::File(map, PhantomData)))
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Memory(elements) => elements,
            // A mapping begins with a page, and has whole elements.
            Place::File(map, _) => try_cast_slice(map).unwrap_or_default(),
        }
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Place::Memory(elements) => elements,
            Place::File(map, _) => try_cast_slice_mut(map).unwrap_or_default(),
        }
    }
}

impl<T> From<Vec<T>> for Scratch<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(Place::Memory(elements))
    }
}

/// A field as it is, or a copy of it.
pub enum Coded<'a, T> {
    /// The field.
    Field(&'a [T]),
    /// Its copy.
    Copy(Scratch<T>),
}

impl<T: Pod> Coded<'_, T> {
    /// The elements, of a copy that is made if there is none.
    ///
    /// # Errors
    ///
    /// The errors of [`Scratch::zeroed`].
    pub fn to_mut(&mut self, copies: Copies) -> Result<&mut [T], Error> {
        if let Self::Field(field) = self {
            let mut copy = Scratch::zeroed(copies, field.len() as u64)?;
            copy.copy_from_slice(field);
            *self = Self::Copy(copy);
        }
        match self {
            Self::Field(_) => Ok(&mut []),
            Self::Copy(copy) => Ok(copy),
        }
    }
}

impl<T: Pod> Deref for Coded<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Field(field) => field,
            Self::Copy(copy) => copy,
        }
    }
}

/// A temporary file without a name.
///
/// # Errors
///
/// [`Error::TemporaryFile`].
pub(crate) fn new_file() -> Result<File, Error> {
    tempfile::tempfile().map_err(fault)
}

/// The error of a temporary file.
pub fn fault(error: io::Error) -> Error {
    Error::TemporaryFile {
        folder: tempfile::env::temp_dir(),
        kind: error.kind(),
        reason: error.to_string(),
    }
}

/// Makes an empty file this long, and reserves room for it: a write to a mapped page that finds no room ends the process.
#[cfg(target_os = "linux")]
fn reserve(file: &mut File, bytes: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let Ok(length) = libc::off_t::try_from(bytes) else {
        return Err(io::ErrorKind::FileTooLarge.into());
    };
    loop {
        // SAFETY: the descriptor is open, and the call accesses no memory of this process.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            code => return Err(io::Error::from_raw_os_error(code)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(file: &mut File, bytes: u64) -> io::Result<()> {
    use std::io::Read;
    io::copy(&mut io::repeat(0).take(bytes), file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_zeroed_and_writable_in_both_places() {
        let large = LARGE / 8;
        for (copies, count, is_file) in [
            (Copies::InMemory, large, false),
            (Copies::InFiles, 0, false),
            (Copies::InFiles, large - 1, false),
            (Copies::InFiles, large, true),
            (Copies::InFiles, large + 5, true),
        ] {
            let mut array = Scratch::<f64>::zeroed(copies, count).unwrap();
            assert_eq!(matches!(array.0, Place::File(..)), is_file, "{count}");
            assert_eq!(array.len() as u64, count);
            assert!(array.iter().all(|element| *element == 0.0));
            array.fill(1.0);
            assert!(array.iter().all(|element| *element == 1.0));
        }
    }

    #[test]
    fn no_room_is_an_error() {
        let array = Scratch::<f64>::zeroed(Copies::InFiles, u64::MAX);
        assert!(matches!(array, Err(Error::TemporaryFile { .. })));
        // More than any disk.
        let array = Scratch::<f64>::zeroed(Copies::InFiles, 1 << 56);
        let Err(error @ Error::TemporaryFile { .. }) = array else {
            panic!("no disk has so much room");
        };
        assert!(error.to_string().contains("TMPDIR"), "{error}");
    }

    #[test]
    fn a_part_of_an_element_is_left_away() {
        let file = new_file().unwrap();
        file.set_len(17).unwrap();
        assert_eq!(Scratch::<f64>::map(&file).unwrap()[..], [0.0; 2]);
    }
}
