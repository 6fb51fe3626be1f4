//! Decompression of a stream without header, in one kernel.
//!
//! The stream must have passed the host's checks of its rate bytes and its length; one that has not
//! gives wrong values or a fault, but no access outside of the views.

use crate::PACKAGE;
use crate::aatrox::rate::rate_from_byte;
use crate::cuszp::framing::Framing;
use crate::cuszp::layout::Place;
use crate::cuszp::mode::Mode;
use crate::kernels::{BareParams, Coder, LAYER_TILES, QUADS, Tile, quad_word, store_codes};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::Predictor;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_gpu_kernels::code::fixed_length::read_body;
use ferrosz_gpu_kernels::pipeline::blocks::compress::is_first;
use ferrosz_gpu_kernels::pipeline::blocks::groups;
use ferrosz_gpu_kernels::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::predict::group;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::look_back::{LookBackState, look_back, publish};
use ferrosz_gpu_kernels::primitives::scan::block_sum;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread};

/// Decompresses elements of `E` from blocks of shape `S`. Launched with one block a tile.
pub struct BareDecompress<E, S>(PhantomData<(E, S)>);

/// Words of the longest image, at any byte of its first word, with two of slack.
const IMAGE_WORDS: u32 = CHUNK_THREADS * 34;

/// Words of shared memory: the image, and what is behind it.
pub(super) const SHARED_WORDS: u32 = IMAGE_WORDS + 64;

impl<E: Element, S: StaticShape> Kernel for BareDecompress<E, S> {
    type Params = BareParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_bare_decompress", S::SHAPE.name(), E::DTYPE.name()]) }
            .as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = SHARED_WORDS;
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &BareParams) {
        let (decoder, bodies) = TileDecoder::<E, S>::find(t, params);
        let codes = decoder.codes(t, &bodies);
        decoder.store(t, &codes, decoder.is_empty(&bodies));
    }
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    pub(super) image: Shared<u32>,
    pub(super) sums: Shared<u32>,
    pub(super) layer_sums: Shared<u32>,
    ticket: Shared<u32>,
    start: Shared<u64>,
    layer_base: Shared<u32>,
}

pub(super) const SHARED: Scratch = {
    let mut layout = Layout::new();
    Scratch {
        image: layout.array("image", IMAGE_WORDS),
        sums: layout.array("sums", CHUNK_WARPS as u32),
        layer_sums: layout.array("sums of a layer", CHUNK_WARPS as u32),
        ticket: layout.array("ticket", 1),
        start: layout.array("start", 1),
        layer_base: layout.array("base of a layer", 1),
    }
};

/// Decodes a tile: its rate bytes and bodies in, its elements out.
pub(super) struct TileDecoder<'a, E, S> {
    params: &'a BareParams,
    pub(super) tile: Tile,
    pub(super) coder: Coder,
    kind: PhantomData<(E, S)>,
}

/// The places of a tile's bodies.
pub(super) struct Bodies {
    /// The form of this thread's block.
    rate: RateByte,
    /// The first byte of the tile's bodies in the stream, and the number of their bytes.
    start: u64,
    total: u32,
    /// The first byte of this thread's body among them.
    at: u32,
}

impl<'a, E: Element, S: StaticShape> TileDecoder<'a, E, S> {
    const WORDS: u64 = E::WORDS as u64;

    /// The next tile. For the whole block.
    #[inline(always)]
    pub(super) fn take<T: Thread>(t: T, params: &'a BareParams) -> Self {
        Self {
            params,
            tile: Tile::take::<T, S>(t, params, SHARED.ticket),
            coder: params.coder(),
            kind: PhantomData,
        }
    }

    /// The next tile, and where its bodies are. For the whole block.
    #[inline(always)]
    pub(super) fn find<T: Thread>(t: T, params: &'a BareParams) -> (Self, Bodies) {
        let decoder = Self::take(t, params);
        let rate = decoder.read_rate(t);
        let bytes = rate.body_bytes(groups::<S>());
        let own_bytes = if is_first::<T, S>(t) { bytes } else { 0 };
        let positions = block_sum::<T, CHUNK_WARPS>(t, own_bytes, SHARED.sums);
        let start = params.payload_start + decoder.find_start(t, positions.total);
        let bodies = Bodies {
            rate,
            start,
            total: positions.total,
            at: positions.before - (bytes - own_bytes),
        };
        (decoder, bodies)
    }

