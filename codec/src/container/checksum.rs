//! The checksum of headers and chunks.
//!
//! The sum, modulo 2^64, of a seed and of every 32-bit word times a weight that depends on its position. The terms can
//! be added in any order, so that a thread block needs one multiplication a word. Damage within a single word is always
//! detected: a weight is odd, and the product of two nonzero 32-bit numbers is not 0 modulo 2^64.

/// The weight of word number `index`: odd, and without a pattern.
#[inline(always)]
pub const fn weight(index: u32) -> u32 {
    let mixed = index.wrapping_add(1).wrapping_mul(0x9E37_79B1);
    (mixed ^ mixed >> 15) | 1
}

/// The term that word number `index` adds to a checksum.
#[inline(always)]
pub const fn term(index: u32, word: u32) -> u64 {
    word as u64 * weight(index) as u64
}

/// The checksum of `bytes`, whose number is a multiple of 4, with this seed.
pub fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<4>();
    let mut sum = seed;
    for (index, word) in (0u32..).zip(words) {
        sum = sum.wrapping_add(term(index, u32::from_le_bytes(*word)));
    }
    sum
}

/// A bijective mapping whose results have no pattern: the finaliser of MurmurHash3.
#[inline(always)]
pub const fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let number = (number ^ number >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    number ^ number >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_damaged_word_and_every_swap_is_found() {
        let bytes: Vec<u8> = (0..256u32).map(|i| (i * i) as u8).collect();
        let right = checksum(7, &bytes);
        assert_ne!(right, checksum(8, &bytes));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_ne!(checksum(7, &damaged), right);
                damaged[at ^ 4] ^= 1 << bit;
                assert_ne!(checksum(7, &damaged), right, "the same bit in two words");
            }
        }
        for word in (0..bytes.len() - 4).step_by(4) {
            let mut swapped = bytes.clone();
            swapped[word..word + 8].rotate_left(4);
            assert!(swapped == bytes || checksum(7, &swapped) != right);
        }
    }
}
