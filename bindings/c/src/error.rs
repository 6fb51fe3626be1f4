//! Errors as objects of the caller: no variable of the library or of a thread holds them.

use crate::status::{
    FERROSZ_INTERNAL, FERROSZ_INVALID_ARGUMENT, FERROSZ_OK, ferrosz_status, status_of,
};
use ferrosz::ways::Setting;
use std::ffi::{CString, c_char};
use std::fmt::Display;

/// The status and the text of the last call that got this object. A thread uses an object of its own.
pub struct Error {
    status: ferrosz_status,
    text: CString,
}

/// What went wrong in a call.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: ferrosz_status,
    pub(crate) text: String,
}

impl Failure {
    /// An argument that cannot be used, and why.
    pub(crate) fn argument(name: &str, reason: impl Display) -> Self {
        Self {
            status: FERROSZ_INVALID_ARGUMENT,
            text: format!("{name}: {reason}"),
        }
    }

    /// A defect of ferrosz.
    pub(crate) fn internal(reason: impl Display) -> Self {
        Self {
            status: FERROSZ_INTERNAL,
            text: format!("this is a defect of ferrosz: {reason}"),
        }
    }
}

impl From<ferrosz::Error> for Failure {
    fn from(error: ferrosz::Error) -> Self {
        let text = match &error {
            // The text of the library names a function of Rust.
            ferrosz::Error::NotChosen
            | ferrosz::Error::Refused {
                setting: Setting::Preset,
                ..
            } => {
                "compressor: it has a preset, and the codec is not yet chosen; call ferrosz_compressor_choose, or \
                 ferrosz_gpu_choose, with the field first"
                    .to_owned()
            }
            error => error.to_string(),
        };
        Self {
            status: status_of(&error),
            text,
        }
    }
}

impl From<ferrosz::FormatError> for Failure {
    fn from(error: ferrosz::FormatError) -> Self {
        ferrosz::Error::from(error).into()
    }
}

impl Error {
    /// Takes the result of a call, and returns its status.
    pub(crate) fn set(&mut self, result: Result<(), &Failure>) {
        let (status, text) = match result {
            Ok(()) => (FERROSZ_OK, ""),
            Err(failure) => (failure.status, failure.text.as_str()),
        };
        self.status = status;
        // The names of a caller may be in the text, but no zero byte, which would end it.
        self.text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    }
}

/// Makes an object that takes the errors of calls. Free it with ferrosz_error_free.
#[unsafe(no_mangle)]
pub extern "C" fn ferrosz_error_new() -> *mut Error {
    let error = Error {
        status: FERROSZ_OK,
        text: CString::default(),
    };
    Box::into_raw(Box::new(error))
}

/// Frees an error. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_error_free(error: *mut Error) {
    if !error.is_null() {
        // SAFETY: by the contract of the crate, from `ferrosz_error_new`.
        drop(unsafe { Box::from_raw(error) });
    }
}

/// The status of the last call that got this error. FERROSZ_OK for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_error_status(error: *const Error) -> ferrosz_status {
    // SAFETY: by the contract of the crate.
    unsafe { error.as_ref() }.map_or(FERROSZ_OK, |error| error.status)
}

/// The text of the last call that got this error: the cause, and the argument at fault. It is empty if the call did its
/// work. It is valid until the next call with this error. An empty text for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_error_text(error: *const Error) -> *const c_char {
    // SAFETY: by the contract of the crate.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.text.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn texts_with_a_zero_byte_are_whole() {
        let error = ferrosz_error_new();
        // SAFETY: made above.
        unsafe { &mut *error }.set(Err(&Failure::argument("codec", "'a\0b' is none")));
        // SAFETY: made above.
        let text = unsafe { CStr::from_ptr(ferrosz_error_text(error)) };
        assert_eq!(text, c"codec: 'a b' is none");
        // SAFETY: made above.
        unsafe { ferrosz_error_free(error) };
    }
}
