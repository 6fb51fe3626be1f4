//! AATROX's kernels as its paper describes them (Zhang et al., ICS'25): a layer of 32,768 elements is one warp's, which is
//! a thread block (section 4.1). It goes through the layer in 32 iterations, of 1024 elements each, of which a lane has
//! 32. The streams are those of [`ferrosz_cuszp::aatrox`].
//!
//! Two things differ from the paper:
//!
//! * A position in the stream depends on the lengths of all layers before, so the length of a whole layer must be known
//!   before its first body is written. A lane cannot keep 1024 codes in registers. So the warp goes through the layer twice,
//!   first for its length, then for its bodies.
//! * With Algorithm 1 to the letter the first difference of a layer is the initial value, and Algorithm 2 would add that
//!   value twice. Here the first difference is 0. Line 14 of Algorithm 2 sets the exclusive sum to the lane's own; the
//!   text of section 4.3 says that the lane's own is subtracted, and so it is here.

pub mod compress;
pub mod decompress;

use ferrosz_codec::Element;
use ferrosz_codec::shape::GROUP;
use ferrosz_cuszp::aatrox::{LAYER, LAYER_BLOCKS};
use ferrosz_cuszp::cuszp::quantizer::Quantizer;
use ferrosz_simt::{Layout, Shared, View, WARP};

/// The parameters of both kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LayerParams {
    /// The elements, 16-byte aligned, whole layers: read or written.
    pub elements: View<u32>,
    /// The stream, 16-byte aligned: written or read. One that is read must be valid; one that is not gives wrong values,
    /// but no access outside of the views.
    pub stream: View<u32>,
    /// The workspace: the [`cells`](ferrosz_gpu_kernels::pipeline::cells) of other kernels, with a state for each layer.
    pub cells: View<u64>,
    /// The number of layers.
    pub layers: u32,
    /// The quantiser's bits: inverse and error.
    pub quantizer: [u64; 2],
}

impl LayerParams {
    /// The quantiser of elements of `E`.
    #[inline(always)]
    fn quantizer<E: Element>(&self) -> Quantizer<E> {
        let [inverse, error] = self.quantizer.map(E::from_bits64);
        Quantizer { inverse, error }
    }

    /// The word of a layer's initial value.
    #[inline(always)]
    fn initial(&self, layer: u32) -> u64 {
        u64::from(self.layers) * (LAYER_BLOCKS as u64 / 4) + u64::from(layer)
    }

    /// Bytes before the first body.
    #[inline(always)]
    fn payload_start(&self) -> u64 {
        4 * self.initial(self.layers)
    }
}

/// Iterations of a layer.
const ITERATIONS: u32 = LAYER as u32 / (GROUP as u32 * WARP);

/// The shared memory of a warp.
#[derive(Clone, Copy)]
struct Scratch {
    /// The bodies of an iteration, at most 33 words each.
    image: Shared<u32>,
    ticket: Shared<u32>,
    start: Shared<u64>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        image: layout.array("image", WARP * (GROUP as u32 + 1)),
        ticket: layout.array("ticket", 1),
        start: layout.array("start", 1),
    };
    (scratch, layout)
};

/// A lane's block in an iteration of a layer.
#[inline(always)]
fn block_of(layer: u32, iteration: u32, lane: u32) -> u32 {
    layer * LAYER_BLOCKS as u32 + iteration * WARP + lane
}
