//! ferrosz's coders of tiles as stages on a machine that runs kernels.

use crate::error::Error;
use crate::gpu::import_blocks;
use crate::kernels::arrays::CodeArray;
use crate::kernels::collect::{CollectCodes, CollectCodesParams};
use crate::kernels::import::{ImportCodes, ImportCodesParams};
use crate::stage::entropy::frequency_words;
use crate::stage::machine::CodesOn;
use crate::stage::tiles::Table;
use ferrosz_codec::Codec;
use ferrosz_codec::pipeline::{TileCodec, TileCoder, TilePredictor};
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::with_shape;
use ferrosz_host::internals::{CodedTiles, Executor, TileCodes};
use ferrosz_simt::View;

impl<E: Executor> CodesOn<'_, E> {
    /// Codes as a coder of tiles encodes them.
    pub(super) fn encode_tiles(
        &self,
        coder: TileCoder,
        codes: View<u32>,
    ) -> Result<Vec<u8>, Error> {
        let (tiles, array) = self.tiles(coder, codes)?;
        let views = tiles.views();
        let params = ImportCodesParams {
            array,
            predicted: views.regions,
            values: views.values,
            cells: views.cells,
        };
        let blocks = import_blocks(self.format.count());
        let shape = self.format.layout.grid.shape();
        with_shape!(shape, S => self.executor.launch::<ImportCodes<S>>(blocks, &params))?;
        self.check(views.cells)?;
        let coded = tiles.encode()?;
        let entries = coded
            .chunks
            .iter()
            .map(|(form, bytes)| (*form, *bytes as usize));
        let table = Table(entries.collect());
        table.write_chunks(&coded.frequencies, [&coded.images[..]].into_iter())
    }

    /// The codes in bytes as a coder of tiles decodes them.
    pub(super) fn decode_tiles(
        &self,
        name: &str,
        coder: TileCoder,
        bytes: &[u8],
    ) -> Result<E::Memory, Error> {
        let grid = &self.format.layout.grid;
        let (table, behind) = Table::read(name, bytes, ChunkLength::Four.count(grid))?;
        let (frequencies, images) = match coder.has_tables() {
            true => frequency_words(behind)
                .ok_or_else(|| Error::stage(name, "it ends within the frequencies"))?,
            false => (Vec::new(), behind),
        };
        table.chunks(name, images)?;
        let memory = self
            .executor
            .allocate(self.format.count() * self.kind().bytes())?;
        let (tiles, array) = self.tiles(coder, self.executor.view(&memory))?;
        let entries = table.0.iter().map(|(form, bytes)| (*form, *bytes as u64));
        tiles.decode(&CodedTiles {
            chunks: entries.collect(),
            frequencies,
            images: images.into(),
        })?;
        let views = tiles.views();
        let params = CollectCodesParams {
            array,
            predicted: views.regions,
            values: views.values,
            cells: views.cells,
        };
        let blocks = import_blocks(self.format.count());
        with_shape!(grid.shape(), S => self.executor.launch::<CollectCodes<S>>(blocks, &params))?;
        self.check(views.cells)?;
        Ok(memory)
    }

    /// Memory for the codes of tiles, and an array of codes.
    fn tiles(
        &self,
        coder: TileCoder,
        codes: View<u32>,
    ) -> Result<(TileCodes<'_, E>, CodeArray), Error> {
        let layout = &self.format.layout;
        let shape = layout.grid.shape();
        let has_levels = |codec: &TileCodec| match codec.predictor {
            TilePredictor::Interp(geometry) => geometry.levels(shape) == layout.anchor_level,
            _ => false,
        };
        let codecs = Codec::ALL.into_iter().filter_map(Codec::tiles);
        let mut codec = { codecs }
            .find(has_levels)
            .ok_or(Error::BadDecomposition("no geometry has such anchors"))?;
        codec.coder = coder;
        let tiles = TileCodes::new(self.executor, codec, &layout.grid, self.format.radius)?;
        let array = CodeArray {
            codes,
            width: self.kind().bytes() as u32,
            parameters: tiles.views().parameters,
            order: layout.order,
            anchor_level: layout.anchor_level,
            lengths: layout.grid.lengths(),
        };
        Ok((tiles, array))
    }
}
