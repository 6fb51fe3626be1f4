//! The anchors of a tile and its far faces.

use crate::predict::interp::residuals::TileSetup;
use crate::predict::interp::values::Values;
use crate::predict::interp::{InterpParams, THREADS};
use crate::primitives::element::load_element;
use core::array::from_fn;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::geometry::Geometry;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::shape::{Shape, StaticShape};
use ferrosz_simt::Thread;

/// An anchor, of which a thread has at most one: where its value lies in the store, and the value that is known of it.
#[derive(Clone, Copy)]
pub struct Anchor<E> {
    position: u32,
    value: E,
}

/// How many anchors a tile and its far faces have along each axis.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
const fn counts(shape: Shape, spacing: u32) -> [u32; 3] {
    let [z, y, x] = store::extents(shape);
    [
        (z - 1) / spacing + 1,
        (y - 1) / spacing + 1,
        (x - 1) / spacing + 1,
    ]
}

const _: () = {
    let mut shape = 0;
    while shape < Shape::ALL.len() {
        let mut geometry = 0;
        while geometry < Geometry::ALL.len() {
            let spacing = Geometry::ALL[geometry].spacing(Shape::ALL[shape]);
            let [z, y, x] = counts(Shape::ALL[shape], spacing);
            assert!(z * y * x <= THREADS, "a thread has at most one anchor");
            geometry += 1;
        }
        shape += 1;
    }
};

/// The position of this thread's anchor, if it has one in the field.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn position<T: Thread, S: StaticShape>(t: T, setup: &TileSetup) -> Option<[u32; 3]> {
    let log = setup.spacing.trailing_zeros();
    let [depth, height, width] = store::extents(S::SHAPE).map(|extent| ((extent - 1) >> log) + 1);
    let number = t.thread_index();
    let position = [
        number / width / height,
        number / width % height,
        number % width,
    ];
    let position = position.map(|at| at << log);
    (number < depth * height * width && setup.tile.has(position)).then_some(position)
}

impl<E: Element> Anchor<E> {
    /// This thread's anchor, if it has one in the field, by whole steps from the value of the tile's first position.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn rounded<T: Thread, S: StaticShape>(t: T, setup: &TileSetup) -> Option<Self> {
        let position = position::<T, S>(t, setup)?;
        let at = store::index(S::SHAPE, position);
        let values = Values::<E, S>::SHARED.0.address(t);
        let [value, origin] = [at, 0].map(|at| Values::<E, S>::load_at(t, values + 4 * at));
        let quantizer = setup.quantizer(t, setup.spacing.trailing_zeros());
        Some(Self {
            position: at,
            value: quantizer.rounded(value, origin),
        })
    }

    /// This thread's anchor, if it has one in the field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn read<T: Thread, S: StaticShape>(
        t: T,
        params: &InterpParams,
        setup: &TileSetup,
    ) -> Option<Self> {
        let spacing = setup.spacing;
        // The tile's first position is an anchor. All threads find its place, as the search for its slice branches: within
        // a branch of some threads, the compiler would repeat the barrier that follows for each of its ways.
        let grid = params.grid(S::SHAPE);
        let coarse = grid.coarse(spacing);
        let first = grid.to_coarse(&coarse, spacing, setup.tile.origin);
        let position = position::<T, S>(t, setup)?;
        let log = spacing.trailing_zeros();
        let at = from_fn(|axis| first[axis] + u64::from(position[axis] >> log));
        Some(Self {
            position: store::index(S::SHAPE, position),
            value: load_element::<T, E>(t, params.anchors, coarse.flat(at)),
        })
    }

    /// Sets this thread's anchor in the store.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn set<T: Thread, S: StaticShape>(t: T, anchor: Option<Self>) {
        if let Some(Self { position, value }) = anchor {
            let store = Values::<E, S>::SHARED.0.address(t);
            Values::<E, S>::store_at(t, store + 4 * position, value);
        }
    }
}
