//! A part of a field: a range of elements or a box.

use crate::cpu::mapping::axes::Turn;
use crate::error::Error;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::mapping::axes::{Order, PARTS};
use std::borrow::Cow;
use std::ops::Range;

/// A part of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Elements by their numbers, in C order.
    Elements(Range<u64>),
    /// A box: a range in every dimension, slowest first.
    Box(Vec<Range<u64>>),
}

impl Part {
    /// The part's extents: one length for a range, one length for each dimension of a box.
    pub fn extents(&self) -> Vec<u64> {
        let ranges = match self {
            Self::Elements(range) => std::slice::from_ref(range),
            Self::Box(ranges) => ranges,
        };
        let lengths = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        lengths.collect()
    }

    /// The same part of a field of complex numbers, as a part of the field of their real and imaginary parts.
    pub fn of_parts(&self) -> Self {
        match self {
            Self::Elements(range) => {
                let [start, end] = [range.start, range.end].map(|at| at.saturating_mul(PARTS));
                Self::Elements(start..end)
            }
            Self::Box(ranges) => {
                let mut ranges = ranges.clone();
                ranges.push(0..PARTS);
                Self::Box(ranges)
            }
        }
    }

    /// The part of a field with these extents as boxes, in the order of their elements: one, or those that a range of
    /// elements consists of.
    pub fn boxes(&self, extents: &[u64]) -> Vec<Vec<Range<u64>>> {
        match self {
            Self::Box(ranges) => vec![ranges.clone()],
            Self::Elements(_) if extents.contains(&0) => Vec::new(),
            Self::Elements(range) => boxes_of_range(extents, range.clone()),
        }
    }

    /// The pieces of the part of a field whose axes have this order, one behind the other.
    pub(crate) fn pieces(&self, layout: &Layout, order: &Order) -> Result<Vec<Piece>, Error> {
        let user = order.user_extents(&layout.extents);
        let (lengths, elements) = (user.lengths(), user.elements());
        let outside = || Error::BoxOutside {
            ranges: self.ranges().to_vec(),
            extents: lengths.to_vec(),
        };
        match self {
            Self::Elements(range) => {
                if range.start > range.end || range.end > elements {
                    return Err(Error::RangeOutside {
                        from: range.start,
                        to: range.end,
                        elements,
                    });
                }
                if order.is_identity() {
                    let regions = Region::of_range(&layout.grid(), range.clone());
                    let regions = regions.into_iter().flatten().flatten();
                    return Ok(regions.map(Piece::whole).collect());
                }
                let boxes = boxes_of_range(lengths, range.clone());
                let pieces = boxes
                    .iter()
                    .map(|ranges| Piece::of_box(layout, order, ranges));
                Ok(pieces.collect())
            }
            Self::Box(ranges) => {
                let is_inside = |(range, length): (&Range<u64>, &u64)| {
                    range.start <= range.end && range.end <= *length
                };
                if ranges.len() != lengths.len() || !ranges.iter().zip(lengths).all(is_inside) {
                    return Err(outside());
                }
                if ranges.iter().any(Range::is_empty) {
                    return Ok(Vec::new());
                }
                Ok(vec![Piece::of_box(layout, order, ranges)])
            }
        }
    }

    /// The part of a field with these extents, as runs of consecutive elements.
    pub(crate) fn runs(&self, lengths: &[u64]) -> Vec<Range<u64>> {
        match self {
            Self::Elements(range) => std::iter::once(range.clone()).collect(),
            Self::Box(ranges) => runs(lengths, ranges),
        }
    }

    fn ranges(&self) -> &[Range<u64>] {
        match self {
            Self::Elements(range) => std::slice::from_ref(range),
            Self::Box(ranges) => ranges,
        }
    }
}

/// A piece of a part: a box of the coded field, as regions that are decoded one behind the other.
pub(crate) struct Piece {
    regions: Vec<Placed>,
    /// From the order of the coded field to the user's, and back; none if the piece has the order of the user.
    turns: Option<[Turn; 2]>,
}

/// A region, and the positions of its elements in the piece.
struct Placed {
    region: Region,
    /// The position of the first element.
    first: u64,
    /// The distances of neighbours along z and y.
    steps: [u64; 2],
}

impl Piece {
    /// A piece that is one region.
    fn whole(region: Region) -> Self {
        let [_, height, width] = region.extents();
        Self {
            regions: vec![Placed {
                region,
                first: 0,
                steps: [height * width, width],
            }],
            turns: None,
        }
    }

