//! The stages of a tile, its positions shared out among the threads of a block.

use crate::predict::interp::columns;
use crate::predict::interp::positions::{Positions, Share};
use crate::predict::interp::values::Values;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Words;
use ferrosz_codec::predict::interp::stage::classes;
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_codec::tile::TileBox;
use ferrosz_simt::{SharedAddress, Thread, View};

/// What a block knows of its tile's parameters.
#[derive(Clone, Copy)]
pub struct TileSetup {
    /// The tile.
    pub tile: TileBox,
    /// How far anchors are apart.
    pub spacing: u32,
    pub(super) window: [u32; 3],
    flag_bits: u32,
    parameters: View<u32>,
    is_coarse: bool,
}

impl TileSetup {
    /// Reads the parameters. An unknown geometry is taken for the default: the host has looked at it.
    #[inline(always)]
    pub fn read<T: Thread, S: StaticShape>(
        t: T,
        parameters: View<u32>,
        tile: TileBox,
        is_coarse: bool,
    ) -> Self {
        let words = Words(|at| t.load(parameters, at as u64));
        let geometry = words.geometry().unwrap_or_default();
        Self {
            tile,
            spacing: geometry.spacing(S::SHAPE),
            window: geometry.window(S::SHAPE),
            flag_bits: words.flag_bits(),
            parameters,
            is_coarse,
        }
    }

    /// The bound.
    #[inline(always)]
    pub fn error<T: Thread, E: Element>(&self, t: T) -> E {
        Words(|at| t.load(self.parameters, at as u64)).error()
    }

    /// What codes are below in magnitude.
    #[inline(always)]
    pub fn radius<T: Thread>(&self, t: T) -> u32 {
        Words(|at| t.load(self.parameters, at as u64)).radius()
    }

    /// Whether the finest level is taken in columns.
    #[inline(always)]
    pub(super) fn has_columns<S: StaticShape>(&self) -> bool {
        let [depth, height, _] = self.window;
        let is_served = depth == columns::WINDOW && height == columns::WINDOW;
        matches!(S::SHAPE, Shape::Cube) && is_served && self.tile.left[0] >= columns::WINDOW
    }

    #[inline(always)]
    fn quantizer<T: Thread, E: Element>(&self, t: T, level: u32) -> LevelQuantizer<E> {
        let level = if self.is_coarse {
            self.spacing.trailing_zeros()
        } else {
            level
        };
        Words(|at| t.load(self.parameters, at as u64)).quantizer(level)
    }
}

/// A position, for what codes it.
#[derive(Clone, Copy)]
pub struct Position {
    /// Where it is, counted from where the tile begins.
    pub position: [u32; 3],
    /// Whether it is in the tile itself and not on a far face.
    pub is_own: bool,
    /// If so, its number in the order of steps and lanes.
    pub index: u32,
}

/// What a thread does with positions once their predictions are known.
pub trait Residuals<E> {
    /// Which positions are of interest.
    #[inline(always)]
    fn scope(&self) -> Scope {
        Scope::Whole
    }

    /// Settles positions of which none depends on another. `slots` is what the store holds for them; the result is what is
    /// known of them from then on, or anything of one that is rare.
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N];

    /// Whether a position is better coded alone, so that the others need not know how.
    #[inline(always)]
    fn is_rare(_: E) -> bool {
        false
    }

    /// Settles a position that is rare.
    #[inline(always)]
    fn code_rare<T: Thread>(&self, _: T, _: &LevelQuantizer<E>, _: Position, slot: E, _: E) -> E {
        slot
    }
}

/// Predicts and codes all positions of a tile and its far faces but the anchors. For the whole block, after
/// a barrier behind which the store is filled; there is one behind each stage.
#[inline(always)]
pub fn run<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
    t: T,
    setup: &TileSetup,
    residuals: &R,
) {
    let store = Values::<E, S>::kept_address(t);
    let mut level = t.opaque(setup.spacing.trailing_zeros());
    while level > 0 {
        level -= 1;
        run_level::<T, E, S, R>(t, setup, store, level, residuals);
    }
}

#[inline(always)]
fn run_level<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
    t: T,
    setup: &TileSetup,
    store: SharedAddress,
    level: u32,
    residuals: &R,
) {
    let flags = Parameters::flags_of(setup.flag_bits, level);
    let quantizer = setup.quantizer(t, level);
    let positions = Positions::new::<S>(setup, quantizer, store, level, flags.spline);
    // One text for all stages and classes: it is long.
    let all = classes(S::SHAPE, flags.is_multi, flags.is_reverse);
    let mut stages =
        u64::from(t.opaque(all as u32)) | u64::from(t.opaque((all >> 32) as u32)) << 32;
    while stages != 0 {
        let mut left = stages as u32 & 0xffff;
        let first = left & 15;
        stages >>= 16;
        // Nothing is predicted from what the last stage of all finds on the far faces.
        let is_last = level == 0 && stages == 0;
        let mut turn = t.thread_index();
        while left != 0 {
            let odd = left & 15;
            let class = OddAxes {
                odd,
                axes: if flags.is_multi { odd } else { first },
            };
            let (mut share, next) = positions.share::<S>(class, !is_last, turn);
            share.ends = residuals.scope().ends(S::SHAPE, level, share.ends);
            // At the upper levels most warps have nothing to do.
            if positions.has_positions(&share) {
                run_class::<T, E, S, R>(t, &positions, share, residuals);
            }
            turn = next;
            left >>= 4;
        }
        t.barrier();
    }
}

/// [`Positions::run`] with the axes known when it is compiled: in there they would be a switch at every position.
#[inline(always)]
fn run_class<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
    t: T,
    positions: &Positions<'_, E>,
    share: Share,
    residuals: &R,
) {
    match (S::SHAPE, share.class.axes) {
        (_, 0b100) => positions.run::<T, S, 0b100, R>(t, share, residuals),
        (Shape::Plane | Shape::Cube, 0b010) => positions.run::<T, S, 0b010, R>(t, share, residuals),
        (Shape::Plane | Shape::Cube, 0b110) => positions.run::<T, S, 0b110, R>(t, share, residuals),
        (Shape::Cube, 0b001) => positions.run::<T, S, 0b001, R>(t, share, residuals),
        (Shape::Cube, 0b011) => positions.run::<T, S, 0b011, R>(t, share, residuals),
        (Shape::Cube, 0b101) => positions.run::<T, S, 0b101, R>(t, share, residuals),
        (Shape::Cube, 0b111) => positions.run::<T, S, 0b111, R>(t, share, residuals),
        _ => {}
    }
}
