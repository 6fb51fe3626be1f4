//! Fields of made-up codes, and what the CPU makes of them.

use ferrosz_codec::Element;
use ferrosz_codec::code::bit_planes::CHUNK_WORDS;
use ferrosz_codec::code::entropy::counts::{Counts, is_counted, is_sample};
use ferrosz_codec::code::entropy::frequency_tables::{FrequencyTables, MAX_WORDS};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::code::entropy::states::SymbolCoder;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::oracle;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{
    ChunkLength, LANES, RUN_TILES, STEPS, TILE, TileBox, TileGrid, TileOrder, position,
};
use ferrosz_gpu_kernels::pipeline::tiles::tiling::Tiling;
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::code::bit_planes;
use ferrosz_host::cpu::code::image::{ChunkTiles, image_bytes};
use ferrosz_host::cpu::code::zones::ZoneMap;
use rand::{Rng, RngExt, SeedableRng, rngs::SmallRng};

/// The levels of a sample's positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Levels {
    None,
    OfTile,
    /// Of the slices of a cube.
    OfSlices,
}

/// How the codes of a sample are made.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub shape: Shape,
    pub levels: Levels,
    /// The shifts of contexts.
    pub shifts: Shifts,
    /// The length of chunks.
    pub chunk: ChunkLength,
    /// The base-2 logarithms of the mean magnitudes of codes that are not 0 lie between these.
    pub scale: [f64; 2],
    /// The part of codes that may not be 0.
    pub density: f64,
    /// The part of codes that are raw.
    pub raw: f64,
}

impl Kind {
    pub fn random(rng: &mut SmallRng) -> Self {
        let low: f64 = rng.random_range(-8.0..12.0);
        let shape = Shape::ALL[rng.random_range(0..3)];
        let levels = match (rng.random(), shape) {
            (false, _) => Levels::None,
            (true, Shape::Cube) if low.to_bits() % 2 == 1 => Levels::OfSlices,
            (true, _) => Levels::OfTile,
        };
        Self {
            shape,
            levels,
            shifts: match levels {
                Levels::None => Shifts::NONE,
                Levels::OfTile | Levels::OfSlices => random_shifts(shape, low.to_bits()),
            },
            chunk: ChunkLength::ALL[rng.random_range(0..4)],
            scale: [low, low + rng.random_range(0.0..6.0)],
            density: [1.0, 0.1, 0.01, 0.0001][rng.random_range(0..4)],
            raw: [0.0, 0.0, 0.00003, 0.01, 0.9][rng.random_range(0..5)],
        }
    }

    pub fn order(&self) -> TileOrder {
        match (self.levels, self.shape) {
            (Levels::None, shape) => TileOrder::flat(shape),
            (_, Shape::Line) => TileOrder::levels(Shape::Line, 512),
            (Levels::OfSlices, Shape::Cube) => TileOrder::slices(16),
            (_, shape) => TileOrder::levels(shape, 16),
        }
    }

    /// Extents of a field that has a few tiles, most of them ragged.
    pub fn lengths(&self, rng: &mut SmallRng) -> [u64; 3] {
        let mut below = |largest: u64| rng.random_range(1..=largest);
        match self.shape {
            Shape::Line => [1, 1, below(100_000)],
            Shape::Plane => [below(2), below(400), below(150)],
            Shape::Cube => [below(40), below(40), below(150)],
        }
    }

    fn code(&self, scale: f64, rng: &mut SmallRng) -> u16 {
        if rng.random_bool(self.raw) {
            return RAW as u16;
        }
        if !rng.random_bool(self.density) {
            return 0;
        }
        let unit: f64 = rng.random();
        let magnitude = -scale.exp2() * unit.ln() + 0.5;
        let z = 2.0 * magnitude.floor() - f64::from(rng.random_bool(0.5));
        z.clamp(0.0, 65_534.0) as u16
    }

    fn tile(&self, map: &ZoneMap, tile: &TileBox, rng: &mut SmallRng) -> TileCodes {
        let mut codes = [0; TILE];
        let [low, high] = self.scale;
        // Some tiles are all 0.
        let is_zero = rng.random_bool(0.2);
        for (step, codes) in (0..).zip(codes.chunks_mut(LANES as usize)) {
            let active = map.active(tile, step);
            let scale = low + (high - low) * f64::from(step / 32) / 16.0;
            for (lane, code) in codes.iter_mut().enumerate() {
                if active >> lane & 1 == 1 && !is_zero {
                    *code = self.code(scale, rng);
                }
            }
        }
        codes
    }
}

/// Shifts as fields of a shape may have, none at all for every second seed.
fn random_shifts(shape: Shape, seed: u64) -> Shifts {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut shifts = Shifts::NONE;
    if rng.random() {
        return shifts;
    }
    for (level, oddness) in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)] {
        if oddness <= u32::from(shape.rank()) {
            shifts = shifts.with(level, oddness, rng.random_range(-4..4));
        }
    }
    shifts
}

/// A chunk of a sample.
pub struct Chunk {
    pub is_coarse: bool,
    pub tiles: Vec<TileBox>,
    pub codes: Vec<TileCodes>,
}

/// The codes of a field and of its coarse field, and their elements.
pub struct Sample<E> {
    pub map: ZoneMap,
    /// That of the coarse field, and that of the field.
    pub grids: [TileGrid; 2],
    pub tiling: Tiling,
    /// Runs of the whole field before those of the fine grid, and all runs of the whole field.
    pub of_field: [u64; 2],
    pub chunks: Vec<Chunk>,
    /// Elements of the coarse field, and of the field.
    pub values: [Vec<E>; 2],
}

