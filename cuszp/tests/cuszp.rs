//! cuSZp's own streams: the reference and the CPU backend against streams that other programs made, in both directions,
//! and against each other on damaged streams.

mod damage;
mod examples;
mod strict;
mod vectors;
