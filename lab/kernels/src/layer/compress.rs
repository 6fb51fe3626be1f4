//! Compression of layers, with Algorithm 1.

use crate::PACKAGE;
use crate::elements::load_codes;
use crate::layer::{ITERATIONS, LayerParams, SHARED, block_of};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::SignedGroup;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape};
use ferrosz_gpu_kernels::code::fixed_length::write_body;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::look_back::{look_back, publish};
use ferrosz_gpu_kernels::primitives::scan::warp_inclusive_sum;
use ferrosz_gpu_kernels::primitives::ticket::take_ticket;
use ferrosz_simt::{Kernel, Name, Package, Thread, WARP};

/// Compresses elements of `E`. Launched with one warp a layer.
pub struct CompressLayers<E>(PhantomData<E>);

impl<E: Element> Kernel for CompressLayers<E> {
    type Params = LayerParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_layer_compress", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(24, 12);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &LayerParams) {
        let number = take_ticket(t, params.cells, cells::TICKET, SHARED.0.ticket, |_| ());
        let layer = LayerEncoder::<E> {
            params,
            number,
            element: PhantomData,
        };
        let bytes = layer.write_rates(t);
        let states = (params.cells, cells::STATES);
        let (tile, own) = (u64::from(number), u64::from(bytes));
        if t.lane() == 0 {
            publish(t, states, tile, own);
        }
        let before = look_back(t, states, tile, own, SHARED.0.start, |before| before);
        let start = params.payload_start() + before;
        layer.write_bodies(t, start);
        if number + 1 == params.layers && t.lane() == 0 {
            t.atomic_store(params.cells, cells::STREAM_BYTES, start + own);
        }
    }
}

/// A warp's layer.
struct LayerEncoder<'a, E> {
    params: &'a LayerParams,
    number: u32,
    element: PhantomData<E>,
}

impl<E: Element> LayerEncoder<'_, E> {
    /// Writes the rate bytes and the initial value; returns the bytes of all bodies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_rates<T: Thread>(&self, t: T) -> u32 {
        let mut tail = 0;
        let mut bytes = 0;
        for iteration in 0..t.opaque(ITERATIONS) {
            let (_, rate) = self.code(t, iteration, &mut tail);
            bytes += rate.body_bytes(1);
            let mut word = u32::from(rate.to_byte()) << (8 * (t.lane() % 4));
            word |= t.shuffle_xor(word, 1);
            word |= t.shuffle_xor(word, 2);
            if t.lane().is_multiple_of(4) {
                let block = block_of(self.number, iteration, t.lane());
                t.store(self.params.stream, u64::from(block) / 4, word);
            }
        }
        t.reduce_add(bytes)
    }

    /// Writes the bodies from byte `start` of the stream on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_bodies<T: Thread>(&self, t: T, start: u64) {
        let image = SHARED.0.image;
        let mut tail = 0;
        let mut to = start / 4;
        for iteration in 0..t.opaque(ITERATIONS) {
            let (group, rate) = self.code(t, iteration, &mut tail);
            let bytes = rate.body_bytes(1);
            let end = warp_inclusive_sum(t, bytes);
            let at = end - bytes;
            write_body(t, image, Shape::Line, group, rate, at, BlockCodec::Plain);
            let words = t.shuffle(end, WARP - 1) / 4;
            t.sync_warp();
            let mut word = t.lane();
            while word < words {
                let value = image.load(t, word);
                t.store(self.params.stream, to + u64::from(word), value);
                word += WARP;
            }
            t.sync_warp();
            to += u64::from(words);
        }
    }

    /// This lane's block of an iteration. `tail` is kept from one iteration to the next.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code<T: Thread>(&self, t: T, iteration: u32, tail: &mut u32) -> (SignedGroup, RateByte) {
        let block = block_of(self.number, iteration, t.lane());
        let first = u64::from(block) * GROUP as u64;
        let quantizer = self.params.quantizer::<E>();
        let mut codes = load_codes(t, self.params.elements, first, &quantizer);
        let is_initial = iteration == 0 && t.lane() == 0;
        if is_initial {
            let initial = codes[0].cast_unsigned();
            *tail = initial;
            t.store(
                self.params.stream,
                self.params.initial(self.number),
                initial,
            );
        }
        delta_encode(t, &mut codes, tail);
        let mut group = SignedGroup::split(&codes);
        group.signs = t.opaque(group.signs);
        let (first, others) = group.first_and_others();
        (group, RateByte::plain(first | others))
    }
}

/// An iteration of Algorithm 1. `kept` is the last code of the iteration before in lane 0, and nothing in other lanes.
/// For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn delta_encode<T: Thread>(t: T, codes: &mut Group, kept: &mut u32) {
    // Circular shift: line 4.
    let wrapped = t.shuffle(
        codes[GROUP - 1].cast_unsigned(),
        (t.lane() + WARP - 1) % WARP,
    );
    // Tail rotation: lines 5 to 8.
    let is_first = t.lane() == 0;
    let before = if is_first { *kept } else { wrapped };
    *kept = wrapped;
    // Lines 9 to 12.
    difference::forward(Shape::Line, codes, before.cast_signed());
}
