//! Choice of codec, shape of blocks or tiles, and roles of axes by the sizes that a sample predicts.

pub(crate) mod axes;
mod predictions;
mod race;
pub(crate) mod weights;
pub(crate) mod whole;

use crate::choose::axes::Candidate;
use crate::choose::predictions::{Predictions, Yardsticks, sampled_mask_bytes};
use crate::choose::whole::{InMemory, WholeField};
use crate::cpu::mapping::coded::coded_values;
use crate::cpu::{self, Version};
use crate::error::Error;
use crate::keeping::{Keeping, census};
use crate::parallel;
use crate::sampled_field::SampledField;
#[cfg(feature = "cuda")]
use crate::sampled_field::TilesToWeigh;
use crate::scratch::Copies;
use crate::tolerance::Tolerance;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::axes::{Axes, Order};
use ferrosz_codec::mapping::census::Census;
use ferrosz_codec::mapping::{Keep, Scale, ValueMapping};
use ferrosz_codec::predict::interp::tune::TighteningChoice;
use ferrosz_codec::predict::slices::terms::REFERENCES;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Codec, Element};

/// The default shape of blocks or tiles of a field: as many dimensions as are longer than 1, up to three, without leading
/// dimensions that are shorter than a block. Blocks at the end of the field cost as many bits as full ones, so they have no
/// more dimensions than leave more than half of their elements in the field: blocks that are half empty were twice as long as
/// lines. Tiles are cut off there. If the axes have roles, there are as many dimensions as these give.
pub(crate) fn natural_shape(codec: Codec, extents: &Extents) -> Shape {
    if !extents.roles().is_default() {
        return Grid::new(Shape::Cube, extents).shape();
    }
    let longer = extents.lengths().iter().filter(|length| **length > 1);
    let full = longer.skip_while(|length| **length < u64::from(EDGE));
    let most = full.count().clamp(1, Shape::ALL.len());
    let is_full = |shape: &Shape| {
        let is_in_tiles = codec.tiles().is_some();
        is_in_tiles || *shape == Shape::Line || are_mostly_full(*shape, extents)
    };
    let shapes = (1..=most as u8).rev().filter_map(Shape::of_rank);
    shapes.into_iter().find(is_full).unwrap_or(Shape::Line)
}

/// Whether the blocks of a field have less than twice as many elements as the field.
fn are_mostly_full(shape: Shape, extents: &Extents) -> bool {
    let lengths = Grid::new(shape, extents).lengths();
    let in_blocks = lengths.iter().zip(shape.extents());
    let padded = in_blocks.map(|(length, of_block)| {
        let of_block = u128::from(of_block);
        u128::from(*length).next_multiple_of(of_block)
    });
    padded.product::<u128>() < 2 * u128::from(extents.elements().max(1))
}

/// Elements along an edge of the smallest blocks, which are cubes.
const EDGE: u32 = Shape::Cube.extents()[0];

/// The layouts of these codecs for a field of these extents, in the order of the codecs, for all shapes or one.
pub(crate) fn candidates(codecs: &[Codec], shape: Option<Shape>, extents: &Extents) -> Vec<Layout> {
    let wanted = |shape| Layout::new(Codec::PLAIN, shape, *extents).shape;
    let mut layouts = Vec::new();
    for codec in codecs {
        for of_codec in Shape::ALL {
            let layout = Layout::new(*codec, of_codec, *extents);
            // In a line the Lorenzo predictor is the one-neighbour difference.
            let is_another_name = *codec == Codec::LORENZO
                && layout.shape == Shape::Line
                && codecs.contains(&Codec::PLAIN);
            let is_wanted = shape.is_none_or(|shape| layout.shape == wanted(shape));
            let is_own = layout.shape == of_codec && layout.codec == *codec;
            // Slices are predicted by the three before; where there are not as many, they only cost coefficients.
            let is_too_flat =
                *codec == Codec::SLICES && layout.grid().lengths()[0] <= REFERENCES as u64;
            if is_own && is_wanted && !is_another_name && !is_too_flat {
                layouts.push(layout);
            }
        }
    }
    layouts
}

