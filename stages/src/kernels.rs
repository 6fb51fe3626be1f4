//! The kernels of the interpolation predictor alone, for pipelines other than ferrosz's.

pub mod arrays;
pub mod collect;
pub mod export;
pub mod import;
pub mod recode;
