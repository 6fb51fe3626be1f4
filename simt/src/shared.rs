//! Shared memory in typed arrays, which are laid out when a kernel is compiled.
//!
//! A kernel describes its shared memory once, in a constant: a [`Layout`] hands out arrays one behind the other, and says at the
//! end how many words they are. A part of a kernel that needs shared memory of its own has a struct of arrays, made by a
//! `const fn` that takes the layout; so layouts nest. Arrays overlap only where the kernel says so: see [`Layout::overlays`].
//!
//! ```
//! use ferrosz_simt::{Kernel, Layout, Shared, Thread, View};
//!
//! struct Histogram;
//!
//! #[derive(Clone, Copy)]
//! struct Scratch {
//!     counts: Shared<u32>,
//!     weights: Shared<f64>,
//! }
//!
//! impl Histogram {
//!     const SHARED: (Scratch, Layout) = {
//!         let mut layout = Layout::new();
//!         let scratch = Scratch {
//!             counts: layout.array("counts", 256),
//!             weights: layout.array("weights", 8),
//!         };
//!         (scratch, layout)
//!     };
//! }
//!
//! impl Kernel for Histogram {
//!     type Params = View<u32>;
//!     const NAME: &'static str = "histogram";
//!     const THREADS: u32 = 256;
//!     const SHARED_WORDS: u32 = Self::SHARED.1.words();
//!
//!     fn run<T: Thread>(t: T, _: &View<u32>) {
//!         let (Scratch { counts, weights }, _) = Self::SHARED;
//!         counts.store(t, t.thread_index(), 0);
//!         if t.lane() == 0 {
//!             weights.store(t, t.warp(), 1.0);
//!         }
//!     }
//! }
//! assert_eq!(Histogram::SHARED_WORDS, 256 + 2 * 8);
//! ```

use crate::shared_address::SharedAddress;
use crate::thread::{SharedMemory, Thread};
use core::marker::PhantomData;

/// An element of an array in shared memory: a number of one or two words, the low one first.
pub trait SharedElement: Copy + sealed::Sealed {
    /// Words of an element.
    const WORDS: u32;
    /// Reads an element, which begins at a word.
    fn load_from<T: SharedMemory>(t: T, word: u32) -> Self;
    /// Writes an element.
    fn store_to<T: SharedMemory>(self, t: T, word: u32);
}

impl SharedElement for u32 {
    const WORDS: u32 = 1;
    #[inline(always)]
    #[track_caller]
    fn load_from<T: SharedMemory>(t: T, word: u32) -> Self {
        t.shared_load(word)
    }
    #[inline(always)]
    #[track_caller]
    fn store_to<T: SharedMemory>(self, t: T, word: u32) {
        t.shared_store(word, self);
    }
}

impl SharedElement for i32 {
    const WORDS: u32 = 1;
    #[inline(always)]
    #[track_caller]
    fn load_from<T: SharedMemory>(t: T, word: u32) -> Self {
        t.shared_load(word).cast_signed()
    }
    #[inline(always)]
    #[track_caller]
    fn store_to<T: SharedMemory>(self, t: T, word: u32) {
        t.shared_store(word, self.cast_unsigned());
    }
}

impl SharedElement for f32 {
    const WORDS: u32 = 1;
    #[inline(always)]
    #[track_caller]
    fn load_from<T: SharedMemory>(t: T, word: u32) -> Self {
        Self::from_bits(t.shared_load(word))
    }
    #[inline(always)]
    #[track_caller]
    fn store_to<T: SharedMemory>(self, t: T, word: u32) {
        t.shared_store(word, self.to_bits());
    }
}

impl SharedElement for u64 {
    const WORDS: u32 = 2;
    #[inline(always)]
    #[track_caller]
    fn load_from<T: SharedMemory>(t: T, word: u32) -> Self {
        Self::from(t.shared_load(word)) | Self::from(t.shared_load(word + 1)) << 32
    }
    #[inline(always)]
    #[track_caller]
    fn store_to<T: SharedMemory>(self, t: T, word: u32) {
        t.shared_store(word, self as u32);
        t.shared_store(word + 1, (self >> 32) as u32);
    }
}

