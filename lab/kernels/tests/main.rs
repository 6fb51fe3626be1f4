//! The tests of the kernels of ablations, in one executable.

mod blocks;
mod common;
mod kernels;
