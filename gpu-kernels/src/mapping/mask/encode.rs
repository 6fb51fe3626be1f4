//! Codes the classes with a value of the parts of a mask: a warp a chunk, a lane a part. The lanes' ways differ as their parts do; thousands of
//! parts are coded at the same time.

use crate::PACKAGE;
use crate::mapping::mask::scratch::{OfPart, Scratch};
use crate::mapping::mask::{THREADS, WARPS};
use crate::mapping::parts::{CLASSES_FILLED, Planes};
use crate::primitives::look_back::publish;
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;
use ferrosz_codec::mapping::mask::arithmetic::{Encoder, PutByte};
use ferrosz_codec::mapping::mask::part::{PartBox, PartCoder, code_part};
use ferrosz_codec::mapping::mask::signs::SignForm;
use ferrosz_codec::mapping::mask::{CHUNK_PARTS, MaskLayout, PartForm};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// Codes the parts of a mask. Launched with at least as many warps as there are mask chunks, behind
/// [`EncodeSigns`](super::encode_signs::EncodeSigns) if there are signs.
pub struct EncodeMask;

/// Parameters of [`EncodeMask`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EncodeMaskParams {
    /// The mask.
    pub mask: MaskLayout,
    /// The planes of its parts.
    pub planes: Planes,
    /// The output: the coder's bytes of each part, which has as many words here as its planes of classes with a value.
    pub coded: View<u32>,
    /// For each part, a word with the bit [`CLASSES_FILLED`] if it has elements of classes with a value. The output: its head.
    pub heads: View<u32>,
    /// The head of the signs of each part.
    pub sign_heads: View<u32>,
    /// The output: a look-back state for each chunk, with its bytes.
    pub states: View<u64>,
}

impl Kernel for EncodeMask {
    type Params = EncodeMaskParams;
    const NAME: &'static str = "ferrosz_mask_encode";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Scratch::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &EncodeMaskParams) {
        let mask = &params.mask;
        let chunk = u64::from(t.block_index()) * u64::from(WARPS) + u64::from(t.warp());
        if chunk >= mask.chunks() {
            return;
        }
        let part = chunk * u64::from(CHUNK_PARTS) + u64::from(t.lane());
        Self::fetch_planes(t, params, chunk);
        let mut bytes = 0;
        if t.lane() < CHUNK_PARTS && part < mask.grid.chunk_count() {
            let of = PartBox::new(&mask.part(part));
            let form = Self::code(t, params, part, of);
            t.store(params.heads, part, u32::from(form.head()));
            let signs = Self::signs(t, params, part, &of);
            let is_any = form != PartForm::Empty || signs != SignForm::None;
            // One more, so that a part without bytes counts, too.
            bytes = (form.bytes(mask, &of) + 4 * signs.words(&of)) << 1 | u32::from(is_any);
        }
        t.sync_warp();
        let has_parts = t.any(bytes != 0);
        let sum = u64::from(mask.heads_bytes() + t.reduce_add(bytes >> 1));
        if t.lane() == 0 {
            let own = match has_parts {
                true => sum.next_multiple_of(CHUNK_ALIGNMENT),
                false => 0,
            };
            publish(t, (params.states, 0), chunk, own);
        }
    }
}

impl EncodeMask {
    /// The form of the signs of a part.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn signs<T: Thread>(t: T, params: &EncodeMaskParams, part: u64, of: &PartBox) -> SignForm {
        match params.mask.has_signs {
            true => SignForm::from_head(t.load(params.sign_heads, part) as u16, of),
            false => None,
        }
        .unwrap_or(SignForm::None)
    }

    /// Copies plane 0 of the parts of a chunk. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn fetch_planes<T: Thread>(t: T, params: &EncodeMaskParams, chunk: u64) {
        let parts = params.mask.parts(chunk);
        for lane in 0..t.opaque(CHUNK_PARTS) {
            let part = parts.start + u64::from(lane);
            if part < parts.end && t.load_own(params.heads, part) & CLASSES_FILLED != 0 {
                let (of_part, words) = (OfPart::new(t, lane), params.planes.plane_words);
                let mut word = t.lane();
                while word < words {
                    of_part.set_word(word, params.planes.load(t, part, 0, word));
                    word += WARP;
                }
            }
        }
        t.sync_warp();
    }

    /// Codes a part; its form. For one lane.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code<T: Thread>(t: T, params: &EncodeMaskParams, part: u64, of: PartBox) -> PartForm {
        let planes = &params.planes;
        if t.load_own(params.heads, part) & CLASSES_FILLED == 0 {
            return PartForm::Empty;
        }
        let words = planes.plane_words * params.mask.class_planes();
        let coded = Bytes {
            t,
            words: params.coded.from(part * u64::from(words)),
            room: words,
            word: 0,
            count: 0,
            end: 0,
        };
        let of_part = OfPart::new(t, t.lane());
        of_part.reset_models();
        let mut writer = Writer {
            t,
            planes: *planes,
            part,
            of_part,
            encoder: Encoder::default(),
            coded,
        };
        code_part(&mut writer, &of, params.mask.classes);
        let Writer {
            encoder, mut coded, ..
        } = writer;
        encoder.finish(&mut coded);
        let length = coded.finish();
        if length < params.mask.raw_bytes(&of) {
            PartForm::Coded(length)
        } else {
            PartForm::Raw
        }
    }
}

/// The bytes of a part: as many as fit are written, all are counted.
struct Bytes<T> {
    t: T,
    words: View<u32>,
    /// The most words.
    room: u32,
    /// The bytes of the last word that is not yet written.
    word: u32,
    count: u32,
    /// The bytes up to the last that is not 0.
    end: u32,
}

impl<T: Thread> PutByte for Bytes<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn put(&mut self, byte: u8) {
        self.word |= u32::from(byte) << (8 * (self.count % 4));
        self.count += 1;
        if byte != 0 {
            self.end = self.count;
        }
        if self.count.is_multiple_of(4) {
            self.store(self.count / 4 - 1);
            self.word = 0;
        }
    }
}

impl<T: Thread> Bytes<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn store(&self, at: u32) {
        if at < self.room {
            self.t.store(self.words, u64::from(at), self.word);
        }
    }

    /// Writes the rest; the length without zero bytes at the end.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn finish(&self) -> u32 {
        if !self.count.is_multiple_of(4) {
            self.store(self.count / 4);
        }
        self.end
    }
}

/// Encodes the planes of a part.
struct Writer<T> {
    t: T,
    planes: Planes,
    part: u64,
    of_part: OfPart<T>,
    encoder: Encoder,
    coded: Bytes<T>,
}

impl<T: Thread> PartCoder for Writer<T> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word(&self, plane: u32, word: u32) -> u32 {
        match plane {
            0 => self.of_part.word(word),
            _ => self.planes.load(self.t, self.part, plane, word),
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn set_word(&mut self, _: u32, _: u32, _: u32) {}

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code(&mut self, model: u32, bit: bool) -> bool {
        let known = self.of_part.model(model);
        self.encoder.put_bit(known, bit, &mut self.coded);
        self.of_part.set_model(model, known.after(bit));
        bit
    }
}
