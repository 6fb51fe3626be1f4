//! The stages of a tile, its positions shared out among the threads of a block.

use crate::predict::interp::method::{Method, Splines, Stencils};
use crate::predict::interp::positions::{Positions, Share};
use crate::predict::interp::residuals::{Residuals, TileSetup};
use crate::predict::interp::values::Values;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::stage::classes;
use ferrosz_codec::predict::interp::walk::OddAxes;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::{SharedAddress, Thread};

/// A method with the stages of a tile.
pub trait Staged: Method {
    /// Predicts and codes all positions of a tile and its far faces but the anchors: see [`run`].
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
        t: T,
        setup: &TileSetup,
        residuals: &R,
    ) {
        run::<T, E, S, R>(t, setup, residuals);
    }
}

impl Staged for Splines {}

impl Staged for Stencils {}

/// Predicts and codes all positions of a tile and its far faces but the anchors. For the whole block, after
/// a barrier behind which the store is filled; there is one behind each stage.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
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

#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn run_level<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
    t: T,
    setup: &TileSetup,
    store: SharedAddress,
    level: u32,
    residuals: &R,
) {
    let flags = Parameters::flags_of(setup.flag_bits, level);
    let quantizer = setup.quantizer(t, level);
    let is_fitted = matches!(R::KIND, FittedKind::Stencils) && setup.is_fitted(flags);
    let spline = flags.spline;
    let positions = Positions::new::<S>(setup, quantizer, store, level, spline, R::KIND, is_fitted);
    // One text for all stages and classes: it is long.
    let all = classes(S::SHAPE, flags.is_multi, flags.is_reverse);
    let mut stages =
        u64::from(t.opaque(all as u32)) | u64::from(t.opaque((all >> 32) as u32)) << 32;
    while stages != 0 {
        let mut left = stages as u32 & 0xffff;
        let first = left & 15;
        stages >>= 16;
        // Nothing is predicted from the values that the last stage of all finds on the far faces.
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
#[cfg_attr(target_arch = "nvptx64", inline(always))]
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
        (Shape::Line | Shape::Plane | Shape::Cube, _) => {}
    }
}
