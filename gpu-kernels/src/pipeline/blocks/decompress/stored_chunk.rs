//! A chunk of a stream: its bytes brought into shared memory, checked and decoded to elements.

use crate::code::fixed_length::read_body;
use crate::pipeline::blocks::decompress::stream::{StreamOf, first_payload_unit};
use crate::pipeline::blocks::groups;
use crate::pipeline::blocks::output::{Held, Words};
use crate::pipeline::blocks::staged_chunk::{StagedChunk, UNIT_WORDS};
use crate::pipeline::blocks::{CHUNK_THREADS, CHUNK_WARPS};
use crate::pipeline::cells::Fault;
use crate::predict::group;
use crate::primitives::scan::{BlockSum, block_sum, store_warp_sum_u64, sum_of_warps};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::chunk::{CONSTANT_WORDS, Form, Sections, raw_words};
use ferrosz_codec::container::grid::ChunkBox;
use ferrosz_codec::container::header_words::Summary;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{GROUP, Shape, StaticShape};
use ferrosz_simt::{Layout, Shared, Thread};

/// The shared memory of a block. The chunk's elements overwrite its image.
#[derive(Clone, Copy)]
pub(crate) struct Scratch<E> {
    image: Shared<u32>,
    elements: StagedChunk<E>,
    body_sums: Shared<u32>,
    flag_sums: Shared<u32>,
    value_sums: Shared<u32>,
    layer_sums: Shared<u32>,
    checksums: Shared<u64>,
    /// For each thread its exceptions, and the word of the image at which their values start: here and not in
    /// registers.
    exceptions: Shared<u32>,
}

impl<E: Element> Scratch<E> {
    pub(crate) const SHARED: (Self, Layout) = {
        let mut layout = Layout::new();
        (Self::new(&mut layout), layout)
    };

    /// Takes its words from a layout.
    pub(crate) const fn new(layout: &mut Layout) -> Self {
        // Words behind the image, for readers of unaligned words.
        const SLACK: u32 = 4;
        let [mut early, mut late] = layout.overlays();
        let image = early.array("image", StagedChunk::<E>::WORDS + SLACK);
        let elements = StagedChunk::new(&mut late);
        layout.join([early, late]);
        let warps = CHUNK_WARPS as u32;
        Self {
            image,
            elements,
            body_sums: layout.array("sums of bodies", warps),
            flag_sums: layout.array("sums of flags", warps),
            value_sums: layout.array("sums of values", warps),
            layer_sums: layout.array("sums of a layer", warps),
            checksums: layout.array("checksums", warps),
            exceptions: layout.array("exceptions", 2 * CHUNK_THREADS),
        }
    }
}

/// The chunk of a thread block, as the stream has it.
pub(crate) struct StoredChunk<A, E, S> {
    stream: A,
    shared: Scratch<E>,
    quantizer: Quantizer<E>,
    codec: BlockCodec,
    number: u64,
    chunk: ChunkBox,
    entry: Entry,
    /// The chunk's words in the stream, if its position is possible.
    words: Option<u32>,
    shape: PhantomData<S>,
}

/// A coded chunk's parts, as a thread sees them.
struct Parts {
    rate: RateByte,
    /// The byte of the image at which this thread's body starts.
    body_at: u32,
}

impl<A: StreamOf, E: Element, S: StaticShape> StoredChunk<A, E, S> {
    const IS_LINE: bool = matches!(S::SHAPE, Shape::Line);

