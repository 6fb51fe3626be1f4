//! Mends decoded values by their corrections.

use crate::PACKAGE;
use crate::primitives::element::{load_own_element, store_element};
use crate::safeguard::{THREADS, thread_of};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::safeguard::mend::Mender;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Mends decoded elements of `E` where they are. Launched with any number of blocks.
pub struct MendValues<E>(PhantomData<E>);

/// Parameters of [`MendValues`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MendValuesParams {
    /// The words of the decoded elements.
    pub values: View<u32>,
    /// How many there are.
    pub count: u64,
    /// Their corrections, two in a word; empty if all are 0.
    pub corrections: View<u32>,
    /// What mends them.
    pub mender: Mender,
}

impl<E: Element> Kernel for MendValues<E> {
    type Params = MendValuesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_mend_values", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &MendValuesParams) {
        let [mut at, threads] = thread_of(t);
        while at < params.count {
            let decoded: E = load_own_element(t, params.values, at);
            let correction = match params.corrections.is_empty() {
                true => 0,
                false => t.load_half(params.corrections, at) as u16 as i16,
            };
            store_element(
                t,
                params.values,
                at,
                params.mender.mend(decoded, correction),
            );
            at += threads;
        }
    }
}
