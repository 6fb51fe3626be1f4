//! The parts that all kernels are made of, whatever they predict or code.

pub mod bits;
pub mod element;
pub mod look_back;
pub(crate) mod map;
pub mod put;
pub mod read_all;
pub mod read_boxes;
pub mod scan;
pub mod shorts;
pub mod task;
pub mod ticket;
pub mod unaligned;
