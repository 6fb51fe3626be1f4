//! The field of a chunk, as the stages of compression need it.

use crate::pipeline::blocks::compress::parameters::CompressParams;
use crate::pipeline::blocks::staged_chunk::UnitSteps;
use crate::pipeline::cells;
use crate::primitives::map::Map;
use crate::primitives::shorts::Shorts;
use core::convert::Infallible;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::GROUP;
use ferrosz_simt::{Thread, View};

/// A field of `E` and its stream. Each number is read where it is used, so that it needs no registers in between.
pub(crate) trait FieldOf<E: Element>: Copy {
    /// Where the elements are.
    type Source: Source<E>;
    /// How the elements there become those that are coded.
    type Map: Map<E>;

    /// The elements.
    fn source<T: Thread>(&self, t: T) -> Self::Source;
    /// What is still to be done to each; none if they are coded as they are.
    fn map<T: Thread>(&self, t: T) -> Option<Self::Map>;
    /// The stream, 16-byte aligned.
    fn stream<T: Thread>(&self, t: T) -> View<u32>;
    /// Entries of the chunk table.
    fn entries<T: Thread>(&self, t: T) -> u64;
    /// The quantiser.
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E>;
    /// The identity of the stream.
    fn identity<T: Thread>(&self, t: T) -> Identity;
    /// The division of the field. Only chunks that are planes or cubes need it.
    fn grid(&self) -> &Grid;
    /// Whether the field has holes.
    fn has_holes(&self) -> bool;
    /// The units of a whole chunk, in the field. Only chunks that are planes or cubes need them.
    fn steps(&self) -> &UnitSteps;
}

/// Elements of `E` in global memory, as the words that they have in shared memory.
pub(crate) trait Source<E>: Copy {
    /// 16-byte unit number `number`.
    fn unit<T: Thread>(self, t: T, number: u64) -> [u32; 4];
    /// Word number `at`.
    fn word<T: Thread>(self, t: T, at: u64) -> u32;
    /// Sends for as many elements as a group has, from this one on.
    fn prefetch<T: Thread>(self, t: T, element: u64);
}

impl<E: Element> Source<E> for View<u32> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn unit<T: Thread>(self, t: T, number: u64) -> [u32; 4] {
        t.load4(self, number)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(self, t: T, at: u64) -> u32 {
        t.load(self, at)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn prefetch<T: Thread>(self, t: T, element: u64) {
        for i in 0..E::WORDS {
            t.prefetch(self, element * E::WORDS as u64 + (GROUP * i) as u64);
        }
    }
}

impl Source<f32> for Shorts {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn unit<T: Thread>(self, t: T, number: u64) -> [u32; 4] {
        Self::unit(self, t, number)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(self, t: T, at: u64) -> u32 {
        self.value(t, at)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn prefetch<T: Thread>(self, t: T, element: u64) {
        t.prefetch(self.0, element / 2);
    }
}

/// Parameters of a launch that compresses a field, and nothing else.
pub(crate) trait WholeField<E: Element> {
    /// As [`FieldOf::Source`].
    type Source: Source<E>;
    /// As [`FieldOf::Map`].
    type Map: Map<E>;

    /// The parameters of its compression.
    fn params(&self) -> &CompressParams;
    /// As [`FieldOf::source`].
    fn source<T: Thread>(&self, t: T) -> Self::Source;
    /// As [`FieldOf::map`].
    fn map<T: Thread>(&self, t: T) -> Option<Self::Map>;
}

impl<E: Element, P: WholeField<E>> FieldOf<E> for &P {
    type Source = P::Source;
    type Map = P::Map;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn source<T: Thread>(&self, t: T) -> Self::Source {
        P::source(self, t)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(&self, t: T) -> Option<Self::Map> {
        P::map(self, t)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn stream<T: Thread>(&self, _: T) -> View<u32> {
        self.params().stream
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entries<T: Thread>(&self, _: T) -> u64 {
        self.params().entries
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        let first = u64::from(t.opaque(cells::QUANTIZER as u32));
        let params = self.params();
        Quantizer::from_bits(params.quantizer.find(t, params.cells, first))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_holes(&self) -> bool {
        self.params().holes != 0
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn identity<T: Thread>(&self, t: T) -> Identity {
        self.params().identity.find(t, self.params().cells)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn grid(&self) -> &Grid {
        &self.params().grid
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn steps(&self) -> &UnitSteps {
        &self.params().steps
    }
}

impl<E: Element> WholeField<E> for CompressParams {
    type Source = View<u32>;
    type Map = Infallible;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn params(&self) -> &CompressParams {
        self
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn source<T: Thread>(&self, _: T) -> View<u32> {
        self.input
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn map<T: Thread>(&self, _: T) -> Option<Infallible> {
        None
    }
}
