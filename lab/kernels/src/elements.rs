//! Elements in units of 16 bytes.

use ferrosz_codec::Element;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::GROUP;
use ferrosz_cuszp::cuszp::quantizer::Quantizer;
use ferrosz_simt::{Thread, View};

/// Elements of 16 bytes.
pub const fn per_vector<E: Element>() -> usize {
    4 / E::WORDS
}

/// Element `i` of a vector.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn of_vector<E: Element>(words: &[u32; 4], i: usize) -> E {
    match E::WORDS {
        1 => E::from_words([words[i], 0]),
        _ => E::from_words([words[2 * i], words[2 * i + 1]]),
    }
}

/// The codes of 32 elements from number `first` on, a multiple of 32, read by this thread in vectors.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn load_codes<T: Thread, E: Element>(
    t: T,
    from: View<u32>,
    first: u64,
    quantizer: &Quantizer<E>,
) -> Group {
    let mut codes = [0; GROUP];
    let per = per_vector::<E>();
    for vector in 0..GROUP / per {
        let words = t.load4(from, first / per as u64 + vector as u64);
        for i in 0..per {
            codes[vector * per + i] = quantizer.code(of_vector(&words, i));
        }
    }
    codes
}

/// Writes the values of 32 codes from element `first` on, a multiple of 32, in vectors.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn store_values<T: Thread, E: Element>(
    t: T,
    to: View<u32>,
    first: u64,
    quantizer: &Quantizer<E>,
    codes: &Group,
) {
    let per = per_vector::<E>();
    for vector in 0..GROUP / per {
        let mut words = [0; 4];
        for i in 0..per {
            let [low, high] = quantizer.value(codes[vector * per + i]).to_words();
            words[E::WORDS * i] = low;
            if E::WORDS == 2 {
                words[2 * i + 1] = high;
            }
        }
        t.store4(to, first / per as u64 + vector as u64, words);
    }
}
