//! Writes the prologue, and its entry.

use crate::PACKAGE;
use crate::pipeline::cells;
use crate::pipeline::identity::IdentityOf;
use crate::pipeline::tiles::prologue::{Contents, THREADS, WARPS};
use crate::pipeline::tiles::stream::{payload, table};
use crate::primitives::scan::{store_warp_sum_u64, sum_of_warps};
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, View};

/// Writes a prologue. Launched with one block, behind the kernel that makes the frequencies.
pub struct WritePrologue;

/// Parameters of [`WritePrologue`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WritePrologueParams {
    /// The contents to write.
    pub contents: Contents,
    /// The words of the parameters.
    pub parameters: View<u32>,
    /// Those of the frequencies.
    pub frequencies: View<u32>,
    /// Those of the anchors of the coarse field.
    pub anchors: View<u32>,
    /// Those of the coefficients of all levels, if there are any.
    pub coefficients: View<u32>,
    /// The output: the stream, 16-byte aligned.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The workspace: [`cells::FREQUENCIES_WORDS`] is read, [`cells::PROLOGUE_BYTES`] written.
    pub cells: View<u64>,
    /// The header's identity.
    pub identity: IdentityOf,
}

/// The shared memory of the block.
const SHARED: (Shared<u64>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("checksums", WARPS as u32), layout)
};

impl Kernel for WritePrologue {
    type Params = WritePrologueParams;
    const NAME: &'static str = "ferrosz_prologue_write";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &WritePrologueParams) {
        let contents = &params.contents;
        let frequencies = if contents.has_frequencies != 0 {
            t.atomic_load(params.cells, cells::FREQUENCIES_WORDS)
        } else {
            0
        };
        let flag_bits = contents.flag_bits(|at| t.load(params.parameters, at as u64));
        let words = contents.words(frequencies, flag_bits);
        let to = payload(params.stream, params.entries);
        let mut sum = 0u64;
        let mut at = u64::from(t.thread_index());
        while at < words {
            let word = Self::word(t, params, frequencies, flag_bits, at);
            t.store(to, at, word);
            sum = sum.wrapping_add(term(at as u32, word));
            at += u64::from(THREADS);
        }
        store_warp_sum_u64(t, sum, SHARED.0);
        t.barrier();
        if t.warp() == 0 {
            let sum = sum_of_warps::<T, WARPS>(t, SHARED.0);
            if t.lane() == 0 {
                let identity = params.identity.find(t, params.cells);
                let sum = identity.seed(0, Form::Coded.id()).wrapping_add(sum);
                let entry = Entry::new(0, 0, Form::Coded, sum);
                // With start and length 0 the split does not matter.
                let entry = entry.to_words(Split::SHORT);
                t.store4(table(params.stream), 0, entry);
                t.atomic_store(params.cells, cells::PROLOGUE_BYTES, 4 * words);
            }
        }
    }
}

impl WritePrologue {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(
        t: T,
        params: &WritePrologueParams,
        frequencies: u64,
        flag_bits: u32,
        at: u64,
    ) -> u32 {
        let contents = &params.contents;
        let anchors_at = contents.frequencies_at() + frequencies;
        if at < contents.count_at() {
            t.load(params.parameters, at)
        } else if at == contents.count_at() {
            frequencies as u32
        } else if at < anchors_at {
            t.load(params.frequencies, at - contents.frequencies_at())
        } else if at < anchors_at + contents.anchor_words {
            t.load(params.anchors, at - anchors_at)
        } else if let Some(number) = contents.coefficient(frequencies, flag_bits, at) {
            t.load(params.coefficients, number)
        } else {
            0
        }
    }
}
