//! Which of eight lanes emits or reads which word, by the mask of the lanes that do.

use crate::cpu::code::entropy::encoder::MARGIN;

/// The lanes of a mask.
pub(super) const EIGHT: usize = 8;

/// For each mask of lanes, the bytes of their words in order, at the end of sixteen bytes.
pub(super) static PACKED: [[u8; 2 * EIGHT]; 256] = {
    let mut packed = [[0; 2 * EIGHT]; 256];
    let mut mask = 0;
    while mask < packed.len() {
        let (mut lane, mut at) = (EIGHT, 2 * EIGHT);
        while lane > 0 {
            lane -= 1;
            if mask >> lane & 1 == 1 {
                at -= 2;
                packed[mask][at] = 2 * lane as u8;
                packed[mask][at + 1] = 2 * lane as u8 + 1;
            }
        }
        mask += 1;
    }
    packed
};

/// For each mask of lanes, the number of its lanes before each lane: the word that the lane reads.
pub(super) static RANKS: [[u8; EIGHT]; 256] = {
    let mut ranks = [[0; EIGHT]; 256];
    let mut mask = 0;
    while mask < ranks.len() {
        let mut lane = 0;
        while lane < EIGHT {
            ranks[mask][lane] = (mask & ((1 << lane) - 1)).count_ones() as u8;
            lane += 1;
        }
        mask += 1;
    }
    ranks
};

/// The words of a decoder that are left.
pub(super) struct Words<'a> {
    pub(super) words: &'a [[u8; 2]],
    pub(super) next: usize,
}

impl Words<'_> {
    /// The next eight words.
    #[inline(always)]
    pub(super) fn eight(&self) -> [[u8; 2]; EIGHT] {
        let rest = self.words.get(self.next..).unwrap_or_default();
        match rest.first_chunk() {
            Some(eight) => *eight,
            None => Self::last(rest),
        }
    }

    /// The last words, then zeros.
    #[cold]
    #[inline(never)]
    fn last(rest: &[[u8; 2]]) -> [[u8; 2]; EIGHT] {
        let mut eight = [[0; 2]; EIGHT];
        eight[..rest.len()].copy_from_slice(rest);
        eight
    }
}

/// The words that an encoder emitted. As a local value, its start can stay in a register while words are written.
pub(super) struct Emitted<'a> {
    pub(super) words: &'a mut [u16],
    pub(super) start: usize,
}

impl Emitted<'_> {
    /// Emits the last `count` of these words.
    #[inline(always)]
    pub(super) fn emit(&mut self, packed: [u16; MARGIN], count: u32) {
        let place = self
            .words
            .get_mut(self.start.wrapping_sub(MARGIN)..self.start);
        if let Some(place) = place {
            place.copy_from_slice(&packed);
        }
        self.start = self.start.saturating_sub(count as usize);
    }
}
