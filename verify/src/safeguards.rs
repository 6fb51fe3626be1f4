//! Judges safeguards: promises about each value beside the bound.
//!
//! The judge shares no code with the library. Sides, limits, order and squares are decided in exact arithmetic, bounds of
//! logarithms and exponentials by the functions of the standard library, whose last bits the library's margin covers.

use ferrosz::{Error, Safeguard, Value};
use num_rational::BigRational;
use num_traits::Signed;
use std::fmt;

/// A safeguard that is not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The safeguard.
    pub promise: Promise,
    /// How many values break it.
    pub count: u64,
    /// The number of the first of them.
    pub first: u64,
}

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Promise {
    /// A safeguard of the stream.
    Safeguard(Safeguard),
    /// The bound of each value.
    Bounds,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Safeguard(safeguard) => safeguard.fmt(f),
            Self::Bounds => f.write_str("bounds of values"),
        }
    }
}

/// An array and what became of it.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a, V> {
    /// The values.
    pub original: &'a [V],
    /// What a stream of them was decoded to.
    pub decoded: &'a [V],
    /// Lengths of the array, slowest first.
    pub extents: &'a [u64],
    /// Values of missing elements, which no safeguard is about.
    pub fills: &'a [f64],
}

impl<V: Value> Pair<'_, V> {
    /// The safeguards that are not kept, and the bounds of values, if there are some and they are not kept.
    ///
    /// # Errors
    ///
    /// [`Error::BadBounds`] if there is not a bound for each value.
    pub fn broken(
        &self,
        safeguards: &[Safeguard],
        bounds: Option<&[f64]>,
    ) -> Result<Vec<Broken>, Error> {
        let mut broken = Vec::new();
        let count = self.original.len().min(self.decoded.len());
        let mut judge = |promise, breaks: &dyn Fn(usize) -> bool| {
            let mut places = (0..count).filter(|at| breaks(*at));
            if let Some(first) = places.next() {
                broken.push(Broken {
                    promise,
                    count: 1 + places.count() as u64,
                    first: first as u64,
                });
            }
        };
        for safeguard in safeguards {
            let promise = Promise::Safeguard(*safeguard);
            match *safeguard {
                Safeguard::Monotone(axis) => {
                    let faster = self.extents.iter().skip(usize::from(axis) + 1);
                    let step = faster.product::<u64>() as usize;
                    let length = self.extents.get(usize::from(axis)).copied().unwrap_or(1);
                    judge(promise, &|at| {
                        let has_next = (at / step) as u64 % length + 1 < length;
                        has_next && at + step < count && !self.keeps_order(at, at + step)
                    });
                }
                safeguard => judge(promise, &|at| {
                    self.numbers(at).is_some_and(|pair| !keeps(safeguard, pair))
                }),
            }
        }
        if let Some(bounds) = bounds {
            if bounds.len() != count {
                let text = format!("there are {} bounds for {count} values", bounds.len());
                return Err(Error::BadBounds(text));
            }
            judge(Promise::Bounds, &|at| {
                let is_kept = |[x, y]: [f64; 2]| x == y || distance(x, y) <= exact(bounds[at]);
                bounds[at].is_finite() && self.numbers(at).is_some_and(|pair| !is_kept(pair))
            });
        }
        Ok(broken)
    }

    /// A value and what became of it; none if it is missing or not finite.
    fn numbers(&self, at: usize) -> Option<[f64; 2]> {
        let value = self.original[at].to_number();
        let is_fill = self
            .fills
            .iter()
            .any(|fill| V::from_number(*fill).is_some_and(|fill| fill == self.original[at]));
        (value.is_finite() && !is_fill).then(|| [value, self.decoded[at].to_number()])
    }

    fn keeps_order(&self, at: usize, next: usize) -> bool {
        let (Some([a, x]), Some([b, y])) = (self.numbers(at), self.numbers(next)) else {
            return true;
        };
        (a > b || x <= y) && (a < b || x >= y)
    }
}

/// Whether a finite value, and what became of it, keep a safeguard that is about one value.
fn keeps(safeguard: Safeguard, [x, y]: [f64; 2]) -> bool {
    match safeguard {
        Safeguard::KeepAbove(number) => (x >= number) == (y >= number),
        Safeguard::Limits(low, high) => low <= y && y <= high,
        _ if x == y => true,
        _ if !y.is_finite() => false,
        Safeguard::AbsLog(bound) if x > 0.0 => y > 0.0 && ((y - x) / x).ln_1p().abs() <= bound,
        Safeguard::AbsLog(_) => x < 0.0 && y < 0.0,
        Safeguard::AbsExp(bound) => x.exp() * (y - x).exp_m1().abs() <= bound,
        Safeguard::AbsSquare(bound) => {
            let [x, y] = [exact(x), exact(y)];
            (&x * &x - &y * &y).abs() <= exact(bound)
        }
        _ => false,
    }
}

fn distance(x: f64, y: f64) -> BigRational {
    (exact(x) - exact(y)).abs()
}

/// A finite number as a fraction.
fn exact(number: f64) -> BigRational {
    BigRational::from_float(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_safeguard_is_judged() {
        let original = [1.0f64, 2.0, 2.0, 5.0, -9.0, f64::NAN];
        let broken = |decoded: [f64; 6], safeguard, bounds: Option<&[f64]>| {
            let pair = Pair {
                original: &original,
                decoded: &decoded,
                extents: &[6],
                fills: &[-9.0],
            };
            let found = pair.broken(&[safeguard], bounds).unwrap();
            found
                .iter()
                .map(|one| (one.count, one.first))
                .collect::<Vec<_>>()
        };
        let [good, bad] = [
            [1.1, 2.0, 2.0, 4.9, 3.0, 0.0],
            [0.9, 2.1, 2.0, 5.3, 3.0, 0.0],
        ];
        for (safeguard, wanted) in [
            (Safeguard::KeepAbove(1.0), vec![(1, 0)]),
            (Safeguard::Limits(1.0, 5.2), vec![(2, 0)]),
            (Safeguard::AbsLog(0.1), vec![(1, 0)]),
            (Safeguard::AbsExp(1.0), vec![(1, 3)]),
            (Safeguard::AbsSquare(1.0), vec![(1, 3)]),
            (Safeguard::Monotone(0), vec![(1, 1)]),
        ] {
            let safe = match safeguard {
                Safeguard::AbsExp(_) => [1.1, 2.0, 2.0, 5.0, 3.0, 0.0],
                _ => good,
            };
            assert_eq!(broken(safe, safeguard, None), [], "{safeguard}");
            assert_eq!(broken(bad, safeguard, None), wanted, "{safeguard}");
        }
        let bounds = [0.0, 0.2, 0.0, f64::INFINITY, 0.0, 0.0];
        let any = Safeguard::KeepAbove(-50.0);
        assert_eq!(broken(bad, any, Some(&bounds)), [(1, 0)]);
    }
}
