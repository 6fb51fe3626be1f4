//! The tests of the stages, in one executable.

mod arrays;
mod common;
#[cfg(feature = "cuda")]
mod gpu;
mod interpolator;
mod pipeline;
mod rules;
