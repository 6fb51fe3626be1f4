//! Exceptions, the values that no code represents within the bound: the last part of a chunk.

use crate::element::Element;
use crate::oracle::bytes::element_bytes;
use crate::quantize::field::Quantizer;
use crate::shape::GROUP;
use alloc::vec;
use alloc::vec::Vec;

/// The values of a chunk that have no code.
pub(super) struct Exceptions {
    /// A bit for each group, set if the group has exceptions.
    group_mask: Vec<u8>,
    /// 32 bits for each group with exceptions, set for its elements that are exceptions.
    element_masks: Vec<u8>,
    values: Vec<u8>,
}

impl Exceptions {
    /// No exceptions, in this many groups.
    pub(super) fn new(groups: usize) -> Self {
        Self {
            group_mask: vec![0; 4 * groups.div_ceil(32)],
            element_masks: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds the exceptions of a block, whose first group has this number. Holes are not exceptions.
    pub(super) fn add<T: Element>(
        &mut self,
        first_group: usize,
        block: &[Option<usize>],
        codes: &[Option<i32>],
        values: &[T],
        quantizer: &Quantizer<T>,
    ) {
        for (g, group) in (first_group..).zip(block.chunks(GROUP)) {
            let mut mask = 0u32;
            for (e, position) in group.iter().enumerate() {
                if let Some(position) = position.filter(|position| {
                    codes[*position].is_none() && !quantizer.is_hole(values[*position])
                }) {
                    mask |= 1 << e;
                    self.values.extend(element_bytes(values[position]));
                }
            }
            if mask != 0 {
                self.group_mask[g / 8] |= 1 << (g % 8);
                self.element_masks.extend(mask.to_le_bytes());
            }
        }
    }

    /// The bytes of the exceptions in the chunk.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [&self.group_mask[..], &self.element_masks, &self.values].concat()
    }

    /// Whether there are no exceptions.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
