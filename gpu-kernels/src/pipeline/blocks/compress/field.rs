//! The field of a chunk, as the stages of compression need it.

use crate::pipeline::blocks::compress::parameters::CompressParams;
use crate::pipeline::blocks::staged_chunk::UnitSteps;
use crate::pipeline::cells;
use ferrosz_codec::Element;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::mapping::Scale;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_simt::{Thread, View};

/// A field of `E` and its stream. Each number is read where it is used, so that it needs no registers in between.
pub(crate) trait FieldOf<E: Element>: Copy {
    /// The field, 16-byte aligned.
    fn input<T: Thread>(&self, t: T) -> View<u32>;
    /// The scale on which the field's elements are still to be brought.
    fn scale<T: Thread>(&self, t: T) -> Scale;
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

/// A field that a launch compresses, and nothing else.
pub(crate) trait WholeField<E: Element>: FieldOf<E> {
    /// The parameters of its compression.
    fn params(&self) -> &CompressParams;
}

impl<E: Element> WholeField<E> for &CompressParams {
    #[inline(always)]
    fn params(&self) -> &CompressParams {
        self
    }
}

impl<E: Element> FieldOf<E> for &CompressParams {
    #[inline(always)]
    fn input<T: Thread>(&self, _: T) -> View<u32> {
        self.input
    }

    #[inline(always)]
    fn scale<T: Thread>(&self, _: T) -> Scale {
        Scale::Linear
    }

    #[inline(always)]
    fn stream<T: Thread>(&self, _: T) -> View<u32> {
        self.stream
    }

    #[inline(always)]
    fn entries<T: Thread>(&self, _: T) -> u64 {
        self.entries
    }

    #[inline(always)]
    fn quantizer<T: Thread>(&self, t: T) -> Quantizer<E> {
        let first = u64::from(t.opaque(cells::QUANTIZER as u32));
        Quantizer::from_bits(self.quantizer.find(t, self.cells, first))
    }

    #[inline(always)]
    fn has_holes(&self) -> bool {
        self.holes != 0
    }

    #[inline(always)]
    fn identity<T: Thread>(&self, t: T) -> Identity {
        self.identity.find(t, self.cells)
    }

    #[inline(always)]
    fn grid(&self) -> &Grid {
        &self.grid
    }

    #[inline(always)]
    fn steps(&self) -> &UnitSteps {
        &self.steps
    }
}
