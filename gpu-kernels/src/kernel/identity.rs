//! The identity of a stream while it is written.

use crate::kernel::cells;
use crate::simt::{Thread, View};
use ferrosz_codec::stream::container::{HEADER_WORDS, IDENTITY_WORDS, error_term, sum_of_words};
use ferrosz_codec::stream::identity::Identity;

/// How a kernel finds the identity of the stream that it writes: all of it is known to the host but, for a relative
/// bound, the error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IdentityOf {
    /// The sum of the header's words, with 0 for an error that is not known.
    sum: u64,
    /// Not 0 if the error is to be taken from the workspace.
    error_in_cells: u32,
}

impl IdentityOf {
    /// That of this header, whose error is 0 if it is in the workspace.
    pub fn new(header: &[u32; HEADER_WORDS], error_in_cells: bool) -> Self {
        Self {
            sum: sum_of_words(&header[..IDENTITY_WORDS]),
            error_in_cells: u32::from(error_in_cells),
        }
    }

    /// The identity.
    #[inline(always)]
    pub fn find<T: Thread>(&self, t: T, cells: View<u64>) -> Identity {
        let mut sum = self.sum;
        if self.error_in_cells != 0 {
            // An earlier launch has left it there.
            let at = 2 * cells::QUANTIZER;
            let word = |i: u64| u64::from(t.load(cells.words(), at + i));
            sum = sum.wrapping_add(error_term(word(0) | word(1) << 32));
        }
        Identity::of_sum(sum)
    }
}
