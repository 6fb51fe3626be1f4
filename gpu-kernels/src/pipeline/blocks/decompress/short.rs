//! Decompression to values of 16 bits: decoded elements become values on their way to the output.

use crate::PACKAGE;
use crate::mapping::records;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::decompress::stored_chunk::Scratch;
use crate::pipeline::blocks::decompress::{Decompress, DecompressParams};
use crate::primitives::shorts::{Narrow, Shorts, conversion_of};
use core::marker::PhantomData;
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Decompresses values of 16 bits from blocks of shape `S`. Launched with one block for each chunk that the region may
/// touch.
pub struct DecompressShort<S>(PhantomData<S>);

/// Parameters of [`DecompressShort`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecompressShortParams {
    /// The decompression of the elements. Its output has the words of the values.
    pub coded: DecompressParams,
    /// The words of the stream's records.
    pub records: View<u32>,
}

impl<S: StaticShape> Kernel for DecompressShort<S> {
    type Params = DecompressShortParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_decompress_short", S::SHAPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<f32>::SHARED.1.words();
    // One less than for elements: values would be spilt.
    const RESIDENT_BLOCKS: u32 = 3;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecompressShortParams) {
        type Elements<S> = Decompress<f32, S>;
        let coded = &params.coded;
        if t.block_index() == 0
            && t.warp() == 0
            && !records::are_sound(t, coded.header, params.records)
        {
            Elements::<S>::refuse(t, coded);
        }
        let Some(stored) = Elements::<S>::find(t, coded) else {
            return;
        };
        let words = Elements::<S>::read(t, &stored);
        let Some(short) = conversion_of(t, coded.header) else {
            Elements::<S>::refuse(t, coded);
            return;
        };
        let elements = Elements::<S>::chunk_again(t, coded).elements();
        let words = stored.held().map::<_, S>(t, words, elements, Narrow(short));
        let chunk = Elements::<S>::chunk_again(t, coded);
        Elements::<S>::output(coded, Shorts(coded.output), &stored, &chunk).write(t, words);
    }
}