/// What to choose from, for fields of these extents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The codecs of the preset, the preferred first; or the one that is named.
    pub(crate) codecs: &'static [Codec],
    /// Whether the codec is named: then shape and length of chunks are given, too, and all orders of axes are candidates.
    pub(crate) is_named: bool,
    /// The choice of the levels' bounds.
    pub(crate) tightening: TighteningChoice,
    /// The shape of blocks and tiles, if it is given.
    pub(crate) shape: Option<Shape>,
    /// Whether it follows from the extents: with other axes it may be another one.
    pub(crate) open_shape: bool,
    /// The field's extents, in the user's order.
    pub(crate) extents: Extents,
    /// The roles of the axes, if they are given, or if the parts of complex numbers are slices.
    pub(crate) axes: Option<Axes>,
    /// Whether other roles are candidates.
    pub(crate) turns: bool,
    /// Whether the field is of complex numbers.
    pub(crate) is_complex: bool,
    /// Whether the parts of complex numbers may also be neighbours, as they are in the field.
    pub(crate) interleaves: bool,
    /// The length of chunks of tiles, if it is given.
    pub(crate) chunk: Option<ChunkLength>,
    /// What is kept of the field.
    pub(crate) keeping: Keeping,
    /// Whether a mask can keep it. Otherwise codecs that would need one are left out.
    pub(crate) has_masks: bool,
}

/// A layout, the roles of the axes that lead to it, if they are not the default ones, and what its mask keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) layout: Layout,
    pub(crate) axes: Option<Axes>,
    pub(crate) keep: Keep,
}

impl Request {
    /// Whether the census of a field may be needed. It is not if all codecs keep zeros and signs, or values are logarithms.
    pub(crate) fn needs_census(&self, mapping: &ValueMapping) -> bool {
        mapping.scale != Scale::Logarithm && by_themselves(self.codecs).len() < self.codecs.len()
    }

    /// The request for one field: what is kept of it is known. The census is taken if it is needed and values do not come
    /// back exactly. `least` gives the smallest value; where it is above the error, no sign is lost.
    pub(crate) fn seen<T: Element>(
        mut self,
        mapping: &ValueMapping,
        quantizer: &Quantizer<T>,
        census: impl FnOnce() -> Result<Census, Error>,
        least: impl FnOnce() -> Result<Option<T>, Error>,
    ) -> Result<Self, Error> {
        let mut keep = match self.needs_census(mapping) && !quantizer.is_lossless() {
            true => self.keeping.of(census()?),
            false => Keep::default(),
        };
        if keep.signs && !self.keeping.always.signs {
            keep.signs = least()?.is_none_or(|least| least < quantizer.error());
        }
        if keep != Keep::default() && !self.has_masks {
            self.codecs = by_themselves(self.codecs);
        }
        self.keeping = Keeping::just(keep);
        Ok(self)
    }

    /// What a mask keeps of a field with this codec.
    fn keep(&self, codec: Codec) -> Keep {
        match codec.keeps_signs_and_zeros() {
            true => Keep::default(),
            false => self.keeping.always,
        }
    }

    /// Whether all codecs are of blocks.
    fn is_in_blocks(&self) -> bool {
        self.codecs.iter().all(|codec| codec.tiles().is_none())
    }

    /// The shape of the tiles of a layout's sample: its own. Codecs of blocks among themselves have one sample for planes and
    /// cubes, whose blocks are there as in the field: so they are compared at the same places. Lines are longer than tiles of
    /// these are wide.
    pub(crate) fn sampled_shape(&self, layout: &Layout) -> Shape {
        match self.is_in_blocks() && layout.shape != Shape::Line {
            true => Layout::new(Codec::PLAIN, Shape::Cube, layout.extents).shape,
            false => layout.shape,
        }
    }

    /// The shapes of blocks of the layouts whose sample has tiles of a shape.
    fn block_shapes(&self, sampled: Shape) -> Vec<Shape> {
        match self.is_in_blocks() && sampled == Shape::Cube {
            true => vec![Shape::Plane, Shape::Cube],
            false => vec![sampled],
        }
    }

    /// The extents of the coded field with these roles of the axes.
    fn coded(&self, axes: Option<Axes>) -> Extents {
        let coded = axes.and_then(|axes| axes.coded_extents(&self.extents));
        coded.unwrap_or(self.extents)
    }

    /// The layouts for a coded field of these extents.
    fn layouts(&self, shape: Option<Shape>, coded: &Extents) -> Vec<Layout> {
        match (self.is_named, self.codecs, shape) {
            (true, [codec], Some(shape)) => vec![Layout::new(*codec, shape, *coded)],
            _ => candidates(self.codecs, shape, coded),
        }
    }

    /// The order of the axes before others are tried.
    fn order(&self) -> Order {
        let rank = self.extents.lengths().len();
        let order = (self.axes).map_or(Order::identity(rank), |axes| axes.order());
        order.with_complex(self.is_complex)
    }

    /// The candidate of slices, if the axes and the shape are open to it.
    fn sliced(&self) -> Option<Candidate> {
        self.takes(axes::sliced(&self.extents, self.is_complex)?)
    }

