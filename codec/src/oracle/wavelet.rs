//! The oracle of wavelets (FORMAT.md, section 35): line by line, and each coefficient by its place in the order.

use crate::container::extents::Extents;
use crate::element::Element;
use crate::mapping::wavelet::LevelOrder;
use alloc::vec;
use alloc::vec::Vec;

const STEPS: [f64; 4] = [
    -1.586134342059924,
    -0.052980118572961,
    0.882911075530934,
    0.443506852043971,
];
const K: f64 = 1.149604398860241;

/// The coefficients of a field by an order of levels, in their order.
pub fn coefficients<T: Element>(extents: &Extents, levels: LevelOrder, values: &[T]) -> Vec<T> {
    let mut all = Vec::new();
    for places in boxes(extents) {
        let mut one = BoxCells::new(&places, |place| values[place]);
        for pass in one.passes(levels) {
            one.each_line(pass, |line| lifted(&line));
        }
        all.extend(one.order(levels).into_iter().map(|at| one.cells[at]));
    }
    all
}

/// The field of coefficients.
pub(super) fn field<T: Element>(
    extents: &Extents,
    levels: LevelOrder,
    coefficients: &[T],
) -> Vec<T> {
    let mut values = vec![T::ZERO; coefficients.len()];
    let mut first = 0;
    for places in boxes(extents) {
        let mut one = BoxCells::new(&places, |_| T::ZERO);
        for (number, at) in one.order(levels).into_iter().enumerate() {
            one.cells[at] = coefficients[first + number];
        }
        for pass in one.passes(levels).into_iter().rev() {
            one.each_line(pass, |line| unlifted(&line));
        }
        first += one.cells.len();
        for (place, value) in places.1.into_iter().zip(one.cells) {
            values[place] = value;
        }
    }
    values
}

/// The extents of the boxes of a field, and the numbers in the field of their positions.
fn boxes(extents: &Extents) -> Vec<([usize; 3], Vec<usize>)> {
    let mut lengths = vec![1; 3];
    let longer = extents.lengths().iter().filter(|length| **length != 1);
    lengths.extend(longer.map(|length| *length as usize));
    let (slower, last) = lengths.split_at(lengths.len() - 2);
    let lengths = [slower.iter().product(), last[0], last[1]];
    let most = match lengths.map(|length: usize| length > 1) {
        [true, ..] => 320,
        [_, true, _] => 4096,
        _ => 4_194_304,
    };
    let parts = |length: usize| {
        let mut parts = Vec::new();
        let (count, mut next) = (length.div_ceil(most), 0);
        for i in 0..count {
            let end = next + length / count + usize::from(i < length % count);
            parts.push(next..end);
            next = end;
        }
        parts
    };
    let mut all = Vec::new();
    for z in parts(lengths[0]) {
        for y in parts(lengths[1]) {
            for x in parts(lengths[2]) {
                let mut places = Vec::new();
                for at_z in z.clone() {
                    for at_y in y.clone() {
                        places.extend(
                            (x.clone()).map(|x| (at_z * lengths[1] + at_y) * lengths[2] + x),
                        );
                    }
                }
                all.push(([z.len(), y.len(), x.len()], places));
            }
        }
    }
    all
}

/// L of section 35.
fn levels(length: usize) -> u32 {
    match length < 8 {
        true => 0,
        false => 1 + levels(length.div_ceil(2)),
    }
}

/// What is left of a line of the first level behind `level` levels.
fn left(length: usize, level: u32) -> usize {
    length.div_ceil(1 << level.min(levels(length)))
}

/// A box of values or coefficients.
struct BoxCells<T> {
    lengths: [usize; 3],
    cells: Vec<T>,
}

/// The lifting of all lines along an axis whose positions lie below these.
#[derive(Clone, Copy)]
struct Pass {
    axis: usize,
    below: [usize; 3],
}

impl<T: Element> BoxCells<T> {
    fn new(places: &([usize; 3], Vec<usize>), value: impl Fn(usize) -> T) -> Self {
        Self {
            lengths: places.0,
            cells: places.1.iter().map(|place| value(*place)).collect(),
        }
    }

    /// The passes of an encoder.
    fn passes(&self, order: LevelOrder) -> Vec<Pass> {
        let [z, y, x] = self.lengths;
        let by_turns = order == LevelOrder::ByTurns;
        let mut passes = Vec::new();
        for level in 0..levels(z) {
            let below = [left(z, level), y, x];
            if !by_turns {
                passes.push(Pass { axis: 0, below });
            }
        }
        for level in 0..levels(y).max(levels(x)).max(levels(z)) {
            let deep = if by_turns { left(z, level) } else { z };
            let below = [deep, left(y, level), left(x, level)];
            if by_turns && level < levels(z) {
                passes.push(Pass { axis: 0, below });
            }
            if level < levels(y) {
                passes.push(Pass { axis: 1, below });
            }
            if level < levels(x) {
                passes.push(Pass { axis: 2, below });
            }
        }
        passes
    }

    fn at(&self, [z, y, x]: [usize; 3]) -> usize {
        (z * self.lengths[1] + y) * self.lengths[2] + x
    }

