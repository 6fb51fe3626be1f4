//! ferrosz's entropy coders as stages: the classes of zones choose the frequencies of codes.

use crate::error::Error;
use crate::stage::tiles::{CodeTiles, Image, Table, chunk_codes};
use crate::stage::{CodeFormat, Codes, MachineStage, Stage};
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::code::entropy::frequency_tables::{FrequencyTables, Head, MAX_WORDS};
use ferrosz_codec::code::entropy::states::{self, SymbolCoder};
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::code::entropy::{self, Pops, Pushes, word_count};
use ferrosz_host::cpu::code::image::image_bytes;

/// Zones and rANS over the tiles of the field: the coder of `interp`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rans;

/// Zones and Huffman codes over the tiles of the field: the coder of `interp-square+huffman`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Huffman;

impl Stage for Rans {
    fn name(&self) -> &'static str {
        "rans"
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        encode::<states::Rans>(codes)
    }

    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
        decode::<states::Rans>(self.name(), bytes, format)
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::Tiles(TileCoder::Rans))
    }
}

impl Stage for Huffman {
    fn name(&self) -> &'static str {
        "huffman"
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        encode::<states::Huffman>(codes)
    }

    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
        decode::<states::Huffman>(self.name(), bytes, format)
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::Tiles(TileCoder::Huffman))
    }
}

fn encode<C: SymbolCoder>(codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
    let tiles = CodeTiles::new(codes.format());
    let field = tiles.field_of(codes)?;
    let frequencies = FrequencyTables::of::<C>(&counts(&tiles, &field));
    let pushes = Pushes::new::<C>(&frequencies)?;
    let images = tiles.map_chunks(0..tiles.chunks(), |chunk| {
        let boxes = tiles.boxes(chunk);
        let codes = tiles.gather(&field, &boxes);
        let length = ChunkLength::Four;
        let (mut image, mut words) = (vec![0; image_bytes(length)], vec![0; word_count(length)]);
        let value = |tile: usize, at: usize| tiles.value(&codes, tile, at);
        let (version, chunk) = (Version::best(), tiles.chunk(&boxes));
        let (form, bytes) = entropy::encode(
            version, chunk, &pushes, &codes, value, &mut words, &mut image,
        );
        image.truncate(bytes);
        Image { form, bytes: image }
    });
    let mut words = [0; MAX_WORDS];
    let used = frequencies.write::<C>(&mut words);
    Table::write(&words[..used], &images)
}

/// The counts of all symbols. None is a sample, however large the field.
fn counts(tiles: &CodeTiles, field: &[u16]) -> Counts {
    let of_chunks = tiles.map_chunks(0..tiles.chunks(), |chunk| {
        let boxes = tiles.boxes(chunk);
        let codes = tiles.gather(field, &boxes);
        let mut counts = Box::<Counts>::default();
        for (tile, codes) in boxes.iter().zip(&codes) {
            tiles.map.count(Version::best(), tile, codes, &mut counts);
        }
        counts
    });
    let mut counts = Counts::default();
    of_chunks.iter().for_each(|own| counts.merge(own));
    counts.complete(false);
    counts
}

fn decode<C: SymbolCoder>(name: &str, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
    let tiles = CodeTiles::new(format);
    let (table, behind) = Table::read(name, bytes, tiles.chunks())?;
    let (words, chunks) = frequency_words(behind)
        .ok_or_else(|| Error::stage(name, "it ends within the frequencies"))?;
    let frequencies = FrequencyTables::read::<C>(&words)
        .map_err(|fault| Error::stage(name, format!("the frequencies are wrong: {fault}")))?;
    let pops = Pops::new::<C>(&frequencies)?;
    let chunks = table.chunks(name, chunks)?;
    tiles.decode(name, |number, boxes| {
        let (form, bytes) = chunks[number as usize];
        chunk_codes(boxes.len(), |codes, set| {
            let (version, chunk) = (Version::best(), tiles.chunk(boxes));
            entropy::decode::<f32>(version, chunk, &pops, form, bytes, codes, set)
        })
    })
}

/// The words of the frequencies, whose heads say how many there are, and the bytes behind them.
pub(super) fn frequency_words(bytes: &[u8]) -> Option<(Vec<u32>, &[u8])> {
    let word = |at: usize| {
        bytes
            .as_chunks::<4>()
            .0
            .get(at)
            .copied()
            .map(u32::from_le_bytes)
    };
    let last = Head::from_word(word(CONTEXTS as usize - 1)?);
    let count = (CONTEXTS + last.end).next_multiple_of(4) as usize;
    let words = (0..count.min(MAX_WORDS + 1))
        .map(word)
        .collect::<Option<_>>()?;
    Some((words, bytes.get(4 * count..)?))
}
