//! Bytes, written and read one after the other.

use crate::element::Element;
use crate::error::ChunkFault;
use alloc::vec;
use alloc::vec::Vec;

/// The little-endian bytes of an element.
pub(super) fn element_bytes<T: Element>(value: T) -> Vec<u8> {
    value.to_bits64().to_le_bytes()[..T::BYTES].to_vec()
}

pub(super) fn pad(bytes: &mut Vec<u8>, alignment: usize) {
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
}

/// The bytes in which element e is bit 7 - e % 8 of byte e / 8.
pub(super) fn row(bytes: usize, bit: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut row = vec![0; bytes];
    for e in 0..8 * bytes {
        if bit(e) {
            row[e / 8] |= 0x80 >> (e % 8);
        }
    }
    row
}

/// Takes bytes one after the other.
pub(super) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], ChunkFault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(ChunkFault::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Up to eight bytes as a little-endian number.
    pub(super) fn number(&mut self, count: usize) -> Result<u64, ChunkFault> {
        let bytes = self.take(count)?;
        Ok(bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
    }

    pub(super) fn element<T: Element>(&mut self) -> Result<T, ChunkFault> {
        Ok(T::from_bits64(self.number(T::BYTES)?))
    }
}
