//! The coefficients that an encoder fits to a field, by the kind of its predictor.

use crate::predict::{slices, stencil};

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
}

/// The coefficients of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fitted {
    /// Those of stencils.
    Stencils(stencil::coefficients::Coefficients),
    /// Those of slices.
    Slices(slices::coefficients::Coefficients),
}
