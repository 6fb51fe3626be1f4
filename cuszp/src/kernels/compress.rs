//! Compression to a stream without header, in one kernel.
//!
//! The chunks of cuSZp's own kernels show in the stream in one case, its rate-32 anomaly (cuSZp stream,
//! section 8.3): bodies that are not there leave holes at the end of their chunk. So tiles sum both
//! bytes and such blocks.

use crate::PACKAGE;
use crate::aatrox::layout::LAYER_BLOCKS;
use crate::cuszp::framing::chunk_blocks;
use crate::cuszp::layout::Place;
use crate::cuszp::mode::Mode;
use crate::cuszp::rate::{ANOMALY_BYTES, Choice};
use crate::kernels::{BareParams, Coder, QUADS, Tile, load_codes, quad_word, tile_blocks};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::SignedGroup;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_gpu_kernels::code::fixed_length::write_body;
use ferrosz_gpu_kernels::pipeline::blocks::compress::{first_and_others, is_first};
use ferrosz_gpu_kernels::pipeline::blocks::groups;
use ferrosz_gpu_kernels::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::predict::group;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::look_back::{LookBackState, publish, sum_before};
use ferrosz_gpu_kernels::primitives::scan::{BlockSum, block_sum};
use ferrosz_gpu_kernels::primitives::unaligned::UnalignedReader;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread};

/// Compresses elements of `E` in blocks of shape `S`. Launched with one block a tile.
pub struct BareCompress<E, S>(PhantomData<(E, S)>);

/// Words of the longest image, with two of slack.
const IMAGE_WORDS: u32 = CHUNK_THREADS * 34;

/// Words of shared memory behind the image.
const SCRATCH_WORDS: u32 = 64;

impl<E: Element, S: StaticShape> Kernel for BareCompress<E, S> {
    type Params = BareParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_bare_compress", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = IMAGE_WORDS + SCRATCH_WORDS;
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &BareParams) {
        let coder = params.coder();
        let tile = Tile::take::<T, S>(t, params, SHARED.ticket);
        let encoder = TileEncoder::<E, S, _>::new(params, tile, OfArray);
        let differences = encoder.differences(t, coder);
        let mut group = SignedGroup::split(&differences);
        group.signs = t.opaque(group.signs);
        let (first, others) = first_and_others::<T, S>(t, &group);
        let choice = choose::<S>(coder, first, others);
        let rate = coder.kind::<S>().rate(choice.byte);
        let sizes = Size::of_block::<S>(coder, choice, rate).only_if(is_first::<T, S>(t));
        let positions = block_sum::<T, CHUNK_WARPS>(t, sizes.pack(), SHARED.sums);
        encoder.publish(t, Size::unpack(positions.total));
        let total = Size::unpack(positions.total).bytes;
        encoder.clear_image(t, coder, total);
        let block_bytes = rate.body_bytes(groups::<S>()) - sizes.bytes;
        let at = Size::unpack(positions.before).bytes - block_bytes;
        write_body(
            t,
            SHARED.image,
            S::SHAPE,
            group,
            rate,
            at,
            encoder.body_codec(coder),
        );
        encoder.write_rate(t, choice.byte);
        let start = encoder.find_start(t, positions);
        encoder.copy_image(t, params.payload_start + start, total);
    }
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    image: Shared<u32>,
    sums: Shared<u32>,
    ticket: Shared<u32>,
    start: Shared<u64>,
    hole: Shared<u32>,
}

const SHARED: Scratch = {
    let mut layout = Layout::new();
    Scratch {
        image: layout.array("image", IMAGE_WORDS),
        sums: layout.array("sums", CHUNK_WARPS as u32),
        ticket: layout.array("ticket", 1),
        start: layout.array("start", 1),
        hole: layout.array("hole", 1),
    }
};

/// The rate byte of a block.
#[inline(always)]
pub(super) fn choose<S: StaticShape>(coder: Coder, first: u32, others: u32) -> Choice {
    match coder {
        Coder::Cuszp(_) => coder.kind::<S>().choose(first, others),
        Coder::Aatrox => {
            let rate = RateByte::plain(first | others);
            Choice {
                byte: rate.to_byte(),
                booked: rate.body_bytes(groups::<S>()),
            }
        }
    }
}

/// Bytes of bodies, and blocks of the anomaly.
#[derive(Clone, Copy)]
struct Size {
    bytes: u32,
    anomalies: u32,
}

/// The first bit of the anomalies in a block sum; the bytes of a tile need fewer bits.
const ANOMALIES_SHIFT: u32 = 20;

