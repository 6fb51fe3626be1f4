//! Chunks of generated codes, for tests.

use crate::cpu::code::zones::ZoneMap;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::{LANES, TILE, TileBox, TileGrid, TileOrder};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// A field's codes, chunk by chunk, and values for them.
pub struct Sample {
    pub map: ZoneMap,
    pub chunks: Vec<SampleChunk>,
}

pub struct SampleChunk {
    pub tiles: Vec<TileBox>,
    pub codes: Vec<[u16; TILE]>,
    /// The bits of an element for each code.
    pub values: Vec<Vec<u64>>,
}

/// The levels of a sample's positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Levels {
    None,
    OfTile,
    /// Of the slices of a cube.
    OfSlices,
}

/// The statistics of the codes of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub shape: Shape,
    pub levels: Levels,
    /// The shifts of contexts.
    pub shifts: Shifts,
    /// The range of the base-2 logarithms of the mean magnitudes of codes that are not 0.
    pub scale: [f64; 2],
    /// The fraction of codes that may be other than 0.
    pub density: f64,
    /// The fraction of codes that are raw.
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
}

impl Sample {
    /// The codes of a field of these extents.
    pub fn new(kind: Kind, lengths: [u64; 3], rng: &mut SmallRng) -> Self {
        let map = ZoneMap::new(kind.order(), kind.shifts);
        let grid = TileGrid::new(kind.shape, lengths);
        let chunk = |first| {
            let tiles: Vec<_> = (first..grid.tiles().min(first + 4))
                .map(|i| grid.tile(i))
                .collect();
            let codes = tiles
                .iter()
                .map(|tile| tile_codes(&kind, &map, tile, rng))
                .collect();
            let values = tiles
                .iter()
                .map(|_| (0..TILE).map(|_| rng.random()).collect())
                .collect();
            SampleChunk {
                tiles,
                codes,
                values,
            }
        };
        let chunks = (0..grid.tiles()).step_by(4).map(chunk).collect();
        Self { map, chunks }
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

fn tile_codes(kind: &Kind, map: &ZoneMap, tile: &TileBox, rng: &mut SmallRng) -> [u16; TILE] {
    let mut codes = vec![0; TILE];
    let [low, high] = kind.scale;
    for (step, codes) in (0..).zip(codes.chunks_mut(LANES as usize)) {
        let active = map.active(tile, step);
        // Magnitudes vary over the tile.
        let scale = low + (high - low) * f64::from(step / 32) / 16.0;
        for (lane, code) in codes.iter_mut().enumerate() {
            if active >> lane & 1 == 1 {
                *code = kind.code(scale, rng);
            }
        }
    }
    codes.try_into().unwrap()
}

/// The extents of a field that has a few tiles, most of them incomplete.
pub fn lengths(shape: Shape, rng: &mut SmallRng) -> [u64; 3] {
    let mut below = |largest: u64| rng.random_range(1..=largest);
    match shape {
        Shape::Line => [1, 1, below(80_000)],
        Shape::Plane => [below(3), below(300), below(150)],
        Shape::Cube => [below(40), below(40), below(150)],
    }
}
