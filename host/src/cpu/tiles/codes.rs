//! The codes of the tiles of a field, or of its coarse field: prediction, and counts of symbols.

use crate::cpu::Version;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::pool::Pool;
use crate::cpu::predict::interp::{Predictor, TileStore};
use crate::cpu::predict::{direct, tile_lorenzo};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::parallel;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::{TileBox, TileGrid};

/// The values of the tiles of a field, wherever they are.
pub(crate) trait TileValues<T>: Sync {
    /// Fills a slice with the values along x from a position on, which belongs to a tile or its far faces.
    fn read(&self, tile: u64, at: [u64; 3], row: &mut [T]);
}

/// The prediction of a part of a field.
pub(crate) enum Predict<'a, T> {
    Direct(&'a Quantizer<T>),
    Lorenzo {
        version: Version,
        quantizer: &'a Quantizer<T>,
    },
    Interpolation {
        predictor: Predictor<'a, T>,
        /// The value of the anchor of a tile, at a position of the grid of anchors.
        anchor: &'a (dyn Fn(u64, [u64; 3]) -> T + Sync),
    },
}

/// Makes codes of the tiles of a part of a field.
pub(crate) struct Tiles<'a, T> {
    grid: &'a TileGrid,
    values: &'a dyn TileValues<T>,
    predict: Predict<'a, T>,
    stores: Pool<TileStore<T>>,
}

impl<'a, T: Element> Tiles<'a, T> {
    /// The tiles of this grid, which have these values.
    pub(crate) fn new(
        grid: &'a TileGrid,
        values: &'a dyn TileValues<T>,
        predict: Predict<'a, T>,
    ) -> Self {
        Self {
            grid,
            values,
            predict,
            stores: Pool::default(),
        }
    }

    /// Makes the codes of tiles. `known` is called with each tile and its decoded values, if they are interpolated.
    pub(crate) fn encode(
        &self,
        places: Vec<TilePlace<'_>>,
        known: impl Fn(u64, &TileBox, &TileStore<T>) + Sync,
    ) {
        let grid = self.grid;
        parallel::each(places.into_iter(), |(number, codes)| {
            let tile = grid.tile(number);
            let read = |at, row: &mut [T]| self.values.read(number, at, row);
            match &self.predict {
                Predict::Direct(quantizer) => direct::encode(&tile, quantizer, read, codes),
                Predict::Lorenzo { version, quantizer } => apart(|| {
                    tile_lorenzo::encode_on(*version, grid.shape(), &tile, quantizer, read, codes);
                }),
                Predict::Interpolation { predictor, anchor } => {
                    let anchor = |at| anchor(number, at);
                    let store = || predictor.store();
                    self.stores.with(store, |store| {
                        apart(|| predictor.encode(&tile, read, anchor, store, codes));
                        known(number, &tile, store);
                    });
                }
            }
        });
    }
}

/// Runs `work` in its own stack frame. In the frames of rayon's recursion, its arrays would exist once for each depth,
/// which exceeds a thread's stack.
#[inline(never)]
pub(super) fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The counts of tiles whose codes are kept.
pub(crate) fn count(version: Version, map: &ZoneMap, grid: &TileGrid, kept: &Kept) -> Counts {
    let all = Pool::<Box<Counts>>::default();
    let tiles = kept.numbers.iter().zip(&kept.codes);
    parallel::each(tiles, |(number, codes)| {
        let tile = grid.tile(*number);
        all.with(Box::default, |counts| {
            apart(|| map.count(version, &tile, codes, counts));
        });
    });
    let mut counts = Counts::default();
    all.into_all().iter().for_each(|own| counts.merge(own));
    counts
}
