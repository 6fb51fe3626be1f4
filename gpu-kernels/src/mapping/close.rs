//! Refuses a field that has valid values close to a fill value. A decoder might make the fill value of them. Encoders in host
//! memory give them a class of their own, which is known only when all values were seen, and so too late for a kernel.

use crate::PACKAGE;
use crate::pipeline::cells::{self, Given};
use crate::primitives::element::load_element;
use core::array::from_fn;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::close::Reach;
use ferrosz_codec::mapping::mask::{Classes, MAX_CLASSES};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Looks for values of a field of `E` that are close to a fill value. Launched with any number of blocks, after a compression.
pub struct RefuseClose<E>(PhantomData<E>);

/// Parameters of [`RefuseClose`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RefuseCloseParams {
    /// The field, 16-byte aligned.
    pub input: View<u32>,
    /// Elements of the field.
    pub elements: u64,
    /// The classes of the mask.
    pub classes: Classes,
    /// The bits of the fill values, and behind them holes, which nothing is close to.
    pub fills: [u64; MAX_CLASSES],
    /// The workspace. The length of the stream becomes 0 if there is such a value.
    pub cells: View<u64>,
    /// The quantiser's bits.
    pub quantizer: Given<3>,
    /// The number of a bound that is a share of each value, else 0.
    pub share: f64,
}

/// Threads in a block.
const THREADS: u32 = 256;

impl<E: Element> Kernel for RefuseClose<E> {
    type Params = RefuseCloseParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_refuse_close", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 4;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &RefuseCloseParams) {
        let bits = params.quantizer.find(t, params.cells, cells::QUANTIZER);
        let reach = match params.share > 0.0 {
            true => Reach::Share(params.share),
            false => Reach::Error(Quantizer::<E>::from_bits(bits).error()),
        };
        // All of them each time, so that none needs an index.
        let fills: [E; MAX_CLASSES] = from_fn(|i| E::from_bits64(params.fills[i]));
        if !fills
            .iter()
            .fold(false, |any, fill| any | reach.is_more_than(*fill))
        {
            return;
        }
        let threads = u64::from(t.block_count()) * u64::from(THREADS);
        let thread = u64::from(t.block_index()) * u64::from(THREADS) + u64::from(t.thread_index());
        let mut is_refused = false;
        let mut at = thread;
        while at < params.elements {
            let value: E = load_element(t, params.input, at);
            let is_close = fills
                .iter()
                .fold(false, |any, fill| any | reach.has(value, *fill));
            is_refused |= is_close && !params.classes.has_fill(value);
            at += threads;
        }
        if is_refused {
            t.atomic_store(params.cells, cells::STREAM_BYTES, 0);
        }
    }
}
