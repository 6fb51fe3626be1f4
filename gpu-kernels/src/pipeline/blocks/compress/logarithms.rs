//! Compression of logarithms, which are computed where elements are read. So a field without holes is not written to memory
//! a second time.

use crate::PACKAGE;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::field::{FieldOf, WholeField};
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::compress::{Compress, CompressParams};
use crate::pipeline::blocks::staged_chunk::UnitSteps;
use crate::primitives::element::by_width;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::mapping::Scale;
use ferrosz_codec::pipeline::StaticCodec;
use ferrosz_codec::quantize::field::Quantizer;
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
    #[inline(always)]
    fn reads_field<T: Thread>(&self, t: T) -> bool {
        t.load_u64(self.holes, u64::from(t.opaque(0))) == 0
    }
}

impl<E: Element> WholeField<E> for &CompressLogarithmsParams {
    #[inline(always)]
    fn params(&self) -> &CompressParams {
        &self.coded
    }
}

impl<E: Element> FieldOf<E> for &CompressLogarithmsParams {
    #[inline(always)]
    fn input<T: Thread>(&self, t: T) -> View<u32> {
        self.field.or(self.reads_field(t), self.coded.input)
    }

    #[inline(always)]
    fn scale<T: Thread>(&self, t: T) -> Scale {
        match self.reads_field(t) {
            true => Scale::Logarithm,
            false => Scale::Linear,
        }
    }

    #[inline(always)]
    fn stream<T: Thread>(&self, t: T) -> View<u32> {
        FieldOf::<E>::stream(&&self.coded, t)
    }

    #[inline(always)]
    fn entries<T: Thread>(&self, t: T) -> u64 {
        FieldOf::<E>::entries(&&self.coded, t)
    }

    #[inline(always)]
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        FieldOf::<E>::quantizer(&&self.coded, t)
    }

    #[inline(always)]
    fn identity<T: Thread>(&self, t: T) -> Identity {
        FieldOf::<E>::identity(&&self.coded, t)
    }

    #[inline(always)]
    fn grid(&self) -> &Grid {
        &self.coded.grid
    }

    #[inline(always)]
    fn has_holes(&self) -> bool {
        FieldOf::<E>::has_holes(&&self.coded)
    }

    #[inline(always)]
    fn steps(&self) -> &UnitSteps {
        &self.coded.steps
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

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &CompressLogarithmsParams) {
        Compress::<E, C, S>::field(t, params);
    }
}
