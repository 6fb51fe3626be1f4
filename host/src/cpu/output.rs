//! Memory into which threads write different elements.

use ferrosz_codec::Element;
use std::marker::PhantomData;

/// The output of a region, into which all threads write. Each thread writes only the positions of its chunks.
pub(crate) struct Output<'a, T> {
    values: *mut T,
    length: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: threads reach elements only through functions whose contracts exclude overlaps.
unsafe impl<T: Send> Sync for Output<'_, T> {}

impl<'a, T: Element> Output<'a, T> {
    pub(crate) fn new(values: &'a mut [T]) -> Self {
        Self {
            values: values.as_mut_ptr(),
            length: values.len(),
            borrow: PhantomData,
        }
    }

    /// The element at `at`; 0 if the output ends before it.
    ///
    /// # Safety
    ///
    /// No part with this element lives, and no other thread sets it at the same time.
    pub(crate) unsafe fn get(&self, at: usize) -> T {
        match at < self.length {
            // SAFETY: within the borrowed slice; nothing changes it now.
            true => unsafe { self.values.add(at).read() },
            false => T::ZERO,
        }
    }

    /// Sets the element at `at`, if there is one.
    ///
    /// # Safety
    ///
    /// No part with this element lives, and no other thread gets or sets it at the same time.
    pub(crate) unsafe fn set(&self, at: usize, value: T) {
        if at < self.length {
            // SAFETY: within the borrowed slice; nothing else reads or changes it now.
            unsafe { self.values.add(at).write(value) };
        }
    }

    /// The `count` elements from `at` on, or fewer if the output ends earlier.
    ///
    /// # Safety
    ///
    /// No two parts with common elements may live at the same time.
    #[expect(
        clippy::mut_from_ref,
        reason = "the contract is that of `split_at_mut`"
    )]
    pub(crate) unsafe fn part(&self, at: u64, count: u64) -> &mut [T] {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.length);
        let count = usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(self.length - at);
        // SAFETY: within the borrowed slice; no other part has these elements.
        unsafe { std::slice::from_raw_parts_mut(self.values.add(at), count) }
    }
}
