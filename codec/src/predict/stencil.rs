//! Stencils: predictions with coefficients that are fitted to the field.
//!
//! Anchors, tiles, windows and levels are those of [`interp`](crate::predict::interp), and so are the parameters. But a
//! level may be *fitted*. Then a position is predicted by the mean of its nearest neighbours, plus a sum of differences of
//! known values around it ([`terms`]), each times a coefficient. A level has coefficients of its own for each set of
//! axes along which positions are odd. An encoder finds them by least squares on sample tiles ([`fit`]).
//!
//! A neighbour that is beyond the window or the field counts as if it followed from the others, so that the same
//! coefficients serve everywhere. Only positions behind which the field ends are predicted by splines.

pub mod coefficients;
pub mod fit;
pub mod terms;
