//! cuSZp's own streams: the reference and the CPU backend against streams that other programs made, in both directions,
//! and against each other on damaged streams.

#[path = "../common/mod.rs"]
mod common;

mod damage;
mod examples;
mod strict;
mod vectors;
