//! The three coders behind one face.

use crate::cpu::code::bit_planes;
use crate::cpu::code::entropy;
use crate::cpu::code::image::{ChunkTiles, IMAGE_BYTES};
use ferrosz_codec::Element;
use ferrosz_codec::code::bit_planes::CHUNK_WORDS;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::code::entropy::shares::Shares;
use ferrosz_codec::code::entropy::states::{Huffman, Rans};
use ferrosz_codec::code::entropy::tables::{DecodeTables, EncodeTables};
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_codec::tile::code::TileCodes;

/// What a thread that codes chunks works in.
pub(super) struct Room {
    words: Box<[u16; entropy::MAX_WORDS]>,
    planes: Box<[u32; CHUNK_WORDS]>,
    pub(super) image: Vec<u8>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            words: bytemuck::zeroed_box(),
            planes: bytemuck::zeroed_box(),
            image: vec![0; IMAGE_BYTES],
        }
    }
}

/// The shares that a coder gives to the symbols of a field; none if it has no use for them.
pub(super) fn shares(coder: TileCoder, counts: impl FnOnce() -> Counts) -> Option<Shares> {
    match coder {
        TileCoder::Rans => Some(Shares::of::<Rans>(&counts())),
        TileCoder::Huffman => Some(Shares::of::<Huffman>(&counts())),
        TileCoder::BitPlane => None,
    }
}

/// A coder that is ready to encode.
pub(super) enum Encoder {
    Rans(EncodeTables<Rans>),
    Huffman(EncodeTables<Huffman>),
    BitPlane,
}

impl Encoder {
    pub(super) fn new(coder: TileCoder, shares: Option<&Shares>) -> Self {
        match (coder, shares) {
            (TileCoder::Rans, Some(shares)) => Self::Rans(EncodeTables::new(shares)),
            (TileCoder::Huffman, Some(shares)) => Self::Huffman(EncodeTables::new(shares)),
            (TileCoder::BitPlane, _) | (_, None) => Self::BitPlane,
        }
    }

    /// Encodes a chunk into the room's image; its form and length.
    pub(super) fn encode<T: Element>(
        &self,
        tiles: ChunkTiles<'_>,
        codes: &[TileCodes],
        value: impl Fn(usize, usize) -> T,
        room: &mut Room,
    ) -> (Form, usize) {
        let image = &mut room.image;
        match self {
            Self::Rans(tables) => {
                entropy::encode(tiles, tables, codes, value, &mut room.words, image)
            }
            Self::Huffman(tables) => {
                entropy::encode(tiles, tables, codes, value, &mut room.words, image)
            }
            Self::BitPlane => bit_planes::encode(tiles, codes, value, &mut room.planes, image),
        }
    }
}

/// A coder that is ready to decode.
pub(super) enum Decoder {
    Rans(DecodeTables<Rans>),
    Huffman(DecodeTables<Huffman>),
    BitPlane,
}

impl Decoder {
    pub(super) fn new(coder: TileCoder, shares: Option<&Shares>) -> Self {
        match (coder, shares) {
            (TileCoder::Rans, Some(shares)) => Self::Rans(DecodeTables::new(shares)),
            (TileCoder::Huffman, Some(shares)) => Self::Huffman(DecodeTables::new(shares)),
            (TileCoder::BitPlane, _) | (_, None) => Self::BitPlane,
        }
    }

    /// Decodes a chunk; `set` gets the values that have no code.
    pub(super) fn decode<T: Element>(
        &self,
        tiles: ChunkTiles<'_>,
        (form, bytes): (Form, &[u8]),
        codes: &mut [TileCodes],
        set: impl FnMut(usize, usize, T),
        room: &mut Room,
    ) -> Result<(), ChunkFault> {
        match self {
            Self::Rans(tables) => entropy::decode(tiles, tables, form, bytes, codes, set),
            Self::Huffman(tables) => entropy::decode(tiles, tables, form, bytes, codes, set),
            Self::BitPlane => bit_planes::decode(tiles, form, bytes, codes, set, &mut room.planes),
        }
    }
}
