//! A chunk's bytes: forms, sections, and the choice of form.
//!
//! ```text
//! coded:   [ rate bytes, padded to 4 ][ initial code, if layered ][ bodies, back to back, padded to 4 ]
//!          and with exceptions: [ group mask ][ element masks ][ values ]
//! ```
//!
//! Every form is padded with zeros to 16 bytes. All lengths below are in 32-bit words.

use crate::pipeline::BlockCodec;
use crate::shape::{GROUP, Shape};

/// Groups of a full chunk: one for each thread of a thread block of 256, so that the registers of one thread block hold
/// a chunk.
pub const CHUNK_GROUPS: usize = 256;

/// Elements in a full chunk.
pub const CHUNK: usize = CHUNK_GROUPS * GROUP;

/// Chunks are padded to a multiple of this many words.
const PADDING: u32 = 4;

/// The form in which a chunk is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// No bytes: every code is 0.
    Zero,
    /// Rate bytes and bodies.
    Coded,
    /// `Coded`, with the values that have no code.
    CodedWithExceptions,
    /// The elements themselves.
    Raw,
    /// One element that is bit for bit equal to all others. Only in lossless streams.
    Constant,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 5] = [
        Self::Zero,
        Self::Coded,
        Self::CodedWithExceptions,
        Self::Raw,
        Self::Constant,
    ];

    /// The number of the form in the stream.
    #[inline(always)]
    pub const fn id(self) -> u32 {
        match self {
            Self::Zero => 0,
            Self::Coded => 1,
            Self::CodedWithExceptions => 2,
            Self::Raw => 3,
            Self::Constant => 4,
        }
    }

    /// The form with this number in the stream.
    #[inline(always)]
    pub fn from_id(id: u32) -> Option<Self> {
        Some(match id {
            0 => Self::Zero,
            1 => Self::Coded,
            2 => Self::CodedWithExceptions,
            3 => Self::Raw,
            4 => Self::Constant,
            _ => return None,
        })
    }
}

/// The positions of the sections of a coded chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sections {
    /// Blocks in the chunk.
    pub blocks: u32,
    /// Groups in the chunk.
    pub groups: u32,
    /// Words of the initial code: 1 if the codec is layered, else 0.
    pub initial_words: u32,
    /// Bytes of all bodies.
    pub body_bytes: u32,
    /// Groups with at least one exception.
    pub flagged_groups: u32,
    /// Exceptions.
    pub exceptions: u32,
}

impl Sections {
    /// A chunk of this many blocks, without bodies and exceptions so far.
    #[inline(always)]
    pub const fn of(blocks: u32, shape: Shape, codec: BlockCodec) -> Self {
        Self {
            blocks,
            groups: blocks * shape.groups() as u32,
            initial_words: codec.is_layered() as u32,
            body_bytes: 0,
            flagged_groups: 0,
            exceptions: 0,
        }
    }

    /// The word of the initial code, after the rate bytes.
    #[inline(always)]
    pub const fn initial(&self) -> u32 {
        self.blocks.div_ceil(4)
    }

    /// The first word of the bodies.
    #[inline(always)]
    pub const fn bodies(&self) -> u32 {
        self.initial() + self.initial_words
    }

    /// The first word of the group mask: bit g % 32 of word g / 32 is set if group g has exceptions.
    #[inline(always)]
    pub const fn group_mask(&self) -> u32 {
        self.bodies() + self.body_bytes.div_ceil(4)
    }

    /// The first of the element masks, one word for each group with exceptions: bit e is set if element e is an
    /// exception.
    #[inline(always)]
    pub const fn element_masks(&self) -> u32 {
        self.group_mask() + self.groups.div_ceil(32)
    }

    /// The first word of the exceptions' values, which are in the order of the elements.
    #[inline(always)]
    pub const fn values(&self) -> u32 {
        self.element_masks() + self.flagged_groups
    }

    /// The first word behind all sections; `element_words` is the size of one element.
    #[inline(always)]
    pub const fn end(&self, element_words: u32) -> u32 {
        if self.exceptions == 0 {
            self.group_mask()
        } else {
            self.values() + self.exceptions * element_words
        }
    }

    /// All words of the chunk, padding included.
    #[inline(always)]
    pub const fn words(&self, element_words: u32) -> u32 {
        self.end(element_words).next_multiple_of(PADDING)
    }

    /// The form of a chunk of `elements` elements with these sections, and its words.
    ///
    /// `initial` is the initial code of a layered chunk, otherwise 0. `is_constant` says that the stream is lossless
    /// and all elements are equal.
    #[inline(always)]
    pub const fn choose(
        &self,
        elements: u32,
        element_words: u32,
        initial: i32,
        is_constant: bool,
    ) -> (Form, u32) {
        let raw = raw_words(elements, element_words);
        let coded = self.words(element_words);
        if self.body_bytes == 0 && self.exceptions == 0 && initial == 0 {
            (Form::Zero, 0)
        } else if is_constant && CONSTANT_WORDS < raw {
            (Form::Constant, CONSTANT_WORDS)
        } else if coded >= raw {
            (Form::Raw, raw)
        } else if self.exceptions == 0 {
            (Form::Coded, coded)
        } else {
            (Form::CodedWithExceptions, coded)
        }
    }
}

/// Words of a constant chunk.
pub const CONSTANT_WORDS: u32 = PADDING;

/// Words of a raw chunk.
#[inline(always)]
pub const fn raw_words(elements: u32, element_words: u32) -> u32 {
    (elements * element_words).next_multiple_of(PADDING)
}