impl SharedElement for f64 {
    const WORDS: u32 = 2;
    #[inline(always)]
    #[track_caller]
    fn load_from<T: SharedMemory>(t: T, word: u32) -> Self {
        Self::from_bits(u64::load_from(t, word))
    }
    #[inline(always)]
    #[track_caller]
    fn store_to<T: SharedMemory>(self, t: T, word: u32) {
        self.to_bits().store_to(t, word);
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for f32 {}
    impl Sealed for u64 {}
    impl Sealed for f64 {}
}

/// An array of the block's shared memory, which a [`Layout`] made. All threads have the same one; it is copied like a number.
///
/// Indices count elements. One beyond the end is a fault on the emulator, which names the array; on the GPU the length is not
/// there.
#[derive(Debug, Clone, Copy)]
pub struct Shared<E> {
    name: &'static str,
    first_word: u32,
    len: u32,
    element: PhantomData<E>,
}

impl<E: SharedElement> Shared<E> {
    /// Elements of the array.
    pub const fn len(self) -> u32 {
        self.len
    }

    /// Whether the array has no elements.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The elements from number `first` on; none, if there are no more.
    #[inline(always)]
    pub const fn from(self, first: u32) -> Self {
        Self {
            first_word: self.first_word + E::WORDS * first,
            len: self.len.saturating_sub(first),
            ..self
        }
    }

    /// The `len` elements from number `first` on, or as many as there are.
    #[inline(always)]
    pub const fn part(self, first: u32, len: u32) -> Self {
        let rest = self.from(first);
        Self {
            len: if len < rest.len { len } else { rest.len },
            ..rest
        }
    }

    /// Reads an element.
    #[inline(always)]
    #[track_caller]
    pub fn load<T: Thread>(self, t: T, index: u32) -> E {
        t.check_shared(self.name, self.len, index, 1);
        E::load_from(t, self.word(index))
    }

    /// Writes an element.
    #[inline(always)]
    #[track_caller]
    pub fn store<T: Thread>(self, t: T, index: u32, value: E) {
        t.check_shared(self.name, self.len, index, 1);
        value.store_to(t, self.word(index));
    }

    /// The first element's address.
    #[inline(always)]
    pub fn address<T: Thread>(self, t: T) -> SharedAddress {
        t.shared_address(self.first_word)
    }

    /// The first element's address, in a register. It comes from a shuffle: otherwise the assembler would compute it
    /// again at each use, with three instructions. For a whole warp.
    #[inline(always)]
    #[track_caller]
    pub fn kept_address<T: Thread>(self, t: T) -> SharedAddress {
        SharedAddress::from_bytes(t.shuffle(self.address(t).bytes(), 0))
    }

    /// Bytes from the first element of an array before this one to the first of this one.
    #[inline(always)]
    pub const fn bytes_behind<F>(self, before: Shared<F>) -> u32 {
        4 * (self.first_word - before.first_word)
    }

    #[inline(always)]
    const fn word(self, index: u32) -> u32 {
        self.first_word + E::WORDS * index
    }
}

impl Shared<u32> {
    /// Reads four words; the array begins at a multiple of 4 words, and `index` is one.
    #[inline(always)]
    #[track_caller]
    pub fn load4<T: Thread>(self, t: T, index: u32) -> [u32; 4] {
        t.check_shared(self.name, self.len, index, 4);
        t.shared_load4(self.word(index))
    }

    /// Writes four words; the array begins at a multiple of 4 words, and `index` is one.
    #[inline(always)]
    #[track_caller]
    pub fn store4<T: Thread>(self, t: T, index: u32, values: [u32; 4]) {
        t.check_shared(self.name, self.len, index, 4);
        t.shared_store4(self.word(index), values);
    }

