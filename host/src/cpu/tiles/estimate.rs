//! The size of a stream of tiles, estimated from a sample of its field: tiles of the field are predicted and coded as
//! in the stream, with statistics and parameters of the sample alone.

use crate::cpu::Version;
use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::predict::tune::{Tuned, tune_on};
use crate::cpu::tiles::coder::{self, Encoder, Scratch};
use crate::cpu::tiles::compress::apart;
use crate::cpu::tiles::compress::encode_all;
use crate::error::Error;
use crate::sample::{YARDSTICK, spread};
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::{Counts, is_sample};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::container::tiles::{Prologue, Sections, TileLayout};
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::Part;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, ChunkLength, LANES, RUN_TILES, TILE, TileBox, TileGrid, ZONES};
use rayon::prelude::*;

/// Elements of the sample: 16 whole tiles. A smaller field is coded whole, so that its size is exact.
const SAMPLE: u64 = 16 * TILE as u64;

/// The most tiles of the sample, where tiles have few elements.
const MOST_TILES: u64 = 256;

/// One of this many of the sample's tiles is used for tuning.
const TUNED: usize = 4;

/// The assumed bytes of a chunk of anchors besides their codes.
const ANCHOR_CHUNK: u64 = 128;

/// The assumed difference between the class of the zone of the highest levels and the bits of an anchor. The zone has
/// about 2^9 positions; anchors are further apart, and their codes are larger by a factor of about 2^3.
const CLASS_OVER_BITS: u32 = 5;

/// The sample of a field.
pub(crate) enum TileSample<T> {
    /// The whole field.
    Whole(Vec<T>),
    /// Some of the field's tiles.
    Tiles {
        /// The tiles.
        tiles: Vec<SampleTile<T>>,
        /// The size of their payload with [`YARDSTICK`].
        yardstick: u64,
    },
}

/// A tile of a field, with its elements and those of its far faces, row by row.
pub(crate) struct SampleTile<T> {
    tile: TileBox,
    extents: [u32; 3],
    elements: Vec<T>,
}

impl<T: Element> SampleTile<T> {
    fn index(&self, at: [u64; 3]) -> usize {
        let [_, height, width] = self.extents.map(|extent| extent as usize);
        let [z, y, x]: [usize; 3] = std::array::from_fn(|i| (at[i] - self.tile.origin[i]) as usize);
        (z * height + y) * width + x
    }

    /// The element at a position of the field.
    fn at(&self, at: [u64; 3]) -> T {
        self.elements[self.index(at)]
    }

    /// Fills a slice with the elements along x from a position of the field on.
    fn read(&self, at: [u64; 3], row: &mut [T]) {
        let first = self.index(at);
        row.copy_from_slice(&self.elements[first..first + row.len()]);
    }

    /// Elements of the tile itself.
    fn count(&self, grid: &TileGrid) -> u64 {
        let extents = self.tile.extents(grid.shape());
        extents.map(u64::from).iter().product()
    }

    /// The size of the tile's payload, coded as a separate field of blocks.
    fn block_bytes(&self, grid: &TileGrid, quantizer: &Quantizer<T>, image: &mut [u8]) -> u64 {
        let [depth, height, width] = self.tile.extents(grid.shape()).map(u64::from);
        let Some(extents) = Extents::new(&[depth, height, width]) else {
            return 0;
        };
        let origin = self.tile.origin;
        let mut field = Vec::with_capacity(extents.elements() as usize);
        for row in 0..depth * height {
            let first = self.index([
                origin[0] + row / height,
                origin[1] + row % height,
                origin[2],
            ]);
            field.extend_from_slice(&self.elements[first..first + width as usize]);
        }
        let blocks = Grid::new(grid.shape(), &extents);
        let encode = |chunk| {
            let source = Source {
                field: &field,
                grid: &blocks,
                chunk,
            };
            (Version::best().encode(YARDSTICK, quantizer, source, image)).1 as u64
        };
        (0..blocks.chunk_count()).map(encode).sum()
    }
}

