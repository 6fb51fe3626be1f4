//! Memory of chunks, which HDF5 and its filters give to each other.

use crate::failure::Failure;
use crate::hdf5::{Hdf5, MemoryFunctions};
use std::ffi::c_void;
use std::{mem, slice};

/// The functions of the memory of chunks: those of HDF5, or of C where HDF5 is not found.
#[derive(Clone, Copy)]
pub struct Allocator(Option<MemoryFunctions>);

/// Memory that HDF5 can free.
pub struct Memory {
    start: *mut c_void,
    bytes: usize,
    allocator: Allocator,
}

impl Allocator {
    /// The functions of this HDF5.
    pub fn of(hdf5: Option<&Hdf5>) -> Self {
        Self(hdf5.and_then(Hdf5::memory_functions))
    }

    /// Zeroed memory, of at least one byte.
    ///
    /// # Errors
    ///
    /// If there is not enough.
    pub fn allocate(self, bytes: usize) -> Result<Memory, Failure> {
        let start = match self.0 {
            // SAFETY: by its contract in `H5public.h`.
            Some(functions) => unsafe { (functions.allocate)(bytes.max(1), true) },
            // SAFETY: as C's.
            None => unsafe { libc::calloc(bytes.max(1), 1) },
        };
        match start.is_null() {
            true => Err(Failure::new(format_args!("no memory for {bytes} bytes"))),
            false => Ok(Memory {
                start,
                bytes,
                allocator: self,
            }),
        }
    }

    /// Frees memory of a chunk.
    ///
    /// # Safety
    ///
    /// The memory is from this allocator.
    pub unsafe fn free(self, start: *mut c_void) {
        match self.0 {
            // SAFETY: by the contract.
            Some(functions) => unsafe {
                (functions.free)(start);
            },
            // SAFETY: by the contract.
            None => unsafe { libc::free(start) },
        }
    }
}

impl Memory {
    /// The number of its bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated and zeroed, and borrowed as `self` is.
        unsafe { slice::from_raw_parts_mut(self.start.cast(), self.bytes) }
    }

    /// Its start, for the caller to free.
    pub fn into_raw(self) -> *mut c_void {
        let start = self.start;
        mem::forget(self);
        start
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: from this allocator.
        unsafe { self.allocator.free(self.start) };
    }
}

// SAFETY: memory of one owner, and functions that any thread may call.
unsafe impl Send for Memory {}
