//! The oracle of stencils (FORMAT.md, sections 16 and 18): predictions, and the coefficients that fit.

use crate::element::Element;
use crate::oracle::interp::Site;
use crate::oracle::order::first_axis;
use crate::shape::Shape;
use alloc::vec;
use alloc::vec::Vec;

/// Whether positions are odd along each axis.
type Odd = [bool; 3];

/// The sets of axes of a shape along which positions are odd, in the order of their coefficients.
pub(super) fn sets(shape: Shape) -> Vec<Odd> {
    let all = (1..8).map(|set: u32| [0, 1, 2].map(|axis: u32| set >> axis & 1 == 1));
    all.filter(|odd| (0..first_axis(shape)).all(|axis| !odd[axis]))
        .collect()
}

/// How many terms there are.
pub(super) fn terms(shape: Shape, odd: Odd) -> usize {
    match odd.iter().filter(|is_odd| **is_odd).count() {
        1 => 3 - first_axis(shape),
        2 => 4,
        _ => 6,
    }
}

/// The coefficients of a level.
pub(super) fn per_level(shape: Shape) -> usize {
    sets(shape).into_iter().map(|odd| terms(shape, odd)).sum()
}

/// The coefficients of all levels, level after level from the finest on, those of levels included that are not fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Stencils(pub Vec<f32>);

impl Stencils {
    /// The coefficients of the positions of a level.
    fn of(&self, shape: Shape, level: usize, odd: Odd) -> &[f32] {
        let before = sets(shape).into_iter().take_while(|set| *set != odd);
        let first: usize = before.map(|set| terms(shape, set)).sum();
        let first = level * per_level(shape) + first;
        &self.0[first..first + terms(shape, odd)]
    }

    /// The prediction of a position; none if it has no neighbour ahead along an axis along which it is odd.
    pub(super) fn predict<T: Element>(&self, site: &Site<'_, T>, odd: Odd) -> Option<T> {
        let (base, terms) = stencil(site, odd)?;
        let level = site.unit.ilog2() as usize;
        let coefficients = self.of(site.field.shape, level, odd).iter();
        let coefficients = coefficients.map(|coefficient| T::from_f64(f64::from(*coefficient)));
        let products = coefficients
            .zip(terms)
            .map(|(coefficient, term)| coefficient * term);
        Some(base + products.reduce(|sum, product| sum + product)?)
    }
}

/// The base and the terms of a position.
pub(super) fn stencil<T: Element>(site: &Site<'_, T>, odd: Odd) -> Option<(T, Vec<T>)> {
    let int = T::from_i32;
    let first = first_axis(site.field.shape);
    let odd_axes: Vec<usize> = (0..3).filter(|axis| odd[*axis]).collect();
    if odd_axes.iter().any(|axis| !site.is_in_field(*axis, 1)) {
        return None;
    }
    let value = |steps: [i64; 3]| site.value(steps);
    let along = |axis: usize, steps: i64| {
        let mut all = [0; 3];
        all[axis] = steps;
        value(all)
    };
    let near = |axis: usize| (along(axis, -1) + along(axis, 1)) / int(2);
    let four = |a: usize, b: usize, units: i64| {
        let at = |of_a: i64, of_b: i64| {
            let mut steps = [0; 3];
            steps[a] = of_a;
            steps[b] = of_b * units;
            value(steps)
        };
        ((at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1))) / int(4)
    };
    let far = |axis: usize| {
        let (b, d) = (along(axis, -1), along(axis, 1));
        let (has_a, has_e) = (site.is_in_window(axis, -3), site.is_in_window(axis, 3));
        match (has_a, has_e) {
            (true, true) => (along(axis, -3) + along(axis, 3)) / int(2) - near(axis),
            (true, false) => (along(axis, -3) + d) - (b + b),
            (false, true) => (along(axis, 3) + b) - (d + d),
            (false, false) => T::ZERO,
        }
    };
    Some(match odd_axes[..] {
        [axis] => {
            let base = near(axis);
            let mut terms = vec![far(axis)];
            for across in (first..3).filter(|across| *across != axis) {
                let has_both = site.is_in_window(across, -2) && site.is_in_window(across, 2);
                terms.push(match has_both {
                    true => four(axis, across, 2) - base,
                    false => T::ZERO,
                });
            }
            (base, terms)
        }
        [a, b] => {
            let base = (near(a) + near(b)) / int(2);
            let terms = [near(a) - near(b), far(a), far(b), four(a, b, 1) - base];
            (base, terms.to_vec())
        }
        _ => {
            let base = ((near(2) + near(1)) + near(0)) / int(3);
            let mut terms = vec![near(0) - near(2), near(1) - near(2)];
            terms.extend([(0, 1), (0, 2), (1, 2)].map(|(a, b)| four(a, b, 1) - base));
            let [behind, ahead] = [-1, 1].map(|z| {
                let at = |y, x| value([z, y, x]);
                (at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1))
            });
            terms.push((behind + ahead) / int(8) - base);
            (base, terms)
        }
    })
}

