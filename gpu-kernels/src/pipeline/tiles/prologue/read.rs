//! Reads the prologue, and looks at the header.

use crate::PACKAGE;
use crate::pipeline::blocks::decompress::header_is_sound;
use crate::pipeline::cells::{self, Fault};
use crate::pipeline::tiles::prologue::{Contents, THREADS, WARPS};
use crate::pipeline::tiles::stream::{has_table, payload, table};
use crate::primitives::element::by_width;
use crate::primitives::scan::{store_warp_sum_u64, sum_of_warps};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header_words::{LayoutWords, Summary};
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::predict::interp::resolved::{GEOMETRY_AT, WORDS, Words};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Reads the prologue of a field of `E`. Launched with one block, behind the kernel that reads the frequencies.
pub struct ReadPrologue<E>(PhantomData<E>);

/// Parameters of [`ReadPrologue`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReadPrologueParams {
    /// The contents to read.
    pub contents: Contents,
    /// The output: the words of the parameters. If the prologue is wrong, all but that of the geometry are 0.
    pub parameters: View<u32>,
    /// The output: the words of the anchors.
    pub anchors: View<u32>,
    /// The output: the words of the coefficients, if there are any; with stencils those of fitted levels among those of all levels.
    pub coefficients: View<u32>,
    /// The header's words.
    pub header: View<u32>,
    /// The stream without its records, 16-byte aligned; its header is not read.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The header's first words.
    pub layout: LayoutWords,
    /// The workspace: [`cells::FREQUENCIES_WORDS`] is read, and the quantiser written.
    pub cells: View<u64>,
    /// The number of the geometry that the codec has.
    pub geometry: u32,
    /// Not 0 to compare checksums.
    pub verify: u32,
    /// How entries are divided.
    pub split: Split,
}

/// The shared memory of the block.
#[derive(Clone, Copy)]
struct Scratch {
    checksums: Shared<u64>,
    parameters: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        checksums: layout.array("checksums", WARPS as u32),
        parameters: layout.array("parameters", WORDS as u32),
    };
    (scratch, layout)
};

impl<E: Element> Kernel for ReadPrologue<E> {
    type Params = ReadPrologueParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_prologue_read", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReadPrologueParams) {
        let payload = payload(params.stream, params.entries);
        let contents = &params.contents;
        let mut frequencies = 0;
        if contents.has_frequencies != 0 {
            frequencies = t.atomic_load(params.cells, cells::FREQUENCIES_WORDS);
        }
        let flag_bits = contents.flag_bits(|at| {
            if (at as u64) < payload.len() {
                t.load(payload, at as u64)
            } else {
                0
            }
        });
        let words = contents.words(frequencies, flag_bits);
        if !has_table(params.stream, params.entries) || words > payload.len() {
            Self::report(t, params, Fault::Chunk(0, ChunkFault::Length as u32));
            Self::leave_parameters(t, params, false);
            return;
        }
        if t.warp() == 0 && !Self::is_expected(t, params) {
            Self::report(t, params, Fault::Header);
        }
        let mut sum = 0u64;
        let mut are_sound = true;
        let mut at = u64::from(t.thread_index());
        while at < words {
            let word = t.load(payload, at);
            sum = sum.wrapping_add(term(at as u32, word));
            let anchors_at = contents.frequencies_at() + frequencies;
            if at < contents.count_at() {
                SHARED.0.parameters.store(t, at as u32, word);
            } else if at >= anchors_at && at < anchors_at + contents.anchor_words {
                t.store(params.anchors, at - anchors_at, word);
            } else if let Some(number) = contents.coefficient(frequencies, flag_bits, at) {
                t.store(params.coefficients, number, word);
                are_sound &= contents.may_be_coefficient(word);
            }
            at += u64::from(THREADS);
        }
        store_warp_sum_u64(t, sum, SHARED.0.checksums);
        let are_sound = !t.barrier_or(!are_sound);
        if t.warp() == 0 {
            let sum = sum_of_warps::<T, WARPS>(t, SHARED.0.checksums);
            let checked = Self::check(t, params, payload, frequencies, sum);
            let checked = checked.and(if are_sound {
                Ok(())
            } else {
                Err(ChunkFault::Prologue)
            });
            if let Err(fault) = checked {
                Self::report(t, params, Fault::Chunk(0, fault as u32));
            }
            Self::leave_parameters(t, params, checked.is_ok());
        }
        if t.thread_index() == 0 {
            Self::leave_quantizer(t, params);
        }
    }
}

impl<E: Element> ReadPrologue<E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_expected<T: Thread>(t: T, params: &ReadPrologueParams) -> bool {
        let word = |word: usize| t.load(params.header, word as u64);
        header_is_sound(t, word) & Summary::is_of(&params.layout, word)
    }

    /// Writes the quantiser to the cells. For one thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn leave_quantizer<T: Thread>(t: T, params: &ReadPrologueParams) {
        let summary = Summary::from_words(|word| t.load(params.header, word as u64));
        let quantizer = Quantizer::from_error(E::from_bits64(summary.error_bits));
        for (i, bits) in (cells::QUANTIZER..).zip(&quantizer.to_bits()) {
            t.atomic_store(params.cells, i, *bits);
        }
    }

    /// Writes the parameters. Kernels behind this one find anchors by the geometry: it is always that of the codec, as the memory
    /// of the anchors is. For the first warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn leave_parameters<T: Thread>(t: T, params: &ReadPrologueParams, are_sound: bool) {
        if params.contents.has_parameters == 0 || t.warp() != 0 {
            return;
        }
        let mut at = t.lane();
        while at < WORDS as u32 {
            let word = match at as usize {
                GEOMETRY_AT => params.geometry,
                _ if are_sound => SHARED.0.parameters.load(t, at),
                _ => 0,
            };
            t.store(params.parameters, u64::from(at), word);
            at += WARP;
        }
    }

    /// Checks all of the prologue but the frequencies.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn check<T: Thread>(
        t: T,
        params: &ReadPrologueParams,
        payload: View<u32>,
        frequencies: u64,
        sum: u64,
    ) -> Result<(), ChunkFault> {
        let own = Entry::from_words(t.load4(table(params.stream), 0), params.split);
        if own.range() != (0..0) {
            return Err(ChunkFault::Place);
        }
        let summary = Summary::from_words(|word| t.load(params.header, word as u64));
        let seed = summary.identity.seed(0, own.form);
        if params.verify != 0 && seed.wrapping_add(sum) != own.checksum {
            return Err(ChunkFault::Checksum);
        }
        if own.form != Form::Coded.id() {
            return Err(ChunkFault::Form);
        }
        if u64::from(t.load(payload, params.contents.count_at())) != frequencies {
            return Err(ChunkFault::Prologue);
        }
        let stored = Words(|at| SHARED.0.parameters.load(t, at as u32));
        let Contents {
            shape,
            fitted,
            has_parameters,
            ..
        } = params.contents;
        let is_sound = has_parameters == 0
            || (stored.are_sound::<E>(shape, fitted)
                && stored.error::<E>().to_bits64() == summary.error_bits
                && (stored.geometry()).is_some_and(|found| found.id() == params.geometry));
        if is_sound {
            Ok(())
        } else {
            Err(ChunkFault::Prologue)
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn report<T: Thread>(t: T, params: &ReadPrologueParams, fault: Fault) {
        if t.lane() == 0 {
            t.atomic_max(params.cells, cells::FAULT, fault.to_cell());
        }
    }
}
