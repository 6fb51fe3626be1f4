//! Entropy coding: codes of tiles to bits, with statistics of the whole field.
//!
//! A tile's codes fall into zones, and each zone, by the sum of its magnitudes, into a [`class`]. A code is a
//! [`token`], with the class as context, and extra bits. How often each token occurs in each context
//! ([`counts`]) gives it a frequency of 4096 slots: rANS any frequency ([`frequencies`]), Huffman a power of two
//! ([`lengths`]); the frequencies are in the stream ([`frequency_tables`]) and become [`tables`]. 32 lanes, each with a state
//! ([`states`]), hold the tokens of a chunk.
//!
//! The other coder has no statistics: it stores bit planes ([`bit_planes`](crate::code::bit_planes)) without their zero words.
//!
//! Everything is integer arithmetic, the same on all machines. See FORMAT.md, sections 9 to 14.

pub mod class;
pub mod counts;
pub mod frequencies;
pub mod frequency_tables;
pub mod lengths;
pub mod states;
pub mod tables;
pub mod token;
