//! Spline interpolation from coarse to fine: the predictor of cuSZ-i and cuSZ-Hi.
//!
//! Every `spacing`th position in each dimension is an *anchor*. Level after level, the positions half way between
//! what is known are predicted from it by splines, quantised, and known from then on as the decoder will
//! know them. Predictions look no further than the *window* their position lies in, of which a tile holds whole
//! ones with their far faces; a position on a face is predicted in that face, so neighbouring tiles agree on
//! it without asking each other. After J. Liu et al., "cuSZ-i" (SC'24, arXiv 2312.05492), and cuSZ-Hi.
//!
//! The quantiser keeps the promise by itself: a position whose decoded value would be outside the bound, NaN and
//! infinities among them, is stored as it is. What is predicted from such a position is predicted badly, and
//! no more.

pub mod geometry;
pub mod parameters;
pub mod predict;
pub mod resolved;
pub mod spline;
pub mod stage;
pub mod store;
pub mod tune;
pub mod walk;
