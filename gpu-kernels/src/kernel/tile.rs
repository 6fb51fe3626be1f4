//! A chunk's elements in shared memory, turned from columns to rows.
//!
//! Global memory wants neighbouring lanes to touch neighbouring 16 bytes; coding wants each lane to
//! hold the 32 neighbouring elements of its block. So elements go through shared memory, where
//! block r is row r. The 16-byte units of a row are permuted by exclusive-or with the row number,
//! which spreads the accesses of either direction over all banks.

use crate::kernel::CHUNK_THREADS;
use crate::simt::{Thread, WARP};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::encode::rate::BLOCK;
use ferrosz_codec::stream::chunk::CHUNK;

/// 32-bit words in a 16-byte unit.
pub const UNIT_WORDS: u32 = 4;

/// Units that a lane moves before it waits for the first.
const IN_FLIGHT: usize = 8;

/// The chunk's elements from word 0 of shared memory on.
pub struct Tile<E>(PhantomData<E>);

impl<E: Element> Tile<E> {
    /// Words of the tile: those of a full chunk.
    pub const WORDS: u32 = (CHUNK * E::WORDS) as u32;
    /// Units in a row.
    pub const ROW_UNITS: usize = BLOCK * E::WORDS / UNIT_WORDS as usize;
    /// Units of all rows of a warp.
    const WARP_UNITS: u32 = WARP * Self::ROW_UNITS as u32;
    /// Elements in a unit.
    const UNIT_ELEMENTS: usize = UNIT_WORDS as usize / E::WORDS;

    /// The first word of unit number `unit` of the chunk.
    #[inline(always)]
    pub fn unit_word(unit: u32) -> u32 {
        let row = unit / Self::ROW_UNITS as u32;
        UNIT_WORDS * (unit ^ (row % 8))
    }

    /// The place of word number `word` of the chunk.
    #[inline(always)]
    pub fn word(word: u32) -> u32 {
        Self::unit_word(word / UNIT_WORDS) + word % UNIT_WORDS
    }

    /// Brings this warp's rows in, `load` giving the units of the chunk.
    #[inline(always)]
    pub fn fill<T: Thread>(t: T, load: impl Fn(u32) -> [u32; 4]) {
        let first = t.warp() * Self::WARP_UNITS + t.lane();
        for batch in 0..Self::ROW_UNITS / IN_FLIGHT {
            let unit = |i: usize| first + (batch * IN_FLIGHT + i) as u32 * WARP;
            let units: [[u32; 4]; IN_FLIGHT] = core::array::from_fn(|i| load(unit(i)));
            for (i, words) in units.iter().enumerate() {
                t.shared_store4(Self::unit_word(unit(i)), *words);
            }
        }
    }

    /// Brings the first `words` words in, `load` giving the words of the chunk; zeros elsewhere.
    #[inline(always)]
    pub fn fill_part<T: Thread>(t: T, words: u32, load: impl Fn(u32) -> u32) {
        let per_warp = Self::WARP_UNITS * UNIT_WORDS;
        let first = t.warp() * per_warp;
        let mut word = first + t.lane();
        while word < first + per_warp {
            let value = if word < words { load(word) } else { 0 };
            t.shared_store(Self::word(word), value);
            word += WARP;
        }
    }

    /// Gives each element of this thread's row to `take`, with its number.
    #[inline(always)]
    pub fn for_row<T: Thread>(t: T, mut take: impl FnMut(usize, E)) {
        for unit in 0..Self::ROW_UNITS {
            let at = t.thread_index() * Self::ROW_UNITS as u32 + unit as u32;
            let words = t.shared_load4(Self::unit_word(at));
            for i in 0..Self::UNIT_ELEMENTS {
                let high = if E::WORDS == 2 {
                    words[(2 * i + 1) % 4]
                } else {
                    0
                };
                let value = E::from_words([words[i * E::WORDS], high]);
                take(unit * Self::UNIT_ELEMENTS + i, value);
            }
        }
    }

    /// Sets each element of this thread's row to what `give` has for its number.
    #[inline(always)]
    pub fn set_row<T: Thread>(t: T, mut give: impl FnMut(usize) -> E) {
        for unit in 0..Self::ROW_UNITS {
            let mut words = [0; 4];
            for i in 0..Self::UNIT_ELEMENTS {
                let value = give(unit * Self::UNIT_ELEMENTS + i).to_words();
                words[i * E::WORDS] = value[0];
                if E::WORDS == 2 {
                    words[(2 * i + 1) % 4] = value[1];
                }
            }
            let at = t.thread_index() * Self::ROW_UNITS as u32 + unit as u32;
            t.shared_store4(Self::unit_word(at), words);
        }
    }

    /// Element number `element` of the chunk, wherever it lies.
    #[inline(always)]
    pub fn get<T: Thread>(t: T, element: u32) -> E {
        let word = element * E::WORDS as u32;
        let high = if E::WORDS == 2 {
            t.shared_load(Self::word(word + 1))
        } else {
            0
        };
        E::from_words([t.shared_load(Self::word(word)), high])
    }

    /// Gives this warp's units, with their numbers, to `take`.
    #[inline(always)]
    pub fn for_units<T: Thread>(t: T, mut take: impl FnMut(u32)) {
        let first = t.warp() * Self::WARP_UNITS + t.lane();
        for i in 0..Self::ROW_UNITS as u32 {
            take(first + i * WARP);
        }
    }

    /// Gives this warp's words below `words`, by their numbers, to `take`.
    #[inline(always)]
    pub fn for_words<T: Thread>(t: T, words: u32, mut take: impl FnMut(u32)) {
        let per_warp = Self::WARP_UNITS * UNIT_WORDS;
        let first = t.warp() * per_warp;
        let mut word = first + t.lane();
        while word < words.min(first + per_warp) {
            take(word);
            word += WARP;
        }
    }
}

const _: () = assert!(CHUNK_THREADS as usize * BLOCK == CHUNK);
