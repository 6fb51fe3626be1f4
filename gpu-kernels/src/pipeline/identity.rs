//! The identity of a stream while it is written.

use crate::pipeline::cells;
use ferrosz_codec::container::identity::Identity;
use ferrosz_simt::{Thread, View};

/// Where a kernel finds the identity of the stream that it writes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IdentityOf {
    known: u64,
    /// Not 0 if an earlier launch has left it in the workspace, where the bound was resolved.
    in_cells: u32,
}

impl IdentityOf {
    /// One that the host knows.
    pub const fn known(identity: Identity) -> Self {
        Self {
            known: identity.0,
            in_cells: 0,
        }
    }

    /// One that an earlier launch leaves in [`cells::IDENTITY`].
    pub const fn in_cells() -> Self {
        Self {
            known: 0,
            in_cells: 1,
        }
    }

    /// The identity.
    #[inline(always)]
    pub fn find<T: Thread>(&self, t: T, cells: View<u64>) -> Identity {
        if self.in_cells != 0 {
            let word = |i: u64| u64::from(t.load(cells.words(), 2 * cells::IDENTITY + i));
            Identity(word(0) | word(1) << 32)
        } else {
            Identity(self.known)
        }
    }
}
