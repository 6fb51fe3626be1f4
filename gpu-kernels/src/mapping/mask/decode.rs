//! Decodes the chunks of a mask to the planes of classes with a value, and finds the signs: a warp a chunk, a lane a part.
//!
//! Whatever the stream holds, no access leaves it or the planes: a chunk whose parts contradict each other is reported,
//! and has no elements of classes. Parts without any cost nothing.

use crate::PACKAGE;
use crate::mapping::mask::scratch::{OfPart, Scratch};
use crate::mapping::mask::{THREADS, WARPS};
use crate::mapping::parts::{CLASSES_FILLED, Planes, SIGNS_FILLED};
use crate::mapping::records;
use crate::pipeline::cells::{self, Fault};
use crate::primitives::scan::{warp_inclusive_sum, warp_sum_u64};
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::Summary;
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::table::{CHUNK_ALIGNMENT, Entry, Split};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::mapping::mask::arithmetic::{Decoder, TakeByte};
use ferrosz_codec::mapping::mask::part::{PartBox, PartCoder, code_part};
use ferrosz_codec::mapping::mask::signs::SignForm;
use ferrosz_codec::mapping::mask::{CHUNK_PARTS, MaskLayout, NEGATIVE, PartForm, kind_word};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// Decodes the parts of a mask. Launched with at least as many warps as there are mask chunks.
pub struct DecodeMask;

/// Parameters of [`DecodeMask`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecodeMaskParams {
    /// The mask.
    pub mask: MaskLayout,
    /// The region whose elements are needed, in the dimensions of the mask.
    pub region: Region,
    /// The header's words.
    pub header: View<u32>,
    /// The words of the records, of which that of the classes is the first.
    pub records: View<u32>,
    /// The stream without its records, 16-byte aligned; its header is not read. Nothing behind its end is read.
    pub stream: View<u32>,
    /// The chunk table, 16-byte aligned: the stream's, or the list of
    /// [`list_entries`](crate::pipeline::blocks::decompress::list_entries).
    pub table: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// The output: the planes of the parts that have elements of classes.
    pub planes: Planes,
    /// The output: a word for each part, with a bit for each kind of class of its elements.
    pub filled: View<u32>,
    /// The output: for each part, the head of its signs and their place. Empty without signs. See
    /// [`DecodeSignsParams`](super::decode_signs::DecodeSignsParams).
    pub signs: View<u32>,
    /// The workspace.
    pub cells: View<u64>,
    /// Not 0 to compare checksums.
    pub verify: u32,
    /// How entries are divided.
    pub split: Split,
}

impl Kernel for DecodeMask {
    type Params = DecodeMaskParams;
    const NAME: &'static str = "ferrosz_mask_decode";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Scratch::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecodeMaskParams) {
        let mask = &params.mask;
        if params.stream.len() < HEADER_WORDS as u64 + 4 * params.entries {
            // The field's kernels report that.
            Self::set_empty(t, params);
            return;
        }
        if t.block_index() == 0 && t.warp() == 0 && !Self::has_record(t, params) {
            Self::report(t, params, Fault::Header);
        }
        let chunk = Self::chunk(t);
        if chunk >= mask.chunks() {
            return;
        }
        if !Self::is_needed(t, params) {
            Self::set_empty(t, params);
            return;
        }
        let number = params.entries - mask.chunks() + chunk;
        let stored = Self::find(t, params, number);
        let parts = stored.and_then(|stored| Self::parts(t, params, chunk, stored));
        match parts {
            Ok(stored) => {
                let part = Self::part(t);
                if t.lane() < CHUNK_PARTS && part < mask.grid.chunk_count() {
                    Self::decode(t, params, part, &stored);
                }
            }
            Err(fault) => {
                Self::report(t, params, Fault::Chunk(number, fault as u32));
                Self::set_empty(t, params);
            }
        }
    }
}

/// The bytes of a chunk or of a part.
#[derive(Clone, Copy)]
struct Stored {
    form: u32,
    /// The words from the chunk's first one on.
    words: View<u32>,
    /// The first byte, and how many there are.
    first: u32,
    bytes: u32,
    /// The form of a part.
    of_part: PartForm,
    /// The head of its signs, and above it their first word; 0 without any.
    signs: u32,
}

