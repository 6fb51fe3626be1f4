//! The coefficients that an encoder fits to a field, by the kind of its predictor: what the steps of all machines ask of a
//! kind.

#[cfg(feature = "toy")]
pub mod toy_fitted;

use crate::error::ChunkFault;
use crate::predict::interp::geometry::Geometry;
use crate::predict::interp::tune::FlagChoice;
use crate::predict::{slices, stencil};
use crate::shape::Shape;

/// The kinds of coefficients.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FittedKind {
    /// None: levels are predicted by splines.
    None = 0,
    /// Those of [`stencil`], on levels whose flags say so.
    Stencils = 1,
    /// Those of [`slices`], on all levels.
    Slices = 2,
    /// That of [`toy_fitted`], on all levels.
    #[cfg(feature = "toy")]
    ToyFitted = 3,
}

impl FittedKind {
    /// Whether there are any.
    #[inline(always)]
    pub const fn is_some(self) -> bool {
        !matches!(self, Self::None)
    }

    /// The geometry of anchors and levels with coefficients; without them the default.
    pub const fn geometry(self) -> Geometry {
        match self {
            Self::None => Geometry::Wide,
            Self::Stencils => stencil::coefficients::GEOMETRY,
            Self::Slices => slices::GEOMETRY,
            #[cfg(feature = "toy")]
            Self::ToyFitted => Geometry::Wide,
        }
    }

    /// The flags of levels that are tuned.
    pub const fn flags(self) -> FlagChoice {
        match self {
            Self::None => FlagChoice::PerLevel,
            Self::Stencils => FlagChoice::Stencils,
            Self::Slices => FlagChoice::AllFitted,
            #[cfg(feature = "toy")]
            Self::ToyFitted => FlagChoice::AllFitted,
        }
    }

    /// Whether a stream has the coefficients of those levels alone whose flags say so.
    #[inline(always)]
    pub const fn depends_on_flags(self) -> bool {
        matches!(self, Self::Stencils)
    }

    /// The words of the coefficients of all levels.
    #[inline(always)]
    pub const fn words(self, shape: Shape) -> usize {
        match self {
            Self::None => 0,
            Self::Stencils => stencil::coefficients::count(shape),
            Self::Slices => slices::coefficients::WORDS,
            #[cfg(feature = "toy")]
            Self::ToyFitted => 1,
        }
    }

    /// The words that a stream with these flags of all levels has.
    #[inline(always)]
    pub const fn stored(self, shape: Shape, flag_bits: u32) -> usize {
        if self.depends_on_flags() {
            let fitted = stencil::coefficients::fitted(shape, flag_bits);
            stencil::coefficients::stored(shape, fitted)
        } else {
            self.words(shape)
        }
    }

    /// The number among the words of all levels of a word that a stream has.
    #[inline(always)]
    pub const fn number_of_stored(self, shape: Shape, flag_bits: u32, number: usize) -> usize {
        if self.depends_on_flags() {
            let fitted = stencil::coefficients::fitted(shape, flag_bits);
            stencil::coefficients::number_of_stored(shape, fitted, number)
        } else {
            number
        }
    }

    /// Whether an encoder can have written a word.
    #[inline(always)]
    pub const fn may_have(self, word: u32) -> bool {
        match self {
            Self::None | Self::Slices => true,
            Self::Stencils => f32::from_bits(word).is_finite(),
            #[cfg(feature = "toy")]
            Self::ToyFitted => f32::from_bits(word).is_finite(),
        }
    }

    /// The coefficients that a stream with these flags of all levels has, from its words.
    ///
    /// # Errors
    ///
    /// [`ChunkFault::Prologue`] if no encoder can have written them.
    pub fn read(
        self,
        shape: Shape,
        flag_bits: u32,
        word: impl Fn(usize) -> u32,
    ) -> Result<Option<Fitted>, ChunkFault> {
        if (0..self.stored(shape, flag_bits)).any(|i| !self.may_have(word(i))) {
            return Err(ChunkFault::Prologue);
        }
        Ok(match self {
            Self::None => None,
            Self::Stencils => {
                let fitted = stencil::coefficients::fitted(shape, flag_bits);
                let read = stencil::coefficients::Coefficients::from_words(shape, fitted, word);
                read.map(Fitted::Stencils)
            }
            Self::Slices => {
                let read = slices::coefficients::Coefficients::from_words(word);
                Some(Fitted::Slices(read))
            }
            #[cfg(feature = "toy")]
            Self::ToyFitted => Some(Fitted::ToyFitted(f32::from_bits(word(0)))),
        })
    }
}

/// The fit.
impl FittedKind {
    /// How often sums are made and coefficients follow from them, each time with predictions by those before.
    pub const fn rounds(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Stencils => 1,
            Self::Slices => slices::fit::ROUNDS,
            #[cfg(feature = "toy")]
            Self::ToyFitted => 1,
        }
    }

    /// The sums of all levels.
    pub const fn sums(self, shape: Shape) -> usize {
        match self {
            Self::None => 0,
            Self::Stencils => stencil::fit::all_sums(shape),
            Self::Slices => slices::fit::SUMS,
            #[cfg(feature = "toy")]
            Self::ToyFitted => toy_fitted::SUMS,
        }
    }

    /// The coefficients with which samples are predicted for the first sums, which follow from sums of 0. Without them splines
    /// predict.
    #[inline(always)]
    pub const fn has_first(self) -> bool {
        match self {
            Self::None | Self::Stencils => false,
            Self::Slices => true,
            #[cfg(feature = "toy")]
            Self::ToyFitted => true,
        }
    }

    /// The coefficients that fit best, from the sums of all levels.
    pub fn of_sums(self, shape: Shape, sum: impl Fn(usize) -> u64) -> Option<Fitted> {
        match self {
            Self::None => None,
            Self::Stencils => {
                let found = stencil::coefficients::Coefficients::of_sums(shape, sum);
                Some(Fitted::Stencils(found))
            }
            Self::Slices => {
                let found = slices::coefficients::Coefficients::of_sums(sum);
                Some(Fitted::Slices(found))
            }
            #[cfg(feature = "toy")]
            Self::ToyFitted => Some(Fitted::ToyFitted(toy_fitted::of_sums([sum(0), sum(1)]))),
        }
    }
}

/// The coefficients of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fitted {
    /// Those of stencils.
    Stencils(stencil::coefficients::Coefficients),
    /// Those of slices.
    Slices(slices::coefficients::Coefficients),
    /// The factor of predictions.
    #[cfg(feature = "toy")]
    ToyFitted(f32),
}

impl Fitted {
    /// Gives the words that a stream with these flags of all levels has, in their order.
    pub fn each_word(&self, shape: Shape, flag_bits: u32, put: impl FnMut(u32)) {
        match self {
            Self::Stencils(all) => {
                let fitted = stencil::coefficients::fitted(shape, flag_bits);
                all.words(shape, fitted).for_each(put);
            }
            Self::Slices(all) => all.words().iter().copied().for_each(put),
            #[cfg(feature = "toy")]
            Self::ToyFitted(factor) => [factor.to_bits()].into_iter().for_each(put),
        }
    }
}
