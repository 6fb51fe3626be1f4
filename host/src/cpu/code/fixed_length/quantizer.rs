//! The codes of a chunk's blocks, one block after the other.

use crate::cpu::lanes::Lanes;
use ferrosz_codec::element::Element;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::group::{Group, MAX_REACH, last_of};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, StaticShape, WHOLE_GROUP};

/// The values of a group that have no code: bit e is set for element e.
pub(super) type ExceptionMask = u32;

/// The [nearest codes](Quantizer::nearest_code) of a block, and whether they are the codes of its elements: all
/// [are clearly within the bound](Quantizer::is_clearly_within).
pub(super) type Nearest<const G: usize> = ([Group; G], bool);

/// Quantises the blocks of a chunk for a codec.
pub(super) struct BlockQuantizer<'a, T> {
    pub(super) codec: BlockCodec,
    quantizer: &'a Quantizer<T>,
    error: T,
    step: T,
    inverse: T,
    layer: Layer,
}

/// The state of a prediction that runs from block to block.
#[derive(Default)]
struct Layer {
    /// The chunk's first code, if it was found.
    initial: Option<i32>,
    /// The last code before the next one.
    last: i32,
}

impl Layer {
    /// Records the chunk's first code, if it is in this group.
    #[inline(always)]
    fn begin(&mut self, codes: &Group, has_code: u32) {
        if self.initial.is_none() && has_code != 0 {
            self.last = codes[has_code.trailing_zeros() as usize];
            self.initial = Some(self.last);
        }
    }
}

impl<'a, T: Element> BlockQuantizer<'a, T> {
    #[inline(always)]
    pub(super) fn new(codec: BlockCodec, quantizer: &'a Quantizer<T>) -> Self {
        let [error, step, inverse] = quantizer.to_bits().map(T::from_bits64);
        Self {
            codec,
            quantizer,
            error,
            step,
            inverse,
            layer: Layer::default(),
        }
    }

    /// The chunk's first code; 0 if it has none.
    #[inline(always)]
    pub(super) fn initial(&self) -> i32 {
        self.layer.initial.unwrap_or(0)
    }

    /// The differences of a block's codes from their predictions; 0 at positions without elements. The blocks of a chunk come in
    /// their order, as a layered codec predicts from one to the next.
    #[inline(always)]
    pub(super) fn differences<L: Lanes, S: StaticShape, const G: usize>(
        &mut self,
        lanes: L,
        codes: &[Group; G],
        inside: &[u32; G],
    ) -> [Group; G] {
        let before = match self.codec.is_layered() {
            true => core::mem::replace(&mut self.layer.last, codes[0][GROUP - 1]),
            false => 0,
        };
        let mut groups = lanes.forward::<S, G>(self.codec.predictor(), codes, before);
        // Elements are predicted by elements alone: those before them in each dimension.
        if *inside != [WHOLE_GROUP; G] {
            for (group, inside) in groups.iter_mut().zip(inside) {
                for (e, difference) in group.iter_mut().enumerate() {
                    *difference &= -((inside >> e & 1) as i32);
                }
            }
        }
        groups
    }

    /// The nearest codes of a block. They do not depend on the codec.
    #[inline(always)]
    pub(super) fn nearest<const G: usize>(&self, values: &[[T; GROUP]; G]) -> Nearest<G> {
        let mut codes = [[0; GROUP]; G];
        let mut clear = true;
        for (values, codes) in values.iter().zip(&mut codes) {
            clear &= self.nearest_of_group(values, codes);
        }
        (codes, clear)
    }

    /// Sets the [`Quantizer::nearest_code`] of all values; returns whether [`Quantizer::is_clearly_within`] holds for
    /// all.
    #[inline(always)]
    fn nearest_of_group(&self, values: &[T; GROUP], codes: &mut Group) -> bool {
        let mut clear = true;
        for (value, code) in values.iter().zip(codes) {
            let scaled = *value * self.inverse;
            let rounded = scaled + T::ROUNDING_MAGIC;
            *code = rounded
                .low_bits()
                .wrapping_sub(T::ROUNDING_MAGIC.low_bits()) as i32;
            // Below the limit this is exactly the code, so no conversion is necessary.
            let decoded = (rounded - T::ROUNDING_MAGIC) * self.step;
            clear &= scaled.abs() < T::ROUNDING_LIMIT;
            clear &= (*value - decoded).abs() < self.error;
        }
        clear
    }

    /// The codes of a block, and its exceptions. Elements without a code have the predicted code, so that the difference is 0.
    #[inline(always)]
    pub(super) fn block<S: StaticShape, const G: usize>(
        &mut self,
        values: &[[T; GROUP]; G],
        inside: &[u32; G],
        (mut codes, clear): Nearest<G>,
    ) -> ([Group; G], [ExceptionMask; G]) {
        let mut has_code = inside[0];
        let mut exceptions = [0; G];
        if !clear {
            (exceptions, has_code) = self.with_care::<S, G>(values, inside, &mut codes);
        }
        if self.codec.is_layered() {
            self.layer.begin(&codes[0], has_code);
        }
        (codes, exceptions)
    }

    /// Completes the nearest codes of a block in which a value is not clearly within the bound; returns the exceptions, and the positions of the first group that have a code.
    #[cold]
    #[inline(never)]
    fn with_care<S: StaticShape, const G: usize>(
        &mut self,
        values: &[[T; GROUP]; G],
        inside: &[u32; G],
        codes: &mut [Group; G],
    ) -> ([ExceptionMask; G], u32) {
        let predictor = self.codec.predictor();
        let mut exceptions = [0; G];
        let mut of_first = 0;
        let mut before = [0; MAX_REACH];
        for (g, group) in codes.iter_mut().enumerate() {
            let (has_code, is_hole) = self.codes_of_group(&values[g], inside[g], group);
            exceptions[g] = inside[g] & !has_code & !is_hole;
            if g == 0 {
                of_first = has_code;
            }
            if self.codec.is_layered() {
                self.layer.begin(group, has_code);
                before[0] = self.layer.last;
            }
            if has_code != WHOLE_GROUP {
                predictor.fill(S::SHAPE, group, has_code, &before);
            }
            before = last_of(S::SHAPE, group);
        }
        (exceptions, of_first)
    }

    /// Completes the nearest codes of a group; returns which of its elements have a code, and which are holes.
    fn codes_of_group(&self, values: &[T; GROUP], inside: u32, codes: &mut Group) -> (u32, u32) {
        let mut has_code = 0;
        for (e, value) in values.iter().enumerate() {
            has_code |= u32::from(self.quantizer.is_clearly_within(*value)) << e;
        }
        has_code &= inside;
        let mut is_hole = 0;
        let mut left = inside & !has_code;
        while left != 0 {
            let e = left.trailing_zeros() as usize;
            left &= left - 1;
            match self.quantizer.quantize_with_care(values[e]) {
                Some(code) => {
                    codes[e] = code;
                    has_code |= 1 << e;
                }
                None => is_hole |= u32::from(self.quantizer.is_hole(values[e])) << e,
            }
        }
        (has_code, is_hole)
    }
}
