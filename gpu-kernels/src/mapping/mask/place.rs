//! Copies the chunks of a mask to their positions in the stream, behind those of the field: a thread block a chunk.
//!
//! The encoder has published the length of every chunk for the look-back, so no block waits for another.

use crate::PACKAGE;
use crate::mapping::parts::{Planes, THREADS};
use crate::pipeline::cells;
use crate::pipeline::identity::IdentityOf;
use crate::primitives::look_back::look_back;
use crate::primitives::scan::{store_warp_sum_u64, sum_of_warps};
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::table::{CHUNK_ALIGNMENT, Entry, Split};
use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_codec::mapping::mask::signs::SignForm;
use ferrosz_codec::mapping::mask::{CHUNK_PARTS, MaskLayout, PartForm};
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, View, WARP};

/// Puts the chunks of a mask into the stream. Launched with one block a mask chunk.
pub struct PlaceMask;

/// Parameters of [`PlaceMask`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PlaceMaskParams {
    /// The mask.
    pub mask: MaskLayout,
    /// The planes of its parts. In place of the plane of signs are the words that [`EncodeSigns`](crate::mapping::mask::encode_signs::EncodeSigns) stores.
    pub planes: Planes,
    /// The coder's bytes of each part.
    pub coded: View<u32>,
    /// The head of each part.
    pub heads: View<u32>,
    /// The head of the signs of each part.
    pub sign_heads: View<u32>,
    /// A look-back state for each chunk, with its bytes.
    pub states: View<u64>,
    /// The output: the stream without its records, 16-byte aligned.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The workspace. [`cells::STREAM_BYTES`] has the length of the stream so far; [`cells::MASK_BYTES`] gets the bytes
    /// of all chunks of the mask.
    pub cells: View<u64>,
    /// The header's identity.
    pub identity: IdentityOf,
    /// How entries are divided.
    pub split: Split,
}

const WARPS: u32 = THREADS / WARP;

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Scratch {
    checksums: Shared<u64>,
    before: Shared<u64>,
    /// For each part, its head; then that of its signs.
    heads: Shared<u32>,
    /// For each part, its bytes' first byte in the chunk; then the end of the last one.
    starts: Shared<u32>,
    /// The same of the words of its signs.
    sign_starts: Shared<u32>,
}

const SHARED: (Scratch, Layout) = {
    let mut layout = Layout::new();
    let scratch = Scratch {
        checksums: layout.array("checksums", WARPS),
        before: layout.array("bytes before", 1),
        heads: layout.array("heads", 2 * CHUNK_PARTS),
        starts: layout.array("starts", CHUNK_PARTS + 1),
        sign_starts: layout.array("starts of signs", CHUNK_PARTS + 1),
    };
    (scratch, layout)
};

impl Kernel for PlaceMask {
    type Params = PlaceMaskParams;
    const NAME: &'static str = "ferrosz_mask_place";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &PlaceMaskParams) {
        let chunk = u64::from(t.block_index());
        // 1. The places of the parts in the chunk.
        if t.thread_index() == 0 {
            Self::find_parts(t, params, chunk);
        }
        t.barrier();
        let end = SHARED.0.starts.load(t, CHUNK_PARTS);
        let bytes = match end {
            _ if !Self::has_parts(t) => 0,
            end => u64::from(end).next_multiple_of(CHUNK_ALIGNMENT),
        };
        // 2. Look back for the chunk's position behind the field's chunks.
        let before = look_back(
            t,
            (params.states, 0),
            chunk,
            bytes,
            SHARED.0.before,
            |sum| {
                if t.lane() == 0 && chunk + 1 == params.mask.chunks() {
                    t.atomic_store(params.cells, cells::MASK_BYTES, sum + bytes);
                }
                sum
            },
        );
        let payload = 4 * HEADER_WORDS as u64 + CHUNK_ALIGNMENT * params.entries;
        let field_bytes = t.atomic_load(params.cells, cells::STREAM_BYTES) - payload;
        let start = field_bytes + before;
        // 3. Copy the bytes.
        let image = params.stream.from((payload + start) / 4);
        let mut sum = 0u64;
        let mut word = t.thread_index();
        while u64::from(word) < bytes / 4 {
            let found = Self::word(t, params, chunk, word);
            t.store(image, u64::from(word), found);
            sum = sum.wrapping_add(term(word, found));
            word += THREADS;
        }
        // 4. Sum the checksum up, and write the table's entry.
        store_warp_sum_u64(t, sum, SHARED.0.checksums);
        t.barrier();
        if t.warp() == 0 {
            let sum = sum_of_warps::<T, { WARPS as usize }>(t, SHARED.0.checksums);
            if t.lane() == 0 {
                let form = if bytes == 0 { Form::Zero } else { Form::Coded };
                let number = params.entries - params.mask.chunks() + chunk;
                let identity = params.identity.find(t, params.cells);
                let sum = identity.seed(number, form.id()).wrapping_add(sum);
                let entry = Entry::new(start, bytes, form, sum).to_words(params.split);
                let table = params.stream.from(HEADER_WORDS as u64);
                t.store4(table, number, entry);
            }
        }
    }
}

