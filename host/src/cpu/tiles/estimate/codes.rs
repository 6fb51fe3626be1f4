//! The codes of a sample's tiles, and the bytes of the anchors between them.

use crate::cpu::Version;
use crate::cpu::predict::interp::{Model, Predictor};
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::tiles::codes::apart;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::parallel;
use crate::sampled_field::AnchorClasses;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::anchor::class_of_anchor;
use ferrosz_codec::predict::interp::tune::cost::{CLASSES, COST_BITS, cost};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{Part, TILE};
use ferrosz_codec::{Element, Shape};

/// The bytes of the codes of the coarse field, if there is one, as the anchors of a sample tell.
pub(super) fn coarse_bytes<T: Element>(layout: &TileLayout, classes: &AnchorClasses) -> u128 {
    let elements = layout.coarse.map_or(0, |coarse| coarse.elements());
    let bits = u128::from(cost(classes, T::BYTES as u32) >> COST_BITS);
    let all: u32 = classes.iter().sum();
    u128::from(elements) * bits / (8 * u128::from(all.max(1)))
}

/// The classes of the anchors of a sample.
pub(super) fn anchor_classes<T: Element>(
    resolved: &Resolved<T>,
    shape: Shape,
    sample: &[SampleTile<T>],
) -> AnchorClasses {
    let spacing = resolved.parameters.geometry.spacing(shape);
    let [quantizer, ..] = resolved.quantizers_of(Part::Coarse, shape);
    let mut counts = [0; CLASSES];
    for tile in sample {
        let own = tile.tile.extents(shape);
        let step = spacing as usize;
        for z in (0..own[0]).step_by(step) {
            for y in (0..own[1]).step_by(step) {
                for x in (0..own[2]).step_by(step) {
                    let at = tile.tile.at([z, y, x]);
                    let Some(neighbours) = tile.neighbours(at, spacing.into()) else {
                        continue;
                    };
                    let class = class_of_anchor(quantizer.step, tile.at(at), neighbours);
                    counts[class as usize] += 1;
                }
            }
        }
    }
    counts
}

/// The codes of tiles. Anchors are rounded, so that they have errors as large as in a stream; in a cube, which has few, they are
/// as they are.
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
    let [quantizer, ..] = model.resolved.quantizers_of(Part::Coarse, shape);
    let mut all = vec![[0; TILE]; sample.len()];
    parallel::map_with(
        all.iter_mut().zip(sample),
        || predictor.store(),
        |known, (codes, tile)| {
            let anchor = |at| {
                let value = tile.at(of_anchor(at));
                match shape {
                    Shape::Line | Shape::Plane => quantizer.rounded(value, T::ZERO),
                    Shape::Cube => value,
                }
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
