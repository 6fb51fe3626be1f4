//! Layers, and where the sections of a stream begin.

use ferrosz_codec::shape::GROUP;

/// Elements of a layer.
pub const LAYER: usize = 32_768;

/// Elements of a block.
pub const BLOCK: usize = GROUP;

/// Blocks of a layer.
pub const LAYER_BLOCKS: usize = LAYER / BLOCK;

/// Bytes of a layer's initial value.
pub const INITIAL_BYTES: usize = 4;

/// The starts of a stream's sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Layers.
    pub layers: u64,
}

impl Layout {
    /// For an array of this length.
    #[inline(always)]
    pub const fn new(elements: u64) -> Self {
        Self {
            layers: elements.div_ceil(LAYER as u64),
        }
    }

    /// Bytes before the initial values: one for every block, in whole layers.
    #[inline(always)]
    pub const fn initials_start(self) -> u64 {
        self.layers * LAYER_BLOCKS as u64
    }

    /// The place of a layer's rate bytes.
    #[inline(always)]
    pub const fn rates_of(self, layer: u64) -> u64 {
        layer * LAYER_BLOCKS as u64
    }

    /// The place of a layer's initial value.
    #[inline(always)]
    pub const fn initial_of(self, layer: u64) -> u64 {
        self.initials_start() + layer * INITIAL_BYTES as u64
    }

    /// Bytes before the bodies.
    #[inline(always)]
    pub const fn payload_start(self) -> u64 {
        self.layers * (LAYER_BLOCKS + INITIAL_BYTES) as u64
    }
}