impl<T: Element> TileSample<T> {
    /// The sample of a field; `read` gives the elements of boxes.
    pub(crate) fn new(
        grid: &TileGrid,
        quantizer: &Quantizer<T>,
        mut read: impl FnMut(&ChunkBox) -> Result<Vec<T>, Error>,
    ) -> Result<Self, Error> {
        let (elements, tiles) = (grid.elements(), grid.tiles());
        if elements <= SAMPLE {
            let extents = grid.lengths().map(|length| length as u32);
            let origin = [0; 3];
            return Ok(Self::Whole(match elements {
                0 => Vec::new(),
                _ => read(&ChunkBox { origin, extents })?,
            }));
        }
        let wanted = u128::from(SAMPLE) * u128::from(tiles) / u128::from(elements);
        let taken = wanted.clamp(1, u128::from(MOST_TILES.min(tiles))) as u64;
        let read_tile = |number| {
            let tile = grid.tile(number);
            let with_faces = store::extents(grid.shape());
            let extents = std::array::from_fn(|i| with_faces[i].min(tile.left[i]));
            let origin = tile.origin;
            Ok(SampleTile {
                tile,
                extents,
                elements: read(&ChunkBox { origin, extents })?,
            })
        };
        let read: Result<Vec<_>, Error> = spread(tiles, taken).map(read_tile).collect();
        let tiles = read?;
        let image = || vec![0; IMAGE_BYTES];
        let yardstick = (tiles.par_iter())
            .map_init(image, |image, tile| {
                tile.block_bytes(grid, quantizer, image)
            })
            .sum();
        Ok(Self::Tiles { tiles, yardstick })
    }

    /// The predicted size of chunk table and payload; `yardstick_of_all` is the predicted size of the field's payload
    /// with [`YARDSTICK`].
    pub(crate) fn predicted_bytes(
        &self,
        layout: &TileLayout,
        quantizer: &Quantizer<T>,
        yardstick_of_all: u128,
    ) -> u128 {
        let payload = match self {
            Self::Whole(values) if values.is_empty() => 0,
            Self::Whole(values) => {
                match encode_all(Version::best(), layout, quantizer, values, &|_| {}) {
                    Ok(images) => images.iter().map(|(_, bytes)| bytes.len() as u128).sum(),
                    // A layout that cannot be encoded must not be chosen.
                    Err(_) => return u128::MAX,
                }
            }
            Self::Tiles { tiles, yardstick } => {
                let elements: u64 = tiles.iter().map(|tile| tile.count(&layout.fine)).sum();
                // If the payloads are almost empty, elements are a better measure than the yardstick's bytes.
                let weight = |bytes: u128, elements: u64| bytes + u128::from(elements) / 256 + 1;
                let of_all = weight(yardstick_of_all, layout.fine.elements());
                let of_tiles = weight(u128::from(*yardstick), elements);
                let (first, chunks) = predicted_parts(layout, quantizer, tiles);
                first + chunks * of_all / of_tiles
            }
        };
        u128::from(layout.entries()) * ENTRY_BYTES as u128 + payload
    }
}

/// Predicts the bytes before the chunks of a field with these tiles, and the bytes of these tiles in chunks.
fn predicted_parts<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    sample: &[SampleTile<T>],
) -> (u128, u128) {
    let mut coefficients = None;
    let (resolved, codes) = match layout.codec.predictor.tuning() {
        None => (None, predict_lorenzo(layout, quantizer, sample)),
        Some(tuning) => {
            let tuned = tuned(layout, tuning, quantizer.error(), sample);
            let resolved = Resolved::new(tuned.parameters, quantizer.error());
            coefficients = tuned.coefficients;
            let model = Model {
                resolved: &resolved,
                coefficients: coefficients.as_ref(),
            };
            (Some(resolved), interpolate(layout, model, sample))
        }
    };
    let map = ZoneMap::new(layout.codec.order(layout.shape()));
    let frequencies =
        coder::frequencies(layout.codec.coder, || count(layout, &map, sample, &codes));
    let encoder = Encoder::new(layout.codec.coder, frequencies.as_ref());
    let chunks = chunk_bytes(&encoder, &map, sample, &codes);
    let prologue = Prologue {
        resolved,
        coefficients,
        frequencies,
    };
    let first = prologue_bytes(layout, &prologue) + coarse_bytes(layout, &map, &codes);
    (first, u128::from(chunks))
}

fn prologue_bytes<T: Element>(layout: &TileLayout, prologue: &Prologue<T>) -> u128 {
    let mut bytes = vec![0; Sections::longest(layout, T::DTYPE).bytes()];
    let sections = prologue.write(layout, std::iter::empty(), &mut bytes);
    sections.bytes() as u128
}

