//! Values to integers and back: the only position where anything is lost.
//!
//! [`field`] quantises a value by itself, [`level`] the residual of a value that interpolation predicts.

pub mod field;
pub mod level;