    /// This thread's codes. For the whole block.
    #[inline(always)]
    pub(super) fn codes<T: Thread>(&self, t: T, bodies: &Bodies) -> Group {
        self.load_image(t, bodies.start, bodies.total);
        let mut codes = read_body(
            t,
            SHARED.image,
            S::SHAPE,
            t.lane() % groups::<S>(),
            bodies.rate,
            (bodies.start % 4) as u32 + bodies.at,
            self.body_codec(),
        );
        match self.coder {
            Coder::Cuszp(mode) => group::backward(t, mode.predictor(), S::SHAPE, &mut codes),
            Coder::Aatrox => {
                group::backward(t, Predictor::Difference, Shape::Line, &mut codes);
                let sum = codes[GROUP - 1].cast_unsigned();
                let sums = block_sum::<T, CHUNK_WARPS>(t, sum, SHARED.layer_sums);
                let initials = u64::from(self.params.layout.blocks()) / 4;
                let initial = initials + self.tile.number / LAYER_TILES;
                let base = self.layer_sum(t, sums.total, || self.word(t, initial));
                difference::add(&mut codes, base.wrapping_add(sums.before).cast_signed());
            }
        }
        codes
    }

    /// Whether this thread's block has no body, and so the elements 0; in AATROX they have the code before them.
    #[inline(always)]
    pub(super) fn is_empty(&self, bodies: &Bodies) -> bool {
        bodies.rate.body_bytes(groups::<S>()) == 0 && !self.coder.is_aatrox()
    }

    /// The value of a code of this thread's block.
    #[inline(always)]
    pub(super) fn value(&self, code: u32, is_empty: bool) -> E {
        if is_empty {
            E::ZERO
        } else {
            self.params.quantizer::<E>().value(code.cast_signed())
        }
    }

    /// A word of the stream; 0 behind its end.
    #[inline(always)]
    fn word<T: Thread>(&self, t: T, word: u64) -> u32 {
        if word < self.params.stream.len() {
            t.load(self.params.stream, word)
        } else {
            0
        }
    }

    /// The form in which this thread's block is stored; as if it were empty if its rate byte is corrupt.
    #[inline(always)]
    pub(super) fn read_rate<T: Thread>(&self, t: T) -> RateByte {
        if self.tile.block >= self.params.layout.blocks() {
            return RateByte::default();
        }
        let rate = self.rate_of(t, self.tile.block);
        if rate.is_none() {
            let fault = Fault::Chunk(u64::from(self.tile.block), ChunkFault::Rate as u32);
            t.atomic_max(self.params.cells, cells::FAULT, fault.to_cell());
        }
        rate.unwrap_or_default()
    }

    /// The form in which a block of the stream is stored; none if its rate byte is corrupt.
    #[inline(always)]
    fn rate_of<T: Thread>(&self, t: T, block: u32) -> Option<RateByte> {
        let byte = (self.word(t, u64::from(block / 4)) >> (8 * (block % 4))) as u8;
        let kind = self.coder.kind::<S>();
        match self.coder {
            Coder::Cuszp(_) => kind.check(byte).ok().map(|()| kind.rate(byte)),
            Coder::Aatrox => rate_from_byte(byte),
        }
    }

    /// The start of the tile's bodies in the payload. For the whole block.
    #[inline(always)]
    pub(super) fn find_start<T: Thread>(&self, t: T, bytes: u32) -> u64 {
        let states = (self.params.cells, cells::STATES);
        let (tile, bytes) = (self.tile.number, u64::from(bytes));
        if t.thread_index() == 0 {
            publish(t, states, tile, bytes);
        }
        look_back(t, states, tile, bytes, SHARED.start, |start| start)
    }

    /// Brings the tile's bodies into shared memory, from the word on in which the first begins.
    #[inline(always)]
    fn load_image<T: Thread>(&self, t: T, start: u64, bytes: u32) {
        let words = ((start % 4) as u32 + bytes).div_ceil(4) + 1;
        let mut word = t.thread_index();
        while word < words {
            let value = self.word(t, start / 4 + u64::from(word));
            t.shared_store(word, value);
            word += CHUNK_THREADS;
        }
        t.barrier();
    }

    /// The block codec, which tells whether bodies may begin at any byte.
    #[inline(always)]
    fn body_codec(&self) -> BlockCodec {
        let is_v1 = self.params.layout.framing() == Framing::V1;
        if is_v1 || self.coder.kind::<S>().mode == Mode::Outlier {
            BlockCodec::Outlier
        } else {
            BlockCodec::Plain
        }
    }