/// The first bit of the anomalies in a tile state; the bytes of a stream that fits in a device need fewer bits. A stream
/// of cuSZp's has less than 2^32 bytes, and so less than 2^24 anomalies: they fit below the status of the state.
const STATE_SHIFT: u32 = 38;

impl Size {
    #[inline(always)]
    fn of_block<S: StaticShape>(coder: Coder, choice: Choice, rate: RateByte) -> Self {
        let is_anomaly = !coder.is_aatrox() && coder.kind::<S>().is_anomaly(choice.byte);
        Self {
            bytes: rate.body_bytes(groups::<S>()),
            anomalies: u32::from(is_anomaly),
        }
    }

    #[inline(always)]
    fn only_if(self, counts: bool) -> Self {
        Self {
            bytes: if counts { self.bytes } else { 0 },
            anomalies: if counts { self.anomalies } else { 0 },
        }
    }

    #[inline(always)]
    fn pack(self) -> u32 {
        self.bytes | self.anomalies << ANOMALIES_SHIFT
    }

    #[inline(always)]
    fn unpack(sum: u32) -> Self {
        Self {
            bytes: sum & ((1 << ANOMALIES_SHIFT) - 1),
            anomalies: sum >> ANOMALIES_SHIFT,
        }
    }

    #[inline(always)]
    fn to_state(self) -> u64 {
        u64::from(self.bytes) | u64::from(self.anomalies) << STATE_SHIFT
    }
}

/// The bytes in a sum of states.
#[inline(always)]
const fn bytes_in(state: u64) -> u64 {
    state & ((1 << STATE_SHIFT) - 1)
}

/// The bytes of the holes that a sum of states tells of.
#[inline(always)]
const fn holes_in(state: u64) -> u64 {
    (state >> STATE_SHIFT) * ANOMALY_BYTES as u64
}

/// The places of a tile's elements in memory.
pub(super) trait Elements: Copy {
    /// Whether a block is encoded.
    fn has(self, block: u32) -> bool;
    /// The four elements at four `at` of a block, which are the array's four `four`: their number among fours in memory.
    fn four<S: StaticShape>(self, block: u32, at: u32, four: u32) -> u64;
    /// One of them, number `i`, which is element `index` of the array: its number in memory.
    fn one<S: StaticShape>(self, block: u32, at: u32, i: u32, index: u64) -> u64;
    /// Whether the first codes of layers are stored.
    fn stores_initials(self) -> bool;
}

/// The whole array is in memory.
#[derive(Clone, Copy)]
struct OfArray;

impl Elements for OfArray {
    #[inline(always)]
    fn has(self, _: u32) -> bool {
        true
    }

    #[inline(always)]
    fn four<S: StaticShape>(self, _: u32, _: u32, four: u32) -> u64 {
        u64::from(four)
    }

    #[inline(always)]
    fn one<S: StaticShape>(self, _: u32, _: u32, _: u32, index: u64) -> u64 {
        index
    }

    #[inline(always)]
    fn stores_initials(self) -> bool {
        true
    }
}

/// Encodes a tile: its elements in, its bodies and rate bytes out.
pub(super) struct TileEncoder<'a, E, S, P> {
    params: &'a BareParams,
    tile: Tile,
    places: P,
    kind: PhantomData<(E, S)>,
}

impl<'a, E: Element, S: StaticShape, P: Elements> TileEncoder<'a, E, S, P> {
    const WORDS: u64 = E::WORDS as u64;

    #[inline(always)]
    pub(super) fn new(params: &'a BareParams, tile: Tile, places: P) -> Self {
        Self {
            params,
            tile,
            places,
            kind: PhantomData,
        }
    }

    /// This thread's differences; 0 at positions that hold nothing.
    #[inline(always)]
    pub(super) fn differences<T: Thread>(&self, t: T, coder: Coder) -> Group {
        let (mut codes, holds) = self.codes(t);
        match coder {
            Coder::Cuszp(mode) => group::forward(t, mode.predictor(), S::SHAPE, &mut codes),
            Coder::Aatrox => self.layer_forward(t, &mut codes),
        }
        for (e, difference) in codes.iter_mut().enumerate() {
            *difference = if holds >> e & 1 == 1 { *difference } else { 0 };
        }
        codes
    }

    /// The codes of this thread's positions, and which of these hold any.
    #[inline(always)]
    fn codes<T: Thread>(&self, t: T) -> (Group, u32) {
        let layout = &self.params.layout;
        let first = t.thread_index() % groups::<S>() * QUADS;
        let corner = layout.corner(self.tile.block);
        let is_coded = self.tile.block < layout.blocks() && self.places.has(self.tile.block);
        let mut holds = 0u32;
        for quad in 0..t.opaque(QUADS) {
            let (codes, held) = match layout.quad(corner, first + quad) {
                Some(four) if is_coded => self.code_four(t, first + quad, four),
                _ => ([0; 4], 0),
            };
            holds |= held << (4 * quad);
            t.shared_store4(quad_word(t, quad), codes);
        }
        (load_codes(t), holds)
    }

