//! Which axes a field could be coded with: a few candidates, found by the smoothness along each axis.

use crate::choose::whole::WholeField;
use crate::error::Error;
use crate::sample::spread;
use ferrosz_codec::Element;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::roles::Role;
use ferrosz_codec::mapping::axes::{Axes, Order};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;

/// Pairs of neighbours whose codes are compared, along each axis.
const PAIRS: u64 = 1 << 11;

/// Sums of bits that differ by less than this are taken as equal: half a bit for each pair.
const CLEARLY: u64 = PAIRS / 2;

/// An assignment of axes that may be better than the default rule, and the shape of blocks and tiles that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) axes: Axes,
    pub(crate) shape: Shape,
}

impl Candidate {
    /// The axes with these numbers coded together, the last one as x, and all others as slices.
    fn of(rank: usize, coded: &[usize]) -> Option<Self> {
        let mut roles = vec![Role::Slice; rank];
        let last = [Role::Z, Role::Y, Role::X];
        for (axis, role) in coded.iter().rev().zip(last.iter().rev()) {
            roles[*axis] = *role;
        }
        Some(Self {
            axes: Axes::new(&roles).ok()?,
            shape: Shape::of_rank(coded.len() as u8)?,
        })
    }
}

/// The roles by the default rule of all axes but the last one, which has the parts of complex numbers: these become slices. None
/// if no other axis has another length than 1.
pub(crate) fn parts_apart(extents: &Extents) -> Option<Axes> {
    let (_, lengths) = extents.lengths().split_last()?;
    let last = lengths.iter().rposition(|length| *length != 1)?;
    let mut roles = by_default(lengths);
    // Axes of length 1 behind the last one need no role of their own.
    roles[last..].fill(Role::X);
    roles.push(Role::Slice);
    Axes::new(&roles).ok()
}

/// The roles by the default rule of all axes.
pub(crate) fn parts_last(extents: &Extents) -> Option<Axes> {
    Axes::new(&by_default(extents.lengths())).ok()
}

/// The roles that the default rule gives axes of these lengths.
fn by_default(lengths: &[u64]) -> Vec<Role> {
    let mut next = [Role::X, Role::Y, Role::Z].into_iter();
    let mut role = Role::X;
    let mut roles = vec![Role::X; lengths.len()];
    for (of_axis, length) in roles.iter_mut().zip(lengths).rev() {
        if *length != 1 {
            role = next.next().unwrap_or(Role::Z);
        }
        *of_axis = role;
    }
    roles
}

/// The candidate in the user's order: cubes of the last three axes, and the axes before them as slices. None if the
/// field has no more axes. Parts of complex numbers are slices, too.
pub(crate) fn sliced(extents: &Extents, is_complex: bool) -> Option<Candidate> {
    let parts = parts_axis(extents, is_complex);
    let longer = longer(extents, parts);
    match &longer[..] {
        [_, .., z, y, _] => {
            let roles = (0..extents.lengths().len()).map(|axis| match axis {
                axis if Some(axis) == parts => Role::Slice,
                // Axes of length 1 have any role that keeps the order.
                axis if axis > *y => Role::X,
                axis if axis > *z => Role::Y,
                axis if axis == *z => Role::Z,
                _ => Role::Slice,
            });
            let roles: Vec<Role> = roles.collect();
            Some(Candidate {
                axes: Axes::new(&roles).ok()?,
                shape: Shape::Cube,
            })
        }
        _ => None,
    }
}

/// The axis of the parts of complex numbers.
fn parts_axis(extents: &Extents, is_complex: bool) -> Option<usize> {
    extents
        .lengths()
        .len()
        .checked_sub(1)
        .filter(|_| is_complex)
}

/// The axes that are longer than 1, but for that of the parts.
fn longer(extents: &Extents, parts: Option<usize>) -> Vec<usize> {
    let lengths = extents.lengths();
    (0..lengths.len())
        .filter(|axis| lengths[*axis] > 1 && Some(*axis) != parts)
        .collect()
}