    /// A box of the user's field, which has elements and is within the field.
    fn of_box(layout: &Layout, order: &Order, ranges: &[Range<u64>]) -> Self {
        let (grid, extents) = (layout.grid(), &layout.extents);
        // 1. The box along the axes of the coded field.
        let coded: Vec<Range<u64>> = (order.axes().iter())
            .map(|axis| ranges[usize::from(*axis)].clone())
            .collect();
        let lengths: Vec<u64> = coded.iter().map(|range| range.end - range.start).collect();
        // 2. Along each dimension, in which several axes may be one, the runs of the box.
        let axes = extents.axes_of_dimensions();
        let of_field = axes
            .each_ref()
            .map(|axes| product(&extents.lengths()[axes.clone()]));
        let of_piece = axes.each_ref().map(|axes| product(&lengths[axes.clone()]));
        let runs = axes.map(|axes| runs(&extents.lengths()[axes.clone()], &coded[axes]));
        // 3. A region for each combination of runs.
        let steps = [of_piece[1] * of_piece[2], of_piece[2]];
        let mut regions = Vec::new();
        let mut first = [0; 3];
        for z in &runs[0] {
            first[1] = 0;
            for y in &runs[1] {
                first[2] = 0;
                for x in &runs[2] {
                    let ranges = [z.clone(), y.clone(), x.clone()];
                    regions.extend(
                        Region::of_box(&grid, of_field, ranges).map(|region| Placed {
                            region,
                            first: first[0] * steps[0] + first[1] * steps[1] + first[2],
                            steps,
                        }),
                    );
                    first[2] += x.end - x.start;
                }
                first[1] += y.end - y.start;
            }
            first[0] += z.end - z.start;
        }
        let turns = turns(&lengths, order);
        Self { regions, turns }
    }

    /// All of a field.
    pub(crate) fn of_field(layout: &Layout, order: &Order) -> Self {
        Self {
            turns: turns(layout.extents.lengths(), order),
            ..Self::whole(Region::whole(&layout.grid()))
        }
    }

    /// The number of elements.
    pub(crate) fn elements(&self) -> u64 {
        self.regions().map(|region| region.elements()).sum()
    }

    /// The regions, in the order in which they are decoded.
    pub(crate) fn regions(&self) -> impl Iterator<Item = Region> {
        self.regions.iter().map(|placed| placed.region)
    }

    /// Whether the elements of the regions, one behind the other, have the piece's order.
    pub(crate) fn is_in_order(&self) -> bool {
        self.turns.is_none() && !self.is_scattered()
    }

    /// What brings the elements of the piece into the order of the regions, one behind the other, if that is all.
    pub(crate) fn to_coded(&self) -> Option<&Turn> {
        let turns = self.turns.as_ref().filter(|_| !self.is_scattered());
        turns.map(|[_, to_coded]| to_coded)
    }

    /// Whether the elements of a region are apart in the piece.
    fn is_scattered(&self) -> bool {
        let mut next = 0;
        self.regions.iter().any(|placed| {
            let [depth, height, width] = placed.region.extents();
            let is_next = placed.first == next;
            next += depth * height * width;
            let are_rows = placed.steps[1] == width || depth * height == 1;
            let are_slices = placed.steps[0] == height * width || depth == 1;
            !(is_next && are_rows && are_slices)
        })
    }

    /// Puts the elements of the regions, one behind the other in `decoded`, to their places in `piece`.
    pub(crate) fn place<T: Copy + Default + Send + Sync>(&self, decoded: &[T], piece: &mut [T]) {
        let mut scattered = Cow::Borrowed(decoded);
        if self.is_scattered() {
            let mut all = decoded.to_vec();
            self.for_rows(|of_regions, of_piece| {
                all[of_piece].copy_from_slice(&decoded[of_regions]);
            });
            scattered = Cow::Owned(all);
        }
        match &self.turns {
            None => piece.copy_from_slice(&scattered),
            Some([to_user, _]) => to_user.apply(&scattered, piece),
        }
    }

    /// The elements of the regions, one behind the other, of the elements of the piece.
    pub(crate) fn gather<'a, T: Copy + Send + Sync>(&self, piece: &'a [T]) -> Cow<'a, [T]> {
        let mut coded = Cow::Borrowed(piece);
        if let Some([_, to_coded]) = &self.turns {
            let mut turned = piece.to_vec();
            to_coded.apply(piece, &mut turned);
            coded = Cow::Owned(turned);
        }
        if !self.is_scattered() {
            return coded;
        }
        let mut all = coded.to_vec();
        self.for_rows(|of_regions, of_piece| {
            all[of_regions].copy_from_slice(&coded[of_piece]);
        });
        Cow::Owned(all)
    }

    /// Calls `take` with the rows of all regions: their elements among those of the regions, and in the coded piece.
    fn for_rows(&self, mut take: impl FnMut(Range<usize>, Range<usize>)) {
        let mut next = 0;
        for placed in &self.regions {
            let [depth, height, width] = placed.region.extents();
            for z in 0..depth {
                for y in 0..height {
                    let at = placed.first + z * placed.steps[0] + y * placed.steps[1];
                    let range = |at: u64| at as usize..(at + width) as usize;
                    take(range(next), range(at));
                    next += width;
                }
            }
        }
    }
}

