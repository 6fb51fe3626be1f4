//! Predictors: codes to differences and back, modulo 2^32.

pub mod difference;
