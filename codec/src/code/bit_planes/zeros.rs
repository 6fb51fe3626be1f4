//! Zero elimination: stores the words of an array that are not zero, and masks that say which they are.
//!
//! ```text
//! [ tops: a bit for each mask ][ masks that are not zero: a bit for each word ][ words that are not zero ]
//! ```
//!
//! A separate stage for any words of which many are zero. It does the work of Bitcomp in cuSZ-Hi. After FZ-GPU (B.
//! Zhang et al., "FZ-GPU", HPDC 2023), with a second level of masks, as most masks are zero too.

use crate::error::ChunkFault;

/// Words that a mask covers, and masks that a top covers.
const BITS: usize = u32::BITS as usize;

/// Words that a top covers.
pub const TOP_WORDS: usize = BITS * BITS;

/// The most words that [`eliminate`] writes for `count` words.
#[inline(always)]
pub const fn most_words(count: usize) -> usize {
    count.div_ceil(TOP_WORDS) + count.div_ceil(BITS) + count
}

/// The mask of at most 32 words: bit i is set if word i is not zero.
#[inline(always)]
fn mask_of(words: &[u32]) -> u32 {
    let bits = words.iter().enumerate();
    bits.fold(0, |mask, (i, word)| mask | u32::from(*word != 0) << i)
}

/// The top of at most [`TOP_WORDS`] words: bit i is set if mask i is not zero.
#[inline(always)]
fn top_of(words: &[u32]) -> u32 {
    let masks = words.chunks(BITS).enumerate();
    masks.fold(0, |top, (i, words)| {
        let any = words.iter().fold(0, |any, word| any | word);
        top | u32::from(any != 0) << i
    })
}

/// The number of words that [`eliminate`] writes.
#[inline(always)]
pub fn length(words: &[u32]) -> usize {
    let tops = words.len().div_ceil(TOP_WORDS);
    let masks: usize = words
        .chunks(TOP_WORDS)
        .map(|words| top_of(words).count_ones() as usize)
        .sum();
    tops + masks + words.iter().filter(|word| **word != 0).count()
}

/// Passes to `put` the tops, then the masks that are not zero, then the words that are not zero.
#[inline(always)]
pub fn eliminate(words: &[u32], mut put: impl FnMut(u32)) {
    words.chunks(TOP_WORDS).for_each(|words| put(top_of(words)));
    for words in words.chunks(BITS) {
        let mask = mask_of(words);
        if mask != 0 {
            put(mask);
        }
    }
    for words in words.chunks(BITS) {
        if words.iter().any(|word| *word != 0) {
            words
                .iter()
                .filter(|word| **word != 0)
                .for_each(|word| put(*word));
        }
    }
}

/// Restores all of `words` from the output of [`eliminate`]; returns the number of stored words read. `stored` gives
/// the stored word at a position, or none behind the end.
///
/// # Errors
///
/// [`ChunkFault::Length`] if the stored words end too early, [`ChunkFault::Zeros`] if [`eliminate`] cannot have written
/// them. The contents of `words` are then unspecified.
#[inline(always)]
pub fn restore(
    stored: impl Fn(usize) -> Option<u32>,
    words: &mut [u32],
) -> Result<usize, ChunkFault> {
    let stored = |at| stored(at).ok_or(ChunkFault::Length);
    let tops = words.len().div_ceil(TOP_WORDS);
    let mut value = tops;
    for top in 0..tops {
        value += stored(top)?.count_ones() as usize;
    }
    let mut mask = tops;
    for (number, words) in words.chunks_mut(TOP_WORDS).enumerate() {
        let top = stored(number)?;
        if has_bits_from(top, words.len().div_ceil(BITS)) {
            return Err(ChunkFault::Zeros);
        }
        for (i, words) in words.chunks_mut(BITS).enumerate() {
            if top >> i & 1 == 0 {
                words.fill(0);
                continue;
            }
            let bits = stored(mask)?;
            mask += 1;
            if bits == 0 || has_bits_from(bits, words.len()) {
                return Err(ChunkFault::Zeros);
            }
            for (i, word) in words.iter_mut().enumerate() {
                *word = 0;
                if bits >> i & 1 == 1 {
                    *word = stored(value)?;
                    value += 1;
                    if *word == 0 {
                        return Err(ChunkFault::Zeros);
                    }
                }
            }
        }
    }
    Ok(value)
}

/// Whether any bit from number `count` on is set; `count` is at most 32.
#[inline(always)]
const fn has_bits_from(word: u32, count: usize) -> bool {
    word.unbounded_shr(count as u32) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    fn eliminated(words: &[u32]) -> Vec<u32> {
        let mut packed = Vec::new();
        eliminate(words, |word| packed.push(word));
        packed
    }

    fn restored(packed: &[u32], count: usize) -> Result<(Vec<u32>, usize), ChunkFault> {
        let mut words = vec![0xeeee_eeee; count];
        let used = restore(|at| packed.get(at).copied(), &mut words)?;
        Ok((words, used))
    }

    /// The same by the definition, bit by bit.
    fn oracle(words: &[u32]) -> Vec<u32> {
        let bits = |words: &[u32]| {
            let mut masks = vec![0; words.len().div_ceil(32)];
            for i in (0..words.len()).filter(|i| words[*i] != 0) {
                masks[i / 32] |= 1 << (i % 32);
            }
            masks
        };
        let not_zero = |words: Vec<u32>| words.into_iter().filter(|word| *word != 0);
        let masks = bits(words);
        let mut packed = bits(&masks);
        packed.extend(not_zero(masks));
        packed.extend(not_zero(words.to_vec()));
        packed
    }

    fn sample(rng: &mut SmallRng) -> Vec<u32> {
        let count = rng.random_range(0..5000);
        let density = [0.0, 0.001, 0.1, 1.0][rng.random_range(0..4)];
        let word = |_| {
            if rng.random_bool(density) {
                rng.random()
            } else {
                0
            }
        };
        (0..count).map(word).collect()
    }

    #[test]
    fn words_come_back() {
        let mut rng = SmallRng::seed_from_u64(1);
        for _ in 0..300 {
            let words = sample(&mut rng);
            let packed = eliminated(&words);
            assert_eq!(packed, oracle(&words));
            assert_eq!(packed.len(), length(&words));
            assert!(packed.len() <= most_words(words.len()));
            let (back, used) = restored(&packed, words.len()).unwrap();
            assert!(back == words && used == packed.len());
        }
    }

    #[test]
    fn what_is_restored_is_what_was_eliminated() {
        let mut rng = SmallRng::seed_from_u64(2);
        let mut faults = [0; 2];
        for _ in 0..1000 {
            let words = sample(&mut rng);
            let mut packed = eliminated(&words);
            if packed.is_empty() {
                continue;
            }
            assert!(restored(&packed[..packed.len() - 1], words.len()).is_err());
            let at = rng.random_range(0..packed.len().min(20));
            let at = if rng.random() { at } else { packed.len() - 1 };
            let bit = 1 << rng.random_range(0..32);
            packed[at] = if rng.random() { packed[at] ^ bit } else { 0 };
            match restored(&packed, words.len()) {
                // No other stored words restore to the same words.
                Ok((back, used)) => assert_eq!(eliminated(&back), &packed[..used]),
                Err(fault) => faults[usize::from(fault == ChunkFault::Zeros)] += 1,
            }
        }
        assert!(faults.iter().all(|count| *count > 20), "{faults:?}");
    }
}