    /// A candidate, unless axes or another shape are given.
    fn takes(&self, candidate: Candidate) -> Option<Candidate> {
        let is_open = self.turns && self.shape.is_none_or(|shape| shape == candidate.shape);
        is_open.then_some(candidate)
    }

    /// The request in which the parts of complex numbers are neighbours; none if they may not be.
    fn interleaved(&self) -> Option<Self> {
        let axes = axes::parts_last(&self.extents).filter(|_| self.interleaves)?;
        Some(Self {
            axes: Some(axes),
            // The shape that a named codec takes by itself.
            shape: match (self.is_named, self.codecs, self.open_shape) {
                (true, [codec], true) => Some(natural_shape(*codec, &self.extents)),
                _ => self.shape,
            },
            ..*self
        })
    }
}

/// A codec, as the list of one.
pub(crate) fn only(codec: Codec) -> &'static [Codec] {
    let at = Codec::ALL.iter().position(|known| *known == codec);
    at.map_or(&[], |at| &Codec::ALL[at..=at])
}

/// Those of the codecs of a preset that keep zeros and signs by themselves, which are the first ones. Decoded values come
/// back as they are when these codecs compress them again.
pub(crate) fn by_themselves(codecs: &'static [Codec]) -> &'static [Codec] {
    &codecs[..codecs.partition_point(|codec| codec.keeps_signs_and_zeros())]
}

/// The other codecs of a preset, which have levels.
pub(crate) fn with_levels(codecs: &'static [Codec]) -> &'static [Codec] {
    &codecs[by_themselves(codecs).len()..]
}

/// [`choose`] for a field in memory, and the absolute error that the bound is for it.
pub(crate) fn choose_for<T: Element>(
    bound: Bound,
    mapping: &ValueMapping,
    copies: Copies,
    request: &Request,
    field: &[T],
) -> Result<(Chosen, f64), Error> {
    with_element!(T::DTYPE, E => {
        compiled_here!(choose: Choose<E> = choose_in::<E>);
        choose()(bound, mapping, copies, request, bytemuck::cast_slice(field))
    })
}

/// [`choose_in`] a field of an element type.
type Choose<T> = fn(Bound, &ValueMapping, Copies, &Request, &[T]) -> Result<(Chosen, f64), Error>;

fn choose_in<T: Element>(
    bound: Bound,
    mapping: &ValueMapping,
    copies: Copies,
    request: &Request,
    field: &[T],
) -> Result<(Chosen, f64), Error> {
    let (best, error) = parallel::in_steps(|| best_in(bound, mapping, copies, request, field))?;
    Ok((best.chosen, error))
}

/// The best in a field in memory, and the absolute error.
fn best_in<T: Element>(
    bound: Bound,
    mapping: &ValueMapping,
    copies: Copies,
    request: &Request,
    field: &[T],
) -> Result<(Best, f64), Error> {
    let coded = coded_values(copies, mapping, field)?;
    let field = coded.as_deref().unwrap_or(field);
    let tolerance = Tolerance {
        bound,
        tightening: request.tightening,
    };
    let (quantizer, tightening) = cpu::resolve(Version::best(), tolerance, field);
    let quantizer = quantizer.with_holes(mapping.has_holes());
    let least = || {
        Ok(cpu::extremes(Version::best(), field)
            .values()
            .map(|(least, _)| least))
    };
    let request = Request {
        tightening,
        ..request.seen(mapping, &quantizer, || Ok(census(field)), least)?
    };
    let extents = &request.extents;
    let best = choose_in_whole(&quantizer, &request, &mut InMemory { extents, field })?;
    Ok((best, quantizer.error().to_f64()))
}

/// The predicted bytes of what [`choose_for`] chooses: chunk table, payload and mask.
pub(crate) fn predicted_bytes<T: Element>(
    bound: Bound,
    mapping: &ValueMapping,
    copies: Copies,
    request: &Request,
    field: &[T],
) -> Result<u128, Error> {
    let (best, _) = best_in(bound, mapping, copies, request, field)?;
    let mut read = |grid: &Grid, places: &[ChunkBox]| {
        Ok(parallel::map(places.iter(), |place| {
            read_box(grid, place, field)
        }))
    };
    let mask = sampled_mask_bytes(&request.extents, &mapping.classes, &mut read)?;
    Ok(best.bytes + mask)
}

/// [`choose`] for a whole coded field, also among other orders of its axes.
///
/// # Errors
///
/// As [`choose`].
pub(crate) fn choose_in_whole<T: Element>(
    quantizer: &Quantizer<T>,
    request: &Request,
    field: &mut dyn WholeField<T>,
) -> Result<Best, Error> {
    let order = request.order();
    let mut read = |grid: &Grid, places: &[ChunkBox]| field.boxes(&order, grid, places);
    let mut best = choose(quantizer, request, &mut read)?;
    if let Some(interleaved) = request.interleaved() {
        let order = interleaved.order();
        let mut read = |grid: &Grid, places: &[ChunkBox]| field.boxes(&order, grid, places);
        let other = choose(quantizer, &interleaved, &mut read)?;
        if other.bytes < best.bytes {
            best = other;
        }
    }
    if !request.turns {
        return Ok(best);
    }
    // Slices of real numbers are in their order, and have been tried.
    let sliced = request.sliced().filter(|_| request.is_complex);
    let turned = axes::turned(&request.extents, &order, quantizer, request.is_named, field)?;
    for candidate in sliced.into_iter().chain(turned) {
        let Some(candidate) = request.takes(candidate) else {
            continue;
        };
        let order = candidate.axes.order();
        let mut read = |grid: &Grid, places: &[ChunkBox]| field.boxes(&order, grid, places);
        let mut predictions =
            Predictions::new(quantizer, request, Yardsticks::default(), &mut read);
        let percent = match request.is_in_blocks() {
            true => TURNED_BLOCKS_PERCENT,
            false => TURNED_PERCENT,
        };
        best.improve(&mut predictions, request, candidate, percent)?;
    }
    Ok(best)
}

/// Slices are chosen if the predicted stream has at most this percentage of the bytes of the best without.
const SLICED_PERCENT: u128 = 98;

/// Another order of axes is chosen if the predicted stream has at most this percentage of the bytes of the best
/// without: it costs a copy of the field. Of codecs of blocks it takes longer than the compression, so it must save more.
const TURNED_PERCENT: u128 = 95;
const TURNED_BLOCKS_PERCENT: u128 = 75;

/// The best so far.
pub(crate) struct Best {
    /// Its predicted bytes.
    bytes: u128,
    pub(crate) chosen: Chosen,
}

impl Best {
    /// The codecs that tell whether other axes are worth a race: the best so far. [`Codec::SLICES`] says little of axes of
    /// slices, which it has by itself, so there is the best one without coefficients, too.
    fn probes(&self, request: &Request) -> impl Iterator<Item = Codec> + use<> {
        let best = self.chosen.layout.codec;
        let has_other = best == Codec::SLICES && request.codecs.contains(&Codec::LORENZO_RANS);
        [Some(best), has_other.then_some(Codec::LORENZO_RANS)]
            .into_iter()
            .flatten()
    }

    /// Takes other axes if they are clearly better: first few codecs are tried, as this is cheap; then all.
    fn improve<T: Element>(
        &mut self,
        predictions: &mut Predictions<'_, T>,
        request: &Request,
        candidate: Candidate,
        percent: u128,
    ) -> Result<(), Error> {
        let is_better = |bytes: u128| bytes * 100 <= self.bytes * percent;
        let coded = request.coded(Some(candidate.axes));
        let mut is_promising = false;
        for codec in self.probes(request) {
            let layout = Layout::new(codec, candidate.shape, coded);
            let bytes = race::last_prediction(predictions, &layout, request.is_in_blocks())?;
            is_promising |= is_better(bytes);
        }
        if !is_promising {
            return Ok(());
        }
        let candidates = request.layouts(Some(candidate.shape), &coded);
        let (bytes, layout) = race::shortest(predictions, &candidates)?;
        if is_better(bytes) {
            *self = Self {
                bytes,
                chosen: Chosen {
                    layout,
                    axes: Some(candidate.axes),
                    keep: request.keep(layout.codec),
                },
            };
        }
        Ok(())
    }
}

/// The layout of the smallest predicted size among the layouts of a field whose axes keep their order, and slices if
/// they are clearly better; if axes with another order are given, `field` must turn them. The choice depends only on the
/// field and the bound: sizes are integers, computed from a fixed choice of chunks and tiles. `request` is for this field
/// ([`Request::seen`]).
///
/// # Errors
///
/// The errors of `field`; [`Error::NotChosen`] if there are no candidates.
pub(crate) fn choose<T: Element>(
    quantizer: &Quantizer<T>,
    request: &Request,
    field: &mut dyn SampledField<T>,
) -> Result<Best, Error> {
    let candidates = request.layouts(request.shape, &request.coded(request.axes));
    let mut predictions = Predictions::new(quantizer, request, Yardsticks::default(), &mut *field);
    let (bytes, layout) = race::shortest(&mut predictions, &candidates)?;
    let (axes, keep) = (request.axes, request.keep(layout.codec));
    let chosen = Chosen { layout, axes, keep };
    let mut best = Best { bytes, chosen };
    if let Some(candidate) = request.sliced().filter(|_| !request.is_complex) {
        let yardsticks = predictions.yardsticks();
        let mut predictions = Predictions::new(quantizer, request, yardsticks, field);
        best.improve(&mut predictions, request, candidate, SLICED_PERCENT)?;
    }
    Ok(best)
}

/// The tiles that [`choose`] weighs first.
#[cfg(feature = "cuda")]
pub(crate) fn tiles_to_weigh(request: &Request) -> Vec<TilesToWeigh> {
    let candidates = request.layouts(request.shape, &request.coded(request.axes));
    let efforts = race::efforts(&candidates);
    predictions::tiles_to_weigh(request, &candidates, &efforts)
}

/// The elements of a box of a field in memory, row by row.
pub(crate) fn read_box<T: Copy>(grid: &Grid, place: &ChunkBox, field: &[T]) -> Vec<T> {
    let [depth, height, width] = place.extents.map(u64::from);
    let [z, y, x] = place.origin;
    let mut elements = Vec::with_capacity(place.elements() as usize);
    for row in 0..depth * height {
        let first = grid.flat([z + row / height, y + row % height, x]) as usize;
        elements.extend_from_slice(&field[first..first + width as usize]);
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    #[test]
    fn shapes_that_a_field_cannot_have_are_no_candidates() {
        let names = |lengths: &[u64]| {
            let extents = Extents::new(lengths).unwrap();
            let layouts = candidates(Preset::Small.codecs(), None, &extents);
            layouts
                .iter()
                .map(|l| (l.codec, l.shape.rank()))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&[100]).len(), 4 + 7);
        assert_eq!(names(&[1, 100, 100]).len(), 4 + 4 + 2 * 7);
        // Slices have cubes only.
        assert_eq!(names(&[9, 100, 100]).len(), 4 + 8 + 3 * 7 + 1);
        assert!(!names(&[9, 9, 9]).contains(&(Codec::LAYERED, 2)));
        assert!(names(&[0]).contains(&(Codec::PLAIN, 1)));
    }

    #[test]
    fn a_rank_given_is_the_only_one() {
        let extents = Extents::new(&[9, 100, 100]).unwrap();
        for shape in Shape::ALL {
            let layouts = candidates(Preset::Small.codecs(), Some(shape), &extents);
            assert!(layouts.len() > 3 && layouts.iter().all(|layout| layout.shape == shape));
        }
        let line = Extents::line(100);
        let all = candidates(Preset::Fast.codecs(), None, &line);
        assert_eq!(
            candidates(Preset::Fast.codecs(), Some(Shape::Cube), &line),
            all
        );
    }

    #[test]
    fn a_field_has_blocks_of_its_own_dimensions() {
        for (lengths, rank) in [
            (&[100][..], 1),
            (&[1, 1, 100], 1),
            (&[50, 100], 2),
            (&[50, 1, 100], 2),
            (&[50, 60, 100], 3),
            (&[4, 60, 100], 3),
            (&[2, 60, 100], 2),
            (&[2, 3, 100], 1),
            (&[60, 100, 3], 3),
            (&[2, 2, 2], 1),
            (&[1], 1),
            (&[0, 5, 5], 2),
        ] {
            let shape = natural_shape(Codec::LORENZO, &Extents::new(lengths).unwrap());
            assert_eq!(shape.rank(), rank, "{lengths:?}");
        }
    }

    /// Blocks that are half empty are none; tiles are cut off where the field ends.
    #[test]
    fn blocks_are_more_than_half_full() {
        for (lengths, of_blocks, of_tiles) in [
            (&[9000, 2][..], 1, 2),
            (&[9000, 3], 1, 2),
            (&[9000, 4], 1, 2),
            (&[9000, 5], 2, 2),
            (&[5, 3000, 2], 1, 3),
            (&[4, 60, 2], 1, 3),
            (&[4, 60, 3], 3, 3),
            (&[512, 512, 2], 1, 3),
            (&[60, 100, 3], 3, 3),
            (&[9, 9, 9], 1, 3),
            (&[10, 10, 10], 3, 3),
            (&[40, 9, 5], 1, 3),
            (&[u64::MAX], 1, 1),
        ] {
            let extents = Extents::new(lengths).unwrap();
            for (codec, rank) in [(Codec::LORENZO, of_blocks), (Codec::INTERP, of_tiles)] {
                let shape = natural_shape(codec, &extents);
                assert_eq!(shape.rank(), rank, "{lengths:?} {codec}");
            }
        }
    }
}
