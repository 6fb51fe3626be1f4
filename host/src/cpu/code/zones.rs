//! The zones of a tile's positions, as a table, and the statistics of a tile's codes by zone.
//!
//! A *cell* are the positions of a zone that have the same oddness, and so the same context. Many steps of a tile have the
//! same cells in their lanes: a *pattern*. What depends on cells alone is computed once for each pattern.

use crate::cpu::Version;
use crate::cpu::lanes::Lanes;
use crate::cpu::version::Work;
use ferrosz_codec::code::entropy::class::{CONTEXTS, class};
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::code::entropy::shifts::{LEVELS, MAX_ODDNESS, Shifts, level_of_zone};
use ferrosz_codec::code::entropy::tables::NOTHING;
use ferrosz_codec::code::entropy::token::{RAW, TOKENS, Token, magnitude};
use ferrosz_codec::tile::code::{Step, TileCodes};
use ferrosz_codec::tile::{LANES, STEPS, TileBox, TileOrder, ZONES};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of the zone that anchors have in the table.
const ANCHOR: u32 = ZONES;

/// The number of zones, with [`ANCHOR`].
const ALL_ZONES: usize = ZONES as usize + 1;

/// The cells of a zone: one for each oddness, and one for positions of levels without shifts.
const CELLS_OF_ZONE: usize = MAX_ODDNESS as usize + 1;

/// The number of cells.
const ALL_CELLS: usize = CELLS_OF_ZONE * ALL_ZONES;

/// The most patterns of an order: lines with levels have three in each of their 32 bricks.
const MOST_PATTERNS: usize = 96;

/// Bits of a token's number.
const TOKEN_BITS: u32 = TOKENS.next_power_of_two().ilog2();

/// Counters of all contexts' tokens.
const COUNTERS: usize = (CONTEXTS << TOKEN_BITS) as usize;

/// The zone of each position of a tile, and the shifts of contexts.
#[derive(Debug, Clone)]
pub struct ZoneMap {
    zones: Arc<Zones>,
    shifts: Shifts,
}

/// The zone of each position of a tile of an order. The table takes as long to make as it takes to code a tile, so it is
/// made once: [`Zones::of`].
#[derive(Debug)]
struct Zones {
    order: TileOrder,
    /// The cells of each pattern's lanes.
    patterns: Vec<Step<u8>>,
    /// The number of each step's pattern.
    numbers: [u8; STEPS as usize],
    /// Bit l of a step's word is set if lane l is an anchor.
    anchors: [u32; STEPS as usize],
}

/// The classes of a tile's zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes([u8; ALL_ZONES]);

/// The contexts of a tile's positions.
#[derive(Debug, Clone)]
pub struct Contexts<'a> {
    map: &'a ZoneMap,
    tile: &'a TileBox,
    is_complete: bool,
    /// The contexts of each pattern's lanes in a complete tile, all at most [`NOTHING`].
    patterns: [Step<u8>; MOST_PATTERNS],
    /// Whether all contexts of a pattern are [`NOTHING`].
    are_nothing: [bool; MOST_PATTERNS],
}

impl Zones {
    /// The zones of an order, of which there are few: one for each geometry of a predictor and each shape.
    fn of(order: TileOrder) -> Arc<Self> {
        static KNOWN: Mutex<Vec<Arc<Zones>>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(zones) = known.iter().find(|zones| zones.order == order) {
            return Arc::clone(zones);
        }
        let zones = Arc::new(Self::new(order));
        known.push(Arc::clone(&zones));
        zones
    }

    fn new(order: TileOrder) -> Self {
        let mut zones = Self {
            order,
            patterns: Vec::new(),
            numbers: [0; STEPS as usize],
            anchors: [0; STEPS as usize],
        };
        for step in 0..STEPS {
            let found: Step<Option<u32>> =
                std::array::from_fn(|lane| order.zone(step, lane as u32));
            for (lane, zone) in found.iter().enumerate() {
                zones.anchors[step as usize] |= u32::from(zone.is_none()) << lane;
            }
            let pattern = std::array::from_fn(|lane| {
                let zone = found[lane].unwrap_or(ANCHOR);
                let oddness = match level_of_zone(&order, zone) {
                    LEVELS.. => 0,
                    _ => order.oddness(step, lane as u32),
                };
                (CELLS_OF_ZONE as u32 * zone + oddness) as u8
            });
            let known = zones.patterns.iter().position(|other| *other == pattern);
            zones.numbers[step as usize] = known.unwrap_or(zones.patterns.len()) as u8;
            if known.is_none() {
                zones.patterns.push(pattern);
            }
        }
        zones
    }
}

