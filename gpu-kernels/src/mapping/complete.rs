//! Writes the header and the records of a stream, once everything else is there.

use crate::PACKAGE;
use crate::mapping::conversion::plan::RecordsOf;
use crate::pipeline::cells::{self, Given};
use crate::pipeline::identity::IdentityOf;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::{Converted, Draft, Ending};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// The most words of the records that a mapping makes: those of its classes, of the order of its axes, and of complex
/// numbers.
pub const MAX_RECORD_WORDS: usize = 40;

/// The records of a stream.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Records {
    /// Their words, and then zeros.
    pub words: [u32; MAX_RECORD_WORDS],
    /// How many there are.
    pub count: u64,
}

/// Completes a stream with records. Launched with one block.
pub struct Complete;

/// Parameters of [`Complete`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CompleteParams {
    /// The header, but for the fields that only now are known.
    pub header: Draft,
    /// The header's identity.
    pub identity: IdentityOf,
    /// The records.
    pub records: Records,
    /// The output: the stream, 16-byte aligned.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The workspace. [`cells::STREAM_BYTES`] has the length of the stream without the chunks of the mask and without
    /// records, and gets that of the stream; [`cells::MASK_BYTES`] is read.
    pub cells: View<u64>,
    /// The bits of the absolute error.
    pub error: Given<1>,
    /// The records in which the absolute error of a conversion is 0, if the values are converted. Then the header has no
    /// kind of conversion and no sum of records, and [`cells::CONVERSION`] and [`cells::CONVERSION_ERROR`] are read.
    pub converted: RecordsOf,
}

impl Kernel for Complete {
    type Params = CompleteParams;
    const NAME: &'static str = "ferrosz_complete";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &CompleteParams) {
        // One thread, with positions that the compiler knows: parameters have no addresses that depend on a thread.
        if t.thread_index() == 0 {
            let coded = t.atomic_load(params.cells, cells::STREAM_BYTES);
            let before = 4 * HEADER_WORDS as u64 + 16 * params.entries;
            let mask = t.atomic_load(params.cells, cells::MASK_BYTES);
            let [error] = params.error.find(t, params.cells, cells::QUANTIZER);
            let ending = Ending {
                error_bits: error,
                identity: params.identity.find(t, params.cells),
                payload_bytes: coded.wrapping_sub(before).wrapping_add(mask),
            };
            let store = |unit, words| t.store4(params.stream, unit as u64, words);
            let records = params.stream.from(HEADER_WORDS as u64);
            for (at, word) in (0..).zip(&params.records.words) {
                if at < params.records.count {
                    t.store(records, at, *word);
                }
            }
            if params.converted.is_any() {
                let converted = Self::converted(t, params, records);
                (params.header).for_each_unit_converted(&ending, &converted, store);
            } else {
                params.header.for_each_unit(&ending, store);
            }
            let length = coded + mask + 4 * params.records.count;
            t.atomic_store(params.cells, cells::STREAM_BYTES, length);
        }
    }
}

impl Complete {
    /// Writes the error of the conversion over that of the records; what the header has of it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn converted<T: Thread>(t: T, params: &CompleteParams, records: View<u32>) -> Converted {
        let error = t.atomic_load(params.cells, cells::CONVERSION_ERROR);
        let at = u64::from(params.converted.error_word);
        t.store(records, at, error as u32);
        t.store(records, at + 1, (error >> 32) as u32);
        Converted {
            kind: t.atomic_load(params.cells, cells::CONVERSION) as u32,
            record_sum: params.converted.sum_with(error),
        }
    }
}
