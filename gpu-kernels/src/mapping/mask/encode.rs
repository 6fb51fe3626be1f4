//! Codes the parts of a mask: a warp a chunk, a lane a part. The lanes' ways differ as their parts do; thousands of
//! parts are coded at the same time.

use crate::PACKAGE;
use crate::mapping::mask::{THREADS, WARPS};
use crate::mapping::parts::Planes;
use crate::primitives::look_back::publish;
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;
use ferrosz_codec::mapping::mask::arithmetic::{Encoder, Model, PutByte};
use ferrosz_codec::mapping::mask::part::{MODELS, NEW_MODEL, PartBox, PartCoder, code_part};
use ferrosz_codec::mapping::mask::{CHUNK_PARTS, HEADS_BYTES, MaskLayout, PartForm};
use ferrosz_simt::{Kernel, Layout, Package, Shared, Thread, View};

/// Codes the parts of a mask. Launched with at least as many warps as there are mask chunks.
pub struct EncodeMask;

/// Parameters of [`EncodeMask`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EncodeMaskParams {
    /// The mask.
    pub mask: MaskLayout,
    /// The planes of its parts.
    pub planes: Planes,
    /// The output: the coder's bytes of each part, which has as many words here as its planes.
    pub coded: View<u32>,
    /// For each part, 0 if it has no elements of classes. The output: its head.
    pub heads: View<u32>,
    /// The output: a look-back state for each chunk, with its bytes.
    pub states: View<u64>,
}

/// The models of the lanes that code parts, those of one model for all lanes together.
const SHARED: (Shared<u32>, Layout) = {
    let mut layout = Layout::new();
    let models = layout.array("models", MODELS * WARPS * CHUNK_PARTS);
    (models, layout)
};

impl Kernel for EncodeMask {
    type Params = EncodeMaskParams;
    const NAME: &'static str = "ferrosz_mask_encode";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[inline(always)]
    fn run<T: Thread>(t: T, params: &EncodeMaskParams) {
        let mask = &params.mask;
        let chunk = u64::from(t.block_index()) * u64::from(WARPS) + u64::from(t.warp());
        if chunk >= mask.chunks() {
            return;
        }
        let part = chunk * u64::from(CHUNK_PARTS) + u64::from(t.lane());
        let mut bytes = 0;
        if t.lane() < CHUNK_PARTS && part < mask.grid.chunk_count() {
            let of = PartBox::new(&mask.part(part));
            let form = Self::code(t, params, part, of);
            t.store(params.heads, part, u32::from(form.head()));
            // One more, so that a part without bytes counts, too.
            bytes = form.bytes(mask, &of) << 1 | u32::from(form != PartForm::Empty);
        }
        t.sync_warp();
        let has_parts = t.any(bytes != 0);
        let sum = u64::from(HEADS_BYTES + t.reduce_add(bytes >> 1));
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
    /// Codes a part; its form. For one lane.
    #[inline(always)]
    fn code<T: Thread>(t: T, params: &EncodeMaskParams, part: u64, of: PartBox) -> PartForm {
        let planes = &params.planes;
        if t.load_own(params.heads, part) == 0 {
            return PartForm::Empty;
        }
        let words = planes.part_words();
        let coded = Bytes {
            t,
            words: params.coded.from(part * u64::from(words)),
            room: words,
            word: 0,
            count: 0,
            end: 0,
        };
        let mut writer = Writer {
            t,
            planes: *planes,
            part,
            models: Models::new(t, SHARED.0),
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

/// The models of a part, in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Models {
    all: Shared<u32>,
    /// The number of the lane among those that code parts.
    lane: u32,
}

impl Models {
    /// Those of this lane, which is one of the first of its warp, before the first bit.
    #[inline(always)]
    pub(super) fn new<T: Thread>(t: T, all: Shared<u32>) -> Self {
        let lane = t.warp() * CHUNK_PARTS + t.lane();
        let models = Self { all, lane };
        for model in 0..t.opaque(MODELS) {
            models.set(t, model, Model(NEW_MODEL));
        }
        models
    }

    #[inline(always)]
    const fn at(self, model: u32) -> u32 {
        model * WARPS * CHUNK_PARTS + self.lane
    }

    /// A model.
    #[inline(always)]
    pub(super) fn get<T: Thread>(self, t: T, model: u32) -> Model {
        Model(self.all.load(t, self.at(model)))
    }

    /// Sets a model.
    #[inline(always)]
    pub(super) fn set<T: Thread>(self, t: T, number: u32, model: Model) {
        self.all.store(t, self.at(number), model.0);
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
    #[inline(always)]
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
    #[inline(always)]
    fn store(&self, at: u32) {
        if at < self.room {
            self.t.store(self.words, u64::from(at), self.word);
        }
    }

    /// Writes the rest; the length without zero bytes at the end.
    #[inline(always)]
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
    models: Models,
    encoder: Encoder,
    coded: Bytes<T>,
}

impl<T: Thread> PartCoder for Writer<T> {
    #[inline(always)]
    fn word(&self, plane: u32, word: u32) -> u32 {
        self.planes.load(self.t, self.part, plane, word)
    }

    #[inline(always)]
    fn set_word(&mut self, _: u32, _: u32, _: u32) {}

    #[inline(always)]
    fn code(&mut self, model: u32, bit: bool) -> bool {
        let known = self.models.get(self.t, model);
        self.encoder.put_bit(known, bit, &mut self.coded);
        self.models.set(self.t, model, known.after(bit));
        bit
    }
}