impl ZoneMap {
    /// The zones of tiles of this order, whose contexts have these shifts.
    pub fn new(order: TileOrder, shifts: Shifts) -> Self {
        Self {
            zones: Zones::of(order),
            shifts,
        }
    }

    /// The order that this map was made of.
    #[inline(always)]
    pub fn order(&self) -> TileOrder {
        self.zones.order
    }

    /// The shifts of contexts.
    #[inline(always)]
    pub const fn shifts(&self) -> Shifts {
        self.shifts
    }

    /// The lanes of a step that have a code, as bits.
    #[inline(always)]
    pub fn active(&self, tile: &TileBox, step: u32) -> u32 {
        let lanes = tile.lanes(self.zones.order.shape, step);
        let inside = u32::MAX.unbounded_shr(LANES - lanes);
        inside & !self.zones.anchors.get(step as usize).copied().unwrap_or(0)
    }

    /// The contexts of a tile of these classes.
    #[inline(always)]
    pub fn contexts<'a>(&'a self, tile: &'a TileBox, classes: &Classes) -> Contexts<'a> {
        let mut of_cell = [NOTHING as u8; ALL_CELLS];
        for (zone, cells) in (0..ZONES).zip(of_cell.as_chunks_mut::<CELLS_OF_ZONE>().0) {
            let (class, level) = (classes.of(zone), level_of_zone(&self.zones.order, zone));
            if class == 0 {
                continue;
            }
            let first = u32::from(level < LEVELS);
            for (oddness, context) in (first..).zip(&mut cells[first as usize..]) {
                *context = self.shifts.context(class, level, oddness).min(NOTHING) as u8;
            }
        }
        let mut contexts = Contexts {
            map: self,
            tile,
            is_complete: tile.is_complete(self.zones.order.shape),
            patterns: [[NOTHING as u8; LANES as usize]; MOST_PATTERNS],
            are_nothing: [true; MOST_PATTERNS],
        };
        let all = contexts.patterns.iter_mut().zip(&mut contexts.are_nothing);
        for (cells, (pattern, are_nothing)) in self.zones.patterns.iter().zip(all) {
            *pattern = cells.map(|cell| of_cell[usize::from(cell) % ALL_CELLS]);
            *are_nothing = *pattern == [NOTHING as u8; LANES as usize];
        }
        contexts
    }

    /// The classes of a tile of these codes, and the number of [`RAW`] codes.
    #[inline(always)]
    pub fn classes(&self, codes: &TileCodes) -> (Classes, u32) {
        // Sums of each lane in vectors, one vector for a pattern.
        let mut magnitudes = [[0u32; LANES as usize]; MOST_PATTERNS];
        let mut raws = [0u16; LANES as usize];
        let (steps, _) = codes.as_chunks::<{ LANES as usize }>();
        for (codes, number) in steps.iter().zip(&self.zones.numbers) {
            if *codes == [0; LANES as usize] {
                continue;
            }
            if let Some(sums) = magnitudes.get_mut(usize::from(*number)) {
                for lane in 0..LANES as usize {
                    sums[lane] += magnitude(u32::from(codes[lane]));
                    raws[lane] += u16::from(codes[lane] == RAW as u16);
                }
            }
        }
        let mut classes = Classes::ZERO;
        for (zone, sum) in (0..ZONES).zip(self.sums_of_zones(&magnitudes)) {
            classes.set(zone, class(self.zones.order.level_shape, zone, sum));
        }
        (classes, raws.into_iter().map(u32::from).sum())
    }