impl DecodeMask {
    /// The warp's chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn chunk<T: Thread>(t: T) -> u64 {
        u64::from(t.block_index()) * u64::from(WARPS) + u64::from(t.warp())
    }

    /// The lane's part, if it has one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn part<T: Thread>(t: T) -> u64 {
        Self::chunk(t) * u64::from(CHUNK_PARTS) + u64::from(t.lane())
    }

    /// Whether the region has elements of the warp's chunk. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_needed<T: Thread>(t: T, params: &DecodeMaskParams) -> bool {
        let part = Self::part(t);
        let exists = t.lane() < CHUNK_PARTS && part < params.mask.grid.chunk_count();
        t.any(exists && params.region.touches(&params.mask.part(part)))
    }

    /// Reports a fault. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn report<T: Thread>(t: T, params: &DecodeMaskParams, fault: Fault) {
        if t.lane() == 0 {
            t.atomic_max(params.cells, cells::FAULT, fault.to_cell());
        }
    }

    /// The warp's parts have no elements of classes.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_empty<T: Thread>(t: T, params: &DecodeMaskParams) {
        let part = Self::part(t);
        if t.lane() < CHUNK_PARTS && part < params.mask.grid.chunk_count() {
            Self::store(t, params, part, (0, 0));
        }
    }

    /// Stores the kinds of classes of a part, and the place of its signs.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store<T: Thread>(t: T, params: &DecodeMaskParams, part: u64, (filled, signs): (u32, u32)) {
        t.store(params.filled, part, filled);
        if params.mask.has_signs {
            t.store(params.signs, part, signs);
        }
    }

    /// Whether the records are undamaged, and the first is that of the classes. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn has_record<T: Thread>(t: T, params: &DecodeMaskParams) -> bool {
        let is_sound = records::are_sound(t, params.header, params.records);
        let kind = t.load(params.records, 0);
        let mask = &params.mask;
        let last = kind_word(mask.classes + u32::from(mask.has_signs));
        is_sound
            && kind == u32::from_le_bytes(RecordKind::MASK.0)
            && (t.load(params.records, last) == NEGATIVE) == mask.has_signs
    }

    /// The chunk with this entry. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find<T: Thread>(t: T, params: &DecodeMaskParams, number: u64) -> Result<Stored, ChunkFault> {
        let entry = Entry::from_words(t.load4(params.table, number), params.split);
        let payload = params.stream.from(HEADER_WORDS as u64 + 4 * params.entries);
        if t.any(entry.range().end / 4 > payload.len()) {
            return Err(ChunkFault::Place);
        }
        let stored = Stored {
            form: t.shuffle(entry.form, 0),
            words: payload.from(entry.start / 4),
            first: 0,
            bytes: t.shuffle(entry.bytes as u32, 0),
            of_part: PartForm::Empty,
            signs: 0,
        };
        if params.verify != 0 {
            let summary = Summary::from_words(|word| t.load(params.header, word as u64));
            let mut sum = 0u64;
            let mut at = t.lane();
            while at < stored.bytes / 4 {
                sum = sum.wrapping_add(term(at, t.load(stored.words, u64::from(at))));
                at += WARP;
            }
            let seed = summary.identity.seed(number, stored.form);
            let sum = warp_sum_u64(t, sum).wrapping_add(seed);
            if t.any(sum != entry.checksum) {
                return Err(ChunkFault::Checksum);
            }
        }
        Ok(stored)
    }

    /// The lane's part of a chunk, which has no bytes if there is no such part. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn parts<T: Thread>(
        t: T,
        params: &DecodeMaskParams,
        chunk: u64,
        stored: Stored,
    ) -> Result<Stored, ChunkFault> {
        match Form::from_id(stored.form) {
            Some(Form::Zero) if stored.bytes == 0 => return Ok(stored),
            Some(Form::Coded) if stored.bytes >= params.mask.heads_bytes() => {}
            Some(Form::Zero | Form::Coded) => return Err(ChunkFault::Length),
            _ => return Err(ChunkFault::Form),
        }
        let mask = &params.mask;
        let part = chunk * u64::from(CHUNK_PARTS) + u64::from(t.lane());
        let head = |first: u32| match t.lane() < CHUNK_PARTS {
            true => t.load_half(stored.words, u64::from(first + t.lane())) as u16,
            false => 0,
        };
        let of_part = PartForm::from_head(head(0));
        let sign_head = if mask.has_signs { head(CHUNK_PARTS) } else { 0 };
        let exists = part < mask.grid.chunk_count();
        let mut of = PartBox::NONE;
        if exists {
            of = PartBox::new(&mask.part(part));
        }
        let (bytes, signs) = (
            of_part.bytes(mask, &of),
            SignForm::from_head(sign_head, &of),
        );
        let words = signs.unwrap_or(SignForm::None).words(&of);
        let behind_signs = mask.heads_bytes() / 4 + warp_inclusive_sum(t, words);
        let behind = 4 * t.shuffle(behind_signs, WARP - 1) + warp_inclusive_sum(t, bytes);
        let end = u64::from(t.shuffle(behind, WARP - 1));
        let is_wrong = end.next_multiple_of(CHUNK_ALIGNMENT) != u64::from(stored.bytes)
            || (!exists && of_part != PartForm::Empty)
            || signs.is_none();
        if t.any(is_wrong) {
            return Err(ChunkFault::Length);
        }
        Ok(Stored {
            first: behind - bytes,
            bytes,
            of_part,
            signs: u32::from(sign_head) | (behind_signs - words) << 16,
            ..stored
        })
    }

    /// Decodes a part. For one lane.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decode<T: Thread>(t: T, params: &DecodeMaskParams, number: u64, stored: &Stored) {
        let part = params.mask.part(number);
        let is_needed = params.region.touches(&part);
        let has_classes = is_needed && stored.of_part != PartForm::Empty;
        let has_signs = is_needed && stored.signs & 0xffff != 0;
        let filled = CLASSES_FILLED * u32::from(has_classes) + SIGNS_FILLED * u32::from(has_signs);
        let signs = if has_signs { stored.signs } else { 0 };
        Self::store(t, params, number, (filled, signs));
        if !has_classes {
            return;
        }
        let of = PartBox::new(&part);
        if stored.of_part == PartForm::Raw {
            let mut byte = 0;
            for plane in 0..params.mask.class_planes() {
                for word in 0..of.words() {
                    let mut bits = 0;
                    for i in 0..4 {
                        bits |= stored.byte(t, byte + i) << (8 * i);
                    }
                    params.planes.store(t, number, plane, word, bits);
                    byte += 4;
                }
            }
            return;
        }
        let of_part = OfPart::new(t, t.lane());
        of_part.reset_models();
        for word in 0..t.opaque(of.words()) {
            of_part.set_word(word, 0);
        }
        let mut bytes = Bytes {
            t,
            stored: *stored,
            next: 0,
        };
        let decoder = Decoder::new(&mut bytes);
        let mut reader = Reader {
            t,
            planes: params.planes,
            part: number,
            of_part,
            decoder,
            bytes,
        };
        code_part(&mut reader, &of, params.mask.classes);
    }
}

