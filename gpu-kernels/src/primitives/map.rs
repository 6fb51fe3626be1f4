//! What becomes of the elements of a chunk while they are in shared memory.

use core::convert::Infallible;
use ferrosz_codec::Element;
use ferrosz_simt::Thread;

/// Replaces elements of `E`.
pub(crate) trait Map<E: Element>: Copy {
    /// What becomes of an element.
    fn element(self, element: E) -> E;

    /// What becomes of the words of a 16-byte unit. Without a loop, which the compiler would keep, and the words in local
    /// memory.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn unit<T: Thread>(self, _: T, [a, b, c, d]: [u32; 4]) -> [u32; 4] {
        let of = |low, high| self.element(E::from_words([low, high])).to_words();
        if E::WORDS == 1 {
            [of(a, 0)[0], of(b, 0)[0], of(c, 0)[0], of(d, 0)[0]]
        } else {
            let ([a, b], [c, d]) = (of(a, b), of(c, d));
            [a, b, c, d]
        }
    }
}

impl<E: Element> Map<E> for Infallible {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn element(self, _: E) -> E {
        match self {}
    }
}
