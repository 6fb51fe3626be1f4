//! Spline interpolation from coarse to fine: the predictor of cuSZ-i and cuSZ-Hi.
//!
//! Every `spacing`th position in each dimension is an *anchor*. On each level, the positions half way between known
//! positions are predicted from them by splines and quantised; from then on their decoded values are known. A
//! prediction uses only positions of the *window* that its position lies in. A tile consists of whole windows, with
//! their far faces. A position on a face is predicted from that face alone, so neighbouring tiles agree on it without
//! communication. After J. Liu et al., "cuSZ-i" (SC'24, arXiv 2312.05492), and cuSZ-Hi.
//!
//! The quantiser alone ensures the bound: if the decoded value of a position would be outside the bound, the raw value is
//! stored; NaN and infinities are among these. A raw value makes the predictions from it worse, but breaks no bound.

pub mod geometry;
pub mod parameters;
pub mod predict;
pub mod resolved;
pub mod spline;
pub mod stage;
pub mod store;
pub mod tune;
pub mod walk;
pub mod weights;
