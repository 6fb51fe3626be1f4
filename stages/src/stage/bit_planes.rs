//! ferrosz's bit planes without zero words as a stage.

use crate::error::Error;
use crate::stage::tiles::{CodeTiles, Image, Table, chunk_codes};
use crate::stage::{CodeFormat, Codes, MachineStage, Stage};
use ferrosz_codec::code::bit_planes::CHUNK_WORDS;
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_host::cpu::code::bit_planes;
use ferrosz_host::cpu::code::image::image_bytes;

/// Bit planes of the tiles of the field, without words that are 0: the coder of `interp-square+bitplane`.
#[derive(Debug, Clone, Copy, Default)]
pub struct BitPlanes;

/// The name in containers.
const NAME: &str = "bit-planes";

impl Stage for BitPlanes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        let tiles = CodeTiles::new(codes.format());
        let field = tiles.field_of(codes)?;
        let images = tiles.map_chunks(0..tiles.chunks(), |chunk| {
            let boxes = tiles.boxes(chunk);
            let codes = tiles.gather(&field, &boxes);
            let (mut image, mut words) = (vec![0; image_bytes(ChunkLength::Four)], planes());
            let value = |tile: usize, at: usize| tiles.value(&codes, tile, at);
            let chunk = tiles.chunk(&boxes);
            let (form, bytes) = bit_planes::encode(chunk, &codes, value, &mut words, &mut image);
            image.truncate(bytes);
            Image { form, bytes: image }
        });
        Table::write(&[], &images)
    }

    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
        let tiles = CodeTiles::new(format);
        let (table, chunks) = Table::read(NAME, bytes, tiles.chunks())?;
        let chunks = table.chunks(NAME, chunks)?;
        tiles.decode(NAME, |number, boxes| {
            let (form, bytes) = chunks[number as usize];
            let mut words = planes();
            chunk_codes(boxes.len(), |codes, set| {
                let chunk = tiles.chunk(boxes);
                bit_planes::decode::<f32>(chunk, form, bytes, codes, set, &mut words)
            })
        })
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::Tiles(TileCoder::BitPlane))
    }
}

/// Scratch for the planes of a chunk.
fn planes() -> Box<[u32; CHUNK_WORDS]> {
    bytemuck::zeroed_box()
}
