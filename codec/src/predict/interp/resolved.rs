//! Resolved parameters, with the bounds of the levels: the form in streams and for kernels.

use crate::code::entropy::shifts::Shifts;
use crate::element::Element;
use crate::predict::fitted::FittedKind;
use crate::predict::interp::geometry::{Geometry, MAX_LEVELS};
use crate::predict::interp::parameters::{Parameters, Tightening};
use crate::quantize::level::{LevelQuantizer, part_of_step};
use crate::shape::Shape;
use crate::tile::Part;
use crate::tile::code::RADIUS;

/// Levels with their own bound: the levels of a field, and the level of its anchors.
pub const LEVELS: usize = MAX_LEVELS + 1;

/// The word of the number of the geometry.
pub const GEOMETRY_AT: usize = 0;
const FLAGS_AT: usize = 1;
const ALPHA_AT: usize = 2;
const BETA_AT: usize = 4;
const ERROR_AT: usize = 6;
const STEPS_AT: usize = 8;

const INVERSES_AT: usize = STEPS_AT + 2 * LEVELS;

/// The word of the radius, with the dead zone above it.
const RADIUS_AT: usize = INVERSES_AT + 2 * LEVELS;
const DEAD_SHIFT: u32 = 16;

const SHIFTS_AT: usize = RADIUS_AT + 1;

/// Words of the parameters, in streams and for kernels.
pub const WORDS: usize = SHIFTS_AT + 1;

/// The parameters of a field whose bound is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved<T> {
    /// The chosen parameters.
    pub parameters: Parameters,
    /// The bound of every position; 0 is lossless.
    pub error: T,
    /// The quantisers of the levels, from the finest on. The quantiser of the anchors' level is used for all levels of
    /// the coarse field.
    pub quantizers: [LevelQuantizer<T>; LEVELS],
    /// Codes are less than this in magnitude.
    pub radius: u32,
}

impl<T: Element> Resolved<T> {
    /// The parameters for a bound of `error`, finite and not negative.
    pub fn new(parameters: Parameters, error: T) -> Self {
        let of_level = |level| {
            let error = parameters.tightening.error(error.to_f64(), level as u32);
            LevelQuantizer::new(error).with_dead_zone(parameters.tightening.dead)
        };
        Self {
            parameters,
            error,
            quantizers: core::array::from_fn(of_level),
            radius: RADIUS,
        }
    }

    /// The same parameters with codes of less than `radius`, from 1 to [`RADIUS`], in magnitude.
    #[must_use]
    pub fn with_radius(self, radius: u32) -> Self {
        Self {
            radius: radius.clamp(1, RADIUS),
            ..self
        }
    }

    /// The quantisers of the levels of a part of a field of this shape.
    pub fn quantizers_of(&self, part: Part, shape: Shape) -> [LevelQuantizer<T>; LEVELS] {
        match part {
            Part::Fine => self.quantizers,
            Part::Coarse => {
                [self.quantizers[self.parameters.geometry.levels(shape) as usize]; LEVELS]
            }
        }
    }

    /// The words of the parameters.
    pub fn to_words(&self) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        let mut put = |at: usize, bits: u64| {
            words[at] = bits as u32;
            words[at + 1] = (bits >> 32) as u32;
        };
        put(ALPHA_AT, self.parameters.tightening.alpha.to_bits());
        put(BETA_AT, self.parameters.tightening.beta.to_bits());
        put(ERROR_AT, self.error.to_bits64());
        for (level, quantizer) in self.quantizers.iter().enumerate() {
            put(STEPS_AT + 2 * level, quantizer.step.to_bits64());
            put(INVERSES_AT + 2 * level, quantizer.inverse.to_bits64());
        }
        words[GEOMETRY_AT] = self.parameters.geometry.id();
        words[FLAGS_AT] = self.parameters.flag_bits();
        words[RADIUS_AT] = self.radius | self.parameters.tightening.dead << DEAD_SHIFT;
        words[SHIFTS_AT] = self.parameters.shifts.to_word();
        words
    }
}

/// The words of the parameters, read one at a time, for kernels.
#[derive(Clone, Copy)]
pub struct Words<F>(pub F);

impl<F: Fn(usize) -> u32> Words<F> {
    #[inline(always)]
    fn wide(&self, at: usize) -> u64 {
        u64::from((self.0)(at)) | u64::from((self.0)(at + 1)) << 32
    }

