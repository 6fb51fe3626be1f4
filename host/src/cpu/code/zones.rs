//! The zones of a tile's positions, as a table, and the statistics of a tile's codes by zone.

use ferrosz_codec::code::entropy::class::class;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::code::entropy::tables::NOTHING;
use ferrosz_codec::code::entropy::token::{RAW, Token, magnitude};
use ferrosz_codec::tile::code::{Step, TileCodes};
use ferrosz_codec::tile::{LANES, STEPS, TileBox, TileOrder, ZONES};

/// The number of the zone that anchors have in the table.
const ANCHOR: u32 = ZONES;

/// The number of zones, with [`ANCHOR`].
const ALL_ZONES: usize = ZONES as usize + 1;

/// The zone of each position of a tile. The table takes some time to make, and serves all tiles of a field.
#[derive(Debug, Clone)]
pub struct ZoneMap {
    order: TileOrder,
    zones: [Step<u8>; STEPS as usize],
    /// Bit l of a step's word is set if lane l is an anchor.
    anchors: [u32; STEPS as usize],
}

/// The classes of a tile's zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes([u8; ALL_ZONES]);

impl ZoneMap {
    /// The zones of tiles of this order.
    pub fn new(order: TileOrder) -> Self {
        let mut zones = [[0; LANES as usize]; STEPS as usize];
        let mut anchors = [0; STEPS as usize];
        for (step, (zones, anchors)) in (0..).zip(zones.iter_mut().zip(&mut anchors)) {
            for (lane, zone) in (0..).zip(zones) {
                let found = order.zone(step, lane);
                *zone = found.unwrap_or(ANCHOR) as u8;
                *anchors |= u32::from(found.is_none()) << lane;
            }
        }
        Self {
            order,
            zones,
            anchors,
        }
    }

    /// The order that this map was made of.
    #[inline(always)]
    pub const fn order(&self) -> TileOrder {
        self.order
    }

    /// The lanes of a step that have a code, as bits.
    #[inline(always)]
    pub fn active(&self, tile: &TileBox, step: u32) -> u32 {
        let lanes = tile.lanes(self.order.shape, step);
        let inside = u32::MAX.unbounded_shr(LANES - lanes);
        inside & !self.anchors.get(step as usize).copied().unwrap_or(0)
    }

    /// The contexts of a step's lanes; [`NOTHING`] for lanes that have no code or are of class 0.
    #[inline(always)]
    pub fn contexts(&self, tile: &TileBox, classes: &Classes, step: u32) -> Step<u8> {
        let mut contexts = [NOTHING as u8; LANES as usize];
        if let Some(zones) = self.zones.get(step as usize) {
            let lanes = tile.lanes(self.order.shape, step) as usize;
            for (lane, context) in contexts.iter_mut().enumerate() {
                let class = classes.of(u32::from(zones[lane]));
                let is_coded = (class != 0) & (lane < lanes);
                *context = if is_coded { class as u8 } else { NOTHING as u8 };
            }
        }
        contexts
    }

    /// The classes of a tile of these codes, and the number of [`RAW`] codes.
    #[inline(always)]
    pub fn classes(&self, codes: &TileCodes) -> (Classes, u32) {
        let mut sums = [0u32; ALL_ZONES];
        let mut raws = 0;
        let (steps, _) = codes.as_chunks();
        for (codes, zones) in steps.iter().zip(&self.zones) {
            add_magnitudes(codes, zones, &mut sums);
            raws += codes.iter().filter(|z| **z == RAW as u16).count() as u32;
        }
        let mut classes = Classes([0; ALL_ZONES]);
        for (zone, sum) in (0..ZONES).zip(sums) {
            classes.set(zone, class(self.order.shape, zone, sum));
        }
        (classes, raws)
    }

    /// Counts the symbols of a tile of these codes, unless all codes are 0.
    pub fn count(&self, tile: &TileBox, codes: &TileCodes, counts: &mut Counts) {
        let (classes, _) = self.classes(codes);
        if classes.is_zero() {
            return;
        }
        for zone in 0..self.order.zones() {
            counts.add(0, classes.of(zone));
        }
        let (steps, _) = codes.as_chunks::<{ LANES as usize }>();
        for (step, codes) in (0..).zip(steps) {
            let contexts = self.contexts(tile, &classes, step);
            for (z, context) in codes.iter().zip(contexts) {
                if u32::from(context) != NOTHING {
                    counts.add(context.into(), Token::of(u32::from(*z)).number);
                }
            }
        }
    }
}

/// Adds the magnitudes of a step to the sums of their zones.
#[inline(always)]
fn add_magnitudes(codes: &Step<u16>, zones: &Step<u8>, sums: &mut [u32; ALL_ZONES]) {
    if *codes == [0; LANES as usize] {
        return;
    }
    for (z, zone) in codes.iter().zip(zones) {
        if let Some(sum) = sums.get_mut(usize::from(*zone)) {
            *sum += magnitude(u32::from(*z));
        }
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