/// The candidates that put smooth axes last. None if no axis is clearly smoother than those that the default rule
/// codes in `order`. Parts of complex numbers are slices. With `roughest_first` there is also the order of cuSZ-i's paper, in
/// which the roughest of the axes that are coded together comes first.
///
/// # Errors
///
/// Those of the field.
pub(crate) fn turned<T: Element>(
    extents: &Extents,
    order: &Order,
    quantizer: &Quantizer<T>,
    roughest_first: bool,
    field: &mut dyn WholeField<T>,
) -> Result<Vec<Candidate>, Error> {
    let longer = longer(extents, parts_axis(extents, order.is_complex()));
    // Without an error, values have no codes whose differences tell anything.
    if longer.len() < 2 || quantizer.error().to_bits64() == 0 {
        return Ok(Vec::new());
    }
    let bits = (longer.iter()).map(|axis| roughness(extents, *axis, quantizer, field));
    let bits: Vec<u64> = bits.collect::<Result<_, _>>()?;
    let mut by_bits: Vec<usize> = (0..longer.len()).collect();
    // Of equally smooth axes, the faster ones come first.
    by_bits.sort_by_key(|i| (bits[*i], longer.len() - i));
    let mut found = Vec::new();
    for count in 1..=longer.len().min(3) {
        let smoothest = &by_bits[..count];
        let last = longer.len() - count..longer.len();
        let roughest = |axes: &mut dyn Iterator<Item = usize>| axes.map(|i| bits[i]).max();
        let of_default = roughest(&mut last.clone());
        let of_smoothest = roughest(&mut smoothest.iter().copied());
        let x_is_rough = bits[longer.len() - 1] >= bits[by_bits[0]] + CLEARLY;
        let others_are_rough = of_default >= of_smoothest.map(|bits| bits + CLEARLY);
        if !x_is_rough && !others_are_rough {
            continue;
        }
        // The smoothest axis is x; the others keep their order.
        let mut coded: Vec<usize> = smoothest[1..].to_vec();
        coded.sort_unstable();
        coded.push(smoothest[0]);
        let coded: Vec<usize> = coded.into_iter().map(|i| longer[i]).collect();
        found.extend(Candidate::of(extents.lengths().len(), &coded));
    }
    if roughest_first {
        let smoothest = by_bits.iter().take(3).rev();
        let coded: Vec<usize> = smoothest.map(|i| longer[*i]).collect();
        found.extend(Candidate::of(extents.lengths().len(), &coded));
    }
    found.retain(|candidate| candidate.axes.order().axes() != order.axes());
    Ok(found)
}

/// The sum of the bits of the differences of codes between neighbours along an axis, for [`PAIRS`] pairs.
fn roughness<T: Element>(
    extents: &Extents,
    axis: usize,
    quantizer: &Quantizer<T>,
    field: &mut dyn WholeField<T>,
) -> Result<u64, Error> {
    let lengths = extents.lengths();
    let step: u64 = lengths[axis + 1..].iter().product();
    let pairs_of_line = lengths[axis] - 1;
    let all = extents.elements() / lengths[axis] * pairs_of_line;
    let taken = all.min(PAIRS);
    let pairs = spread(all, taken).flat_map(|pair| {
        let (outer, rest) = (pair / (pairs_of_line * step), pair % (pairs_of_line * step));
        let first = outer * lengths[axis] * step + rest;
        [first, first + step].map(ElementRun::one)
    });
    let bits = |pair: &[T; 2]| match pair.map(|value| quantizer.quantize(value)) {
        [Some(a), Some(b)] => u64::from(33 - a.abs_diff(b).leading_zeros()),
        _ => 33,
    };
    let values = field.values(&pairs.collect::<Vec<_>>())?;
    let sum: u64 = values.as_chunks::<2>().0.iter().map(bits).sum();
    Ok(sum * PAIRS / taken.max(1))
}

/// Elements of a field: `count` of them, `step` apart, from the first one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElementRun {
    pub(crate) first: u64,
    pub(crate) step: u64,
    pub(crate) count: u64,
}

impl ElementRun {
    fn one(first: u64) -> Self {
        Self {
            first,
            step: 1,
            count: 1,
        }
    }
}

/// Where the elements of the coded field are in the field.
pub(crate) struct Turned {
    /// The length of each axis of the coded field, and the distance of its neighbours in the field.
    axes: Vec<(u64, u64)>,
}

impl Turned {
    /// Of a field whose axes get this order.
    pub(crate) fn new(extents: &Extents, order: &Order) -> Self {
        let lengths = extents.lengths();
        let step = |axis: usize| lengths[axis + 1..].iter().product::<u64>();
        let axes = order.axes().iter().map(|axis| usize::from(*axis));
        Self {
            axes: axes.map(|axis| (lengths[axis], step(axis))).collect(),
        }
    }

    /// Calls `each` with the elements of a box of the coded field, row by row.
    pub(crate) fn runs_of(&self, grid: &Grid, place: &ChunkBox, each: &mut dyn FnMut(ElementRun)) {
        let [depth, height, width] = place.extents.map(u64::from);
        let [z, y, x] = place.origin;
        for row in 0..depth * height {
            let first = grid.flat([z + row / height, y + row % height, x]);
            self.runs(first, width, each);
        }
    }

