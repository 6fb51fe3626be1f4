//! Checks of the arguments of C: pointers with counts become slices, texts become `str`.
//!
//! All functions here have the contract of the crate for the pointer that they get.

use crate::error::Failure;
use std::ffi::{CStr, c_char, c_void};
use std::slice;

fn null(name: &str) -> Failure {
    Failure::argument(name, "the pointer is null")
}

/// An object that a call reads.
pub(crate) unsafe fn object<'a, T>(name: &str, object: *const T) -> Result<&'a T, Failure> {
    // SAFETY: by the contract of the crate.
    unsafe { object.as_ref() }.ok_or_else(|| null(name))
}

/// An object that a call changes.
pub(crate) unsafe fn object_mut<'a, T>(name: &str, object: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: by the contract of the crate.
    unsafe { object.as_mut() }.ok_or_else(|| null(name))
}

/// The items of an input. Without items the pointer may be null.
pub(crate) unsafe fn slice<'a, T>(
    name: &str,
    items: *const T,
    count: u64,
) -> Result<&'a [T], Failure> {
    let Some(count) = checked::<T>(name, items, count)? else {
        return Ok(&[]);
    };
    // SAFETY: by the contract of the crate; not null, aligned, and not longer than an allocation can be.
    Ok(unsafe { slice::from_raw_parts(items, count) })
}

/// The items of an output, whose values may be any. Without items the pointer may be null.
pub(crate) unsafe fn slice_mut<'a, T>(
    name: &str,
    items: *mut T,
    count: u64,
) -> Result<&'a mut [T], Failure> {
    let Some(count) = checked::<T>(name, items, count)? else {
        return Ok(&mut []);
    };
    // SAFETY: as in `slice`.
    Ok(unsafe { slice::from_raw_parts_mut(items, count) })
}

/// The count of items that a slice can have; none for an empty slice.
fn checked<T>(name: &str, items: *const T, count: u64) -> Result<Option<usize>, Failure> {
    if count == 0 {
        return Ok(None);
    }
    if items.is_null() {
        return Err(null(name));
    }
    if !items.is_aligned() {
        let reason = format!("the pointer is not aligned to {} bytes", align_of::<T>());
        return Err(Failure::argument(name, reason));
    }
    let most = isize::MAX as usize / size_of::<T>();
    match usize::try_from(count) {
        Ok(count) if count <= most => Ok(Some(count)),
        _ => {
            let reason = format!("{count} items are more than memory can hold");
            Err(Failure::argument(name, reason))
        }
    }
}

/// A place for one value that a call returns.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// A place that the caller must give.
    pub(crate) fn needed(name: &str, place: *mut T) -> Result<Self, Failure> {
        match place.is_null() {
            true => Err(null(name)),
            false => Ok(Self(place)),
        }
    }

    /// A place that the caller may give.
    pub(crate) fn optional(place: *mut T) -> Self {
        Self(place)
    }

    /// Stores the value, if there is a place.
    pub(crate) fn store(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: by the contract of the crate; C aligns its variables, and `write_unaligned` asks for nothing.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

impl Place<u64> {
    /// Stores the length of an output; if there was too little room for it, the room that it needs, or else 0.
    pub(crate) fn store_length(&self, found: Result<u64, ferrosz::Error>) -> Result<(), Failure> {
        self.store(match &found {
            Ok(length) => *length,
            Err(ferrosz::Error::OutputTooSmall { needed, .. }) => *needed,
            Err(_) => 0,
        });
        Ok(found.map(|_| ())?)
    }
}

/// The first `needed` values of an output with room for so many; stores their number.
pub(crate) unsafe fn output<'a, T>(
    values: *mut c_void,
    room: u64,
    needed: u64,
    elements: *mut u64,
) -> Result<&'a mut [T], Failure> {
    Place::optional(elements).store(needed);
    // SAFETY: by the contract of the crate.
    let values = unsafe { slice_mut::<T>("values", values.cast(), room)? };
    let first = usize::try_from(needed).map(|needed| values.get_mut(..needed));
    first.ok().flatten().ok_or_else(|| {
        let (found, unit) = (room, "elements");
        ferrosz::Error::OutputTooSmall {
            needed,
            found,
            unit,
        }
        .into()
    })
}

/// A text.
pub(crate) unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: by the contract of the crate.
    let text = unsafe { CStr::from_ptr(text) };
    (text.to_str()).map_err(|_| Failure::argument(name, format!("{text:?} is not UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    /// The text of the error for a slice of this address and count.
    fn fault(address: usize, count: u64) -> String {
        let items = ptr::without_provenance::<f64>(address);
        // SAFETY: an address that cannot be used is not used.
        let slice = unsafe { slice::<f64>("field", items, count) };
        slice.map_or_else(
            |failure| failure.text,
            |slice| format!("{} items", slice.len()),
        )
    }

    #[test]
    fn bad_pointers_are_named() {
        assert_eq!(fault(0, 0), "0 items");
        assert_eq!(fault(0, 1), "field: the pointer is null");
        assert_eq!(fault(4, 1), "field: the pointer is not aligned to 8 bytes");
        let most = "field: 1152921504606846976 items are more than memory can hold";
        assert_eq!(fault(8, 1 << 60), most);
        // SAFETY: null is refused.
        assert!(unsafe { text("codec", ptr::null()) }.is_err());
        // SAFETY: a text that ends with a zero byte.
        assert!(unsafe { text("codec", c"\xff".as_ptr()) }.is_err());
    }
}
