//! Tells a program once that its chunks are small: the header of a small chunk and the choice of its codec cost more than
//! its values. HDF5 has no warnings of filters, so the program gives the filter a function; Python's function warns.

use std::ffi::c_void;
use std::mem;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Chunks of fewer bytes are small.
const SMALL: usize = 1 << 18;

/// So many small chunks are too many: fewer are a dataset that is small itself, or the ends of others.
const MANY: usize = 16;

/// Is told the bytes of a chunk.
type Listener = unsafe extern "C" fn(bytes: usize);

static LISTENER: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// Sets the function that is told, the first time that many small chunks were written, the bytes of one; null ends that.
///
/// # Safety
///
/// The function may be called on any thread that writes a chunk, until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_hdf5_on_small_chunks(listener: Option<Listener>) {
    let listener = listener.map_or(null_mut(), |listener| listener as *mut c_void);
    LISTENER.store(listener, Ordering::Release);
}

/// Notes that a chunk was encoded.
pub fn note(bytes: usize) {
    if bytes >= SMALL || FOUND.fetch_add(1, Ordering::Relaxed) + 1 != MANY {
        return;
    }
    let listener = LISTENER.load(Ordering::Acquire);
    if !listener.is_null() {
        // SAFETY: only `ferrosz_hdf5_on_small_chunks` sets it, to such a function.
        let listener = unsafe { mem::transmute::<*mut c_void, Listener>(listener) };
        // SAFETY: by the contract of that function.
        unsafe { listener(bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TOLD: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn tell(bytes: usize) {
        TOLD.fetch_add(bytes, Ordering::Relaxed);
    }

    #[test]
    fn many_small_chunks_are_told_of_once() {
        // SAFETY: a function of this program.
        unsafe { ferrosz_hdf5_on_small_chunks(Some(tell)) };
        (0..MANY).for_each(|_| note(SMALL));
        (0..MANY - 1).for_each(|_| note(1000));
        assert_eq!(TOLD.load(Ordering::Relaxed), 0);
        (0..3 * MANY).for_each(|_| note(1000));
        assert_eq!(TOLD.load(Ordering::Relaxed), 1000);
    }
}
