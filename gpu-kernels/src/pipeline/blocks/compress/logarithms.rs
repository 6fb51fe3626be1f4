//! Compression of logarithms, which are computed where elements are read. So a field without holes is not written to memory
//! a second time.

use crate::PACKAGE;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::field::WholeField;
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::compress::{Compress, CompressParams};
use crate::primitives::element::by_width;
use crate::primitives::map::Map;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::mapping::logarithm;
use ferrosz_codec::pipeline::StaticCodec;
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Compresses the logarithms of a field of `E` with codec `C` in blocks of shape `S`. Launched with one block a chunk.
pub struct CompressLogarithms<E, C, S>(PhantomData<(E, C, S)>);

/// Parameters of [`CompressLogarithms`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompressLogarithmsParams {
    /// The compression of the coded field, which is read only if it has holes.
    pub coded: CompressParams,
    /// The words of the user's field, 16-byte aligned, which are read otherwise.
    pub field: View<u32>,
    /// One number, above 0 if the coded field has holes.
    pub holes: View<u64>,
}

impl CompressLogarithmsParams {
    /// Whether elements of the user's field are read. Looked up at each use, so that it needs no register in between.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn reads_field<T: Thread>(&self, t: T) -> bool {
        t.load_u64(self.holes, u64::from(t.opaque(0))) == 0
    }
}

/// Logarithms, which are computed from elements.
#[derive(Clone, Copy)]
pub(crate) struct Logarithm;

impl<E: Element> Map<E> for Logarithm {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn element(self, element: E) -> E {
        logarithm::to_coded(element)
    }
}

impl<E: Element> WholeField<E> for CompressLogarithmsParams {
    type Source = View<u32>;
    type Map = Logarithm;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn params(&self) -> &CompressParams {
        &self.coded
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn source<T: Thread>(&self, t: T) -> View<u32> {
        self.field.or(self.reads_field(t), self.coded.input)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(&self, t: T) -> Option<Logarithm> {
        self.reads_field(t).then_some(Logarithm)
    }
}

impl<E: Element, C: StaticCodec, S: StaticShape> Kernel for CompressLogarithms<E, C, S> {
    type Params = CompressLogarithmsParams;
    const NAME: &'static str = const {
        &Name::of(&[
            "ferrosz_compress_logarithms",
            C::CODEC.name(),
            S::SHAPE.name(),
            E::DTYPE.name(),
        ])
    }
    .as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<E>::SHARED.1.words();
    // One less than for coded fields: division is a call, for which registers would be spilt.
    const RESIDENT_BLOCKS: u32 = by_width::<E>(3, 2);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &CompressLogarithmsParams) {
        Compress::<E, C, S>::field(t, params);
    }
}