/// From the order of the coded field to the user's and back, of an array with these lengths in the coded field.
fn turns(lengths: &[u64], order: &Order) -> Option<[Turn; 2]> {
    Some([
        Turn::to_user(lengths, order)?,
        Turn::to_coded(lengths, order)?,
    ])
}

fn product(lengths: &[u64]) -> u64 {
    lengths.iter().product()
}

/// The runs of a box along some axes that are one dimension, as ranges of the coordinate in this dimension.
fn runs(lengths: &[u64], ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    // The last axes of which the box has all are one run with the axis before them.
    let mut first = lengths.len();
    let mut length = 1;
    while let Some(axis) = first.checked_sub(1) {
        first = axis;
        if ranges[axis] != (0..lengths[axis]) {
            break;
        }
        if axis > 0 {
            length *= lengths[axis];
        }
    }
    let Some(of_run) = ranges.get(first) else {
        return std::iter::once(0..1).collect();
    };
    let mut starts = vec![0];
    for (range, length) in ranges[..first].iter().zip(lengths) {
        let next = |start: &u64| {
            let first = start * length;
            range.clone().map(move |at| first + at)
        };
        starts = starts.iter().flat_map(next).collect();
    }
    let run = |start: u64| {
        let from = start * lengths[first];
        (from + of_run.start) * length..(from + of_run.end) * length
    };
    starts.into_iter().map(run).collect()
}

/// Consecutive elements of an array of these lengths, as consecutive boxes.
pub(crate) fn boxes_of_range(lengths: &[u64], range: Range<u64>) -> Vec<Vec<Range<u64>>> {
    if lengths.is_empty() {
        return range.map(|_| Vec::new()).collect();
    }
    let mut boxes = Vec::new();
    let mut at = range.start;
    while at < range.end {
        // The coordinates of the next element, and the axes along which it is the first.
        let mut ranges = Vec::new();
        let mut rest = at;
        for length in lengths.iter().rev() {
            ranges.push(rest % length..rest % length + 1);
            rest /= length;
        }
        ranges.reverse();
        // The longest box that begins here: all of some axes, and a part of the axis before them.
        let mut inner = 1;
        let mut axis = lengths.len() - 1;
        while axis > 0 && ranges[axis].start == 0 && range.end - at >= inner * lengths[axis] {
            ranges[axis] = 0..lengths[axis];
            inner *= lengths[axis];
            axis -= 1;
        }
        let start = ranges[axis].start;
        let count = ((range.end - at) / inner).min(lengths[axis] - start);
        ranges[axis] = start..start + count;
        boxes.push(ranges);
        at += count * inner;
    }
    boxes
}

/// A box of the coded field, given in its three dimensions, as boxes of the user's field.
pub(crate) fn user_boxes(
    extents: &Extents,
    order: &Order,
    dimensions: [Range<u64>; 3],
) -> Vec<Vec<Range<u64>>> {
    let mut boxes: Vec<Vec<Range<u64>>> = vec![Vec::new()];
    for (axes, range) in extents.axes_of_dimensions().into_iter().zip(dimensions) {
        if axes.is_empty() {
            continue;
        }
        let of_dimension = boxes_of_range(&extents.lengths()[axes], range);
        let with = |faster: &Vec<Range<u64>>| {
            let of_dimension = of_dimension.iter();
            let joined = of_dimension.map(|ranges| [&faster[..], ranges].concat());
            joined.collect::<Vec<_>>()
        };
        boxes = boxes.iter().flat_map(with).collect();
    }
    boxes
        .into_iter()
        .map(|coded| to_user(order, coded))
        .collect()
}

