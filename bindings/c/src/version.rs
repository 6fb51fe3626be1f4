//! The version of the library.

use std::ffi::c_char;

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn ferrosz_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