impl Stored {
    /// A byte of the part, 0 behind its end.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn byte<T: Thread>(&self, t: T, byte: u32) -> u32 {
        if byte < self.bytes {
            let at = self.first + byte;
            t.load(self.words, u64::from(at / 4)) >> (8 * (at % 4)) & 0xff
        } else {
            0
        }
    }
}

/// The bytes of a part, one after the other.
#[derive(Clone, Copy)]
struct Bytes<T> {
    t: T,
    stored: Stored,
    next: u32,
}

impl<T: Thread> TakeByte for Bytes<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn take(&mut self) -> u8 {
        let byte = self.stored.byte(self.t, self.next);
        self.next += 1;
        byte as u8
    }
}

/// Decodes the planes of a part.
struct Reader<T> {
    t: T,
    planes: Planes,
    part: u64,
    of_part: OfPart<T>,
    decoder: Decoder,
    bytes: Bytes<T>,
}

impl<T: Thread> PartCoder for Reader<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word(&self, plane: u32, word: u32) -> u32 {
        // A decoder needs to know no other plane again.
        match plane {
            0 => self.of_part.word(word),
            _ => 0,
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_word(&mut self, plane: u32, word: u32, bits: u32) {
        if plane == 0 {
            self.of_part.set_word(word, bits);
        }
        self.planes.store(self.t, self.part, plane, word, bits);
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code(&mut self, model: u32, _: bool) -> bool {
        let known = self.of_part.model(model);
        let bit = self.decoder.bit(known, &mut self.bytes);
        self.of_part.set_model(model, known.after(bit));
        bit
    }
}