/// The ranges of a box along the user's axes.
pub(crate) fn to_user(order: &Order, coded: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut ranges = coded.clone();
    for (range, axis) in coded.into_iter().zip(order.axes()) {
        ranges[usize::from(*axis)] = range;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_codec::mapping::axes::Axes;
    use ferrosz_codec::{Codec, Shape};

    /// The numbers of the elements of a box, by enumeration.
    fn counted(lengths: &[u64], ranges: &[Range<u64>]) -> Vec<u64> {
        let mut numbers = vec![0];
        for (length, range) in lengths.iter().zip(ranges) {
            let next = |number: u64| range.clone().map(move |at| number * length + at);
            numbers = numbers.into_iter().flat_map(next).collect();
        }
        numbers
    }

    /// The numbers in the user's field of the elements of pieces of a field, decoded in the plainest way.
    fn found(pieces: &[Piece], layout: &Layout, order: &Order) -> Vec<u64> {
        let user = order.user_extents(&layout.extents);
        let numbers: Vec<u64> = (0..user.elements()).collect();
        let mut coded = numbers.clone();
        if let Some(turn) = Turn::to_coded(layout.extents.lengths(), order) {
            turn.apply(&numbers, &mut coded);
        }
        let mut all = Vec::new();
        for piece in pieces {
            let mut decoded = Vec::new();
            for region in piece.regions() {
                let mut own = vec![u64::MAX; region.elements() as usize];
                region.cut(0, user.elements(), |run, at| {
                    for (i, number) in run.enumerate() {
                        own[at as usize + i] = coded[number as usize];
                    }
                });
                decoded.extend(own);
            }
            let mut placed = decoded.clone();
            piece.place(&decoded, &mut placed);
            assert_eq!(piece.gather(&placed), decoded);
            assert!(!piece.is_in_order() || placed == decoded);
            all.extend(placed);
        }
        all
    }

    #[test]
    fn boxes_of_up_to_eight_dimensions_have_their_elements_in_order() {
        let cases: [(&[u64], &[Range<u64>]); 8] = [
            (&[1, 9], &[0..1, 2..7]),
            (&[5, 6, 7], &[1..3, 0..6, 6..7]),
            (&[4, 5, 6, 7], &[1..4, 2..5, 0..1, 3..7]),
            (&[4, 5, 6, 7], &[1..2, 2..5, 0..6, 0..7]),
            (&[4, 1, 5, 6, 7], &[0..4, 0..1, 2..3, 5..6, 0..7]),
            (&[2, 3, 2, 3, 4], &[0..2, 1..3, 1..2, 0..3, 2..4]),
            (
                &[2, 3, 1, 2, 1, 3, 1, 4],
                &[1..2, 0..3, 0..1, 0..2, 0..1, 1..2, 0..1, 1..4],
            ),
            (&[4, 5, 6, 7], &[1..4, 2..2, 0..1, 3..7]),
        ];
        for (lengths, ranges) in cases {
            let extents = Extents::new(lengths).expect("extents");
            for shape in Shape::ALL {
                let layout = Layout::new(Codec::PLAIN, shape, extents);
                let order = Order::identity(lengths.len());
                let pieces = Part::Box(ranges.to_vec()).pieces(&layout, &order);
                let found = found(&pieces.expect("within"), &layout, &order);
                assert_eq!(found, counted(lengths, ranges), "{lengths:?} {shape}");
            }
        }
    }

    #[test]
    fn parts_of_fields_with_any_axes_have_the_users_order() {
        let lengths = [3, 4, 5, 6];
        let extents = Extents::new(&lengths).expect("extents");
        for text in [
            "s,z,y,x", "x,y,s,z", "z,y,y,x", "y,y,x,x", "s,x,s,y", "x,s,s,s", "x,x,y,z",
        ] {
            let axes: Axes = text.parse().expect("axes");
            let order = axes.order();
            let coded = axes.coded_extents(&extents).expect("as many axes");
            for shape in Shape::ALL {
                let layout = Layout::new(Codec::PLAIN, shape, coded);
                let of = |part: Part| {
                    let pieces = part.pieces(&layout, &order).expect("within");
                    found(&pieces, &layout, &order)
                };
                for range in [0..360, 0..0, 7..8, 13..290, 120..240, 119..121, 30..36] {
                    let all: Vec<u64> = range.clone().collect();
                    assert_eq!(of(Part::Elements(range)), all, "{text} {shape}");
                }
                for ranges in [
                    [1..3, 0..4, 2..4, 1..6],
                    [0..3, 1..2, 0..5, 0..6],
                    [2..3, 2..4, 1..5, 5..6],
                ] {
                    let numbers = counted(&lengths, &ranges);
                    assert_eq!(of(Part::Box(ranges.to_vec())), numbers, "{text} {shape}");
                }
                let pieces = [Piece::of_field(&layout, &order)];
                assert!(found(&pieces, &layout, &order).into_iter().eq(0..360));
            }
        }
    }

    #[test]
    fn boxes_outside_are_refused() {
        let extents = Extents::new(&[2, 3, 4, 5]).expect("extents");
        let layout = Layout::new(Codec::PLAIN, Shape::Cube, extents);
        let order = Order::identity(4);
        for ranges in [vec![0..2, 0..3, 0..4], vec![0..3, 0..3, 0..4, 0..5]] {
            assert!(Part::Box(ranges).pieces(&layout, &order).is_err());
        }
        assert!(Part::Elements(3..121).pieces(&layout, &order).is_err());
    }
}
