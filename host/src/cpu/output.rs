//! Memory into which threads write different elements.

use ferrosz_codec::Element;
use std::marker::PhantomData;

/// The output of a region, into which all threads write. Each thread writes only the positions of its chunks.
pub(crate) struct Output<'a, T> {
    values: *mut T,
    length: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: threads write only through `part`, whose contract excludes overlaps.
unsafe impl<T: Send> Sync for Output<'_, T> {}

impl<'a, T: Element> Output<'a, T> {
    pub(crate) fn new(values: &'a mut [T]) -> Self {
        Self {
            values: values.as_mut_ptr(),
            length: values.len(),
            borrow: PhantomData,
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
