//! Streams without a header: cuSZp's own and AATROX's, by the same kernels. A thread holds a
//! group. A thread block takes 256 groups, which are consecutive blocks of the stream. The position
//! of its first body depends on all blocks before it; a look-back over the whole stream finds it.

pub mod compress;
pub mod decompress;
pub mod read;
pub mod write;

use crate::aatrox::layout::LAYER_BLOCKS;
use crate::cuszp::framing::Framing;
use crate::cuszp::layout::Layout;
use crate::cuszp::mode::Mode;
use crate::cuszp::quantizer::Quantizer;
use crate::cuszp::rate::BlockKind;
use ferrosz_codec::Element;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_gpu_kernels::pipeline::blocks::CHUNK_THREADS;
use ferrosz_gpu_kernels::pipeline::blocks::staged_chunk;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::ticket::take_ticket;
use ferrosz_simt::{Shared, Thread, View};

/// The prediction and storage of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coder {
    /// As in one of cuSZp's modes.
    Cuszp(Mode),
    /// As in AATROX.
    Aatrox,
}

impl Coder {
    /// Its number in kernel parameters: cuSZp's number of the mode; AATROX has the one that cuSZp
    /// reserves for it.
    pub const fn id(self) -> u32 {
        match self {
            Self::Cuszp(Mode::Fixed) => 0,
            Self::Cuszp(Mode::Plain) => 1,
            Self::Cuszp(Mode::Outlier) => 2,
            Self::Aatrox => 3,
        }
    }

    /// The coder of this number.
    #[inline(always)]
    pub const fn from_id(id: u32) -> Self {
        match id {
            0 => Self::Cuszp(Mode::Fixed),
            1 => Self::Cuszp(Mode::Plain),
            2 => Self::Cuszp(Mode::Outlier),
            _ => Self::Aatrox,
        }
    }

    #[inline(always)]
    fn is_aatrox(self) -> bool {
        matches!(self, Self::Aatrox)
    }

    /// cuSZp's kind of block; for AATROX, whose blocks are plain ones, not looked at.
    #[inline(always)]
    fn kind<S: StaticShape>(self) -> BlockKind {
        let mode = match self {
            Self::Cuszp(mode) => mode,
            Self::Aatrox => Mode::Plain,
        };
        BlockKind {
            shape: S::SHAPE,
            mode,
        }
    }
}

/// The parameters of a stream for all kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BareParams {
    /// The elements, 16-byte aligned: read or written.
    pub elements: View<u32>,
    /// The stream, 16-byte aligned: written or read.
    pub stream: View<u32>,
    /// The workspace: see [`cells`], with [`cell_count`] cells.
    pub cells: View<u64>,
    /// The positions of the elements.
    pub layout: Layout,
    /// Bytes before the first body.
    pub payload_start: u64,
    /// The quantiser's bits: inverse and error.
    pub quantizer: [u64; 2],
    /// The number of the [`Coder`].
    pub coder: u32,
}

impl BareParams {
    /// The coder.
    #[inline(always)]
    const fn coder(&self) -> Coder {
        Coder::from_id(self.coder)
    }

    /// The quantiser of elements of `E`.
    #[inline(always)]
    fn quantizer<E: Element>(&self) -> Quantizer<E> {
        let [inverse, error] = self.quantizer.map(E::from_bits64);
        Quantizer { inverse, error }
    }

    /// Bytes that rate bytes may fill: all but those of version 1 in whole words.
    #[inline(always)]
    fn rates_room(&self) -> u64 {
        let blocks = u64::from(self.layout.blocks());
        match self.layout.framing() {
            Framing::V1 => blocks,
            Framing::V3 => blocks.next_multiple_of(4),
        }
    }

    /// The number of thread blocks.
    #[inline(always)]
    pub fn tiles<S: StaticShape>(&self) -> u64 {
        u64::from(self.layout.blocks().div_ceil(tile_blocks::<S>()))
    }
}

/// Blocks of a tile. A thread block takes a tile.
#[inline(always)]
pub const fn tile_blocks<S: StaticShape>() -> u32 {
    CHUNK_THREADS / S::SHAPE.groups() as u32
}

/// The tile of a thread block.
#[derive(Clone, Copy)]
pub struct Tile {
    /// Its number.
    pub number: u64,
    /// This thread's block.
    pub block: u32,
}

impl Tile {
    /// The next tile that no thread block has. `ticket` is an array of one element, for this alone.
    #[inline(always)]
    fn take<T: Thread, S: StaticShape>(t: T, params: &BareParams, ticket: Shared<u32>) -> Self {
        let number = take_ticket(t, params.cells, cells::TICKET, ticket, |_| ());
        Self::at::<T, S>(t, number)
    }

    /// The tile of this number.
    #[inline(always)]
    fn at<T: Thread, S: StaticShape>(t: T, number: u32) -> Self {
        Self {
            number: u64::from(number),
            block: number * tile_blocks::<S>() + t.thread_index() / S::SHAPE.groups() as u32,
        }
    }
}

/// Tiles of a layer of AATROX.
const LAYER_TILES: u64 = LAYER_BLOCKS as u64 / CHUNK_THREADS as u64;

/// Tiles of a stream of this layout.
pub const fn tile_count(layout: &Layout) -> u64 {
    let groups = match layout.shape() {
        Shape::Line => 1,
        Shape::Plane | Shape::Cube => 2,
    };
    layout.blocks().div_ceil(CHUNK_THREADS / groups) as u64
}

/// Cells for a stream of so many tiles: a state for the look-back over bodies, and one for the sums of
/// a layer.
pub const fn cell_count(tiles: u64) -> u64 {
    cells::STATES + 2 * tiles
}

/// Four neighbours of a group.
type Quad = [u32; 4];

/// Fours in a group.
const QUADS: u32 = GROUP as u32 / 4;

/// The word of this thread's four number `quad` in shared memory. Through there codes go between
/// registers, which only constants can number, and a loop over the positions of a group.
#[inline(always)]
fn quad_word<T: Thread>(t: T, quad: u32) -> u32 {
    staged_chunk::StagedChunk::<f32>::unit_word(t.thread_index() * QUADS + quad)
}

/// This thread's codes from shared memory.
#[inline(always)]
fn load_codes<T: Thread>(t: T) -> Group {
    let mut codes = [0; GROUP];
    for quad in 0..QUADS {
        let values: Quad = t.shared_load4(quad_word(t, quad));
        for i in 0..4 {
            codes[4 * quad as usize + i] = values[i].cast_signed();
        }
    }
    codes
}

/// This thread's codes to shared memory.
#[inline(always)]
fn store_codes<T: Thread>(t: T, codes: &Group) {
    for quad in 0..QUADS {
        let at = 4 * quad as usize;
        let values = [codes[at], codes[at + 1], codes[at + 2], codes[at + 3]];
        t.shared_store4(quad_word(t, quad), values.map(i32::cast_unsigned));
    }
}