    /// The sums of zones from the sums of each pattern's lanes.
    #[inline(always)]
    fn sums_of_zones(&self, sums: &[Step<u32>; MOST_PATTERNS]) -> [u32; ALL_ZONES] {
        // Eight sums of each zone, as neighbouring lanes often have the same zone, and an addition would have to wait
        // for the one before.
        let mut parts = [[0u32; 8]; ALL_ZONES];
        for (cells, sums) in self.zones.patterns.iter().zip(sums) {
            for (lane, (cell, sum)) in cells.iter().zip(sums).enumerate() {
                parts[usize::from(*cell) / CELLS_OF_ZONE % ALL_ZONES][lane % 8] += sum;
            }
        }
        parts.map(|parts| parts.iter().sum())
    }

    /// The contexts, as bits, of the positions that a zone of this class has in a tile.
    #[inline(always)]
    pub fn contexts_of_zone(&self, tile: &TileBox, zone: u32, class: u32) -> u32 {
        (self.shifts).contexts_of_zone(&self.zones.order, tile.left, zone, class)
    }

    /// Counts the symbols of a tile of these codes, unless all codes are 0.
    pub fn count(&self, version: Version, tile: &TileBox, codes: &TileCodes, counts: &mut Counts) {
        version.run(Count {
            map: self,
            tile,
            codes,
            counts,
        });
    }
}

struct Count<'a> {
    map: &'a ZoneMap,
    tile: &'a TileBox,
    codes: &'a TileCodes,
    counts: &'a mut Counts,
}

impl Work for Count<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let map = self.map;
        let (classes, _) = map.classes(self.codes);
        if classes.is_zero() {
            return;
        }
        let contexts = map.contexts(self.tile, &classes);
        // Four counters of each token, as neighbouring lanes often have the same one.
        let mut counters = [[0u16; COUNTERS]; 4];
        let (steps, _) = self.codes.as_chunks();
        for (step, codes) in (0..).zip(steps) {
            let Some(contexts) = contexts.of(step) else {
                continue;
            };
            for (lane, counter) in counters_of(codes, &contexts).into_iter().enumerate() {
                counters[lane % 4][usize::from(counter) % COUNTERS] += 1;
            }
        }
        // Context 0 has the counters of lanes without a code.
        for (context, counts) in self.counts.0.iter_mut().enumerate().skip(1) {
            for (token, count) in counts.iter_mut().enumerate() {
                let at = context << TOKEN_BITS | token;
                let sum = counters.iter().map(|part| u32::from(part[at])).sum();
                *count = count.saturating_add(sum);
            }
        }
        for zone in 0..map.order().zones() {
            self.counts.add(0, classes.of(zone));
        }
    }
}

/// The counter of each lane's token. Lanes without a code have counters of context 0.
#[inline(always)]
fn counters_of(codes: &Step<u16>, contexts: &Step<u8>) -> Step<u16> {
    std::array::from_fn(|lane| {
        let z = u32::from(codes[lane]);
        // The position of the highest bit, from the exponent as a float, which vectors can compute.
        let leading = (((z | 8).cast_signed() as f32).to_bits() >> 23) - 127;
        let (token, _) = Token::own_of_leading(leading, z);
        let context = u32::from(contexts[lane]) % CONTEXTS;
        (context << TOKEN_BITS | token) as u16
    })
}

impl Contexts<'_> {
    /// The contexts of a step's lanes, all at most [`NOTHING`], which is the context of lanes that have no code or are
    /// of class 0. None if there is no other lane.
    #[inline(always)]
    pub fn of(&self, step: u32) -> Option<Step<u8>> {
        let number = usize::from(self.map.zones.numbers[step as usize % STEPS as usize]);
        if self.are_nothing.get(number).copied().unwrap_or(true) {
            return None;
        }
        let mut contexts = self.patterns[number];
        if !self.is_complete {
            let lanes = self.tile.lanes(self.map.zones.order.shape, step);
            for (lane, context) in (0..).zip(&mut contexts) {
                *context = if lane < lanes {
                    *context
                } else {
                    NOTHING as u8
                };
            }
        }
        Some(contexts)
    }
}

impl Classes {
    /// All zones of class 0.
    pub const ZERO: Self = Self([0; ALL_ZONES]);

    /// The class of a zone.
    #[inline(always)]
    pub fn of(&self, zone: u32) -> u32 {
        u32::from(self.0[zone as usize % ALL_ZONES])
    }

