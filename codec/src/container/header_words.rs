//! The header as 32-bit words, which kernels read and write.

use crate::container::checksum::term;
use crate::container::header::{
    BOUND_AT, CHECKSUM_AT, CHECKSUM_WORD, ERROR_AT, HEADER_SEED, HEADER_WORDS, Header, IDENTITY_AT,
    MODE_AT, PAYLOAD_AT, RECORDS_AT, UPDATES_AT, put_wide, sum_of_words, to_words,
};
use crate::container::identity::Identity;

/// The number of words of a header that describe the stream: the words up to its extents.
pub const LAYOUT_WORDS: usize = BOUND_AT / 4;

/// The mask of the word with the bound's mode that excludes the mode, as the reader does not know it.
const MODE_MASK: u32 = !(0xff << (8 * (MODE_AT % 4)));

/// The fields of a header that a decoding kernel reads; its caller knows the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// As in [`Header`].
    pub error_bits: u64,
    /// As in [`Header`].
    pub payload_bytes: u64,
    /// The identity, with which the checksums of the chunks start.
    pub identity: Identity,
}

impl Summary {
    /// Reads a header word by word.
    #[inline(always)]
    pub fn from_words(word: impl Fn(usize) -> u32) -> Self {
        Self {
            error_bits: wide_word(&word, ERROR_AT),
            payload_bytes: wide_word(&word, PAYLOAD_AT),
            identity: Identity(wide_word(&word, IDENTITY_AT)),
        }
    }

    /// Whether a header is undamaged, given the sum of the [`term`]s of its first
    /// [`CHECKSUM_WORD`] words.
    #[inline(always)]
    pub fn has_checksum(sum: u64, word: impl Fn(usize) -> u32) -> bool {
        sum.wrapping_add(HEADER_SEED) == wide_word(&word, 4 * CHECKSUM_WORD)
    }

    /// Whether a header begins with these words, whatever its bound's mode, and its stream has no records or updates.
    /// Does not check the checksum.
    #[inline(always)]
    pub fn is_of(layout: &[u32; LAYOUT_WORDS], word: impl Fn(usize) -> u32) -> bool {
        let mut same = wide_word(&word, UPDATES_AT) | wide_word(&word, RECORDS_AT) == 0;
        for (i, wanted) in layout.iter().enumerate() {
            let mask = if i == MODE_AT / 4 {
                MODE_MASK
            } else {
                u32::MAX
            };
            same &= (word(i) ^ wanted) & mask == 0;
        }
        same
    }
}

/// Eight bytes of a header.
#[inline(always)]
fn wide_word(word: &impl Fn(usize) -> u32, at: usize) -> u64 {
    u64::from(word(at / 4)) | u64::from(word(at / 4 + 1)) << 32
}

/// A header while its stream is written: all fields but those of [`Ending`].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Draft {
    /// The words; those of the ending are 0.
    words: [u32; HEADER_WORDS],
    /// The checksum of the words.
    sum: u64,
}

/// The fields of a header that are known only at the end of a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// As in [`Header`].
    pub error_bits: u64,
    /// As [`Header::identity`].
    pub identity: Identity,
    /// As in [`Header`].
    pub payload_bytes: u64,
}

impl Draft {
    /// The draft of a header, whose error and payload are not read.
    pub fn new(header: &Header) -> Self {
        let mut words = to_words(&header.to_bytes());
        for at in [ERROR_AT, IDENTITY_AT, PAYLOAD_AT, CHECKSUM_AT] {
            put_wide(&mut words, at, 0);
        }
        Self {
            words,
            sum: sum_of_words(&words),
        }
    }

    /// The sum of the words that the identity covers, with 0 for the error. The words behind them are still 0.
    pub const fn identity_sum(&self) -> u64 {
        self.sum
    }

    /// The words of the header with this ending, four at a time, for a kernel. No more than four words of the draft
    /// need registers at a time.
    #[inline(always)]
    pub fn for_each_unit(&self, ending: &Ending, mut take: impl FnMut(usize, [u32; 4])) {
        let Ending {
            error_bits,
            identity: Identity(identity),
            payload_bytes,
        } = *ending;
        let sum = self.sum.wrapping_add(error_term(error_bits));
        let sum = sum.wrapping_add(wide_term(IDENTITY_AT, identity));
        let checksum = sum.wrapping_add(wide_term(PAYLOAD_AT, payload_bytes));
        let word = |at: usize| {
            let wide = match 4 * (at & !1) {
                ERROR_AT => error_bits,
                IDENTITY_AT => identity,
                PAYLOAD_AT => payload_bytes,
                CHECKSUM_AT => checksum,
                _ => return self.words[at],
            };
            (wide >> (32 * (at % 2))) as u32
        };
        for unit in 0..HEADER_WORDS / 4 {
            take(unit, core::array::from_fn(|i| word(4 * unit + i)));
        }
    }
}

/// The term that the error adds to the sum of the words that the identity covers.
#[inline(always)]
pub fn error_term(error_bits: u64) -> u64 {
    wide_term(ERROR_AT, error_bits)
}

/// The term that a field of eight bytes adds to the checksum of a header.
#[inline(always)]
fn wide_term(at: usize, value: u64) -> u64 {
    let at = (at / 4) as u32;
    term(at, value as u32).wrapping_add(term(at + 1, (value >> 32) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Bound;
    use crate::container::extents::Extents;
    use crate::container::layout::Layout;
    use crate::element::Dtype;
    use crate::pipeline::Codec;
    use crate::shape::Shape;

    #[test]
    fn a_draft_becomes_the_header() {
        let extents = Extents::new(&[7, 5, 3, 2]).unwrap();
        let layout = Layout::new(Codec::OUTLIER, Shape::Cube, extents);
        let header = Header {
            payload_bytes: 0x490,
            ..layout.header(Dtype::F64, Bound::default(), 0x3f84_7ae1_47ae_147b)
        };
        let ending = Ending {
            error_bits: header.error_bits,
            identity: header.identity(),
            payload_bytes: header.payload_bytes,
        };
        let before = Header {
            error_bits: 0,
            payload_bytes: 0,
            ..header
        };
        let draft = Draft::new(&before);
        let mut words = [0; HEADER_WORDS];
        draft.for_each_unit(&ending, |unit, of_unit| {
            words[4 * unit..4 * unit + 4].copy_from_slice(&of_unit);
        });
        assert_eq!(words, to_words(&header.to_bytes()));
        let sum = draft
            .identity_sum()
            .wrapping_add(error_term(header.error_bits));
        assert_eq!(Identity::of_sum(sum), header.identity());
        assert_eq!(Header::read(&header.to_bytes()), Ok(header));
    }
}
