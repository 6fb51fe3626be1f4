//! The header as 32-bit words, which kernels read and write.

use crate::container::checksum::term;
use crate::container::header::{
    BOUND_AT, CHECKSUM_AT, CHECKSUM_WORD, CODER_AT, CONVERSION_AT, DTYPE_AT, ENTRIES_AT, ERROR_AT,
    EXTENTS_AT, HEADER_SEED, HEADER_WORDS, Header, IDENTITY_AT, MODE_AT, NEEDED, PAYLOAD_AT,
    PREDICTOR_AT, RECORDS_AT, RECORDS_SUM_AT, ROLES_AT, SECTIONS, UPDATES_AT, VERSION_AT, put_wide,
    sum_of_words, to_words,
};
use crate::container::identity::Identity;
use crate::mapping::Scale;
use crate::pipeline::{BlockCodec, CodecId};

/// The words of a header that describe the stream, as a reader expects them, whatever its bound: the words up to its
/// extents, that of the roles of axes, the classes of the mask and the kind of conversion, and those of the lengths of the
/// records and of the updates.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutWords {
    words: [u32; LAYOUT_WORDS],
    /// Excludes the kind of conversion in the word behind the extents, if there is one, as the reader does not know it.
    conversion_mask: u32,
}

/// The number of such words.
const LAYOUT_WORDS: usize = FIRST_WORDS + 5;

/// The words up to the extents.
const FIRST_WORDS: usize = BOUND_AT / 4;

/// The first of the two words of the length of the records, and of those of the updates.
const RECORDS: usize = FIRST_WORDS + 1;
const UPDATES: usize = RECORDS + 2;

/// The position in the header of word `i` of those that describe the stream.
#[inline(always)]
const fn layout_word(i: usize) -> usize {
    match i {
        FIRST_WORDS => ROLES_AT / 4,
        RECORDS..UPDATES => RECORDS_AT / 4 + i - RECORDS,
        UPDATES..LAYOUT_WORDS => UPDATES_AT / 4 + i - UPDATES,
        i => i,
    }
}

impl LayoutWords {
    /// Those of a header, whatever its kind of conversion.
    pub fn new(header: &Header) -> Self {
        let words = Self::of_elements(&to_words(&header.to_bytes()));
        match header.value_type.is_coded_as_is() {
            true => words,
            false => Self {
                conversion_mask: !(0xff << (8 * (CONVERSION_AT % 4))),
                ..words
            },
        }
    }

    /// Those among the words of a header without conversion.
    pub fn of_elements(header: &[u32; HEADER_WORDS]) -> Self {
        Self {
            words: core::array::from_fn(|i| header[layout_word(i)]),
            conversion_mask: u32::MAX,
        }
    }

    /// The words and their masks, those of all bounds.
    #[inline(always)]
    fn masked(&self, i: usize) -> (u32, u32) {
        let mask = match i {
            MODE_WORD => MODE_MASK,
            VERSION_WORD => !MINOR,
            FIRST_WORDS => self.conversion_mask,
            _ => u32::MAX,
        };
        (self.words[i], mask)
    }
}

/// The word with the version, and the bits of its minor number. They are not compared: the other words and the records show
/// the additions of a later minor version.
const VERSION_WORD: usize = VERSION_AT / 4;
const MINOR: u32 = 0xff << (8 * (VERSION_AT % 4));