    /// Chunk `number` of a stream, which is this box; the stream has at least a header and the chunk table. It has no
    /// words until [`StoredChunk::locate`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn new<T: Thread>(
        t: T,
        stream: A,
        shared: Scratch<E>,
        codec: BlockCodec,
        number: u64,
        chunk: ChunkBox,
    ) -> Self {
        let summary = Self::summary(t, stream);
        Self {
            stream,
            shared,
            quantizer: Quantizer::from_error(E::from_bits64(summary.error_bits)),
            codec,
            number,
            chunk,
            entry: load_entry(t, stream, number),
            words: None,
            shape: PhantomData,
        }
    }

    /// The header's summary.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn summary<T: Thread>(t: T, stream: A) -> Summary {
        let view = stream.header(t);
        Summary::from_words(|word| t.load(view, word as u64))
    }

    /// Sets the chunk's words, if position and length are possible in a payload of this many 16-byte units.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn locate(&mut self, payload_units: u64) {
        let entry = &self.entry;
        let raw = raw_words(self.chunk.elements(), E::WORDS as u32);
        let words = entry.bytes / 4;
        if entry.range().end / 16 <= payload_units && words <= u64::from(raw) {
            self.words = Some(words as u32);
        }
    }

    /// The places of the chunk's elements.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn held(&self) -> Held<E> {
        Held {
            image: self.shared.image,
            elements: self.shared.elements,
        }
    }

    /// Reports a fault of the chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn report<T: Thread>(&self, t: T, fault: ChunkFault) {
        if t.thread_index() == 0 {
            self.stream
                .report(t, Fault::Chunk(self.number, fault as u32));
        }
    }

    /// Brings the chunk's elements into shared memory; where they are. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn read<T: Thread>(&self, t: T) -> Result<Words, ChunkFault> {
        let words = self.words.ok_or(ChunkFault::Place)?;
        let form = Form::from_id(self.entry.form);
        if words == 0 {
            self.verify(t, 0);
            return match form.ok_or(ChunkFault::Form)? {
                Form::Zero => Ok(Words::Filled(0, 0)),
                _ => Err(ChunkFault::Length),
            };
        }
        let sums = self.shared.checksums;
        let sum = self.load_image(t, words);
        store_warp_sum_u64(t, sum, sums);
        t.barrier();
        if t.warp() == 0 {
            self.verify(t, sum_of_warps::<T, CHUNK_WARPS>(t, sums));
        }
        match form.ok_or(ChunkFault::Form)? {
            Form::Raw if words == raw_words(self.chunk.elements(), E::WORDS as u32) => {
                Ok(Words::InImage)
            }
            Form::Constant if words == CONSTANT_WORDS => {
                let [low, high] = [0, 1].map(|word| self.shared.image.load(t, word));
                Ok(Words::Filled(low, high))
            }
            // One call: each would be a copy of all of decoding.
            form @ (Form::Coded | Form::CodedWithExceptions) => {
                self.decode(t, words, form == Form::CodedWithExceptions)
            }
            Form::Zero | Form::Raw | Form::Constant => Err(ChunkFault::Length),
        }
    }

    /// Reports a wrong checksum. `sum` is the summand of the chunk's words in it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn verify<T: Thread>(&self, t: T, sum: u64) {
        if self.stream.verifies() {
            let summary = Self::summary(t, self.stream);
            let seed = summary.identity.seed(self.number, self.entry.form);
            if sum.wrapping_add(seed) != self.entry.checksum {
                self.report(t, ChunkFault::Checksum);
            }
        }
    }

    /// The chunk's first 16-byte unit in the stream.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn first_unit<T: Thread>(&self, t: T, entry: &Entry) -> u64 {
        first_payload_unit(self.stream.entries(t)) + entry.start / 16
    }

    /// Brings the chunk's bytes into shared memory; this thread's part of the checksum.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn load_image<T: Thread>(&self, t: T, words: u32) -> u64 {
        let first = self.first_unit(t, &self.entry);
        let stream = self.stream.stream(t);
        let units = words / UNIT_WORDS;
        let load = |unit: u32| {
            if unit < units {
                t.load4(stream, first + u64::from(unit))
            } else {
                [0; 4]
            }
        };
        let mut sum = 0u64;
        let mut unit = t.thread_index();
        while unit < units {
            // Two at once, so that few threads wait for memory twice.
            let later = unit + CHUNK_THREADS;
            let loaded = [load(unit), load(later)];
            for (unit, values) in [unit, later].iter().zip(&loaded) {
                if *unit < units {
                    self.shared.image.store4(t, UNIT_WORDS * unit, *values);
                    for (i, word) in values.iter().enumerate() {
                        sum = sum.wrapping_add(term(UNIT_WORDS * unit + i as u32, *word));
                    }
                }
            }
            unit += 2 * CHUNK_THREADS;
        }
        if t.thread_index() == 0 {
            self.shared.image.store(t, words, 0);
        }
        sum
    }

    /// Decodes the image of a coded chunk to its elements. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn decode<T: Thread>(
        &self,
        t: T,
        words: u32,
        has_exceptions: bool,
    ) -> Result<Words, ChunkFault> {
        let parts = self.find_parts(t, words, has_exceptions)?;
        let mut codes = self.read_codes(t, &parts);
        self.predict_backward(t, &mut codes);
        // The elements overwrite the image.
        t.barrier();
        self.shared
            .elements
            .set_row(t, |e| self.quantizer.dequantize(codes[e]));
        if has_exceptions {
            self.read_exceptions(t);
        }
        if Self::IS_LINE {
            t.sync_warp();
        } else {
            t.barrier();
        }
        Ok(Words::Staged)
    }

    /// This thread's differences.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_codes<T: Thread>(&self, t: T, parts: &Parts) -> Group {
        let number = t.lane() % groups::<S>();
        let image = self.shared.image;
        read_body(
            t,
            image,
            S::SHAPE,
            number,
            parts.rate,
            parts.body_at,
            self.codec,
        )
    }

    /// Differences to codes. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn predict_backward<T: Thread>(&self, t: T, codes: &mut Group) {
        group::backward(t, self.codec.predictor(), S::SHAPE, codes);
        if self.codec.is_layered() {
            let initial = self.shared.image.load(t, self.sections().initial());
            let initial = initial.cast_signed();
            let sum = codes[GROUP - 1].cast_unsigned();
            let sums = block_sum::<T, CHUNK_WARPS>(t, sum, self.shared.layer_sums);
            difference::add(codes, initial.wrapping_add(sums.before.cast_signed()));
        }
    }

    /// The sections of the chunk; if they are contradictory, the same fault for the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_parts<T: Thread>(
        &self,
        t: T,
        words: u32,
        has_exceptions: bool,
    ) -> Result<Parts, ChunkFault> {
        let mut sections = self.sections();
        if sections.bodies() > words {
            return Err(ChunkFault::Length);
        }
        let rate = self.read_rate(t, &sections);
        // The bytes of a refused rate are a large number: so no other barrier is needed to find it.
        let bytes = rate.map_or(1 << 20, |rate| rate.body_bytes(groups::<S>()));
        let own_bytes = if t.lane().is_multiple_of(groups::<S>()) {
            bytes
        } else {
            0
        };
        let bodies = block_sum::<T, CHUNK_WARPS>(t, own_bytes, self.shared.body_sums);
        if bodies.total >= 1 << 20 {
            return Err(ChunkFault::Rate);
        }
        sections.body_bytes = bodies.total;
        let parts = Parts {
            rate: rate.unwrap_or_default(),
            // The bytes before the second group's are those before its block and its block's.
            body_at: 4 * sections.bodies() + bodies.before - (bytes - own_bytes),
        };
        if has_exceptions {
            self.find_exceptions(t, words, &mut sections)?;
        }
        if sections.words(E::WORDS as u32) == words && has_exceptions == (sections.exceptions > 0) {
            Ok(parts)
        } else {
            Err(ChunkFault::Length)
        }
    }

    /// The chunk's sections, as far as its blocks tell.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn sections(&self) -> Sections {
        Sections::of(self.chunk.block_count(S::SHAPE), S::SHAPE, self.codec)
    }

    /// This thread's rate byte; none if no encoder writes it.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_rate<T: Thread>(&self, t: T, sections: &Sections) -> Option<RateByte> {
        let block = t.thread_index() / groups::<S>();
        if block < sections.blocks {
            let byte = (self.shared.image.load(t, block / 4) >> (8 * (block % 4))) as u8;
            RateByte::from_byte(byte, self.codec.stores_outliers(), self.codec.max_planes())
        } else {
            Some(RateByte::default())
        }
    }

    /// Finds the exceptions, as the masks say.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_exceptions<T: Thread>(
        &self,
        t: T,
        words: u32,
        sections: &mut Sections,
    ) -> Result<(), ChunkFault> {
        if sections.element_masks() > words {
            return Err(ChunkFault::Length);
        }
        let mut flags = 0;
        if t.warp() < sections.groups.div_ceil(32) {
            flags = self.shared.image.load(t, sections.group_mask() + t.warp());
        }
        let flag = flags >> t.lane() & 1;
        let flagged: BlockSum = block_sum::<T, CHUNK_WARPS>(t, flag, self.shared.flag_sums);
        sections.flagged_groups = flagged.total;
        if sections.values() > words {
            return Err(ChunkFault::Length);
        }
        let mut mask = 0;
        if flag == 1 {
            mask = self
                .shared
                .image
                .load(t, sections.element_masks() + flagged.before);
        }
        // An exception where there is no element makes the sum impossible.
        let groups = groups::<S>();
        let position = self.chunk.block(S::SHAPE, t.thread_index() / groups);
        let inside = S::SHAPE.inside(t.thread_index() % groups, position.inside);
        let outside = mask & !inside != 0;
        let count = if outside { 1 << 20 } else { mask.count_ones() };
        let values = block_sum::<T, CHUNK_WARPS>(t, count, self.shared.value_sums);
        if values.total >= 1 << 20 {
            return Err(ChunkFault::Length);
        }
        sections.exceptions = values.total;
        let values_at = sections.values() + values.before * E::WORDS as u32;
        let at = 2 * t.thread_index();
        self.shared.exceptions.store(t, at, mask);
        self.shared.exceptions.store(t, at + 1, values_at);
        Ok(())
    }

    /// Puts this thread's exceptions into its row, from the stream, since the image is gone.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn read_exceptions<T: Thread>(&self, t: T) {
        let words = E::WORDS as u32;
        // Rare, so the entry is read again instead of staying in registers.
        let entry = load_entry(t, self.stream, self.stream.number_again::<T, S>(t));
        let first_word = u64::from(UNIT_WORDS) * self.first_unit(t, &entry);
        let stream = self.stream.stream(t);
        let at = 2 * t.thread_index();
        let mut left = self.shared.exceptions.load(t, at);
        let mut from = self.shared.exceptions.load(t, at + 1);
        while left != 0 {
            let element = t.thread_index() * GROUP as u32 + left.trailing_zeros();
            for i in 0..words {
                let word = t.load(stream, first_word + u64::from(from + i));
                self.shared
                    .elements
                    .store_word(t, element * words + i, word);
            }
            from += words;
            left &= left - 1;
        }
    }
}

/// The entry of a chunk.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn load_entry<T: Thread, A: StreamOf>(t: T, stream: A, number: u64) -> Entry {
    let entry = t.load4(stream.table(t), number);
    Entry::from_words(entry, Split::SHORT)
}
