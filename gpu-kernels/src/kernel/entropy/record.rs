//! What the encoder tells the kernel that puts a chunk into the stream.

use crate::simt::{Thread, View};
use ferrosz_codec::stream::chunk::Form;
use ferrosz_codec::tile::LANES;

/// A chunk's form and what its image is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Its form.
    pub form: Form,
    /// Words of its image, padding included.
    pub image_words: u32,
    /// Half words that its lanes have emitted.
    pub words: u32,
    /// Words that its lanes' states take.
    pub state_words: u32,
    /// Its values that are stored as they are.
    pub values: u32,
}

/// Words of an image before the states: the number of words, and 4 bits for each lane.
pub const HEAD_WORDS: u32 = 1 + LANES / 8;

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
        state_words: 0,
        values: 0,
    };

    /// Of a coded chunk, whose states take so many bits.
    #[inline(always)]
    pub const fn coded(words: u32, values: u32, state_bits: u32, element_words: u32) -> Self {
        let mut record = Self {
            form: Form::Coded,
            image_words: 0,
            words,
            state_words: state_bits.div_ceil(32),
            values,
        };
        let end = record.values_at() + values * element_words;
        record.image_words = end.next_multiple_of(PADDING);
        record
    }

    /// Of a chunk with codes at so many places, which is stored as it is.
    #[inline(always)]
    pub const fn raw(places: u32, element_words: u32) -> Self {
        Self {
            form: Form::Raw,
            image_words: (places * element_words).next_multiple_of(PADDING),
            words: 0,
            state_words: 0,
            values: places,
        }
    }

    /// The word of the image that the words emitted begin at.
    #[inline(always)]
    pub const fn words_at(&self) -> u32 {
        match self.form {
            Form::Coded => HEAD_WORDS + self.state_words,
            _ => 0,
        }
    }

    /// The word of the image that the values begin at.
    #[inline(always)]
    pub const fn values_at(&self) -> u32 {
        self.words_at() + self.words.div_ceil(2)
    }

    /// Keeps this and, if the chunk is coded, the state of each lane. For a warp.
    #[inline(always)]
    pub fn store<T: Thread>(&self, t: T, records: View<u32>, chunk: u64, state: u32) {
        let record = records.from(chunk * RECORD_WORDS);
        let numbers = [
            self.form.id(),
            self.image_words,
            self.words,
            self.state_words,
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
    #[inline(always)]
    pub fn load<T: Thread>(t: T, records: View<u32>, chunk: u64) -> Self {
        let record = records.from(chunk * RECORD_WORDS);
        let number = |i| t.load(record, i);
        Self {
            form: Form::from_id(number(0)).unwrap_or(Form::Zero),
            image_words: number(1),
            words: number(2),
            state_words: number(3),
            values: number(4),
        }
    }

    /// The state of this lane in a chunk.
    #[inline(always)]
    pub fn state<T: Thread>(t: T, records: View<u32>, chunk: u64) -> u32 {
        let at = chunk * RECORD_WORDS + u64::from(NUMBERS + t.lane());
        t.load(records, at)
    }
}
