//! The definition of the bytes of a ferrosz stream.
//!
//! `FORMAT.md` beside this crate is the normative text. The modules here are its code, and run unchanged on the host
//! and in the GPU kernels: no allocation (except in [`oracle`]), no unsafe code, no floating-point operation whose
//! result could differ between machines.
//!
//! A value passes through the modules in this order: [`bound`] resolves the user's error bound, [`quantize`] turns the
//! value into an integer, [`predict`] into a difference, [`code`] into bits, and [`container`] puts the bits into a
//! stream.
#![no_std]
// `ToyElement` is plain old data, which only unsafe code can say.
#![cfg_attr(not(feature = "toy"), forbid(unsafe_code))]

#[cfg(feature = "alloc")]
extern crate alloc;

// First, for their macros.
#[macro_use]
mod toys;
#[macro_use]
pub mod element;
#[macro_use]
pub mod pipeline;
#[macro_use]
pub mod value;

pub mod bound;
pub mod code;
pub mod container;
pub mod divide;
pub mod error;
pub mod mapping;
#[cfg(feature = "alloc")]
pub mod oracle;
pub mod predict;
pub mod quantize;
pub mod safeguard;
pub mod shape;
pub mod tile;

pub use bound::{Bound, BoundMode};
pub use element::{Dtype, Element};
pub use error::{BoundError, FormatError, Unknown};
pub use pipeline::{Codec, Preset};
pub use predict::interp::tune::Preference;
pub use shape::Shape;
pub use value::{Value, ValueType};
