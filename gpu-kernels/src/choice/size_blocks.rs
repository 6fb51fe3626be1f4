//! The lengths that a chunk would have with each codec of blocks: the first stages of
//! [compression](crate::pipeline::blocks::compress). A thread block a chunk and a codec: a sample has few chunks.

use crate::PACKAGE;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::Stages;
use crate::pipeline::blocks::compress::field::FieldOf;
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::compress::taken_chunk::TakenChunk;
use crate::pipeline::blocks::staged_chunk::UnitSteps;
use core::convert::Infallible;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Codecs whose lengths are found.
pub const CODECS: u32 = BlockCodec::ALL.len() as u32;

/// A box of a field of planes or cubes, or a whole chunk of a field of lines, as a chunk.
#[derive(Clone, Copy)]
pub struct ChunkToSize {
    /// The box, of at most as many elements as a chunk.
    pub place: ChunkBox,
    /// The elements in each dimension of a whole chunk of the grid that it is a chunk of, as powers of two.
    pub tile: [u32; 3],
}

/// Numbers of a chunk in a list.
pub const CHUNK_NUMBERS: usize = 5;

/// Bits of an extent, and of a power, in a list.
const EXTENT_BITS: u32 = 20;

impl ChunkToSize {
    /// The chunk in a list.
    pub fn to_list(self) -> [u64; CHUNK_NUMBERS] {
        let packed = |numbers: [u32; 3]| {
            let add = |all: u64, number: &u32| all << EXTENT_BITS | u64::from(*number);
            numbers.iter().fold(0, add)
        };
        let [z, y, x] = self.place.origin;
        [z, y, x, packed(self.place.extents), packed(self.tile)]
    }

    /// Chunk `number` of a list.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load<T: Thread>(t: T, list: View<u64>, number: u32) -> Self {
        let first = u64::from(number) * CHUNK_NUMBERS as u64;
        let number = |i| t.load_u64(list, first + i);
        let unpacked = |packed: u64| {
            let mask = (1 << EXTENT_BITS) - 1;
            let part = |i: u32| (packed >> (i * EXTENT_BITS)) as u32 & mask;
            [part(2), part(1), part(0)]
        };
        Self {
            place: ChunkBox {
                origin: [number(0), number(1), number(2)],
                extents: unpacked(number(3)),
            },
            tile: unpacked(number(4)),
        }
    }
}

/// Finds the lengths of chunks of a field of `E` in blocks of shape `S`. Launched with [`CODECS`] blocks a chunk.
pub struct SizeBlocks<E, S>(PhantomData<(E, S)>);

/// Parameters of [`SizeBlocks`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SizeBlocksParams {
    /// The field, 16-byte aligned, without holes.
    pub field: View<u32>,
    /// The division of the field.
    pub grid: Grid,
    /// The chunks, as [`ChunkToSize::to_list`] has them.
    pub chunks: View<u64>,
    /// The quantiser's bits.
    pub quantizer: [u64; 3],
    /// The output: for each chunk the bytes with each codec, in the order of [`BlockCodec::ALL`]; 0 where there is no kernel of
    /// that codec for this shape.
    pub bytes: View<u32>,
}

/// The field of a chunk to size.
#[derive(Clone, Copy)]
struct FieldOfChunk<'a> {
    params: &'a SizeBlocksParams,
    grid: Grid,
}

impl<E: Element> FieldOf<E> for FieldOfChunk<'_> {
    type Source = View<u32>;
    type Map = Infallible;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn source<T: Thread>(&self, _: T) -> View<u32> {
        self.params.field
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(&self, _: T) -> Option<Infallible> {
        None
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn stream<T: Thread>(&self, _: T) -> View<u32> {
        View::empty()
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entries<T: Thread>(&self, _: T) -> u64 {
        0
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn quantizer<T: Thread>(&self, _: T) -> Quantizer<E> {
        Quantizer::from_bits(self.params.quantizer)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn identity<T: Thread>(&self, _: T) -> Identity {
        Identity(0)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn grid(&self) -> &Grid {
        &self.grid
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_holes(&self) -> bool {
        false
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn steps(&self) -> &UnitSteps {
        const { &UnitSteps::NONE }
    }
}

impl<E: Element, S: StaticShape> Kernel for SizeBlocks<E, S> {
    type Params = SizeBlocksParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_size_blocks", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<E>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 2;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &SizeBlocksParams) {
        let shared = Scratch::<E>::SHARED.0;
        let (number, position) = (t.block_index() / CODECS, t.block_index() % CODECS);
        let mut bytes = 0;
        if let Some(codec) = BlockCodec::at(position).filter(|codec| codec.has_kernel(S::SHAPE)) {
            let ChunkToSize { place, tile } = ChunkToSize::load(t, params.chunks, number);
            let grid = params.grid.with_tile(tile);
            let taken: TakenChunk<_, E, S> =
                TakenChunk::new(FieldOfChunk { params, grid }, shared, 0, place);
            taken.stage_box(t);
            let coded = Stages::<E, S>::code(t, codec, &taken, shared);
            let positions = Stages::<E, S>::positions(t, &coded, shared);
            let plan = Stages::<E, S>::plan(t, codec, &taken, &coded, positions);
            bytes = 4 * plan.words;
        }
        if t.thread_index() == 0 {
            t.store(params.bytes, u64::from(t.block_index()), bytes);
        }
    }
}