    /// Sets the class of a zone.
    #[inline(always)]
    pub fn set(&mut self, zone: u32, class: u32) {
        self.0[zone as usize % ALL_ZONES] = class as u8;
    }

    /// Whether all zones are of class 0.
    #[inline(always)]
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::code::samples::{Kind, Sample, lengths};
    use ferrosz_codec::code::entropy::token::Token;
    use ferrosz_codec::predict::interp::geometry::Geometry;
    use ferrosz_codec::shape::Shape;
    use rand::{SeedableRng, rngs::SmallRng};

    #[test]
    fn patterns_are_few() {
        for shape in Shape::ALL {
            let levels = |geometry: Geometry| TileOrder::levels(shape, geometry.spacing(shape));
            let orders = Geometry::ALL.map(levels);
            for order in orders.into_iter().chain([TileOrder::flat(shape)]) {
                let map = ZoneMap::new(order, Shifts::NONE);
                assert!(map.zones.patterns.len() <= MOST_PATTERNS, "{order:?}");
                for step in 0..STEPS {
                    let pattern = map.zones.patterns[usize::from(map.zones.numbers[step as usize])];
                    for lane in 0..LANES {
                        let zone = order.zone(step, lane).unwrap_or(ANCHOR);
                        let cell = u32::from(pattern[lane as usize]);
                        assert_eq!(cell / CELLS_OF_ZONE as u32, zone);
                        if level_of_zone(&order, zone) < LEVELS {
                            let oddness = order.oddness(step, lane);
                            assert_eq!(cell % CELLS_OF_ZONE as u32, oddness);
                        }
                    }
                }
            }
        }
    }
    /// Adds the counts of a tile, position by position.
    fn count(map: &ZoneMap, tile: &TileBox, codes: &TileCodes, counts: &mut Counts) {
        let order = map.order();
        let mut sums = [0; ZONES as usize];
        let positions = || (0..).zip(codes).map(|(at, z)| (at / LANES, at % LANES, *z));
        for (step, lane, z) in positions() {
            if let Some(zone) = order.zone(step, lane) {
                sums[zone as usize] += magnitude(z.into());
            }
        }
        if sums.iter().all(|sum| *sum == 0) {
            return;
        }
        let class_of = |zone: u32| class(order.level_shape, zone, sums[zone as usize]);
        (0..order.zones()).for_each(|zone| counts.add(0, class_of(zone)));
        for (step, lane, z) in positions() {
            let Some(zone) = order.zone(step, lane) else {
                continue;
            };
            let level = match (order.has_levels, zone) {
                (true, 0..36) => zone / 32,
                _ => 2,
            };
            let oddness = order.oddness(step, lane);
            let context = map.shifts().context(class_of(zone), level, oddness);
            if context > 0 && lane < tile.lanes(order.shape, step) {
                counts.add(context, Token::of(z.into()).number);
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_positions() {
        let mut rng = SmallRng::seed_from_u64(1);
        let mut seen = Counts::default();
        for _ in 0..60 {
            let kind = Kind::random(&mut rng);
            let sample = Sample::new(kind, lengths(kind.shape, &mut rng), &mut rng);
            let mut wanted = Counts::default();
            let mut found: Vec<_> = Version::all().map(|_| Counts::default()).collect();
            for chunk in &sample.chunks {
                for (tile, codes) in chunk.tiles.iter().zip(&chunk.codes) {
                    count(&sample.map, tile, codes, &mut wanted);
                    for (version, found) in Version::all().zip(&mut found) {
                        sample.map.count(version, tile, codes, found);
                    }
                    let (_, raws) = sample.map.classes(codes);
                    let wanted = codes.iter().filter(|z| **z == RAW as u16);
                    assert_eq!(raws as usize, wanted.count());
                }
            }
            assert!(found.iter().all(|found| *found == wanted), "{kind:?}");
            seen.merge(&wanted);
        }
        assert!(
            seen.0[1..]
                .iter()
                .all(|counts| counts.iter().any(|count| *count > 0))
        );
        assert!(
            (0..TOKENS as usize).all(|token| seen.0[1..].iter().any(|counts| counts[token] > 0))
        );
    }
}
