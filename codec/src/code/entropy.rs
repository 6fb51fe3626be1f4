//! Entropy coding: codes of tiles to bits, with statistics of the whole field.
//!
//! A tile's codes fall into groups, and each group, by the sum of its magnitudes, into a [`class`]. A code is a
//! [`token`], with the class as context, and extra bits. How often each token occurs in each context
//! ([`counts`]) gives it a share of 4096 slots: rANS any share ([`frequencies`]), Huffman a power of two
//! ([`lengths`]); the shares are in the stream ([`shares`]) and become [`tables`]. 32 lanes, each a stack
//! ([`stack`]), hold the tokens of a [`chunk`].
//!
//! The other coder has no statistics: it stores bit planes ([`planes`]) without their zero words ([`zeros`]).
//!
//! Everything is integer arithmetic, the same on all machines. See FORMAT.md, sections 9 to 14.

pub mod class;
pub mod counts;
pub mod frequencies;
pub mod lengths;
pub mod shares;
pub mod states;
pub mod tables;
pub mod token;
