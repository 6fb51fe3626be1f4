//! The toy among the coders with statistics: rANS whose frequencies are powers of two.

use super::{Huffman, Rans, SymbolCoder};
use crate::code::entropy::frequencies::Frequencies;
use crate::code::entropy::token::TOKENS;

/// The coder; its pushes and pops are those of [`Rans`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToyCoder;

impl SymbolCoder for ToyCoder {
    const NAME: &'static str = "toy_coder";
    const POWERS_OF_TWO: bool = true;
    const BY_FREQUENCY: bool = false;

    fn frequencies(counts: &[u32; TOKENS as usize]) -> Frequencies {
        Huffman::frequencies(counts)
    }

    #[inline(always)]
    fn slot(position: u32) -> u32 {
        Rans::slot(position)
    }

    #[inline(always)]
    fn entry(frequency: u32, start: u32) -> u32 {
        Rans::entry(frequency, start)
    }

    #[inline(always)]
    fn reciprocal(frequency: u32) -> u32 {
        Rans::reciprocal(frequency)
    }

    #[inline(always)]
    fn is_full(x: u32, entry: u32, bits: u32) -> bool {
        Rans::is_full(x, entry, bits)
    }

    #[inline(always)]
    fn push(x: u32, entry: u32, reciprocal: u32) -> u32 {
        Rans::push(x, entry, reciprocal)
    }

    #[inline(always)]
    fn pop(x: u32, entry: u32) -> u32 {
        Rans::pop(x, entry)
    }
}
