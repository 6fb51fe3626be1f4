//! The parameters of compression, and the shared memory of a block.

use crate::pipeline::blocks::CHUNK_WARPS;
use crate::pipeline::blocks::staged_chunk::{StagedChunk, UnitSteps};
use crate::pipeline::cells::Given;
use crate::pipeline::identity::IdentityOf;
use crate::predict::layer;
use crate::primitives::task;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_simt::{Layout, Shared, View};

/// Parameters of [`Compress`](super::Compress).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressParams {
    /// The field, 16-byte aligned.
    pub input: View<u32>,
    /// The division of the field.
    pub grid: Grid,
    /// The units of a whole chunk, in the field.
    pub steps: UnitSteps,
    /// The output: the stream, 16-byte aligned; as long as the longest stream of such a field.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The workspace: see [`crate::pipeline::cells`].
    pub cells: View<u64>,
    /// The quantiser's bits.
    pub quantizer: Given<3>,
    /// The header, to be completed with the error and the payload's length.
    pub header: Draft,
    /// The header's identity.
    pub identity: IdentityOf,
    /// Not 0 if the field has holes.
    pub holes: u32,
}

/// The shared memory of a block. The chunk's image overwrites its elements.
#[derive(Clone, Copy)]
pub(crate) struct Scratch<E> {
    pub(super) elements: StagedChunk<E>,
    pub(super) image: Shared<u32>,
    pub(super) body_sums: Shared<u32>,
    pub(super) flag_sums: Shared<u32>,
    pub(super) checksums: Shared<u64>,
    pub(super) layer: layer::Scratch,
    pub(super) task: task::Scratch,
    pub(super) start: Shared<u64>,
}

impl<E: Element> Scratch<E> {
    pub(crate) const SHARED: (Self, Layout) = {
        let mut layout = Layout::new();
        (Self::new(&mut layout), layout)
    };

    /// Takes its words from a layout.
    pub(crate) const fn new(layout: &mut Layout) -> Self {
        let [mut early, mut late] = layout.overlays();
        let elements = StagedChunk::new(&mut early);
        let image = late.array("image", StagedChunk::<E>::WORDS);
        layout.join([early, late]);
        Self {
            elements,
            image,
            body_sums: layout.array("sums of bodies", CHUNK_WARPS as u32),
            flag_sums: layout.array("sums of flags", CHUNK_WARPS as u32),
            checksums: layout.array("checksums", CHUNK_WARPS as u32),
            layer: layer::Scratch::new(layout),
            task: task::Scratch::new(layout),
            start: layout.array("start", 1),
        }
    }
}