/// The word with the bound's mode.
const MODE_WORD: usize = MODE_AT / 4;

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
            payload_bytes: wide_word(&word, PAYLOAD_AT) & !(SECTIONS | NEEDED),
            identity: Identity(wide_word(&word, IDENTITY_AT)),
        }
    }

    /// Whether a header is undamaged, given the sum of the [`term`]s of its first
    /// [`CHECKSUM_WORD`] words.
    #[inline(always)]
    pub fn has_checksum(sum: u64, word: impl Fn(usize) -> u32) -> bool {
        sum.wrapping_add(HEADER_SEED) == wide_word(&word, 4 * CHECKSUM_WORD)
    }

    /// Whether a header has these words. Does not check the checksum.
    #[inline(always)]
    pub fn is_of(layout: &LayoutWords, word: impl Fn(usize) -> u32) -> bool {
        let mut same = true;
        for i in 0..LAYOUT_WORDS {
            let (wanted, mask) = layout.masked(i);
            same &= (word(layout_word(i)) ^ wanted) & mask == 0;
        }
        same
    }

    /// As [`Summary::is_of`], for a line of `elements` elements and any codec of blocks. The extent and the codec in
    /// `layout` are not read.
    #[inline(always)]
    pub fn is_of_line(layout: &LayoutWords, elements: u64, word: impl Fn(usize) -> u32) -> bool {
        let mut same = wide_word(&word, EXTENTS_AT) == elements;
        for i in 0..LAYOUT_WORDS {
            let (wanted, mut mask) = layout.masked(i);
            if i == CODER_AT / 4 {
                mask &= !(0xff << (8 * (CODER_AT % 4)));
            }
            if i == PREDICTOR_AT / 4 {
                mask &= !(0xff << (8 * (PREDICTOR_AT % 4)));
            }
            if i == EXTENTS_AT / 4 || i == EXTENTS_AT / 4 + 1 {
                mask = 0;
            }
            same &= (word(layout_word(i)) ^ wanted) & mask == 0;
        }
        same
    }

    /// Whether the records of a header are undamaged, given the sum of their [`term`]s.
    #[inline(always)]
    pub fn has_records(sum: u64, word: impl Fn(usize) -> u32) -> bool {
        sum.wrapping_add(HEADER_SEED) == wide_word(&word, RECORDS_SUM_AT)
    }

    /// The codec of a header; none if it is no codec of blocks.
    #[inline(always)]
    pub fn block_codec(word: impl Fn(usize) -> u32) -> Option<BlockCodec> {
        let byte = |at: usize| (word(at / 4) >> (8 * (at % 4))) as u8;
        let found = CodecId {
            predictor: byte(PREDICTOR_AT),
            coder: byte(CODER_AT),
        };
        let mut codec = None;
        // Not `find`: a kernel has no list in memory.
        for position in 0..BlockCodec::ALL.len() as u32 {
            let candidate = BlockCodec::at(position);
            if candidate.is_some_and(|candidate| candidate.id() == found) {
                codec = candidate;
            }
        }
        codec
    }
}

/// The scale of the coded field of a header's stream.
#[inline(always)]
pub fn scale(word: impl Fn(usize) -> u32) -> Scale {
    let mode = word(MODE_AT / 4) >> (8 * (MODE_AT % 4)) & 0xff;
    Scale::of(mode as u8, wide_word(&word, ERROR_AT) == 0)
}

/// The number of the type of a header's values.
#[inline(always)]
pub fn value_type(word: impl Fn(usize) -> u32) -> u32 {
    word(DTYPE_AT / 4) >> (8 * (DTYPE_AT % 4)) & 0xff
}

/// The number of the kind of conversion of a header's values.
#[inline(always)]
pub fn conversion(word: impl Fn(usize) -> u32) -> u32 {
    word(CONVERSION_AT / 4) >> (8 * (CONVERSION_AT % 4)) & 0xff
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

/// What a conversion that is chosen on the way adds to a draft, in which it is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converted {
    /// The number of its kind.
    pub kind: u32,
    /// As in [`Header`].
    pub record_sum: u64,
}

impl Converted {
    /// The kind in its word.
    #[inline(always)]
    const fn word(&self) -> u32 {
        self.kind << (8 * (CONVERSION_AT % 4))
    }

    /// The sum of the words that the identity covers, with 0 for the error, if it is `sum` without the conversion.
    #[inline(always)]
    pub fn identity_sum(&self, sum: u64) -> u64 {
        let of_kind = term((CONVERSION_AT / 4) as u32, self.word());
        let of_records = wide_term(RECORDS_SUM_AT, self.record_sum);
        sum.wrapping_add(of_kind).wrapping_add(of_records)
    }
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
    pub fn for_each_unit(&self, ending: &Ending, take: impl FnMut(usize, [u32; 4])) {
        self.for_each_unit_with(ending, self.sum, |_| None, take);
    }

