//! New memory for large results.
//!
//! The system maps new memory page by page, at the first access to each page. This can take longer than decoding. Large
//! pages make it several times faster; Linux provides them on request.

use crate::error::Error;
use crate::parallel;
use bytemuck::Zeroable;
use bytemuck::allocation::{try_zeroed_box, try_zeroed_vec};
use memmap2::{MmapMut, MmapOptions};

/// Bytes that must still be free after a large allocation. A small allocation that fails ends the process. A large one can
/// fail with an error instead, so it fails while there is memory for the small ones.
const HEADROOM: usize = 16 << 20;

/// Allocations of fewer bytes do not check that [`HEADROOM`] is free after them.
const LARGE: usize = 1 << 20;

/// Whether small allocations will have memory after one of this many bytes.
fn leaves_headroom(bytes: usize) -> bool {
    // The pages are not touched. What the optimiser does not see it cannot leave out.
    let mut room = Vec::<u8>::new();
    bytes < LARGE
        || std::hint::black_box(&mut room)
            .try_reserve_exact(HEADROOM)
            .is_ok()
}

/// Zeroed elements; none if there is not enough memory.
pub(crate) fn zeroed<T: Zeroable>(count: usize) -> Option<Vec<T>> {
    let mut values = try_zeroed_vec(count).ok()?;
    if !leaves_headroom(size_of_val(&values[..])) {
        return None;
    }
    ask_for_large_pages(&mut values);
    Some(values)
}

/// As `zeroed`, or the error with the requested size.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub fn try_zeroed<T: Zeroable>(count: u64) -> Result<Vec<T>, Error> {
    let failed = || Error::OutOfMemory {
        bytes: count.saturating_mul(size_of::<T>() as u64),
    };
    let count = usize::try_from(count).map_err(|_| failed())?;
    zeroed(count).ok_or_else(failed)
}

/// Zeroed bytes of which only those that are written take memory: they may be more than the machine has.
///
/// # Errors
///
/// [`Error::OutOfMemory`] if the address space is too small.
pub(crate) fn sparse(bytes: u64) -> Result<MmapMut, Error> {
    let failed = || Error::OutOfMemory { bytes };
    let length = usize::try_from(bytes).map_err(|_| failed())?;
    let mut options = MmapOptions::new();
    let image = options.len(length).no_reserve_swap().map_anon();
    (image.ok().filter(|_| leaves_headroom(length))).ok_or_else(failed)
}

/// A zeroed value of its own.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn zeroed_box<T: Zeroable>() -> Result<Box<T>, Error> {
    try_zeroed_box().map_err(|()| Error::OutOfMemory {
        bytes: size_of::<T>() as u64,
    })
}

/// Reserves capacity for more bytes, in large pages if the system has some. Does nothing if there is not enough memory.
pub(crate) fn reserve(bytes: &mut Vec<u8>, more: usize) {
    if bytes.try_reserve(more).is_ok() {
        ask_for_large_pages(bytes);
    }
}

/// Makes room for more bytes.
fn grow(vector: &mut Vec<u8>, more: usize) -> Result<(), Error> {
    let failed = Error::OutOfMemory {
        bytes: (vector.len() + more) as u64,
    };
    let before = vector.capacity();
    let room = vector.try_reserve(more);
    match room.is_ok() && leaves_headroom(vector.capacity() - before) {
        true => Ok(()),
        false => Err(failed),
    }
}

/// Appends bytes to a vector.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn append(vector: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Error> {
    grow(vector, bytes.len())?;
    vector.extend_from_slice(bytes);
    Ok(())
}

/// Appends parts to a vector, in parallel: also the system's work, which maps new memory, is then shared out.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn append_all(vector: &mut Vec<u8>, parts: &[&[u8]]) -> Result<(), Error> {
    let more = parts.iter().map(|part| part.len()).sum::<usize>();
    let length = vector.len() + more;
    grow(vector, more)?;
    copy_all(parts, vector.spare_capacity_mut(), |place, part| {
        place.write_copy_of_slice(part);
    });
    // SAFETY: the parts are `more` bytes, and all of them were written behind the vector's elements.
    unsafe { vector.set_len(length) };
    Ok(())
}

/// Calls `copy` with the place of each part in `room`, which begins with the first one, in parallel. Parts that do not
/// fit are left away.
pub(crate) fn copy_all<P: Send>(
    parts: &[&[u8]],
    mut room: &mut [P],
    copy: impl Fn(&mut [P], &[u8]) + Sync,
) {
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let Some((place, rest)) = std::mem::take(&mut room).split_at_mut_checked(part.len()) else {
            break;
        };
        places.push((place, *part));
        room = rest;
    }
    parallel::each(places.into_iter(), |(place, part)| copy(place, part));
}

/// Requests large pages for a vector's memory, capacity included, where it contains whole ones.
#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(values: &mut Vec<T>) {
    /// Smaller vectors have at most a few large pages, and their memory may belong to the heap.
    const LEAST: usize = 4 << 20;
    /// A multiple of the small pages of all machines.
    const ALIGNMENT: usize = 1 << 16;
    let bytes = values.capacity() * size_of::<T>();
    if bytes < LEAST {
        return;
    }
    let start = values.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(ALIGNMENT);
    let length = bytes.saturating_sub(skipped) / ALIGNMENT * ALIGNMENT;
    // SAFETY: the pages are in the vector's memory. The advice does not change their contents, and has no effect if the
    // system cannot follow it, so its result does not matter.
    unsafe {
        libc::madvise(
            start.wrapping_add(skipped).cast(),
            length,
            libc::MADV_HUGEPAGE,
        );
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &mut Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_appended_in_their_order() {
        let bytes: Vec<u8> = (0..100_000u32).map(|i| ((i * 7) >> 3) as u8).collect();
        for ends in [&[][..], &[0], &[5, 5, 70_000], &[1, 99_999, 100_000]] {
            let starts = [0].iter().chain(ends);
            let parts: Vec<&[u8]> = starts
                .zip(ends)
                .map(|(from, to)| &bytes[*from..*to])
                .collect();
            let mut vector = vec![7; 3];
            append_all(&mut vector, &parts).expect("enough memory");
            let end = ends.last().copied().unwrap_or(0);
            assert!(vector[..3] == [7; 3] && vector[3..] == bytes[..end]);
        }
    }

    #[test]
    fn memory_of_any_size_is_zeroed_and_writable() {
        for count in [0, 1, 1000, (4 << 20) / 8, (5 << 20) + 3] {
            let mut values = zeroed::<f64>(count).expect("so much there is");
            assert!(values.len() == count && values.iter().all(|value| *value == 0.0));
            values.fill(1.0);
            let mut bytes = vec![7u8; 10];
            reserve(&mut bytes, count);
            bytes.resize(10 + count, 7);
            assert!(bytes.iter().all(|byte| *byte == 7));
        }
        // More than the machine has.
        let mut image = sparse(1 << 42).expect("address space");
        image[1 << 41] = 7;
        assert!(image[(1 << 41) - 5000..].starts_with(&[0; 5000]) && image[1 << 41] == 7);
        assert!(sparse(1 << 62).is_err());
        assert!(zeroed::<f64>(usize::MAX / 16).is_none());
        assert!(zeroed::<f64>(usize::MAX).is_none());
    }
}
