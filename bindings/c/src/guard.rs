//! The border between C and Rust: a body that fails or panics becomes a status and a text.

use crate::error::{Error, Failure};
use crate::status::{FERROSZ_OK, ferrosz_status};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// Runs the body of a function that returns a status.
pub(crate) fn status(
    error: *mut Error,
    body: impl FnOnce() -> Result<(), Failure>,
) -> ferrosz_status {
    match run(error, body) {
        Ok(()) => FERROSZ_OK,
        Err(failure) => failure.status,
    }
}

/// Runs the body of a function that makes an object; null if it fails.
pub(crate) fn object<T>(error: *mut Error, body: impl FnOnce() -> Result<T, Failure>) -> *mut T {
    run(error, body).map_or(ptr::null_mut(), |made| Box::into_raw(Box::new(made)))
}

/// Frees an object that [`object`] made.
///
/// # Safety
///
/// The contract of the crate.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: from `object`, by the contract of the crate.
        let object = unsafe { Box::from_raw(object) };
        // Memory of a GPU is freed here, by calls that may panic.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

/// Runs a body, and turns a panic into an error. The body may change the caller's output alone, whose contents are
/// unspecified after a failure. So it needs not be unwind-safe.
fn run<T>(error: *mut Error, body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Failure::internal(text.unwrap_or("a panic without a text")))
    });
    // SAFETY: by the contract of the crate.
    if let Some(error) = unsafe { error.as_mut() } {
        error.set(result.as_ref().map(|_| ()));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ferrosz_error_free, ferrosz_error_new, ferrosz_error_text};
    use crate::status::FERROSZ_INTERNAL;
    use std::ffi::CStr;

    #[test]
    fn panics_become_errors() {
        let error = ferrosz_error_new();
        let number = 7;
        assert_eq!(status(error, || panic!("cause {number}")), FERROSZ_INTERNAL);
        // SAFETY: made above.
        let text = unsafe { CStr::from_ptr(ferrosz_error_text(error)) };
        assert_eq!(text, c"this is a defect of ferrosz: cause 7");
        assert!(object::<u8>(ptr::null_mut(), || panic!("cause")).is_null());
        // SAFETY: made above.
        unsafe { ferrosz_error_free(error) };
    }
}