    /// As [`Draft::for_each_unit`], for a conversion that is chosen on the way. The draft's header has no kind of
    /// conversion and no sum of records.
    #[inline(always)]
    pub fn for_each_unit_converted(
        &self,
        ending: &Ending,
        converted: &Converted,
        take: impl FnMut(usize, [u32; 4]),
    ) {
        const LOW: usize = (CONVERSION_AT / 4) & !1;
        const PAIR: usize = 4 * LOW;
        let wide = |at: usize| match at {
            RECORDS_SUM_AT => Some(converted.record_sum),
            PAIR => {
                let high = self.words[LOW + 1] | converted.word();
                Some(u64::from(self.words[LOW]) | u64::from(high) << 32)
            }
            _ => None,
        };
        self.for_each_unit_with(ending, converted.identity_sum(self.sum), wide, take);
    }

    /// As [`Draft::for_each_unit`]; `wide` has further fields of eight bytes, by their position, and `sum` is the sum of
    /// the draft's words with these.
    #[inline(always)]
    fn for_each_unit_with(
        &self,
        ending: &Ending,
        sum: u64,
        wide: impl Fn(usize) -> Option<u64>,
        mut take: impl FnMut(usize, [u32; 4]),
    ) {
        let Ending {
            error_bits,
            identity: Identity(identity),
            payload_bytes,
        } = *ending;
        let sum = sum.wrapping_add(error_term(error_bits));
        let sum = sum.wrapping_add(wide_term(IDENTITY_AT, identity));
        let checksum = sum.wrapping_add(wide_term(PAYLOAD_AT, payload_bytes));
        let word = |at: usize| {
            let found = match 4 * (at & !1) {
                ERROR_AT => error_bits,
                IDENTITY_AT => identity,
                PAYLOAD_AT => payload_bytes,
                CHECKSUM_AT => checksum,
                other => match wide(other) {
                    Some(found) => found,
                    None => return self.words[at],
                },
            };
            (found >> (32 * (at % 2))) as u32
        };
        for unit in 0..HEADER_WORDS / 4 {
            take(unit, core::array::from_fn(|i| word(4 * unit + i)));
        }
    }
}

/// A header of lines of any length while their streams are written: all fields but those of [`Ending`], the extent and
/// the number of entries.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LineDraft(Draft);

/// The length of a line: its elements, and the entries of the chunk table that follow from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLength {
    /// Elements of the line.
    pub elements: u64,
    /// Entries of its chunk table.
    pub entries: u64,
}

impl LineDraft {
    /// The draft of the header of a line without elements, whose error is not read.
    pub fn new(header: &Header) -> Self {
        Self(Draft::new(header))
    }

    /// As [`Draft::identity_sum`], for a line of this length.
    #[inline(always)]
    pub fn identity_sum(&self, length: LineLength) -> u64 {
        let LineLength { elements, entries } = length;
        let sum = self.0.sum.wrapping_add(wide_term(EXTENTS_AT, elements));
        sum.wrapping_add(wide_term(ENTRIES_AT, entries))
    }

