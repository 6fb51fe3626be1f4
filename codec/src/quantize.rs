//! Values to integers and back: the only lossy step.
//!
//! [`field`] quantises values directly, [`level`] the residuals of values that interpolation predicts.

pub mod difference;
pub mod field;
pub mod level;
