//! Decompression of layers, with Algorithm 2.

use crate::PACKAGE;
use crate::elements::store_values;
use crate::layer::{ITERATIONS, LayerParams, SHARED, block_of};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape};
use ferrosz_cuszp::aatrox::rate_from_byte;
use ferrosz_gpu_kernels::code::fixed_length::read_body;
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::primitives::element::by_width;
use ferrosz_gpu_kernels::primitives::look_back::{look_back, publish};
use ferrosz_gpu_kernels::primitives::scan::warp_inclusive_sum;
use ferrosz_gpu_kernels::primitives::ticket::take_ticket;
use ferrosz_simt::{Kernel, Name, Package, Thread, WARP};

/// Decompresses elements of `E`. Launched with one warp a layer.
pub struct DecompressLayers<E>(PhantomData<E>);

impl<E: Element> Kernel for DecompressLayers<E> {
    type Params = LayerParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_layer_decompress", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(32, 24);

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &LayerParams) {
        let number = take_ticket(t, params.cells, cells::TICKET, SHARED.0.ticket, |_| ());
        let layer = LayerDecoder::<E> {
            params,
            number,
            element: PhantomData,
        };
        let states = (params.cells, cells::STATES);
        let (tile, own) = (u64::from(number), u64::from(layer.bytes(t)));
        if t.lane() == 0 {
            publish(t, states, tile, own);
        }
        let before = look_back(t, states, tile, own, SHARED.0.start, |before| before);
        layer.write_values(t, params.payload_start() + before);
    }
}

/// A warp's layer.
struct LayerDecoder<'a, E> {
    params: &'a LayerParams,
    number: u32,
    element: PhantomData<E>,
}

impl<E: Element> LayerDecoder<'_, E> {
    /// A word of the stream; 0 behind its end.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(&self, t: T, word: u64) -> u32 {
        if word < self.params.stream.len() {
            t.load(self.params.stream, word)
        } else {
            0
        }
    }

    /// The rate of this lane's block in an iteration.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn rate<T: Thread>(&self, t: T, iteration: u32) -> RateByte {
        let block = block_of(self.number, iteration, t.lane());
        let word = self.word(t, u64::from(block) / 4);
        rate_from_byte((word >> (8 * (block % 4))) as u8).unwrap_or_default()
    }

    /// The bytes of all bodies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn bytes<T: Thread>(&self, t: T) -> u32 {
        let mut bytes = 0;
        for iteration in 0..t.opaque(ITERATIONS) {
            bytes += self.rate(t, iteration).body_bytes(1);
        }
        t.reduce_add(bytes)
    }

    /// Writes the values of the bodies from byte `start` of the stream on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_values<T: Thread>(&self, t: T, start: u64) {
        let image = SHARED.0.image;
        let quantizer = self.params.quantizer::<E>();
        let mut tail = self.word(t, self.params.initial(self.number));
        let mut from = start / 4;
        for iteration in 0..t.opaque(ITERATIONS) {
            let rate = self.rate(t, iteration);
            let bytes = rate.body_bytes(1);
            let end = warp_inclusive_sum(t, bytes);
            let words = t.shuffle(end, WARP - 1) / 4;
            let mut word = t.lane();
            while word < words {
                image.store(t, word, self.word(t, from + u64::from(word)));
                word += WARP;
            }
            t.sync_warp();
            let codec = BlockCodec::Plain;
            let mut codes = read_body(t, image, Shape::Line, 0, rate, end - bytes, codec);
            t.sync_warp();
            tail = delta_decode(t, &mut codes, tail);
            let block = block_of(self.number, iteration, t.lane());
            let first = u64::from(block) * GROUP as u64;
            store_values(t, self.params.elements, first, &quantizer, &codes);
            from += u64::from(words);
        }
    }
}

/// An iteration of Algorithm 2: differences to codes. `tail` is the last code of the iteration before, or the initial
/// value; returns that of this one. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn delta_decode<T: Thread>(t: T, differences: &mut Group, tail: u32) -> u32 {
    // The prefix sum of a thread: lines 6 to 8.
    difference::backward(Shape::Line, differences);
    // That of the warp, without the lane's own: lines 9 to 14.
    let own = differences[GROUP - 1].cast_unsigned();
    let before = warp_inclusive_sum(t, own).wrapping_sub(own);
    // Lines 17 and 18.
    difference::add(differences, before.wrapping_add(tail).cast_signed());
    // Tail element accumulation: line 19.
    t.shuffle(differences[GROUP - 1].cast_unsigned(), WARP - 1)
}
