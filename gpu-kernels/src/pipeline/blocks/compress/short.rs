//! Compression of values of 16 bits, which become elements where they are read. So the elements are not written to memory.

use crate::PACKAGE;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::field::WholeField;
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::compress::{Compress, CompressParams};
use crate::pipeline::cells;
use crate::primitives::shorts::{Shorts, Widen};
use core::marker::PhantomData;
use ferrosz_codec::mapping::short::Short;
use ferrosz_codec::pipeline::StaticCodec;
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Compresses a field of values of 16 bits with codec `C` in blocks of shape `S`. Launched with one block a chunk.
pub struct CompressShort<C, S>(PhantomData<(C, S)>);

/// Parameters of [`CompressShort`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressShortParams {
    /// The compression of the elements, whose input is not read. The quantiser, the identity and
    /// [`cells::CONVERSION`] are in its workspace.
    pub coded: CompressParams,
    /// The words of the values, 16-byte aligned.
    pub field: View<u32>,
    /// The number of the values' type.
    pub value_type: u32,
}

impl WholeField<f32> for CompressShortParams {
    type Source = Shorts;
    type Map = Widen;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn params(&self) -> &CompressParams {
        &self.coded
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn source<T: Thread>(&self, _: T) -> Shorts {
        Shorts(self.field)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(&self, t: T) -> Option<Widen> {
        let kind = t.load_u64(self.coded.cells, cells::CONVERSION) as u32;
        Short::from_ids(self.value_type, kind).map(Widen)
    }
}

impl<C: StaticCodec, S: StaticShape> Kernel for CompressShort<C, S> {
    type Params = CompressShortParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_compress_short", C::CODEC.name(), S::SHAPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<f32>::SHARED.1.words();
    // One less than for elements where values of exceptions would be spilt.
    const RESIDENT_BLOCKS: u32 = if C::CODEC.stores_outliers() || C::CODEC.is_layered() {
        3
    } else {
        4
    };

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &CompressShortParams) {
        Compress::<f32, C, S>::field(t, params);
    }
}
