//! Why a call of HDF5 failed.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The text of an error.
#[derive(Debug, PartialEq)]
pub struct Failure(String);

impl Failure {
    /// A failure for this reason.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("a panic without a text");
        Self(format!("this is a defect of ferrosz: {text}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ferrosz::Error> for Failure {
    fn from(error: ferrosz::Error) -> Self {
        Self::new(error)
    }
}

/// Runs a body that C calls, and turns a panic, which must not pass to C, into a failure. All values that the body changes are dropped
/// then.
pub fn guarded<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_failures() {
        let cause = "an index";
        let failure = guarded::<()>(|| panic!("{cause}")).unwrap_err();
        assert_eq!(failure.to_string(), "this is a defect of ferrosz: an index");
    }
}
