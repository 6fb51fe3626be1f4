//! The stages of the codecs of tiles on one thread, in nanoseconds a value.
//!
//! `cargo bench --bench tiles` prints a table in Markdown. A stage is run chunk by chunk, several times; a chunk's time
//! is its shortest one, so that other work of the machine hardly counts. The time of decoding includes a comparison
//! with the codes.

mod noise;

use ferrosz::codec::code::entropy::counts::Counts;
use ferrosz::codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz::codec::code::entropy::shifts::Shifts;
use ferrosz::codec::code::entropy::states::{Huffman, Rans, SymbolCoder};
use ferrosz::codec::container::chunk::Form;
use ferrosz::codec::predict::interp::geometry::Geometry;
use ferrosz::codec::predict::interp::parameters::Parameters;
use ferrosz::codec::predict::interp::resolved::Resolved;
use ferrosz::codec::quantize::field::Quantizer;
use ferrosz::codec::tile::code::TileCodes;
use ferrosz::codec::tile::{ChunkLength, Part, RUN_TILES, TILE, TileBox, TileGrid, TileOrder};
use ferrosz::versions::Version;
use ferrosz::{Bound, Shape};
use ferrosz_host::cpu;
use ferrosz_host::cpu::code::entropy::{self, Pops, Pushes};
use ferrosz_host::cpu::code::image::{ChunkTiles, image_bytes};
use ferrosz_host::cpu::code::zones::ZoneMap;
use ferrosz_host::cpu::predict::interp::{Predictor, TileStore};
use ferrosz_host::cpu::predict::tile_lorenzo;
use noise::{EDGE, noise};
use std::hint::black_box;
use std::time::{Duration, Instant};

const SLICES: u64 = 32;
const SHAPE: Shape = Shape::Cube;
const ROUNDS: usize = 30;

/// A field and its codes by one predictor.
struct Coded<'a> {
    version: Version,
    map: ZoneMap,
    grid: TileGrid,
    values: &'a [f32],
    codes: Vec<TileCodes>,
    /// Nanoseconds a value of the prediction.
    predict: f64,
}

