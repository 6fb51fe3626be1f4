//! Elements in the words of global memory.

use ferrosz_codec::Element;
use ferrosz_simt::{Thread, View};

/// One number for kernels of elements of one word, another for those of two, which need more registers.
pub const fn by_width<E: Element>(one_word: u32, two_words: u32) -> u32 {
    if E::WORDS == 1 { one_word } else { two_words }
}

/// Reads an element that no thread of this launch changes.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn load_element<T: Thread, E: Element>(t: T, from: View<u32>, index: u64) -> E {
    load_by(index, |at| t.load(from, at))
}

/// Reads an element that only this thread may change.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn load_own_element<T: Thread, E: Element>(t: T, from: View<u32>, index: u64) -> E {
    load_by(index, |at| t.load_own(from, at))
}

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn load_by<E: Element>(index: u64, load: impl Fn(u64) -> u32) -> E {
    let at = index * E::WORDS as u64;
    let high = if E::WORDS == 2 { load(at + 1) } else { 0 };
    E::from_words([load(at), high])
}

/// Writes an element.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn store_element<T: Thread, E: Element>(t: T, to: View<u32>, index: u64, value: E) {
    let at = index * E::WORDS as u64;
    let [low, high] = value.to_words();
    t.store(to, at, low);
    if E::WORDS == 2 {
        t.store(to, at + 1, high);
    }
}