    /// The sum of `initial` and of the layer's tiles before this one, which publish theirs; `sum` is that of this tile. For the
    /// whole block.
    #[inline(always)]
    pub(super) fn layer_sum<T: Thread>(
        &self,
        t: T,
        sum: u32,
        initial: impl FnOnce() -> u32,
    ) -> u32 {
        let (states, first) = (self.params.cells, cells::STATES + self.params.tiles::<S>());
        if t.thread_index() == 0 {
            publish(t, (states, first), self.tile.number, u64::from(sum));
        }
        if t.warp() == 0 {
            let before = (self.tile.number % LAYER_TILES) as u32;
            let value = loop {
                let state = if t.lane() < before {
                    let tile = self.tile.number - 1 - u64::from(t.lane());
                    LookBackState::from_cell(t.atomic_load(states, first + tile))
                } else {
                    LookBackState::Partial(0)
                };
                if t.ballot(state == LookBackState::Empty) == 0 {
                    break match state {
                        LookBackState::Partial(value) => value as u32,
                        _ => 0,
                    };
                }
                t.spin_hint();
            };
            let base = t.reduce_add(value).wrapping_add(initial());
            if t.lane() == 0 {
                SHARED.layer_base.store(t, 0, base);
            }
        }
        t.barrier();
        SHARED.layer_base.load(t, 0)
    }

    /// Whether this thread's block stores its four `four`, which lies in row `row`. Where blocks share the elements, the
    /// last row of the last block stores them. Blocks with a body take precedence over blocks without one.
    #[inline(always)]
    fn owns<T: Thread>(&self, t: T, row: u32, four: u32, is_empty: bool) -> bool {
        let layout = &self.params.layout;
        if !layout.is_shared() {
            return true;
        }
        let mut owner = (0, 0, 0);
        for row in layout.sharers(four) {
            let block = layout.sharing_block(row, four);
            let rate = self.rate_of(t, block).unwrap_or_default();
            let has_body = u32::from(rate.body_bytes(groups::<S>()) > 0);
            owner = owner.max((has_body, block, row));
        }
        owner == (u32::from(!is_empty), self.tile.block, row)
    }

    /// Stores this thread's elements: zeros, not the value of code 0, for an empty block of cuSZp's.
    #[inline(always)]
    fn store<T: Thread>(&self, t: T, codes: &Group, is_empty: bool) {
        let layout = &self.params.layout;
        let value = |code: u32| self.value(code, is_empty);
        // All threads are done with the image, and each reads only its own codes.
        t.barrier();
        store_codes(t, codes);
        if self.tile.block >= layout.blocks() {
            return;
        }
        let corner = layout.corner(self.tile.block);
        let first = t.thread_index() % groups::<S>() * QUADS;
        for quad in 0..t.opaque(QUADS) {
            let Some(four) = layout.quad(corner, first + quad) else {
                continue;
            };
            let row = layout.row(corner, first + quad);
            if !self.owns(t, row, four, is_empty) {
                continue;
            }
            let [a, b, c, d] = t.shared_load4(quad_word(t, quad));
            let values = [value(a), value(b), value(c), value(d)];
            if layout.is_whole(four) {
                self.store_four(t, four, values);
            } else {
                let one = |i: u32, value: E| {
                    if let Place::Element(index) = layout.in_four(four, i) {
                        self.store_one(t, index, value);
                    }
                };
                let [a, b, c, d] = values;
                one(0, a);
                one(1, b);
                one(2, c);
                one(3, d);
            }
        }
        if self.tile.block == 0 && t.thread_index() == 0 {
            for index in layout.uncovered() {
                self.store_one(t, index, E::ZERO);
            }
        }
    }

    #[inline(always)]
    pub(super) fn store_four<T: Thread>(&self, t: T, four: u32, values: [E; 4]) {
        let unit = u64::from(four) * Self::WORDS;
        let [a, b, c, d] = values;
        let [a, b, c, d] = [a.to_words(), b.to_words(), c.to_words(), d.to_words()];
        if E::WORDS == 1 {
            t.store4(self.params.elements, unit, [a[0], b[0], c[0], d[0]]);
        } else {
            t.store4(self.params.elements, unit, [a[0], a[1], b[0], b[1]]);
            t.store4(self.params.elements, unit + 1, [c[0], c[1], d[0], d[1]]);
        }
    }

    #[inline(always)]
    fn store_one<T: Thread>(&self, t: T, index: u64, value: E) {
        let [low, high] = value.to_words();
        let word = index * Self::WORDS;
        t.store(self.params.elements, word, low);
        if E::WORDS == 2 {
            t.store(self.params.elements, word + 1, high);
        }
    }
}
