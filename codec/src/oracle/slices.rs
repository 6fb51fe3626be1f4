//! The oracle of slices (FORMAT.md, section 27): predictions, and the coefficients that fit.

use crate::element::Element;
use crate::oracle::order::Field;
use crate::oracle::stencil::{integers, of_splines, solve};
use alloc::vec;
use alloc::vec::Vec;

/// Slices of a tile.
const SLICES: u64 = 16;

/// The level of the positions on the grid of anchors.
const ROOT: usize = 4;

/// The window along y and along x.
const WINDOW: [u64; 2] = [16, 64];

/// The coefficients in the order of the stream, in units of 2^-11.
#[derive(Debug, Clone, PartialEq)]
pub struct Slices(pub Vec<i16>);

/// A set of coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Set {
    level: usize,
    /// Whether the positions are odd along y and along x.
    odd: [bool; 2],
    is_first: bool,
}

impl Set {
    /// All sets in the order of their coefficients.
    fn all() -> Vec<Self> {
        let mut sets = Vec::new();
        for level in 0..ROOT {
            for is_first in [true, false] {
                sets.extend(
                    [[true, false], [false, true], [true, true]].map(|odd| Self {
                        level,
                        odd,
                        is_first,
                    }),
                );
            }
        }
        sets.push(Self {
            level: ROOT,
            odd: [false; 2],
            is_first: false,
        });
        sets
    }

    fn terms(&self) -> usize {
        let own = 2 * self.odd.iter().filter(|odd| **odd).count();
        match (self.level, self.is_first) {
            (ROOT, _) => 2,
            (_, true) => own,
            (_, false) => 2 * own + 3,
        }
    }
}

impl Slices {
    fn of(&self, set: Set) -> &[i16] {
        let before = Set::all().into_iter().take_while(|other| *other != set);
        let first: usize = before.map(|set| set.terms()).sum();
        &self.0[first..first + set.terms()]
    }

    /// The coefficients of splines.
    pub(super) fn of_splines() -> Self {
        Sums::default().coefficients()
    }

    /// The number of coefficients in a stream.
    pub(super) fn count() -> usize {
        Set::all().iter().map(Set::terms).sum()
    }
}

/// A position, and the decoded values of a field without slices in the sense of section 22.
#[derive(Clone, Copy)]
pub(super) struct Place<'a, T> {
    field: &'a Field,
    known: &'a [T],
    at: [u64; 3],
    level: usize,
}

impl<'a, T: Element> Place<'a, T> {
    pub(super) fn new(field: &'a Field, known: &'a [T], at: [u64; 3]) -> Self {
        let level = level(at);
        Self {
            field,
            known,
            at,
            level,
        }
    }

    fn set(&self) -> Set {
        let is_odd = |axis: usize| self.level < ROOT && self.at[axis] >> self.level & 1 == 1;
        Set {
            level: self.level,
            odd: [is_odd(1), is_odd(2)],
            is_first: self.at[0].is_multiple_of(SLICES),
        }
    }

    /// The decoded value so many units away along y and x, in slice `z`.
    fn value(&self, z: u64, steps: [i64; 2]) -> T {
        let moved = |i: usize| self.at[1 + i].wrapping_add_signed(steps[i] << self.level);
        self.known[self.field.flat([z, moved(0), moved(1)])]
    }

    fn along(&self, z: u64, axis: usize, steps: i64) -> T {
        let mut all = [0; 2];
        all[axis] = steps;
        self.value(z, all)
    }

    fn is_in_field(&self, axis: usize) -> bool {
        self.at[1 + axis] + (1 << self.level) < self.field.lengths[1 + axis]
    }

    /// Whether the position so many units away along an axis is in the window, far face included, and in the field.
    fn is_in_window(&self, axis: usize, steps: i64) -> bool {
        let at = self.at[1 + axis].cast_signed();
        let moved = steps << self.level;
        let window = WINDOW[axis].cast_signed();
        (0..=window).contains(&(at % window + moved))
            && at + moved < self.field.lengths[1 + axis].cast_signed()
    }

