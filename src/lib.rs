#![doc = include_str!("../README.md")]

pub use ferrosz_host::*;
