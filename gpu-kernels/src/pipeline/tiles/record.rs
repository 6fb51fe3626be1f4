//! The encoder's record of a chunk, for the kernel that puts the chunk into the stream.

use crate::pipeline::cells;
use crate::primitives::look_back::publish;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::tile::LANES;
use ferrosz_simt::{Thread, View};

/// A chunk's form and the parts of its image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Its form.
    pub form: Form,
    /// Words of its image, padding included.
    pub image_words: u32,
    /// The length of the coder's words, in the coder's own unit.
    pub words: u32,
    /// The word of the image that these begin at.
    pub words_at: u32,
    /// The word of the image that the raw values begin at.
    pub values_at: u32,
    /// How many these are.
    pub values: u32,
}

/// Words that images are padded to a multiple of.
pub const PADDING: u32 = 4;

/// The words of a record: numbers, and then the states of all lanes.
const NUMBERS: u32 = 8;
/// Words of a record.
pub const RECORD_WORDS: u64 = (NUMBERS + LANES) as u64;

impl Record {
    /// Of a chunk whose codes are all 0.
    pub const ZERO: Self = Self {
        form: Form::Zero,
        image_words: 0,
        words: 0,
        words_at: 0,
        values_at: 0,
        values: 0,
    };

    /// Of a coded chunk; `element_words` is the size of a value.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn coded(
        words: u32,
        [words_at, values_at]: [u32; 2],
        values: u32,
        element_words: u32,
    ) -> Self {
        Self {
            form: Form::Coded,
            image_words: (values_at + values * element_words).next_multiple_of(PADDING),
            words,
            words_at,
            values_at,
            values,
        }
    }

    /// Of a raw chunk, with codes at so many positions.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn raw(positions: u32, element_words: u32) -> Self {
        Self {
            form: Form::Raw,
            image_words: (positions * element_words).next_multiple_of(PADDING),
            values: positions,
            ..Self::ZERO
        }
    }

    /// The shorter of a coded and a raw form of a chunk; the raw one if they are equally long.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn shorter(coded: Self, raw: Self) -> Self {
        if coded.image_words < raw.image_words {
            coded
        } else {
            raw
        }
    }

    /// Publishes the chunk's length, for blocks that look back. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn publish<T: Thread>(&self, t: T, cells: View<u64>, chunk: u64) {
        if t.lane() == 0 {
            let bytes = 4 * u64::from(self.image_words);
            publish(t, (cells, cells::STATES), chunk, bytes);
        }
    }

    /// Keeps this and, if the chunk has lanes, the state of each. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store<T: Thread>(&self, t: T, records: View<u32>, chunk: u64, state: u32) {
        let record = records.from(chunk * RECORD_WORDS);
        let numbers = [
            self.form.id(),
            self.image_words,
            self.words,
            self.words_at,
            self.values_at,
            self.values,
        ];
        if t.lane() == 0 {
            for (i, number) in (0..).zip(&numbers) {
                t.store(record, i, *number);
            }
        }
        t.store(record, u64::from(NUMBERS + t.lane()), state);
    }

    /// The record of a chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load<T: Thread>(t: T, records: View<u32>, chunk: u64) -> Self {
        let record = records.from(chunk * RECORD_WORDS);
        let number = |i| t.load(record, i);
        Self {
            form: Form::from_id(number(0)).unwrap_or(Form::Zero),
            image_words: number(1),
            words: number(2),
            words_at: number(3),
            values_at: number(4),
            values: number(5),
        }
    }

    /// The bytes of an image, by the words of a record.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn image_bytes(record: &[u32]) -> u64 {
        4 * u64::from(record.get(1).copied().unwrap_or(0))
    }

    /// The state of this lane in a chunk.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn state<T: Thread>(t: T, records: View<u32>, chunk: u64) -> u32 {
        let at = chunk * RECORD_WORDS + u64::from(NUMBERS + t.lane());
        t.load(records, at)
    }
}