    fn each_line(&mut self, pass: Pass, change: impl Fn(Vec<T>) -> Vec<T>) {
        let mut firsts = pass.below;
        firsts[pass.axis] = 1;
        for number in 0..firsts.iter().product() {
            let first = [
                number / firsts[2] / firsts[1],
                number / firsts[2] % firsts[1],
                number % firsts[2],
            ];
            let place = |i: usize| {
                let mut at = first;
                at[pass.axis] = i;
                self.at(at)
            };
            let places: Vec<usize> = (0..pass.below[pass.axis]).map(place).collect();
            let line = change(places.iter().map(|at| self.cells[*at]).collect());
            for (at, value) in places.into_iter().zip(line) {
                self.cells[at] = value;
            }
        }
    }

    /// The cells of the coefficients in their order: sorted by what section 35 says comes first.
    fn order(&self, order: LevelOrder) -> Vec<usize> {
        let [depth, height, width] = self.lengths;
        let block = match self.lengths.map(|length| length > 1) {
            [true, ..] => [8, 8, 8],
            [_, true, _] => [1, 16, 32],
            _ => [1, 1, 512],
        };
        let mut keyed = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    let (levels, kind, first) = match order {
                        LevelOrder::ZFirst => {
                            let (of_z, first_z) = part_of_line(depth, z);
                            let (of_plane, kind, first) = part_of_plane([height, width], [y, x]);
                            let levels = [of_z.min(of_plane), of_z, of_plane];
                            (levels, kind, [first_z, first[0], first[1]])
                        }
                        LevelOrder::ByTurns => {
                            let (level, kind, first) = part_of_box(self.lengths, [z, y, x]);
                            ([level; 3], kind, first)
                        }
                    };
                    let within = [z - first[0], y - first[1], x - first[2]];
                    let in_blocks: [usize; 3] = core::array::from_fn(|i| within[i] / block[i]);
                    // Higher levels first; the rest has one above all others.
                    let band = levels.map(|level| u32::MAX - level);
                    keyed.push((band, kind, in_blocks, within, self.at([z, y, x])));
                }
            }
        }
        keyed.sort_unstable();
        keyed.into_iter().map(|(.., at)| at).collect()
    }
}

/// The level of a position of a line, and the first position of its part.
fn part_of_line(length: usize, at: usize) -> (u32, usize) {
    for level in 0..levels(length) {
        if at >= left(length, level + 1) {
            return (level, left(length, level + 1));
        }
    }
    (u32::MAX, 0)
}

/// The level of a position of a plane, which of its parts, and the first position of that.
fn part_of_plane([height, width]: [usize; 2], [y, x]: [usize; 2]) -> (u32, u32, [usize; 2]) {
    for level in 0..levels(height).max(levels(width)) {
        let low = [left(height, level + 1), left(width, level + 1)];
        match [y >= low[0], x >= low[1]] {
            [true, false] => return (level, 0, [low[0], 0]),
            [false, true] => return (level, 1, [0, low[1]]),
            [true, true] => return (level, 2, low),
            [false, false] => {}
        }
    }
    (u32::MAX, 0, [0, 0])
}

/// As [`part_of_plane`], of a position of a box whose levels are lifted by turns.
fn part_of_box(lengths: [usize; 3], at: [usize; 3]) -> (u32, u32, [usize; 3]) {
    for level in 0..lengths.map(levels).into_iter().fold(0, u32::max) {
        let low = lengths.map(|length| left(length, level + 1));
        let behind: [bool; 3] = core::array::from_fn(|axis| at[axis] >= low[axis]);
        if behind.contains(&true) {
            let first = core::array::from_fn(|axis| if behind[axis] { low[axis] } else { 0 });
            let [z, y, x] = behind.map(u32::from);
            return (level, 4 * z + 2 * x + y, first);
        }
    }
    (u32::MAX, 0, [0; 3])
}

/// The values of a line at positions of a parity after a step: each and the sum of its neighbours times a factor.
fn step<T: Element>(line: &[T], parity: usize, factor: T) -> Vec<T> {
    let last = line.len() - 1;
    let value = |(at, value): (usize, &T)| {
        let before = if at == 0 { 1 } else { at - 1 };
        let after = if at == last { last - 1 } else { at + 1 };
        match at % 2 == parity {
            true => *value + factor * (line[before] + line[after]),
            false => *value,
        }
    };
    line.iter().enumerate().map(value).collect()
}

fn lifted<T: Element>(line: &[T]) -> Vec<T> {
    let mut line = line.to_vec();
    for (number, factor) in STEPS.into_iter().enumerate() {
        line = step(&line, 1 - number % 2, T::from_f64(factor));
    }
    let part = |parity, factor: f64| {
        let values = line.iter().skip(parity).step_by(2);
        values.map(move |value| *value * T::from_f64(factor))
    };
    part(0, K).chain(part(1, 1.0 / K)).collect()
}

fn unlifted<T: Element>(coefficients: &[T]) -> Vec<T> {
    let (low, high) = coefficients.split_at(coefficients.len().div_ceil(2));
    let value = |at: usize| match at % 2 {
        0 => low[at / 2] * T::from_f64(1.0 / K),
        _ => high[at / 2] * T::from_f64(K),
    };
    let mut line: Vec<T> = (0..coefficients.len()).map(value).collect();
    for (number, factor) in STEPS.into_iter().enumerate().rev() {
        line = step(&line, 1 - number % 2, T::from_f64(-factor));
    }
    line
}