    /// The geometry; none if the number is unknown.
    #[inline(always)]
    pub fn geometry(&self) -> Option<Geometry> {
        Geometry::from_id((self.0)(GEOMETRY_AT))
    }

    /// The flags of all levels.
    #[inline(always)]
    pub fn flag_bits(&self) -> u32 {
        (self.0)(FLAGS_AT)
    }

    /// The bound.
    #[inline(always)]
    pub fn error<T: Element>(&self) -> T {
        T::from_bits64(self.wide(ERROR_AT))
    }

    /// The quantiser of a level, up to that of the anchors.
    #[inline(always)]
    pub fn quantizer<T: Element>(&self, level: u32) -> LevelQuantizer<T> {
        let at = 2 * level as usize;
        LevelQuantizer {
            step: T::from_bits64(self.wide(STEPS_AT + at)),
            inverse: T::from_bits64(self.wide(INVERSES_AT + at)),
            dead: part_of_step(self.dead_zone()),
        }
    }

    /// Codes are less than this in magnitude.
    #[inline(always)]
    pub fn radius(&self) -> u32 {
        (self.0)(RADIUS_AT) & ((1 << DEAD_SHIFT) - 1)
    }

    /// The dead zone of all levels, in units of 2^-16 of a step.
    #[inline(always)]
    pub fn dead_zone(&self) -> u32 {
        (self.0)(RADIUS_AT) >> DEAD_SHIFT
    }

    /// The shifts of contexts.
    #[inline(always)]
    pub fn shifts(&self) -> Shifts {
        Shifts::from_word((self.0)(SHIFTS_AT))
    }

    #[inline(always)]
    fn tightening(&self) -> Tightening {
        Tightening::new(
            f64::from_bits(self.wide(ALPHA_AT)),
            f64::from_bits(self.wide(BETA_AT)),
        )
        .with_dead_zone(self.dead_zone())
    }

    /// Whether an encoder can have written the words for a field of this shape. Only codecs with fitted coefficients have shifts.
    #[inline(always)]
    pub fn are_sound<T: Element>(&self, shape: Shape, fitted: FittedKind) -> bool {
        let shifts = self.shifts();
        let has_shifts = shifts != Shifts::NONE;
        let may_have_shifts = fitted.is_some();
        // Finite, not negative, and 0 in bits that the type does not have.
        let is_sound = |bits: u64| bits < T::from_f64(f64::INFINITY).to_bits64();
        let mut sound = self.geometry().is_some()
            & self.tightening().is_valid()
            & (self.flag_bits() >> Parameters::FLAG_BITS == 0)
            & (1..=RADIUS).contains(&self.radius())
            & is_sound(self.wide(ERROR_AT))
            & (!has_shifts | may_have_shifts & shifts.are_of(shape));
        for level in 0..LEVELS {
            sound &= is_sound(self.wide(STEPS_AT + 2 * level));
            sound &= is_sound(self.wide(INVERSES_AT + 2 * level));
        }
        sound
    }

    /// The parameters; none if no encoder can have written them: [`Words::are_sound`].
    pub fn read<T: Element>(&self, shape: Shape, fitted: FittedKind) -> Option<Resolved<T>> {
        let flag_bits = self.flag_bits();
        let parameters = Parameters {
            geometry: self.geometry()?,
            levels: core::array::from_fn(|level| Parameters::flags_of(flag_bits, level as u32)),
            tightening: self.tightening(),
            shifts: self.shifts(),
        };
        self.are_sound::<T>(shape, fitted).then(|| Resolved {
            parameters,
            error: self.error(),
            quantizers: core::array::from_fn(|level| self.quantizer(level as u32)),
            radius: self.radius(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::interp::parameters::LevelFlags;

    #[test]
    fn words_come_back() {
        let mut parameters = Parameters::default();
        parameters.levels[3] = LevelFlags::from_bits(6);
        parameters.shifts = Shifts::NONE.with(0, 1, -1).with(1, 2, 3);
        parameters.tightening = Tightening::new(1.5, 3.0).with_dead_zone(1 << 13);
        let resolved = Resolved::new(parameters, 0.25f32).with_radius(77);
        let words = resolved.to_words();
        let words = Words(|at| words[at]);
        assert_eq!(
            words.read::<f32>(Shape::Plane, FittedKind::Stencils),
            Some(resolved)
        );
        assert_eq!(words.read::<f32>(Shape::Plane, FittedKind::None), None);
        assert_eq!(words.read::<f32>(Shape::Line, FittedKind::Stencils), None);
    }
}
