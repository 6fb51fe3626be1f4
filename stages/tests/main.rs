//! The tests of the stages, in one executable.

mod arrays;
mod common;
mod containers;
#[cfg(feature = "cuda")]
mod gpu;
mod interpolator;
mod pipeline;
mod rules;
