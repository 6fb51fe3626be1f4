//! Finds the corrections of decoded values: a thread a line of neighbours, or a value.

use crate::PACKAGE;
use crate::primitives::element::{load_element, load_own_element, store_element};
use crate::safeguard::{THREADS, thread_of};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::safeguard::guard::Guard;
use ferrosz_codec::safeguard::lines::Lines;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Finds the corrections of decoded elements of `E`, and mends them. Launched with any number of blocks.
pub struct FindCorrections<E>(PhantomData<E>);

/// Parameters of [`FindCorrections`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FindCorrectionsParams {
    /// The words of the field.
    pub field: View<u32>,
    /// The bounds of its values, binary64; empty if there are none.
    pub bounds: View<u64>,
    /// The words of what was decoded, which is mended.
    pub decoded: View<u32>,
    /// The output: corrections, two in a word. They are 0 before.
    pub corrections: View<u32>,
    /// A bit for each value that replaces the decoded one. They are 0 before.
    pub replaced: View<u32>,
    /// Not 0 if there are corrections; not 0 if values are replaced. Both are 0 before.
    pub found: View<u64>,
    /// Lines, and values of each.
    pub lines: [u64; 2],
    /// How many values apart neighbours of a line are.
    pub step: u64,
    /// What finds corrections.
    pub guard: Guard,
}

impl<E: Element> Kernel for FindCorrections<E> {
    type Params = FindCorrectionsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_find_corrections", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FindCorrectionsParams) {
        let [mut line, threads] = thread_of(t);
        let [count, length] = params.lines;
        // Never 0, which only the compiler does not know.
        let step = params.step.max(1);
        while line < count {
            let first = line / step * (step * length) + line % step;
            let mut memory = Memory { t, params };
            let mut before = 0;
            while before < length {
                let at = first + before * step;
                params.guard.mend_at::<E>(&mut memory, at, before);
                before += 1;
            }
            line += threads;
        }
    }
}

/// The field in global memory; a thread changes its own lines alone.
struct Memory<'a, T> {
    t: T,
    params: &'a FindCorrectionsParams,
}

impl<T: Thread, E: Element> Lines<E> for Memory<'_, T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn step(&self) -> u64 {
        self.params.step
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn value(&self, at: u64) -> E {
        load_element(self.t, self.params.field, at)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn bound(&self, at: u64) -> Option<f64> {
        let bounds = self.params.bounds;
        (!bounds.is_empty()).then(|| f64::from_bits(self.t.load_u64(bounds, at)))
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decoded(&self, at: u64) -> E {
        load_own_element(self.t, self.params.decoded, at)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn put(&mut self, at: u64, correction: Option<i16>, mended: E) {
        let Self { t, params } = *self;
        let number = correction.unwrap_or_default();
        t.store_half(params.corrections, at, number as u16);
        store_element(t, params.decoded, at, mended);
        if number != 0 {
            t.atomic_store(params.found, 0, 1);
        }
        if correction.is_none() {
            t.atomic_or(params.replaced, at / 32, 1 << (at % 32));
            t.atomic_store(params.found, 1, 1);
        }
    }
}