/// The sums of the products of the numbers of positions.
pub(super) struct Sums {
    shape: Shape,
    /// By level and set of axes, a matrix.
    all: Vec<Vec<Vec<i128>>>,
}

impl Sums {
    pub(super) fn new(shape: Shape, levels: usize) -> Self {
        let of_set = |odd| {
            let numbers = terms(shape, odd) + 1;
            vec![0; numbers * numbers]
        };
        let of_level: Vec<Vec<i128>> = sets(shape).into_iter().map(of_set).collect();
        Self {
            shape,
            all: vec![of_level; levels],
        }
    }

    /// Whether the field has a level.
    pub(super) fn has(&self, level: usize) -> bool {
        level < self.all.len()
    }

    /// Adds a position with this value; `inverse` is that of its level.
    pub(super) fn add<T: Element>(&mut self, site: &Site<'_, T>, odd: Odd, value: T, inverse: T) {
        let Some((base, mut numbers)) = stencil(site, odd) else {
            return;
        };
        numbers.push(value - base);
        let Some(integers) = integers(&numbers, inverse) else {
            return;
        };
        let level = site.unit.ilog2() as usize;
        let number = sets(self.shape).iter().position(|set| *set == odd);
        if let Some(sums) = number.and_then(|number| self.all[level].get_mut(number)) {
            for (row, a) in integers.iter().enumerate() {
                for (column, b) in integers.iter().enumerate() {
                    sums[row * integers.len() + column] += a * b;
                }
            }
        }
    }

    /// The coefficients that fit best.
    pub(super) fn coefficients(&self) -> Stencils {
        let mut coefficients = Vec::new();
        for of_level in &self.all {
            for (odd, sums) in sets(self.shape).into_iter().zip(of_level) {
                let found = solve(terms(self.shape, odd), |term| of_splines(odd, term), sums);
                coefficients.extend(found.into_iter().map(|coefficient| coefficient as f32));
            }
        }
        Stencils(coefficients)
    }
}

/// The integers of the numbers of a position; none if it does not count.
pub(super) fn integers<T: Element>(numbers: &[T], inverse: T) -> Option<Vec<i128>> {
    let integer = |number: &T| {
        let magnitude = number.abs() * (inverse * T::from_i32(4)) + T::HALF;
        // False for NaN.
        let is_small = magnitude < T::from_i32(1 << 21);
        let magnitude = if is_small { magnitude.truncate() } else { 0 };
        is_small.then_some(i128::from(if *number < T::ZERO {
            -magnitude
        } else {
            magnitude
        }))
    };
    numbers.iter().map(integer).collect()
}

/// The coefficient of a term in splines.
pub(super) fn of_splines(odd: Odd, term: usize) -> f64 {
    match (odd.iter().filter(|is_odd| **is_odd).count(), term) {
        (1, 0) => -1.0 / 8.0,
        (2, 1 | 2) => -1.0 / 16.0,
        _ => 0.0,
    }
}

/// The coefficients that fit best, by the matrix of sums of so many terms.
pub(super) fn solve(count: usize, drawn_to: impl Fn(usize) -> f64, sums: &[i128]) -> Vec<f64> {
    let sum = |row: usize, column: usize| sums[row * (count + 1) + column] as f64;
    let trace = (0..count).fold(0.0, |trace, i| trace + sum(i, i));
    let ridge = trace / 1_048_576.0 + 1.0;
    // Each row has its right side last.
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|row| (0..=count).map(|column| sum(row, column)).collect())
        .collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] += ridge;
        row[count] += ridge * drawn_to(i);
    }
    for pivot in 0..count {
        let of_pivot = rows[pivot].clone();
        for row in &mut rows[pivot + 1..] {
            let factor = row[pivot] / of_pivot[pivot];
            for column in pivot..=count {
                row[column] -= factor * of_pivot[column];
            }
        }
    }
    let mut found = vec![0.0; count];
    for row in (0..count).rev() {
        let known = (row + 1..count).fold(rows[row][count], |rest, column| {
            rest - rows[row][column] * found[column]
        });
        found[row] = known / rows[row][row];
    }
    found
}
