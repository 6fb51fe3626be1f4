//! The shared memory of a block that codes the parts of a mask: for each lane that codes one, its models and plane 0, as each
//! bit is coded by bits before it.

use crate::mapping::mask::WARPS;
use ferrosz_codec::container::chunk::CHUNK;
use ferrosz_codec::mapping::mask::CHUNK_PARTS;
use ferrosz_codec::mapping::mask::arithmetic::Model;
use ferrosz_codec::mapping::mask::part::{MODELS, NEW_MODEL, WORD};
use ferrosz_simt::{Layout, Shared, Thread};

/// Lanes of a block that code parts.
const LANES: u32 = WARPS * CHUNK_PARTS;

/// The most words of a plane of a part.
const PLANE_WORDS: u32 = CHUNK as u32 / WORD;

/// The shared memory of a block.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    models: Shared<u32>,
    plane: Shared<u32>,
}

impl Scratch {
    /// The block's, and the layout of its shared memory.
    pub(super) const SHARED: (Self, Layout) = {
        let mut layout = Layout::new();
        let scratch = Self {
            models: layout.array("models", MODELS * LANES),
            plane: layout.array("plane 0", PLANE_WORDS * LANES),
        };
        (scratch, layout)
    };
}

/// The models and plane 0 of a part.
#[derive(Clone, Copy)]
pub(super) struct OfPart<T> {
    t: T,
    /// The number of the lane among those that code parts.
    lane: u32,
}

impl<T: Thread> OfPart<T> {
    /// Those of lane `lane` of this warp, one of the first [`CHUNK_PARTS`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn new(t: T, lane: u32) -> Self {
        let lane = t.warp() * CHUNK_PARTS + lane;
        Self { t, lane }
    }

    /// Makes the models those before the first bit.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn reset_models(self) {
        for model in 0..self.t.opaque(MODELS) {
            self.set_model(model, Model(NEW_MODEL));
        }
    }

    /// A model.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn model(self, model: u32) -> Model {
        Model((Scratch::SHARED.0.models).load(self.t, model * LANES + self.lane))
    }

    /// Sets a model.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn set_model(self, number: u32, model: Model) {
        let at = number * LANES + self.lane;
        (Scratch::SHARED.0.models).store(self.t, at, model.0);
    }

    /// A word of plane 0.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn word(self, word: u32) -> u32 {
        (Scratch::SHARED.0.plane).load(self.t, word * LANES + self.lane)
    }

    /// Sets a word of plane 0.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn set_word(self, word: u32, bits: u32) {
        (Scratch::SHARED.0.plane).store(self.t, word * LANES + self.lane, bits);
    }
}