    /// The codes of four `at` of the block, the array's four `four`, and which of them there are.
    #[inline(always)]
    fn code_four<T: Thread>(&self, t: T, at: u32, four: u32) -> ([u32; 4], u32) {
        let (layout, block) = (&self.params.layout, self.tile.block);
        let quantizer = self.params.quantizer::<E>();
        if layout.is_whole(four) {
            let [a, b, c, d] = self.load_four(t, self.places.four::<S>(block, at, four));
            let code = |value| quantizer.code(value).cast_unsigned();
            return ([code(a), code(b), code(c), code(d)], 0xf);
        }
        let one = |i: u32| match layout.in_four(four, i) {
            Place::Element(index) => {
                let element = self.load(t, self.places.one::<S>(block, at, i, index));
                (quantizer.code(element).cast_unsigned(), 1 << i)
            }
            Place::ZeroValue => (quantizer.code(E::ZERO).cast_unsigned(), 1 << i),
            Place::Nothing => (0, 0),
        };
        let ((a, p), (b, q), (c, r), (d, s)) = (one(0), one(1), one(2), one(3));
        ([a, b, c, d], p | q | r | s)
    }

    #[inline(always)]
    fn load_four<T: Thread>(&self, t: T, four: u64) -> [E; 4] {
        let unit = four * Self::WORDS;
        let [a, b, c, d] = t.load4(self.params.elements, unit);
        if E::WORDS == 1 {
            let value = |word| E::from_words([word, 0]);
            [value(a), value(b), value(c), value(d)]
        } else {
            let [e, f, g, h] = t.load4(self.params.elements, unit + 1);
            let value = |low, high| E::from_words([low, high]);
            [value(a, b), value(c, d), value(e, f), value(g, h)]
        }
    }

    #[inline(always)]
    fn load<T: Thread>(&self, t: T, index: u64) -> E {
        let word = index * Self::WORDS;
        let low = t.load(self.params.elements, word);
        E::from_words([low, t.load(self.params.elements, word + Self::WORDS - 1)])
    }

    /// Differences through a layer; stores its first code. The code before a warp's first is made once
    /// more, from its element.
    #[inline(always)]
    fn layer_forward<T: Thread>(&self, t: T, codes: &mut Group) {
        let mut before = t
            .shuffle_up(codes[GROUP - 1].cast_unsigned(), 1)
            .cast_signed();
        let first = u64::from(self.tile.block) * GROUP as u64;
        if first < self.params.layout.elements() {
            if self.tile.block.is_multiple_of(LAYER_BLOCKS as u32) {
                before = codes[0];
                let layer = u64::from(self.tile.block) / LAYER_BLOCKS as u64;
                let initials = u64::from(self.params.layout.blocks()) / 4;
                if self.places.stores_initials() {
                    let initial = codes[0].cast_unsigned();
                    t.store(self.params.stream, initials + layer, initial);
                }
            } else if t.lane() == 0 {
                let last = QUADS - 1;
                let place = self
                    .places
                    .one::<S>(self.tile.block - 1, last, 3, first - 1);
                before = self.params.quantizer::<E>().code(self.load(t, place));
            }
        }
        difference::forward(Shape::Line, codes, before);
    }

    /// The block codec, which tells whether bodies may begin at any byte.
    #[inline(always)]
    pub(super) fn body_codec(&self, coder: Coder) -> BlockCodec {
        if coder.kind::<S>().mode == Mode::Outlier {
            BlockCodec::Outlier
        } else {
            BlockCodec::Plain
        }
    }

    /// Zeros the words into which bodies are or-ed, and two words behind them.
    #[inline(always)]
    pub(super) fn clear_image<T: Thread>(&self, t: T, coder: Coder, bytes: u32) {
        let words = bytes.div_ceil(4) + 2;
        let is_ored = self.body_codec(coder).stores_outliers();
        let mut word = t.thread_index() + if is_ored { 0 } else { bytes / 4 };
        while word < words {
            t.shared_store(word, 0);
            word += CHUNK_THREADS;
        }
        t.barrier();
    }

    /// Says how long the tile's bodies are, for those who look back.
    #[inline(always)]
    fn publish<T: Thread>(&self, t: T, size: Size) {
        if t.thread_index() == 0 {
            let own = size.to_state();
            publish(t, (self.params.cells, cells::STATES), self.tile.number, own);
        }
    }