impl PlaceMask {
    /// Finds heads and starts of the chunk's parts. For one thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_parts<T: Thread>(t: T, params: &PlaceMaskParams, chunk: u64) {
        let mask = &params.mask;
        let (mut start, mut sign_start) = (0, mask.heads_bytes() / 4);
        for i in 0..t.opaque(CHUNK_PARTS) {
            let part = chunk * u64::from(CHUNK_PARTS) + u64::from(i);
            let (mut head, mut sign_head) = (0, 0);
            SHARED.0.starts.store(t, i, start);
            SHARED.0.sign_starts.store(t, i, sign_start);
            if part < mask.grid.chunk_count() {
                let of = PartBox::new(&mask.part(part));
                head = t.load(params.heads, part);
                start += PartForm::from_head(head as u16).bytes(mask, &of);
                if mask.has_signs {
                    sign_head = t.load(params.sign_heads, part);
                    let form = SignForm::from_head(sign_head as u16, &of);
                    sign_start += form.unwrap_or(SignForm::None).words(&of);
                }
            }
            SHARED.0.heads.store(t, i, head);
            SHARED.0.heads.store(t, CHUNK_PARTS + i, sign_head);
        }
        SHARED.0.starts.store(t, CHUNK_PARTS, start);
        SHARED.0.sign_starts.store(t, CHUNK_PARTS, sign_start);
        // The bytes of classes follow the words of signs.
        for i in 0..=t.opaque(CHUNK_PARTS) {
            let start = SHARED.0.starts.load(t, i) + 4 * sign_start;
            SHARED.0.starts.store(t, i, start);
        }
    }

    /// Whether any part of the chunk has elements of classes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_parts<T: Thread>(t: T) -> bool {
        let mut heads = 0;
        for i in 0..t.opaque(2 * CHUNK_PARTS) {
            heads |= SHARED.0.heads.load(t, i);
        }
        heads != 0
    }

    /// A word of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(t: T, params: &PlaceMaskParams, chunk: u64, word: u32) -> u32 {
        if word < params.mask.heads_bytes() / 4 {
            let [low, high] = [0, 1].map(|i| SHARED.0.heads.load(t, 2 * word + i));
            return low | high << 16;
        }
        if word < SHARED.0.sign_starts.load(t, CHUNK_PARTS) {
            return Self::sign_word(t, params, chunk, word);
        }
        let mut found = 0;
        for i in 0..t.opaque(CHUNK_PARTS) {
            let start = SHARED.0.starts.load(t, i);
            let end = SHARED.0.starts.load(t, i + 1);
            let (first, last) = ((4 * word).max(start), (4 * word + 4).min(end));
            // At most one or two parts have bytes of a word.
            for byte in first..last.max(first) {
                let part = chunk * u64::from(CHUNK_PARTS) + u64::from(i);
                found |= Self::byte(t, params, part, i, byte - start) << (8 * (byte % 4));
            }
        }
        found
    }

    /// A word of the signs of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn sign_word<T: Thread>(t: T, params: &PlaceMaskParams, chunk: u64, word: u32) -> u32 {
        // The last part that begins at the word or before it.
        let mut i = 0;
        for step in [4, 2, 1] {
            let is_behind = SHARED.0.sign_starts.load(t, i + step) <= word;
            i += if is_behind { step } else { 0 };
        }
        let part = chunk * u64::from(CHUNK_PARTS) + u64::from(i);
        let of_part = word - SHARED.0.sign_starts.load(t, i);
        (params.planes).load(t, part, params.mask.class_planes(), of_part)
    }

    /// A byte of part `i` of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn byte<T: Thread>(t: T, params: &PlaceMaskParams, part: u64, i: u32, byte: u32) -> u32 {
        let planes = &params.planes;
        let form = PartForm::from_head(SHARED.0.heads.load(t, i) as u16);
        let word = match form {
            PartForm::Raw => {
                let words = PartBox::new(&params.mask.part(part)).words().max(1);
                let (plane, word) = (byte / 4 / words, byte / 4 % words);
                planes.load(t, part, plane, word)
            }
            _ => {
                let words = planes.plane_words * params.mask.class_planes();
                let first = part * u64::from(words);
                t.load(params.coded, first + u64::from(byte / 4))
            }
        };
        word >> (8 * (byte % 4)) & 0xff
    }
}
