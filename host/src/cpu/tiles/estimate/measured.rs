//! Samples that the kernels of a machine measure: the request to the kernels, and the sizes and predictions from their results.

use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::tally::Tally;
use crate::cpu::tiles::estimate::{Planes, Predicted, TileSample};
use crate::error::Error;
use crate::sampled_field::{Leavings, SampleMeasures, SampleToMeasure};
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Element, Shape};

impl<T: Element> TileSample<T> {
    /// The tiles that the machine that has the field must size, and the predictions that it must make instead of
    /// [`TileSample::predict_all`]. `None` if there are none, or if the machine has no kernels.
    pub(crate) fn to_measure(
        &self,
        grid: &Grid,
        shapes: &[Shape],
        layouts: &[TileLayout],
        quantizer: &Quantizer<T>,
    ) -> Option<SampleToMeasure<T>> {
        let of_layout = |layout: TileLayout| {
            let ways = self.ways(&layout, quantizer).into_iter();
            ways.map(move |way| (layout, way))
        };
        let new = self.new_predictors(layouts).into_iter();
        let numbers = |tile: &SampleTile<T>| [tile.number, tile.weight];
        let is_unsized = |tile: &&SampleTile<T>| !tile.is_sized() && tile.elements.is_empty();
        let wanted = SampleToMeasure {
            grid: *grid,
            tiles: self.grid,
            holes: self.holes,
            sized: (self.tiles.iter().filter(is_unsized))
                .map(|tile| tile.number)
                .collect(),
            shapes: shapes.to_vec(),
            taken: self.tiles.iter().map(numbers).collect(),
            predictions: new.flat_map(of_layout).collect(),
        };
        let is_any = !wanted.sized.is_empty() || !wanted.predictions.is_empty();
        (self.has_kernels && is_any).then_some(wanted)
    }

    /// Keeps the sizes of tiles, and of several predictions by the same predictor the best.
    pub(crate) fn take(
        &mut self,
        wanted: &SampleToMeasure<T>,
        found: SampleMeasures<T>,
        yardstick: u128,
    ) -> Result<(), Error> {
        let SampleMeasures { sizes, leavings } = found;
        let is_sized = |tile: &&mut SampleTile<T>| wanted.sized.contains(&tile.number);
        for (tile, sizes) in self.tiles.iter_mut().filter(is_sized).zip(sizes) {
            tile.take_sizes(sizes);
        }
        let mut all = wanted.predictions.iter().zip(leavings).peekable();
        while let Some(((layout, _), leavings)) = all.next() {
            let predictor = layout.codec.predictor;
            let mut ways = vec![leavings];
            while let Some((_, leavings)) =
                all.next_if(|((other, _), _)| other.codec.predictor == predictor)
            {
                ways.push(leavings);
            }
            let of_way = |leavings: Leavings<T>| Predicted {
                resolved: leavings.resolved,
                tally: Tally::counted(leavings.counts, leavings.coded, &self.tiles),
                anchors: leavings.anchors,
                planes: Planes::Measured(leavings.planes),
            };
            let predicted = ways.into_iter().map(of_way).collect();
            let best = self.best(layout, predicted, yardstick)?;
            self.predicted.extend(best);
        }
        Ok(())
    }
}