impl<E: Element> Sample<E> {
    /// Of a field of these extents; the coarse field has none if they are 0.
    pub fn new(kind: Kind, coarse: [u64; 3], fine: [u64; 3], rng: &mut SmallRng) -> Self {
        let map = ZoneMap::new(kind.order(), kind.shifts);
        let grids = [coarse, fine].map(|lengths| TileGrid::new(kind.shape, lengths));
        let mut chunks = Vec::new();
        for (grid, is_coarse) in grids.iter().zip([true, false]) {
            for chunk in 0..kind.chunk.count(grid) {
                let tiles = kind.chunk.of_chunk(grid, chunk);
                let tiles: Vec<_> = tiles.map(|tile| grid.tile(tile)).collect();
                let codes = tiles.iter().map(|tile| kind.tile(&map, tile, rng));
                let codes = codes.collect();
                chunks.push(Chunk {
                    is_coarse,
                    tiles,
                    codes,
                });
            }
        }
        let values = grids.map(|grid| {
            let elements = 0..grid.elements();
            elements.map(|_| E::from_bits64(rng.next_u64())).collect()
        });
        Self {
            map,
            grids,
            tiling: Tiling::new((grids[0], kind.chunk), (grids[1], kind.chunk), kind.order()),
            of_field: [0, grids[1].runs()],
            chunks,
            values,
        }
    }

    /// The number of a chunk's first tile among those of all runs.
    pub fn first_of_runs(&self, chunk: usize) -> u64 {
        self.tiling.first_of_runs(chunk as u64)
    }

    /// The counts of those runs that are counted.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (number, chunk) in self.chunks.iter().enumerate() {
            let tiles = chunk.tiles.iter().zip(&chunk.codes);
            for (in_chunk, (tile, codes)) in (0..).zip(tiles) {
                let run = (self.first_of_runs(number) + in_chunk) / u64::from(RUN_TILES);
                if self.is_counted(run) {
                    self.map.count(Version::best(), tile, codes, &mut counts);
                }
            }
        }
        counts.complete(is_sample(self.of_field[1]));
        counts
    }

    /// Whether a run is counted by the machine that has this part of the field.
    fn is_counted(&self, run: u64) -> bool {
        let [before, all] = self.of_field;
        match run.checked_sub(self.grids[0].runs()) {
            None => before == 0,
            Some(run) => is_counted(before + run, all),
        }
    }

    /// The frequencies as the stream has them.
    pub fn frequency_words<C: SymbolCoder>(&self, frequencies: &FrequencyTables) -> Vec<u32> {
        let mut words = [0; MAX_WORDS];
        let count = frequencies.write::<C>(&mut words);
        words[..count].to_vec()
    }

    /// The flat position of a tile's position in its field.
    pub fn flat(&self, chunk: &Chunk, tile: usize, at: usize) -> usize {
        let grid = &self.grids[usize::from(!chunk.is_coarse)];
        let at = position(grid.shape(), at as u32 / LANES, at as u32 % LANES);
        grid.flat(chunk.tiles[tile].at(at)) as usize
    }

    /// A chunk as the CPU stores its bit planes.
    pub fn encode_planes(&self, chunk: &Chunk) -> (Form, Vec<u8>) {
        let field = &self.values[usize::from(!chunk.is_coarse)];
        let value = |tile: usize, at: usize| field[self.flat(chunk, tile, at)];
        let mut words: Box<[u32; CHUNK_WORDS]> = vec![0; CHUNK_WORDS].try_into().expect("as many");
        let mut image = vec![0; image_bytes(ChunkLength::Four)];
        let tiles = self.tiles(chunk);
        let (form, bytes) = bit_planes::encode(tiles, &chunk.codes, value, &mut words, &mut image);
        image.truncate(bytes);
        (form, image)
    }

    /// The tiles of a chunk, as the CPU's coders want them.
    pub fn tiles<'a>(&'a self, chunk: &'a Chunk) -> ChunkTiles<'a> {
        ChunkTiles {
            map: &self.map,
            tiles: &chunk.tiles,
        }
    }

    /// The words of the parameters of a codec with levels that has these shifts.
    pub fn parameters(&self) -> Vec<u32> {
        let parameters = Parameters {
            shifts: self.map.shifts(),
            ..Parameters::default()
        };
        match self.map.order().has_levels {
            true => Resolved::new(parameters, 1.0f32).to_words().to_vec(),
            false => Vec::new(),
        }
    }

    /// A chunk as the CPU codes it.
    pub fn encode<C: SymbolCoder>(
        &self,
        frequencies: &FrequencyTables,
        chunk: &Chunk,
    ) -> (Form, Vec<u8>) {
        let field = &self.values[usize::from(!chunk.is_coarse)];
        let mut values = Vec::new();
        for (number, tile) in chunk.tiles.iter().enumerate() {
            let value = |at: usize| {
                let in_tile = position(self.grids[0].shape(), at as u32 / LANES, at as u32 % LANES);
                if tile.has(in_tile) {
                    field[self.flat(chunk, number, at)]
                } else {
                    E::from_bits64(0)
                }
            };
            values.push((0..(STEPS * LANES) as usize).map(value).collect());
        }
        let codes: Vec<_> = chunk.codes.iter().map(|codes| codes.to_vec()).collect();
        oracle::entropy::encode::<C, E>(
            self.map.order(),
            self.map.shifts(),
            &chunk.tiles,
            frequencies.contexts(),
            &codes,
            &values,
        )
    }
}
