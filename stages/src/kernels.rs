//! The stages of interpolation alone, for pipelines of one's own.

pub mod arrays;
pub mod export;
pub mod import;
