//! The identity of a stream while it is written.

use crate::pipeline::cells::{self, Given};
use ferrosz_codec::container::identity::Identity;
use ferrosz_simt::{Thread, View};

/// The source of the identity of the stream that a kernel writes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IdentityOf(Given<1>);

impl IdentityOf {
    /// One that the host knows.
    pub const fn known(identity: Identity) -> Self {
        Self(Given::known([identity.0]))
    }

    /// One that an earlier launch leaves in [`cells::IDENTITY`].
    pub const fn in_cells() -> Self {
        Self(Given::in_cells())
    }

    /// The identity.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn find<T: Thread>(&self, t: T, cells: View<u64>) -> Identity {
        let [bits] = self.0.find(t, cells, cells::IDENTITY);
        Identity(bits)
    }
}
