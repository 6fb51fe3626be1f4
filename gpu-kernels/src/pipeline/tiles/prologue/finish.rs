//! Writes the header, once everything else is there.

use crate::PACKAGE;
use crate::pipeline::cells::{self, Given};
use crate::pipeline::identity::IdentityOf;
use crate::pipeline::tiles::prologue::THREADS;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::{Draft, Ending};
use ferrosz_simt::{Kernel, Package, Thread, View};

/// Writes the header of a stream of tiles. Launched with one block.
pub struct Finish;

/// Parameters of [`Finish`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FinishParams {
    /// The header, but for the fields that only now are known.
    pub header: Draft,
    /// The header's identity.
    pub identity: IdentityOf,
    /// The output: the stream.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The workspace: [`cells::STREAM_BYTES`] has the length of the payload and gets that of the stream.
    pub cells: View<u64>,
    /// The bits of the absolute error.
    pub error: Given<1>,
}

impl Kernel for Finish {
    type Params = FinishParams;
    const NAME: &'static str = "ferrosz_finish";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FinishParams) {
        if t.thread_index() == 0 {
            let payload = t.atomic_load(params.cells, cells::STREAM_BYTES);
            let [error] = params.error.find(t, params.cells, cells::QUANTIZER);
            let ending = Ending {
                error_bits: error,
                identity: params.identity.find(t, params.cells),
                payload_bytes: payload,
            };
            let before = 4 * HEADER_WORDS as u64 + 16 * params.entries;
            t.atomic_store(params.cells, cells::STREAM_BYTES, before + payload);
            params.header.for_each_unit(&ending, |unit, words| {
                t.store4(params.stream, unit as u64, words);
            });
        }
    }
}