    /// Writes the rate bytes: those of four blocks make a word where the stream has room for it.
    #[inline(always)]
    fn write_rate<T: Thread>(&self, t: T, byte: u8) {
        let groups = groups::<S>();
        let mut word = u32::from(byte) << (8 * (t.lane() / groups % 4));
        word |= t.shuffle_xor(word, groups);
        word |= t.shuffle_xor(word, 2 * groups);
        let first = u64::from(self.tile.block) / 4 * 4;
        let has_room = first + 4 <= self.params.rates_room();
        if has_room {
            if t.lane().is_multiple_of(4 * groups) {
                t.store(self.params.stream, first / 4, word);
            }
        } else if self.tile.block < self.params.layout.blocks() && is_first::<T, S>(t) {
            t.store_byte(self.params.stream, u64::from(self.tile.block), byte);
        }
    }

    /// The start of the tile's bodies in the payload. For the whole block. The last tile of a chunk
    /// fills the holes that the chunk's blocks have left.
    #[inline(always)]
    fn find_start<T: Thread>(&self, t: T, sums: BlockSum) -> u64 {
        let own = Size::unpack(sums.total).to_state();
        // Not `look_back`, which would leave one number alone: with the hole beside it, that costs registers.
        if t.warp() == 0 {
            let before = sum_before(t, self.params.cells, cells::STATES, self.tile.number);
            let mut base = before;
            if holes_in(before + own) > 0 {
                base = sum_before(t, self.params.cells, cells::STATES, self.chunk_tile());
            }
            let state = LookBackState::Inclusive(before + own).to_cell();
            let start = bytes_in(before) + holes_in(base);
            let hole = holes_in(before + own) - holes_in(base);
            if t.lane() == 0 {
                t.atomic_store(self.params.cells, cells::STATES + self.tile.number, state);
                SHARED.start.store(t, 0, start);
                SHARED.hole.store(t, 0, hole as u32);
            }
        }
        t.barrier();
        let start = SHARED.start.load(t, 0);
        let end = start + bytes_in(own);
        let is_last = self.tile.number + 1 == self.params.tiles::<S>();
        if is_last || (self.tile.number + 1).is_multiple_of(Self::chunk_tiles()) {
            self.fill_hole(t, end, SHARED.hole.load(t, 0), is_last);
        }
        start
    }

    /// Tiles of one of cuSZp's chunks.
    #[inline(always)]
    fn chunk_tiles() -> u64 {
        u64::from(chunk_blocks(S::SHAPE, E::DTYPE) / tile_blocks::<S>())
    }

    /// The first tile of this tile's chunk.
    #[inline(always)]
    fn chunk_tile(&self) -> u64 {
        self.tile.number / Self::chunk_tiles() * Self::chunk_tiles()
    }

    /// Zeros so many bytes from byte `end` of the payload on; behind the last tile the stream's length
    /// is known.
    #[inline(always)]
    fn fill_hole<T: Thread>(&self, t: T, end: u64, bytes: u32, is_last: bool) {
        let first = self.params.payload_start + end;
        let mut byte = t.thread_index();
        while byte < bytes {
            t.store_byte(self.params.stream, first + u64::from(byte), 0);
            byte += CHUNK_THREADS;
        }
        if is_last && t.thread_index() == 0 {
            let length = first + u64::from(bytes);
            t.atomic_store(self.params.cells, cells::STREAM_BYTES, length);
        }
    }

    /// Copies the image to byte `to` of the stream. Whole words are stored as words. In the first and
    /// last word, which neighbours share, only this tile's bytes are stored, one by one.
    #[inline(always)]
    pub(super) fn copy_image<T: Thread>(&self, t: T, to: u64, bytes: u32) {
        let head = ((4 - to % 4) % 4).min(u64::from(bytes)) as u32;
        let words = (bytes - head) / 4;
        let image = UnalignedReader::new(t, SHARED.image, head);
        let first = (to + u64::from(head)) / 4;
        let mut word = t.thread_index();
        while word < words {
            t.store(self.params.stream, first + u64::from(word), image.get(word));
            word += CHUNK_THREADS;
        }
        let tail = head + 4 * words;
        let edge = |i: u32| {
            let byte = t.shared_load(i / 4) >> (8 * (i % 4));
            t.store_byte(self.params.stream, to + u64::from(i), byte as u8);
        };
        if t.thread_index() < head {
            edge(t.thread_index());
        }
        if tail + t.thread_index() < bytes {
            edge(tail + t.thread_index());
        }
    }
}
