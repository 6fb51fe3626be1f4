//! The codes of a sample's tiles, and the bits of the anchors between them.

use crate::cpu::Version;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::tiles::codes::apart;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::parallel;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::cost::{CLASSES, COST_BITS, cost};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{Part, TILE, TileGrid};
use ferrosz_codec::{Element, Shape};

/// The bytes of the codes of the coarse field, if there is one: how far the anchors of the sample are from the means of their neighbours
/// along x.
pub(super) fn coarse_bytes<T: Element>(
    layout: &TileLayout,
    resolved: &Resolved<T>,
    sample: &[SampleTile<T>],
) -> u128 {
    let Some(coarse) = layout.coarse else {
        return 0;
    };
    let spacing = u64::from(resolved.parameters.geometry.spacing(layout.shape()));
    let [quantizer, ..] = resolved.quantizers_of(Part::Coarse, layout.shape());
    let (mut counts, mut all) = ([0; CLASSES], 0u32);
    for tile in sample {
        let own = tile.tile.extents(layout.shape());
        let step = spacing as usize;
        for z in (0..own[0]).step_by(step) {
            for y in (0..own[1]).step_by(step) {
                for x in (0..own[2]).step_by(step) {
                    let at = tile.tile.at([z, y, x]);
                    let Some(mean) = tile.mean_of_neighbours(at, spacing) else {
                        continue;
                    };
                    let distance = (tile.at(at).to_f64() - mean).abs();
                    let code = (distance / quantizer.step.to_f64() + 0.5) as u32;
                    let class = (u32::BITS - code.leading_zeros()).min(CLASSES as u32 - 1);
                    counts[class as usize] += 1;
                    all += 1;
                }
            }
        }
    }
    let bits = u128::from(cost(&counts, T::BYTES as u32) >> COST_BITS);
    u128::from(coarse.elements()) * bits / (8 * u128::from(all.max(1)))
}

/// The anchors of a tile as a decoder knows them, row by row. They are those of a field that consists of this tile: they have
/// other errors than in a stream, but as large ones. In a cube a tile has too few anchors; there they have no errors.
fn decoded_anchors<T: Element>(
    tile: &SampleTile<T>,
    model: Model<'_, T>,
    shape: Shape,
    known: &mut TileStore<T>,
) -> (TileGrid, Vec<T>) {
    let alone = TileGrid::new(shape, tile.extents.map(u64::from));
    let predictor = Predictor::new(Version::best(), &alone, model, Part::Coarse);
    let grid = *predictor.grid();
    let spacing = model.resolved.parameters.geometry.spacing(shape);
    let value = |at| tile.elements[alone.flat(alone.of_coarse(&grid, spacing, at)) as usize];
    let [depth, height, width] = grid.lengths();
    let rows = (0..depth).flat_map(|z| (0..height).map(move |y| [z, y]));
    if shape == Shape::Cube {
        let anchors = rows.flat_map(|[z, y]| {
            (0..width).map({
                let value = &value;
                move |x| value([z, y, x])
            })
        });
        return (grid, anchors.collect());
    }
    let read = |[z, y, x]: [u64; 3], row: &mut [T]| {
        for (i, position) in (0..).zip(row) {
            *position = value([z, y, x + i]);
        }
    };
    let of_anchors = predictor.anchor_grid();
    let anchor = |at| value(grid.of_coarse(&of_anchors, spacing, at));
    apart(|| predictor.encode(&grid.tile(0), read, anchor, known, &mut [0; TILE]));
    let known = &*known;
    let at = |z, y, x| known.value([z, y, x].map(|at: u64| at as u32));
    let anchors = rows.flat_map(|[z, y]| (0..width).map(move |x| at(z, y, x)));
    (grid, anchors.collect())
}

/// The codes of tiles.
pub(super) fn interpolate<T: Element>(
    layout: &TileLayout,
    model: Model<'_, T>,
    sample: &[SampleTile<T>],
) -> Vec<TileCodes> {
    let shape = layout.shape();
    let predictor = Predictor::new(Version::best(), &layout.fine, model, Part::Fine);
    let spacing = model.resolved.parameters.geometry.spacing(shape);
    let coarse = layout.fine.coarse(spacing);
    let of_anchor = |at| layout.fine.of_coarse(&coarse, spacing, at);
    let mut all = vec![[0; TILE]; sample.len()];
    parallel::map_with(
        all.iter_mut().zip(sample),
        || (TileStore::new(shape), predictor.store()),
        |(coarse_known, known), (codes, tile)| {
            let (grid, anchors) = decoded_anchors(tile, model, shape, coarse_known);
            let anchor = |at| {
                let at: [u64; 3] = of_anchor(at);
                let steps = |axis: usize| at[axis].saturating_sub(tile.tile.origin[axis]);
                let in_grid = |axis: usize| match grid.lengths()[axis] {
                    1 => 0,
                    _ => steps(axis) / u64::from(spacing),
                };
                anchors[grid.flat(std::array::from_fn(in_grid)) as usize]
            };
            let read = |at, row: &mut [T]| tile.read_row(at, row);
            apart(|| predictor.encode(&tile.tile, read, anchor, known, codes));
        },
    );
    all
}

pub(super) fn predict_lorenzo<T: Element>(
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    sample: &[SampleTile<T>],
) -> Vec<TileCodes> {
    let mut all = vec![[0; TILE]; sample.len()];
    parallel::each(all.iter_mut().zip(sample), |(codes, tile)| {
        let (version, shape) = (Version::best(), layout.shape());
        let read = |at, row: &mut [T]| tile.read_row(at, row);
        apart(|| tile_lorenzo::encode_on(version, shape, &tile.tile, quantizer, read, codes));
    });
    all
}
