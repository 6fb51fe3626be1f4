//! An HDF5 filter plugin. HDF5 finds it in the folders of `HDF5_PLUGIN_PATH`; it links no HDF5. docs/book/hdf5.md says how to use
//! it, and defines the parameters of the filter, `cd_values`.
//!
//! A chunk becomes a stream of ferrosz with the extents of the chunk. The stream describes itself, so reading needs no
//! parameters, except for chunks of the other byte order.
//!
//! * HDF5 calls [`callbacks`] when a dataset is created, and [`filter`] for each chunk.
//! * [`parameters`] is the list of words that HDF5 stores in the file.
//! * [`codec`] does the work, without HDF5.
//! * [`hdf5`] finds the functions of the HDF5 that called; a process may have several.
//!
//! * [`running`] gives a chunk the codec of the last chunk, so that a preset chooses for few chunks.
//! * [`small_chunks`] tells a program of chunks that are too small.
//!
//! HDF5 may call the plugin from any number of threads.

mod callbacks;
mod codec;
mod datatype;
mod failure;
mod filter;
mod hdf5;
mod memory;
mod parameters;
mod running;
mod small_chunks;
mod threads;
mod width;

use std::ffi::{c_char, c_int, c_uint, c_void};

/// The filter's number in files. Numbers from 32768 to 65535 are for tests: files with this one are not for keeping. The
/// HDF Group gives another number on request.
pub const FILTER_ID: c_int = 46_657;

/// An identifier of HDF5 1.10 or later.
type Hid = i64;

/// Of `H5Zpublic.h`: `H5Z_class2_t`.
#[repr(C)]
struct FilterClass {
    version: c_int,
    id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: unsafe extern "C" fn(Hid, Hid, Hid) -> c_int,
    set_local: unsafe extern "C" fn(Hid, Hid, Hid) -> c_int,
    filter: unsafe extern "C" fn(
        c_uint,
        usize,
        *const c_uint,
        usize,
        *mut usize,
        *mut *mut c_void,
    ) -> usize,
}

// SAFETY: a constant, whose name is a constant, too.
unsafe impl Sync for FilterClass {}

static CLASS: FilterClass = FilterClass {
    version: 1,
    id: FILTER_ID,
    encoder_present: 1,
    decoder_present: 1,
    name: c"ferrosz, error-bounded compression".as_ptr(),
    can_apply: callbacks::can_apply,
    set_local: callbacks::set_local,
    filter: filter::filter,
};

/// What kind of plugin this is, as HDF5 asks: a filter.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    const H5PL_TYPE_FILTER: c_int = 0;
    H5PL_TYPE_FILTER
}

/// The filter, as HDF5 asks.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const c_void {
    (&raw const CLASS).cast()
}
