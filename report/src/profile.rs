//! Values along a line.

use crate::pair::Pair;
use ferrosz::Value;

/// Values on each side of the place that is looked at.
const REACH: usize = 48;

/// Points of a whole line, each of which is the ends of several values.
const POINTS: usize = 240;

/// A point of a line: its position, and what was and what came back; NaN where a value is missing.
pub type Point = (f64, [f64; 2]);

/// The values along an axis, on both sides of an element.
pub fn around<V: Value>(pair: &Pair<'_, V>, at: usize, axis: usize) -> Vec<Point> {
    let (stride, length) = (pair.strides()[axis], pair.extents[axis]);
    let place = pair.index(at)[axis];
    let range = place.saturating_sub(REACH)..(place + REACH + 1).min(length);
    let value = |i: usize| {
        let (x, y) = pair
            .both(at - place * stride + i * stride)
            .unwrap_or((f64::NAN, f64::NAN));
        (i as f64, [x, y])
    };
    range.map(value).collect()
}

/// All values of a line, the smallest and the largest of those that lie together.
pub fn whole<V: Value>(pair: &Pair<'_, V>) -> Vec<Point> {
    let step = pair.len().div_ceil(POINTS).max(1);
    let mut points = Vec::new();
    for start in (0..pair.len()).step_by(step) {
        let values = (start..(start + step).min(pair.len())).filter_map(|at| pair.both(at));
        let ends = values.fold(None, |ends: Option<[[f64; 2]; 2]>, (x, y)| {
            let [low, high] = ends.unwrap_or([[x, y]; 2]);
            Some([
                [low[0].min(x), low[1].min(y)],
                [high[0].max(x), high[1].max(y)],
            ])
        });
        let middle = start as f64 + (step - 1) as f64 / 2.0;
        match ends {
            Some([low, high]) if step > 1 => points.extend([(middle, low), (middle, high)]),
            Some([low, _]) => points.push((middle, low)),
            None => points.push((middle, [f64::NAN; 2])),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_through_their_element() {
        let x: Vec<f64> = (0..6000).map(f64::from).collect();
        let pair = Pair::new(&x, &x, &[3, 200, 10], &[7.0]);
        // Element 2123 is [1, 12, 3].
        let found = around(&pair, 2123, 1);
        assert_eq!(
            (found[0], found.last()),
            ((0.0, [2003.0; 2]), Some(&(60.0, [2603.0; 2])))
        );
        let found = around(&pair, 5, 2);
        assert_eq!((found.len(), found[3].1), (10, [3.0; 2]));
        assert!(found[7].1[0].is_nan());
    }

    #[test]
    fn whole_lines_keep_their_ends() {
        let mut x = vec![0.0f32; 10_000];
        (x[777], x[778]) = (5.0, -2.0);
        let found = whole(&Pair::new(&x, &x, &[10_000], &[]));
        assert!(found.len() <= 2 * POINTS);
        let of = |number: f64| found.iter().filter(|(_, [x, _])| *x == number).count();
        assert_eq!((of(5.0), of(-2.0)), (1, 1));
        assert_eq!(whole(&Pair::new(&x[..3], &x[..3], &[3], &[])).len(), 3);
    }
}