    /// Calls `each` with consecutive elements of the coded field.
    fn runs(&self, mut next: u64, count: u64, each: &mut dyn FnMut(ElementRun)) {
        let Some((length, step)) = self.axes.last().copied() else {
            return;
        };
        let end = next + count;
        while next < end {
            let mut rest = next;
            let mut at = 0;
            for (length, step) in self.axes.iter().rev() {
                at += rest % length * step;
                rest /= length;
            }
            let count = (length - next % length).min(end - next);
            each(ElementRun {
                first: at,
                step,
                count,
            });
            next += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::whole::InMemory;
    use crate::cpu::mapping::axes::Turn;
    use ferrosz_codec::Bound;
    use ferrosz_codec::bound::Extremes;

    #[test]
    fn boxes_are_those_of_the_transposed_field() {
        let extents = Extents::new(&[5, 6, 7, 8]).unwrap();
        let field: Vec<f32> = (0..5 * 6 * 7 * 8).map(|i| i as f32).collect();
        for text in ["x,s,y,z", "s,y,x,z", "z,z,y,x"] {
            let axes: Axes = text.parse().unwrap();
            let coded = axes.coded_extents(&extents).unwrap();
            let mut whole = field.clone();
            if let Some(turn) = Turn::to_coded(coded.lengths(), &axes.order()) {
                turn.apply(&field, &mut whole);
            }
            for shape in Shape::ALL {
                let grid = Grid::new(shape, &coded);
                let mut in_memory = InMemory {
                    extents: &extents,
                    field: &field,
                };
                for number in 0..grid.chunk_count() {
                    let place = grid.chunk(number);
                    let wanted = crate::choose::read_box(&grid, &place, &whole);
                    let found = in_memory.boxes(&axes.order(), &grid, &[place]);
                    assert_eq!(found, Ok(vec![wanted]), "{text} {shape}");
                }
            }
        }
    }

    fn of(lengths: &[u64], value: impl Fn(u64) -> f32) -> Vec<String> {
        let extents = Extents::new(lengths).unwrap();
        let field: Vec<f32> = (0..extents.elements()).map(value).collect();
        let quantizer = Bound::abs(1e-3).unwrap().resolve(&Extremes::default());
        let mut in_memory = InMemory {
            extents: &extents,
            field: &field,
        };
        let order = Order::identity(lengths.len());
        let found = turned(&extents, &order, &quantizer, false, &mut in_memory).unwrap();
        found.iter().map(|found| found.axes.to_string()).collect()
    }

    #[test]
    fn smooth_axes_come_last() {
        let noise =
            |i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32 / (1 << 24) as f32;
        let wave = |i: u64| (i as f32 * 0.01).sin();
        // Smooth along the slow axis.
        let found = of(&[300, 200], |i| wave(i / 200) + noise(i % 200));
        assert_eq!(found, ["x,s", "x,y"]);
        // As smooth along both.
        assert!(of(&[300, 200], |i| wave(i / 200) + wave(i % 200)).is_empty());
        // The default rule codes the smooth axes.
        let smooth_planes = |i: u64| noise(i / 2000) + wave(i % 50) + wave(i / 50 % 40);
        assert!(of(&[30, 40, 50], smooth_planes).is_empty());
    }

    #[test]
    fn slices_are_of_fields_with_four_axes() {
        let of = |lengths: &[u64]| {
            let found = sliced(&Extents::new(lengths).unwrap(), false);
            found.map(|found| found.axes.to_string())
        };
        assert_eq!(of(&[6, 10, 20, 30]).as_deref(), Some("s,z,y,x"));
        assert_eq!(of(&[2, 1, 6, 10, 20, 30]).as_deref(), Some("s,s,s,z,y,x"));
        assert_eq!(
            of(&[6, 10, 1, 20, 1, 30, 1]).as_deref(),
            Some("s,z,y,y,x,x,x")
        );
        assert_eq!(of(&[10, 20, 30]), None);
        let complex = sliced(&Extents::new(&[6, 10, 20, 30, 2]).unwrap(), true);
        assert_eq!(
            complex.map(|found| found.axes.to_string()).as_deref(),
            Some("s,z,y,x,s")
        );
        assert_eq!(sliced(&Extents::new(&[10, 20, 30, 2]).unwrap(), true), None);
    }

    #[test]
    fn parts_of_complex_numbers_are_slices_or_neighbours() {
        let of = |lengths: &[u64]| {
            let extents = Extents::new(lengths).unwrap();
            let [apart, last] = [parts_apart(&extents), parts_last(&extents)];
            [apart, last].map(|axes| axes.map(|axes| axes.to_string()).unwrap_or_default())
        };
        assert_eq!(of(&[7, 2]), ["x,s", "y,x"]);
        assert_eq!(of(&[6, 7, 2]), ["y,x,s", "z,y,x"]);
        assert_eq!(of(&[5, 6, 7, 2]), ["z,y,x,s", "z,z,y,x"]);
        assert_eq!(of(&[4, 5, 6, 7, 2]), ["z,z,y,x,s", "z,z,z,y,x"]);
        assert_eq!(of(&[5, 1, 7, 1, 2]), ["y,x,x,x,s", "z,y,y,x,x"]);
        assert_eq!(of(&[2]), ["", "x"]);
        assert_eq!(of(&[1, 1, 2])[0], "");
        assert_eq!(of(&[0, 2])[0], "x,s");
    }
}
