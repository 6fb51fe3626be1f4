//! The checksum of a chunk in a form that compilers vectorise.

use crate::stream::checksum::{term, weight};

/// Words that are summed side by side.
const WIDTH: usize = 16;

/// As [`crate::stream::checksum::checksum`].
#[inline(always)]
pub fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<4>();
    let (rows, rest) = words.as_chunks::<WIDTH>();
    let mut sums = [0u64; WIDTH];
    let mut indices: [u32; WIDTH] = core::array::from_fn(|i| i as u32);
    for row in rows {
        for i in 0..WIDTH {
            let word = u64::from(u32::from_le_bytes(row[i]));
            sums[i] = sums[i].wrapping_add(word * u64::from(weight(indices[i])));
            indices[i] = indices[i].wrapping_add(WIDTH as u32);
        }
    }
    let mut sum = sums.iter().fold(seed, |sum, part| sum.wrapping_add(*part));
    for (index, word) in (indices[0]..).zip(rest) {
        sum = sum.wrapping_add(term(index, u32::from_le_bytes(*word)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::checksum;
    use alloc::vec::Vec;

    #[test]
    fn it_is_the_checksum_of_the_format() {
        let bytes: Vec<u8> = (0..4096u32).map(|i| (i * i >> 3) as u8).collect();
        for length in (0..=bytes.len()).step_by(4) {
            let (bytes, seed) = (&bytes[..length], length as u64);
            assert_eq!(
                super::checksum(seed, bytes),
                checksum::checksum(seed, bytes)
            );
        }
    }
}