    /// Base and terms in slice `z`.
    fn stencil(&self, z: u64) -> (T, Vec<T>) {
        let int = T::from_i32;
        let near = |axis: usize| {
            let behind = self.along(z, axis, -1);
            match self.is_in_field(axis) {
                true => (behind + self.along(z, axis, 1)) / int(2),
                false => behind,
            }
        };
        let far = |axis: usize| {
            if !self.is_in_field(axis) {
                return T::ZERO;
            }
            let (b, d) = (self.along(z, axis, -1), self.along(z, axis, 1));
            let [a, e] = [-3, 3].map(|steps| {
                self.is_in_window(axis, steps)
                    .then(|| self.along(z, axis, steps))
            });
            match (a, e) {
                (Some(a), Some(e)) => (a + e) / int(2) - (b + d) / int(2),
                (Some(a), None) => (a + d) - (b + b),
                (None, Some(e)) => (e + b) - (d + d),
                (None, None) => T::ZERO,
            }
        };
        // So many units away along y and x.
        let four = |y: i64, x: i64| {
            let at = |of_y: i64, of_x: i64| self.value(z, [of_y * y, of_x * x]);
            // Both orders of y and x have the same sums.
            ((at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1))) / int(4)
        };
        match self.set().odd {
            [true, true] => match [0, 1].map(|axis| self.is_in_field(axis)) {
                [true, true] => {
                    let base = (near(0) + near(1)) / int(2);
                    let terms = [near(0) - near(1), far(0), far(1), four(1, 1) - base];
                    (base, terms.to_vec())
                }
                [true, false] => (near(0), vec![T::ZERO, far(0), T::ZERO, T::ZERO]),
                [false, true] => (near(1), vec![T::ZERO, T::ZERO, far(1), T::ZERO]),
                [false, false] => ((near(0) + near(1)) / int(2), vec![T::ZERO; 4]),
            },
            [is_along_y, _] => {
                let (axis, across) = if is_along_y { (0, 1) } else { (1, 0) };
                let base = near(axis);
                let is_there = self.is_in_field(axis)
                    && self.is_in_window(across, -2)
                    && self.is_in_window(across, 2);
                let beside = match (is_there, is_along_y) {
                    (false, _) => T::ZERO,
                    (true, true) => four(1, 2) - base,
                    // Behind along x first.
                    (true, false) => {
                        let at = |of_x: i64, of_y: i64| self.value(z, [2 * of_y, of_x]);
                        ((at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1))) / int(4) - base
                    }
                };
                (base, vec![far(axis), beside])
            }
        }
    }

    /// Base and terms, those of the slices before in the tile included.
    fn base_and_terms(&self) -> (T, Vec<T>) {
        let z = self.at[0];
        let in_tile = z % SLICES;
        let references = [1, 2, 3].map(|back: u64| z - back.min(in_tile));
        if self.level == ROOT {
            let [nearest, second, third] = references.map(|z| self.value(z, [0, 0]));
            return (nearest, vec![nearest - second, nearest - third]);
        }
        let (base, mut terms) = self.stencil(z);
        if in_tile > 0 {
            for (number, z) in references.into_iter().enumerate() {
                let (base, more) = self.stencil(z);
                terms.push(self.value(z, [0, 0]) - base);
                if number == 0 {
                    terms.extend(more);
                }
            }
        }
        (base, terms)
    }

    fn predict(&self, slices: &Slices) -> T {
        let (base, terms) = self.base_and_terms();
        let coefficients = slices.of(self.set()).iter();
        let coefficients = coefficients.map(|bits| T::from_i32((*bits).into()) / T::from_i32(2048));
        let products = coefficients.zip(terms).map(|(c, term)| c * term);
        base + products
            .reduce(|sum, product| sum + product)
            .unwrap_or(T::ZERO)
    }
}

/// The level of a position.
pub(super) fn level(at: [u64; 3]) -> usize {
    (at[1] | at[2]).trailing_zeros().min(ROOT as u32) as usize
}

/// Whether a position is an anchor.
pub(super) fn is_anchor(at: [u64; 3]) -> bool {
    level(at) == ROOT && at[0].is_multiple_of(SLICES)
}

/// Visits the positions of a field that lie behind its first `before` elements. `known` has its anchors. `decide` is as for
/// [`interp::visit`](crate::oracle::interp::visit).
pub(super) fn visit<T: Element>(
    field: &Field,
    slices: &Slices,
    before: usize,
    known: &mut [T],
    decide: &mut impl FnMut(usize, usize, T) -> T,
) {
    let [depth, height, width] = field.lengths;
    for z in 0..depth {
        for of_level in (0..=ROOT).rev() {
            for stage in 0..=2 {
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    let place = Place::new(field, known, [z, y, x]);
                    let odd = place.set().odd.into_iter().filter(|odd| *odd).count();
                    if place.level != of_level || odd != stage || is_anchor(place.at) {
                        continue;
                    }
                    let prediction = place.predict(slices);
                    let flat = field.flat([z, y, x]);
                    known[flat] = decide(of_level, before + flat, prediction);
                }
            }
        }
    }
}

/// The sums of the products of the numbers of positions, a matrix for each set.
pub(super) struct Sums(Vec<Vec<i128>>);

impl Default for Sums {
    fn default() -> Self {
        let matrix = |set: Set| vec![0; (set.terms() + 1) * (set.terms() + 1)];
        Self(Set::all().into_iter().map(matrix).collect())
    }
}

impl Sums {
    /// Adds a position with this value; `inverse` is that of its level.
    pub(super) fn add<T: Element>(&mut self, place: &Place<'_, T>, value: T, inverse: T) {
        let (base, mut numbers) = place.base_and_terms();
        numbers.push(value - base);
        let Some(integers) = integers(&numbers, inverse) else {
            return;
        };
        let number = Set::all().iter().position(|set| *set == place.set());
        if let Some(sums) = number.and_then(|number| self.0.get_mut(number)) {
            for (row, a) in integers.iter().enumerate() {
                for (column, b) in integers.iter().enumerate() {
                    sums[row * integers.len() + column] += a * b;
                }
            }
        }
    }

    /// The coefficients that fit best.
    pub(super) fn coefficients(&self) -> Slices {
        let mut all = Vec::new();
        for (set, sums) in Set::all().into_iter().zip(&self.0) {
            let odd = [false, set.odd[0], set.odd[1]];
            let found = solve(set.terms(), |term| of_splines(odd, term), sums);
            all.extend(found.into_iter().map(|coefficient: f64| {
                rounded((coefficient * 2048.0).clamp(-32_767.0, 32_767.0))
            }));
        }
        Slices(all)
    }
}

/// The nearest integer, of two the even one.
fn rounded(number: f64) -> i16 {
    let whole = number as i16;
    let rest = number - f64::from(whole);
    let is_odd = whole % 2 != 0;
    match rest {
        rest if rest > 0.5 || rest == 0.5 && is_odd => whole + 1,
        rest if rest < -0.5 || rest == -0.5 && is_odd => whole - 1,
        _ => whole,
    }
}
