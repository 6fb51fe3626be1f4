//! The oracle: a whole field, stage after stage, in plain loops. Without tiles.

use crate::element::Element;
use crate::entropy::token::{RAW, unzigzag};
use crate::interp::parameters::Parameters;
use crate::interp::predict::Site;
use crate::interp::resolved::Resolved;
use crate::interp::stage::Stage;
use crate::shape::Shape;
use crate::tile::{self, FAR, TileGrid};
use alloc::vec;
use alloc::vec::Vec;

/// What became of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposed<T> {
    /// The code of every place in C order; none where the value is stored as it is. 0 at anchors.
    pub codes: Vec<Option<i32>>,
    /// What the decoder will know of every place, in C order.
    pub known: Vec<T>,
}

/// The anchors of a field, in C order.
pub fn anchors<T: Copy>(grid: &TileGrid, spacing: u32, values: &[T]) -> Vec<T> {
    let coarse = grid.coarse(spacing);
    (0..coarse.elements())
        .map(|i| {
            let at = spread(grid.shape(), place_of(&coarse, i), spacing);
            values[grid.flat(at) as usize]
        })
        .collect()
}

/// Predicts and quantises a field whose anchors are known.
pub fn decompose<T: Element>(
    grid: &TileGrid,
    resolved: &Resolved<T>,
    radius: u32,
    values: &[T],
    anchors: &[T],
) -> Decomposed<T> {
    let mut codes = vec![Some(0); values.len()];
    let known = visit(
        grid,
        &resolved.parameters,
        anchors,
        |level, at, prediction| {
            let quantizer = &resolved.quantizers[level];
            let (value, error) = (values[at], resolved.error);
            let [quantized] = quantizer.encode_as_defined([value], [prediction], error, radius);
            codes[at] = (quantized.code != RAW).then(|| unzigzag(quantized.code));
            quantized.known
        },
    );
    Decomposed { codes, known }
}

/// What the encoder knew of a field of these codes. The values of places without a code are in `raw`; there the field
/// is what these say, whatever the encoder knew. The `radius` is that of the codes.
pub fn compose<T: Element>(
    grid: &TileGrid,
    resolved: &Resolved<T>,
    radius: u32,
    codes: &[Option<i32>],
    raw: &[T],
    anchors: &[T],
) -> Vec<T> {
    visit(
        grid,
        &resolved.parameters,
        anchors,
        |level, at, prediction| {
            let quantizer = &resolved.quantizers[level];
            match codes[at] {
                Some(code) => quantizer.decode(prediction, code),
                None => quantizer.known(raw[at], prediction, resolved.error, radius),
            }
        },
    )
}

/// Goes through all places that are not anchors, each after those that it is predicted from; `decide` gets
/// level, number and prediction of a place and says what is known of it from then on.
fn visit<T: Element>(
    grid: &TileGrid,
    parameters: &Parameters,
    anchors: &[T],
    mut decide: impl FnMut(usize, usize, T) -> T,
) -> Vec<T> {
    let shape = grid.shape();
    let rank = usize::from(shape.rank());
    let spacing = parameters.geometry.spacing(shape);
    let coarse = grid.coarse(spacing);
    let mut known = vec![T::ZERO; grid.elements() as usize];
    for (i, anchor) in anchors.iter().enumerate() {
        known[grid.flat(spread(shape, place_of(&coarse, i as u64), spacing)) as usize] = *anchor;
    }
    for level in (0..parameters.geometry.levels(shape)).rev() {
        let flags = parameters.levels[level as usize];
        for number in 0..rank {
            let stage = Stage::of(number, rank, flags.is_multi, flags.is_reverse);
            for i in 0..grid.elements() {
                let at = place_of(grid, i);
                let odd = odd_axes(shape, at, level);
                if !odd.is_some_and(|odd| stage.has(odd)) {
                    continue;
                }
                let axes = stage.axes(odd.unwrap_or_default());
                let prediction = predict(grid, parameters, &known, at, level, axes);
                known[i as usize] = decide(level as usize, i as usize, prediction);
            }
        }
    }
    known
}

/// Along which axes a place is an odd multiple of the level's unit; none if it is no multiple along some.
fn odd_axes(shape: Shape, at: [u64; 3], level: u32) -> Option<u32> {
    let mut odd = 0;
    for (axis, at) in at.iter().enumerate().skip(3 - usize::from(shape.rank())) {
        if !at.is_multiple_of(1 << level) {
            return None;
        }
        odd |= ((at >> level & 1) as u32) << axis;
    }
    Some(odd)
}

fn predict<T: Element>(
    grid: &TileGrid,
    parameters: &Parameters,
    known: &[T],
    at: [u64; 3],
    level: u32,
    axes: u32,
) -> T {
    let tile = tile::extents(grid.shape()).map(u64::from);
    let lengths = grid.lengths();
    let unit = 1i64 << level;
    let moved = |axis: usize, steps: i64| {
        let mut at = at;
        at[axis] = at[axis].wrapping_add_signed(steps * unit);
        at
    };
    let site = Site {
        place: core::array::from_fn(|i| (at[i] % tile[i]) as u32),
        left: core::array::from_fn(|i| {
            (lengths[i] - at[i] / tile[i] * tile[i]).min(u64::from(FAR)) as u32
        }),
        window: parameters.geometry.window(grid.shape()),
        unit: 1 << level,
        spline: parameters.levels[level as usize].spline,
    };
    site.predict(
        axes,
        |axis, steps| known[grid.flat(moved(axis, i64::from(steps))) as usize],
        |a, b| {
            let mut at = moved(a, -1);
            at[b] -= unit as u64;
            known[grid.flat(at) as usize]
        },
    )
}

fn place_of(grid: &TileGrid, flat: u64) -> [u64; 3] {
    let [_, height, width] = grid.lengths();
    [flat / width / height, flat / width % height, flat % width]
}

/// A place of the coarse field as one of the field.
fn spread(shape: Shape, at: [u64; 3], spacing: u32) -> [u64; 3] {
    let first = 3 - usize::from(shape.rank());
    core::array::from_fn(|axis| {
        if axis < first {
            at[axis]
        } else {
            at[axis] * u64::from(spacing)
        }
    })
}