impl<'a> Coded<'a> {
    fn new(
        (version, grid, values): (Version, TileGrid, &'a [f32]),
        order: TileOrder,
        mut encode: impl FnMut(&TileBox, &mut TileCodes),
    ) -> Self {
        let mut codes = vec![[0; TILE]; grid.tiles() as usize];
        let predict = shortest(codes.len(), |number| {
            encode(&grid.tile(number as u64), &mut codes[number]);
        });
        let map = ZoneMap::new(order, Shifts::NONE);
        Self {
            version,
            map,
            grid,
            values,
            codes,
            predict: nanoseconds(predict, &grid),
        }
    }

    fn lorenzo(
        version: Version,
        grid: TileGrid,
        values: &'a [f32],
        quantizer: &Quantizer<f32>,
    ) -> Self {
        let order = TileOrder::flat(SHAPE);
        Self::new((version, grid, values), order, |tile, codes| {
            let read = |at, row: &mut [f32]| read(&grid, values, at, row);
            tile_lorenzo::encode_on(version, SHAPE, tile, quantizer, read, codes);
        })
    }

    fn interp(
        version: Version,
        grid: TileGrid,
        values: &'a [f32],
        quantizer: &Quantizer<f32>,
    ) -> Self {
        let geometry = Geometry::Wide;
        let resolved = Resolved::new(Parameters::for_ratio(geometry), quantizer.error());
        let spacing = geometry.spacing(SHAPE);
        let anchors = grid.coarse(spacing);
        let anchor = |at| values[grid.flat(grid.of_coarse(&anchors, spacing, at)) as usize];
        let predictor = Predictor::new(version, &grid, &resolved, Part::Fine);
        let mut known = TileStore::new(SHAPE);
        let order = TileOrder::levels(SHAPE, spacing);
        Self::new((version, grid, values), order, |tile, codes| {
            let read = |at, row: &mut [f32]| read(&grid, values, at, row);
            predictor.encode(tile, read, anchor, &mut known, codes);
        })
    }

    fn chunks(&self) -> Vec<(Vec<TileBox>, &[TileCodes])> {
        let numbers = (0..).step_by(RUN_TILES as usize);
        let boxes = |first: u64, count: usize| {
            let numbers = first..first + count as u64;
            numbers.map(|number| self.grid.tile(number)).collect()
        };
        let chunks = numbers.zip(self.codes.chunks(RUN_TILES as usize));
        chunks
            .map(|(first, codes)| (boxes(first, codes.len()), codes))
            .collect()
    }

    /// Prints a row of the table for this coder.
    fn measure<C: SymbolCoder>(&self, name: &str, bound: f64) {
        let (version, chunks) = (self.version, self.chunks());
        let time =
            |work: &mut dyn FnMut(usize)| nanoseconds(shortest(chunks.len(), work), &self.grid);
        let mut counts = Counts::default();
        let statistics = time(&mut |number| {
            let (tiles, codes) = &chunks[number];
            for (tile, codes) in tiles.iter().zip(*codes) {
                self.map.count(version, tile, codes, &mut counts);
            }
        });
        counts.complete(false);
        let frequencies = FrequencyTables::of::<C>(&counts);
        let pushes = Pushes::new::<C>(&frequencies).unwrap();
        let mut words = vec![0; entropy::word_count(ChunkLength::Four)];
        let mut images =
            vec![(Form::Zero, vec![0; image_bytes(ChunkLength::Four)], 0); chunks.len()];
        let encode = time(&mut |number| {
            let (tiles, codes) = &chunks[number];
            let (form, image, length) = &mut images[number];
            let tiles = ChunkTiles {
                map: &self.map,
                tiles,
            };
            let value = |_, _| 0.0f32;
            (*form, *length) =
                entropy::encode(version, tiles, &pushes, codes, value, &mut words, image);
        });
        let bytes: usize = images.iter().map(|(_, _, length)| length).sum();
        let pops = Pops::new::<C>(&frequencies).unwrap();
        let mut found = vec![[0; TILE]; RUN_TILES as usize];
        let decode = time(&mut |number| {
            let (tiles, codes) = &chunks[number];
            let (form, image, length) = &images[number];
            let tiles = ChunkTiles {
                map: &self.map,
                tiles,
            };
            let found = &mut found[..codes.len()];
            let set = |_, _, value: f32| {
                black_box(value);
            };
            let decoded =
                entropy::decode(version, tiles, &pops, *form, &image[..*length], found, set);
            assert!(decoded.is_ok() && found == *codes);
        });
        println!(
            "| {name}+{} | {} | {bound:.0e} | {:.2} | {:.2} | {statistics:.2} | {encode:.2} | {decode:.2} |",
            C::NAME,
            version.name(),
            8.0 * bytes as f64 / self.values.len() as f64,
            self.predict,
        );
    }
}

/// Fills a slice with the values along x from a position on.
fn read(grid: &TileGrid, values: &[f32], at: [u64; 3], row: &mut [f32]) {
    let first = grid.flat(at) as usize;
    row.copy_from_slice(&values[first..first + row.len()]);
}

/// The sum of the shortest times of so many pieces of work.
fn shortest(pieces: usize, mut work: impl FnMut(usize)) -> Duration {
    let mut best = vec![Duration::MAX; pieces];
    for _ in 0..ROUNDS {
        for (number, best) in best.iter_mut().enumerate() {
            let start = Instant::now();
            work(number);
            *best = start.elapsed().min(*best);
        }
    }
    best.iter().sum()
}

fn nanoseconds(time: Duration, grid: &TileGrid) -> f64 {
    time.as_nanos() as f64 / grid.elements() as f64
}

fn main() {
    let values: Vec<f32> = noise(SLICES).into_iter().map(|x| x as f32).collect();
    let grid = TileGrid::new(SHAPE, [SLICES, EDGE, EDGE]);
    println!("| codec | version | bound | bits a value | predict | statistics | encode | decode |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for relative in [1e-2, 1e-3, 1e-4, 1e-6] {
        let bound = Bound::range(relative).expect("a good bound");
        let quantizer = bound.resolve(&cpu::extremes(Version::best(), &values));
        for version in Version::all() {
            let interp = Coded::interp(version, grid, &values, &quantizer);
            let lorenzo = Coded::lorenzo(version, grid, &values, &quantizer);
            interp.measure::<Rans>("interp", relative);
            lorenzo.measure::<Rans>("lorenzo", relative);
            interp.measure::<Huffman>("interp", relative);
        }
    }
}
