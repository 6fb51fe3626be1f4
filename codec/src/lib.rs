//! What the bytes of a ferrosz stream mean.
//!
//! `FORMAT.md` beside this crate is the normative text; the modules here are its code, and they
//! run unchanged on the host and inside the GPU kernels: no allocation (but for [`oracle`]),
//! no unsafe code, no floating-point operation whose result could differ between machines.
//!
//! A value passes through the modules in this order: [`bound`] resolves the user's error bound,
//! [`quantize`] turns the value into an integer, [`predict`] into a difference, [`encode`] into
//! bits, and [`stream`] puts the bits into the container.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod bound;
pub mod code;
pub mod container;
pub mod element;
pub mod error;
#[cfg(feature = "alloc")]
pub mod oracle;
pub mod pipeline;
pub mod predict;
pub mod quantize;
pub mod shape;
pub mod tile;

pub use bound::{Bound, BoundMode};
pub use element::{Dtype, Element};
pub use error::{BoundError, FormatError};
pub use pipeline::Codec;
pub use shape::Shape;
