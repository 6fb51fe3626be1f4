//! Mappings: from the field of the user to the coded field, and back.
//!
//! The codecs do not know them. See FORMAT.md, sections 22 to 25.

use crate::bound::{Bound, BoundMode};
use crate::element::Element;
use crate::mapping::mask::Classes;

pub mod axes;
pub mod census;
pub mod close;
pub mod conversion;
pub mod logarithm;
pub mod mask;
pub mod short;
pub mod wavelet;

/// The scale of the coded field.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// The elements.
    #[default]
    Linear,
    /// The logarithms of their magnitudes.
    Logarithm,
}

impl Scale {
    /// The scale of streams with this number of a bound mode, which are lossless or not.
    #[inline(always)]
    pub const fn of(mode: u8, is_lossless: bool) -> Self {
        match mode == BoundMode::Pwrel.id() && !is_lossless {
            true => Self::Logarithm,
            false => Self::Linear,
        }
    }
}

/// The elements, besides fill values, that get classes of the mask and so come back exactly: zeros, signs or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// Zeros of both signs.
    pub zeros: bool,
    /// The signs of all finite elements.
    pub signs: bool,
}

/// What lies between an element and its value in the coded field: the classes of the mask, and the scale.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValueMapping {
    /// The classes of the mask.
    pub classes: Classes,
    /// The scale of the coded field.
    pub scale: Scale,
}

impl ValueMapping {
    /// The mapping for a bound. Its classes are the fill values, which are given as bits, and the zeros and signs that
    /// `keep` names. A logarithm has neither zeros nor signs, so a bound that needs logarithms adds both. None if there
    /// are more than [`MAX_CLASSES`](mask::MAX_CLASSES) classes.
    pub fn new<T: Element>(
        bound: Bound,
        keep: Keep,
        fills: impl IntoIterator<Item = u64>,
    ) -> Option<Self> {
        let scale = Scale::of(bound.mode().id(), bound.resolve_of::<T>(1.0).is_lossless());
        let is_logarithm = scale == Scale::Logarithm;
        let zeros = match is_logarithm || keep.zeros {
            true => &[0, T::SIGN_BIT][..],
            false => &[],
        };
        let classes = Classes::new::<T>(fills.into_iter().chain(zeros.iter().copied()))?;
        let classes = match is_logarithm || keep.signs {
            true => classes.with_signs()?,
            false => classes,
        };
        Some(Self { classes, scale })
    }

    /// Whether the coded field is the field.
    pub fn is_identity(&self) -> bool {
        !self.has_holes() && self.scale == Scale::Linear
    }

    /// Whether the coded field has holes.
    pub fn has_holes(&self) -> bool {
        !self.classes.fills().is_empty()
    }

    /// The coded value of an element, a hole in place of a fill value; and its class, counted from 1, or 0.
    #[inline(always)]
    pub fn to_coded<T: Element>(&self, value: T) -> (T, u32) {
        let class = self.classes.of(value);
        (self.coded(value, self.classes.is_fill(class)), class)
    }

    /// The coded value of an element that is a fill value or not.
    #[inline(always)]
    pub fn coded<T: Element>(&self, value: T, is_fill: bool) -> T {
        match self.scale {
            _ if is_fill => T::HOLE,
            Scale::Linear => value,
            Scale::Logarithm => logarithm::to_coded(value),
        }
    }

    /// What leads back.
    pub fn back(&self) -> Back {
        Back {
            scale: self.scale,
            has_signs: self.classes.has_signs(),
        }
    }
}

/// How decoded values become elements, but for those of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Back {
    /// The scale of the coded field.
    pub scale: Scale,
    /// Whether signs are classes.
    pub has_signs: bool,
}

impl Back {
    /// Whether decoded values are elements.
    #[inline(always)]
    pub fn is_identity(&self) -> bool {
        !self.has_signs && self.scale == Scale::Linear
    }

    /// The element of a decoded value, if it belongs to no class.
    #[inline(always)]
    pub fn element<T: Element>(&self, coded: T) -> T {
        let value = match self.scale {
            Scale::Linear => coded,
            Scale::Logarithm => logarithm::from_coded(coded),
        };
        match self.has_signs && value.is_finite() {
            true => value.abs(),
            false => value,
        }
    }
}
