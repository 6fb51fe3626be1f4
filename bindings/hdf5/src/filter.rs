//! The filter itself: HDF5 calls it for each chunk.

use crate::codec;
use crate::failure::{Failure, guarded};
use crate::hdf5::Hdf5;
use crate::memory::{Allocator, Memory};
use crate::parameters::Parameters;
use crate::small_chunks;
use std::ffi::{c_uint, c_void};
use std::slice;

/// In the flags of a call: the chunk is read.
const H5Z_FLAG_REVERSE: c_uint = 0x0100;

/// The length of the new contents of `*buffer`, which replaces the old ones; 0 after a failure, with the old contents.
///
/// # Safety
///
/// The contract of `H5Z_func_t`.
pub unsafe extern "C" fn filter(
    flags: c_uint,
    count: usize,
    words: *const c_uint,
    bytes: usize,
    room: *mut usize,
    buffer: *mut *mut c_void,
) -> usize {
    let hdf5 = Hdf5::of_caller();
    let allocator = Allocator::of(hdf5.as_ref());
    let result = guarded(|| {
        // SAFETY: by the contract, `count` words and a buffer of at least `bytes` bytes.
        let (words, input) = unsafe { (items(words, count), items((*buffer).cast::<u8>(), bytes)) };
        replace(flags, words, input, allocator)
    });
    match result {
        Ok(memory) => {
            let length = memory.len();
            // SAFETY: by the contract, two variables, and memory that is the filter's to free.
            unsafe {
                allocator.free(*buffer);
                *buffer = memory.into_raw();
                *room = length;
            }
            length
        }
        Err(failure) => {
            if let Some(hdf5) = hdf5 {
                hdf5.push(&failure);
            }
            0
        }
    }
}

fn replace(
    flags: c_uint,
    words: &[c_uint],
    input: &[u8],
    allocator: Allocator,
) -> Result<Memory, Failure> {
    let parameters = Parameters::read(words)?;
    if flags & H5Z_FLAG_REVERSE != 0 {
        return codec::decode(&parameters.dataset, input, allocator);
    }
    let stream = codec::encode(&parameters, input)?;
    small_chunks::note(input.len());
    let mut memory = allocator.allocate(stream.len())?;
    memory.bytes().copy_from_slice(&stream);
    Ok(memory)
}

/// Items of C, whose pointer may be null if there are none.
///
/// # Safety
///
/// The pointer is null, or points to so many items.
unsafe fn items<'a, T>(items: *const T, count: usize) -> &'a [T] {
    match items.is_null() {
        true => &[],
        // SAFETY: by the contract.
        false => unsafe { slice::from_raw_parts(items, count) },
    }
}