/// The bytes of the coarse field, if there is one, from the classes of the highest levels in the sample's tiles.
fn coarse_bytes(layout: &TileLayout, map: &ZoneMap, codes: &[TileCodes]) -> u128 {
    let anchors = layout.coarse.map_or(0, |coarse| coarse.elements());
    let class = |codes| map.classes(codes).0.of(ZONES - 1);
    let bits = codes
        .iter()
        .map(|codes| u128::from(class(codes).saturating_sub(CLASS_OVER_BITS)))
        .sum::<u128>();
    u128::from(layout.coarse_chunks()) * u128::from(ANCHOR_CHUNK)
        + u128::from(anchors) * bits / (8 * codes.len().max(1) as u128)
}

/// Parameters tuned on some tiles of the sample.
fn tuned<T: Element>(
    layout: &TileLayout,
    tuning: Tuning,
    error: T,
    sample: &[SampleTile<T>],
) -> Tuned {
    let shape = layout.shape();
    let tiles = sample.iter().step_by(match tuning.has_stencils() {
        // Few tiles do not tell coefficients.
        true => 1,
        false => TUNED,
    });
    let tiles = tiles.map(|tile| (tile.tile, |at, row: &mut [T]| tile.read(at, row)));
    let tiles: Vec<_> = tiles.collect();
    let search = Search::new(tuning, shape, tiles.len() as u64, layout.fine.tiles());
    tune_on(Version::best(), &search, Scope::Whole, &tiles, error, 0.0)
}

/// The codes of tiles whose anchors have their exact values.
fn interpolate<T: Element>(
    layout: &TileLayout,
    model: Model<'_, T>,
    sample: &[SampleTile<T>],
) -> Vec<TileCodes> {
    let shape = layout.shape();
    let predictor = Predictor::new(Version::best(), &layout.fine, model, Part::Fine);
    let spacing = model.resolved.parameters.geometry.spacing(shape);
    let coarse = layout.fine.coarse(spacing);
    let of_anchor = |at| layout.fine.of_coarse(&coarse, spacing, at);
    let mut all = vec![[0; TILE]; sample.len()];
    let tiles = all.par_iter_mut().zip(sample);
    tiles.for_each_init(
        || TileStore::new(shape),
        |known, (codes, tile)| {
            let anchor = |at| tile.at(of_anchor(at));
            let read = |at, row: &mut [T]| tile.read(at, row);
            apart(|| predictor.encode(&tile.tile, read, anchor, known, codes));
        },
    );
    all
}

fn predict_lorenzo<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    sample: &[SampleTile<T>],
) -> Vec<TileCodes> {
    let mut all = vec![[0; TILE]; sample.len()];
    all.par_iter_mut().zip(sample).for_each(|(codes, tile)| {
        let (version, shape) = (Version::best(), layout.shape());
        let read = |at, row: &mut [T]| tile.read(at, row);
        apart(|| tile_lorenzo::encode_on(version, shape, &tile.tile, quantizer, read, codes));
    });
    all
}

fn count<T: Element>(
    layout: &TileLayout,
    map: &ZoneMap,
    sample: &[SampleTile<T>],
    codes: &[TileCodes],
) -> Counts {
    let mut counts = Counts::default();
    for (tile, codes) in sample.iter().zip(codes) {
        map.count(Version::best(), &tile.tile, codes, &mut counts);
    }
    counts.complete(is_sample(layout.fine.runs()));
    counts
}

/// The bytes of the sample's tiles as chunks.
fn chunk_bytes<T: Element>(
    encoder: &Encoder,
    map: &ZoneMap,
    sample: &[SampleTile<T>],
    codes: &[TileCodes],
) -> u64 {
    let shape = map.order().shape;
    let chunks = sample.par_chunks(RUN_TILES as usize);
    chunks
        .zip(codes.par_chunks(RUN_TILES as usize))
        .map_init(
            || Scratch::new(ChunkLength::Four),
            |scratch, (sample, codes)| {
                let boxes: Vec<TileBox> = sample.iter().map(|tile| tile.tile).collect();
                let tiles = ChunkTiles { map, tiles: &boxes };
                let value = |number: usize, at: usize| {
                    let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
                    let tile = &sample[number];
                    tile.at(tile.tile.at(tile::position(shape, step, lane)))
                };
                apart(|| encoder.encode(Version::best(), tiles, codes, value, scratch)).1 as u64
            },
        )
        .sum()
}