    /// As [`Draft::for_each_unit`], for a line of this length.
    #[inline(always)]
    pub fn for_each_unit(
        &self,
        length: LineLength,
        ending: &Ending,
        take: impl FnMut(usize, [u32; 4]),
    ) {
        let wide = |at: usize| match at {
            EXTENTS_AT => Some(length.elements),
            ENTRIES_AT => Some(length.entries),
            _ => None,
        };
        (self.0).for_each_unit_with(ending, self.identity_sum(length), wide, take);
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
    use crate::mapping::conversion::Kind;
    use crate::pipeline::Codec;
    use crate::shape::Shape;
    use crate::value::ValueType;

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

    #[test]
    fn a_draft_of_converted_values_becomes_the_header() {
        let layout = Layout::new(Codec::PLAIN, Shape::Line, Extents::line(77));
        let header = Header {
            value_type: ValueType::Bf16,
            conversion: Kind::Ordered,
            record_bytes: 16,
            record_sum: 0x1234_5678_9abc_def0,
            payload_bytes: 0x490,
            ..layout.header(Dtype::F32, Bound::default(), 0x3f84_7ae1)
        };
        let draft = Draft::new(&Header {
            conversion: Kind::Widened,
            record_sum: 0,
            ..header
        });
        let converted = Converted {
            kind: u32::from(header.conversion.id()),
            record_sum: header.record_sum,
        };
        let ending = Ending {
            error_bits: header.error_bits,
            identity: header.identity(),
            payload_bytes: header.payload_bytes,
        };
        let mut words = [0; HEADER_WORDS];
        draft.for_each_unit_converted(&ending, &converted, |unit, of_unit| {
            words[4 * unit..4 * unit + 4].copy_from_slice(&of_unit);
        });
        assert_eq!(words, to_words(&header.to_bytes()));
        let sum = converted.identity_sum(draft.identity_sum());
        let sum = sum.wrapping_add(error_term(header.error_bits));
        assert_eq!(Identity::of_sum(sum), header.identity());
        let word = |at: usize| words[at];
        assert_eq!(value_type(word), u32::from(ValueType::Bf16.id()));
        assert_eq!(conversion(word), converted.kind);
        // The kind is not known before; without a conversion it is 0.
        let widened = LayoutWords::new(&Header {
            conversion: Kind::Widened,
            ..header
        });
        assert!(Summary::is_of(&widened, word));
        let of_elements = header.of_elements();
        let forged = to_words(
            &Header {
                conversion: Kind::Ordered,
                ..of_elements
            }
            .to_bytes(),
        );
        let wanted = LayoutWords::new(&of_elements);
        assert!(!Summary::is_of(&wanted, |at| forged[at]));
    }

    #[test]
    fn a_draft_of_lines_becomes_the_header_of_each() {
        let layout = |codec, elements| Layout::new(codec, Shape::Line, Extents::line(elements));
        for codec in Codec::BLOCKS {
            let empty = layout(codec, 0).header(Dtype::F32, Bound::default(), 0);
            let draft = LineDraft::new(&empty);
            for elements in [0, 1, 8192, 8193, 1 << 40] {
                let header = Header {
                    payload_bytes: 0,
                    ..layout(codec, elements).header(Dtype::F32, Bound::default(), 0x3a83_126f)
                };
                let length = LineLength {
                    elements,
                    entries: header.chunks(),
                };
                let ending = Ending {
                    error_bits: header.error_bits,
                    identity: header.identity(),
                    payload_bytes: header.payload_bytes,
                };
                let mut words = [0; HEADER_WORDS];
                draft.for_each_unit(length, &ending, |unit, of_unit| {
                    words[4 * unit..4 * unit + 4].copy_from_slice(&of_unit);
                });
                let wanted = to_words(&header.to_bytes());
                assert_eq!(words, wanted, "{codec}, {elements}");
                let sum = draft.identity_sum(length);
                let sum = sum.wrapping_add(error_term(header.error_bits));
                assert_eq!(Identity::of_sum(sum), header.identity());
                let any = LayoutWords::new(&empty);
                assert!(Summary::is_of_line(&any, elements, |at| wanted[at]));
                assert!(!Summary::is_of_line(&any, elements + 1, |at| wanted[at]));
                assert_eq!(
                    Summary::block_codec(|at| wanted[at]).map(Codec::Blocks),
                    Some(codec)
                );
                for at in 0..LAYOUT_WORDS {
                    let changed = |i: usize| wanted[i] ^ u32::from(i == layout_word(at)) << 16;
                    assert!(!Summary::is_of_line(&any, elements, changed), "{at}");
                }
            }
        }
        let tiles = layout(Codec::INTERP, 5).header(Dtype::F32, Bound::default(), 0);
        let words = to_words(&tiles.to_bytes());
        assert_eq!(Summary::block_codec(|at| words[at]), None);
    }
}
