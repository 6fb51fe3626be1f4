//! One interface to the three coders.

use crate::cpu::Version;
use crate::cpu::code::bit_planes;
use crate::cpu::code::entropy::{self, Pops, Pushes};
use crate::cpu::code::image::{ChunkTiles, image_bytes};
use crate::error::Error;
use crate::memory;
use ferrosz_codec::code::bit_planes::CHUNK_WORDS;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::{Element, with_tile_coder};

/// The scratch of a thread that codes chunks.
pub(crate) struct Scratch {
    words: Vec<u16>,
    planes: Box<[u32; CHUNK_WORDS]>,
    pub(crate) image: Vec<u8>,
}

impl Scratch {
    /// For chunks of this length.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(length: ChunkLength) -> Result<Self, Error> {
        Ok(Self {
            words: memory::try_zeroed(entropy::word_count(length) as u64)?,
            planes: memory::zeroed_box()?,
            image: memory::try_zeroed(image_bytes(length) as u64)?,
        })
    }
}

/// The frequencies that a coder gives to the symbols of a field; none if it does not use frequencies.
pub(crate) fn frequencies(
    coder: TileCoder,
    counts: impl FnOnce() -> Counts,
) -> Option<FrequencyTables> {
    with_tile_coder!(coder, C => Some(FrequencyTables::of::<C>(&counts())), None)
}

/// A coder that is ready to encode.
pub(crate) enum Encoder {
    Entropy(Pushes),
    BitPlane,
}

impl Encoder {
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(
        coder: TileCoder,
        frequencies: Option<&FrequencyTables>,
    ) -> Result<Self, Error> {
        frequencies.map_or(Ok(Self::BitPlane), |frequencies| {
            with_tile_coder!(coder,
                C => Pushes::new::<C>(frequencies).map(Self::Entropy),
                Ok(Self::BitPlane)
            )
        })
    }

    /// Encodes a chunk into the scratch's image; returns its form and length.
    pub(crate) fn encode<T: Element>(
        &self,
        version: Version,
        tiles: ChunkTiles<'_>,
        codes: &[TileCodes],
        value: impl Fn(usize, usize) -> T,
        scratch: &mut Scratch,
    ) -> (Form, usize) {
        let image = &mut scratch.image;
        match self {
            Self::Entropy(pushes) => {
                let words = &mut scratch.words;
                entropy::encode(version, tiles, pushes, codes, value, words, image)
            }
            Self::BitPlane => bit_planes::encode(tiles, codes, value, &mut scratch.planes, image),
        }
    }
}

/// A coder that is ready to decode.
pub(crate) enum Decoder {
    Entropy(Pops),
    BitPlane,
}

impl Decoder {
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn new(
        coder: TileCoder,
        frequencies: Option<&FrequencyTables>,
    ) -> Result<Self, Error> {
        frequencies.map_or(Ok(Self::BitPlane), |frequencies| {
            with_tile_coder!(coder,
                C => Pops::new::<C>(frequencies).map(Self::Entropy),
                Ok(Self::BitPlane)
            )
        })
    }

    /// Decodes a chunk; `set` is called with the values that have no code.
    pub(crate) fn decode<T: Element>(
        &self,
        version: Version,
        tiles: ChunkTiles<'_>,
        (form, bytes): (Form, &[u8]),
        codes: &mut [TileCodes],
        set: impl FnMut(usize, usize, T),
        scratch: &mut Scratch,
    ) -> Result<(), ChunkFault> {
        match self {
            Self::Entropy(pops) => entropy::decode(version, tiles, pops, form, bytes, codes, set),
            Self::BitPlane => {
                bit_planes::decode(tiles, form, bytes, codes, set, &mut scratch.planes)
            }
        }
    }
}
