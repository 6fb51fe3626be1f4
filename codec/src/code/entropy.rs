//! Entropy coding: codes of tiles to bits, with statistics of the whole field.
//!
//! A tile's codes fall into zones. The sum of a zone's magnitudes gives its [`class`]. A code is a [`token`] and extra bits. The
//! context of a token is the class, to which stencils add a shift ([`shifts`]). The number of times that each token occurs in each
//! context ([`counts`]) gives the token a frequency, in slots of 4096: any number of slots for rANS ([`frequencies`]), a
//! power of two for Huffman ([`lengths`]). The stream holds the frequencies ([`frequency_tables`]), and coders use them
//! as [`tables`]. The tokens of a chunk are held by 32 lanes, each with a state ([`states`]).
//!
//! The other coder has no statistics. It stores bit planes ([`bit_planes`](crate::code::bit_planes)) without their zero
//! words.
//!
//! All arithmetic is in integers, and so the same on all machines. See FORMAT.md, sections 9 to 14.

pub mod class;
pub mod counts;
pub mod frequencies;
pub mod frequency_tables;
pub mod lengths;
pub mod shifts;
pub mod states;
pub mod tables;
pub mod token;