    /// Atomically reads a word, while other threads may set bits of it or add to it.
    #[inline(always)]
    #[track_caller]
    pub fn atomic_load<T: Thread>(self, t: T, index: u32) -> u32 {
        t.check_shared(self.name, self.len, index, 1);
        t.shared_atomic_load(self.word(index))
    }

    /// Atomically sets bits of a word that something has written before.
    #[inline(always)]
    #[track_caller]
    pub fn or<T: Thread>(self, t: T, index: u32, bits: u32) {
        t.check_shared(self.name, self.len, index, 1);
        t.shared_or(self.word(index), bits);
    }

    /// Atomically adds to a word that something has written before.
    #[inline(always)]
    #[track_caller]
    pub fn add<T: Thread>(self, t: T, index: u32, value: u32) {
        t.check_shared(self.name, self.len, index, 1);
        t.shared_add(self.word(index), value);
    }
}

/// On a GPU, a block's shared memory begins at a multiple of so many words.
pub(crate) const ALIGNED_WORDS: u32 = 256;

/// The arrays of a kernel in a block's shared memory, while their addresses are assigned.
///
/// All of this is computed when the kernel is compiled; a wrong layout does not compile.
#[derive(Debug)]
pub struct Layout {
    next: u32,
    /// Whether [`Layout::overlays`] waits for its [`Layout::join`].
    is_open: bool,
}

impl Layout {
    /// The most words that a block of any GPU can have: 227 KiB.
    pub const MAX_WORDS: u32 = 227 * 1024 / 4;

    /// Without an array.
    #[expect(clippy::new_without_default, reason = "a default is no constant")]
    pub const fn new() -> Self {
        Self {
            next: 0,
            is_open: false,
        }
    }

    /// The next `len` elements. The name stands in messages.
    pub const fn array<E: SharedElement>(&mut self, name: &'static str, len: u32) -> Shared<E> {
        let first_word = self.words();
        self.next += E::WORDS * len;
        assert!(
            self.next <= Self::MAX_WORDS,
            "no GPU has so much shared memory"
        );
        Shared {
            name,
            first_word,
            len,
            element: PhantomData,
        }
    }

    /// Leaves words out, so that the next array begins at a multiple of so many. With a number that does not divide 256 the
    /// layout does not compile: a GPU puts the first array at a multiple of 256 words, and not always of more.
    ///
    /// ```
    /// const LAYOUT: ferrosz_simt::Layout = {
    ///     let mut layout = ferrosz_simt::Layout::new();
    ///     layout.align(256);
    ///     layout
    /// };
    /// assert_eq!(LAYOUT.words(), 0);
    /// ```
    ///
    /// ```compile_fail
    /// const LAYOUT: ferrosz_simt::Layout = {
    ///     let mut layout = ferrosz_simt::Layout::new();
    ///     layout.align(512);
    ///     layout
    /// };
    /// assert_eq!(LAYOUT.words(), 0);
    /// ```
    pub const fn align(&mut self, words: u32) {
        assert!(ALIGNED_WORDS.is_multiple_of(words));
        self.next = self.words().next_multiple_of(words);
    }

    /// Layouts of arrays that use the same words one after the other, each from here on. Before the next array,
    /// [`Layout::join`] must take them back.
    pub const fn overlays<const N: usize>(&mut self) -> [Self; N] {
        let mut overlays = [const { Self::new() }; N];
        let mut i = 0;
        while i < N {
            overlays[i].next = self.words();
            i += 1;
        }
        self.is_open = true;
        overlays
    }

    /// Goes on behind the longest of these.
    pub const fn join<const N: usize>(&mut self, overlays: [Self; N]) {
        assert!(self.is_open, "there are no overlays");
        let mut i = 0;
        while i < N {
            let end = overlays[i].words();
            if end > self.next {
                self.next = end;
            }
            i += 1;
        }
        self.is_open = false;
    }

    /// Words of all arrays.
    pub const fn words(&self) -> u32 {
        assert!(!self.is_open, "overlays are not joined");
        self.next
    }
}
