//! Writes the header and the records of a stream, once everything else is there.

use crate::PACKAGE;
use crate::pipeline::cells::{self, Given};
use crate::pipeline::identity::IdentityOf;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::{Draft, Ending};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// The most words of the records that a mapping makes: those of its classes and of the order of its axes.
pub const MAX_RECORD_WORDS: usize = 36;

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
}

impl Kernel for Complete {
    type Params = CompleteParams;
    const NAME: &'static str = "ferrosz_complete";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[inline(always)]
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
            params.header.for_each_unit(&ending, |unit, words| {
                t.store4(params.stream, unit as u64, words);
            });
            let records = params.stream.from(HEADER_WORDS as u64);
            for (at, word) in (0..).zip(&params.records.words) {
                if at < params.records.count {
                    t.store(records, at, *word);
                }
            }
            let length = coded + mask + 4 * params.records.count;
            t.atomic_store(params.cells, cells::STREAM_BYTES, length);
        }
    }
}
