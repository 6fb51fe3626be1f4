//! A sample of an array's lines along an axis.

use crate::pair::Pair;
use ferrosz::Value;

/// The most lines of a sample.
const MOST_LINES: usize = 256;

/// The most values of a line, from its middle.
const MOST_VALUES: usize = 2048;

/// A line: each value and what it came back as; none where one is missing.
pub type Line = Vec<Option<(f64, f64)>>;

/// A sample of lines along an axis.
pub struct Lines {
    /// The axis.
    pub axis: usize,
    /// All lines along the axis.
    pub all: usize,
    /// The values of a line of the array.
    length: usize,
    /// The lines of the sample.
    pub lines: Vec<Line>,
}

impl Lines {
    /// Lines along an axis, spread over the array.
    pub fn of<V: Value>(pair: &Pair<'_, V>, axis: usize) -> Self {
        let (length, stride) = (pair.extents[axis], pair.strides()[axis]);
        let all = pair.len() / length.max(1);
        let count = all.min(MOST_LINES);
        let values = length.min(MOST_VALUES);
        let first = (length - values) / 2;
        let lines = (0..count).map(|number| {
            let start = start_of(spread(number, count, all), length, stride);
            let at = (first..first + values).map(|i| start + i * stride);
            at.map(|at| pair.both(at)).collect()
        });
        Self {
            axis,
            all,
            length,
            lines: lines.collect(),
        }
    }

    /// Which lines these are, in words.
    pub fn describe(&self) -> String {
        let values = self.lines.first().map_or(0, Vec::len);
        let lines = match (self.lines.len(), self.all) {
            (_, 1) => "the line".to_owned(),
            (some, all) if some == all => format!("all {all} lines"),
            (some, all) => format!("{some} of {all} lines"),
        };
        match values == self.length {
            true => format!("{lines} of {values} values along axis {}", self.axis),
            false => format!(
                "the middle {values} of {} values of {lines} along axis {}",
                self.length, self.axis
            ),
        }
    }
}

/// One of `all` for the number of a sample of `count`: each from its own share, and not always at the same place in it, so that
/// they do not follow a period of the array.
pub fn spread(number: usize, count: usize, all: usize) -> usize {
    let edge = |number: usize| (number as u128 * all as u128 / count.max(1) as u128) as usize;
    let (start, end) = (edge(number), edge(number + 1));
    let golden = (number as f64 * 0.618_033_988_749_895).fract();
    start + ((end - start) as f64 * golden) as usize
}

/// The first element of a line.
fn start_of(line: usize, length: usize, stride: usize) -> usize {
    line / stride * stride * length + line % stride
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lie_along_their_axis() {
        let extents = [3u64, 4, 5];
        let x: Vec<f64> = (0..60).map(f64::from).collect();
        let pair = Pair::new(&x, &x, &extents, &[]);
        for (axis, stride) in [(0, 20.0), (1, 5.0), (2, 1.0)] {
            let found = Lines::of(&pair, axis);
            assert_eq!(found.lines.len(), 60 / extents[axis] as usize);
            let mut seen: Vec<f64> = Vec::new();
            for line in &found.lines {
                let values: Vec<f64> = line.iter().map(|pair| pair.unwrap().0).collect();
                assert!(values.windows(2).all(|two| two[1] - two[0] == stride));
                seen.extend(values);
            }
            seen.sort_by(f64::total_cmp);
            assert_eq!(seen, x);
        }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let x = vec![0.0f32; 6000];
        let of =
            |extents: &[u64], axis| Lines::of(&Pair::new(&x, &x, extents, &[]), axis).describe();
        assert_eq!(
            of(&[6000], 0),
            "the middle 2048 of 6000 values of the line along axis 0"
        );
        assert_eq!(of(&[6, 1000], 1), "all 6 lines of 1000 values along axis 1");
        assert_eq!(
            of(&[6, 1000], 0),
            "256 of 1000 lines of 6 values along axis 0"
        );
    }

    #[test]
    fn a_sample_is_spread() {
        let chosen: Vec<usize> = (0..10).map(|i| spread(i, 10, 1000)).collect();
        assert!((0..10).all(|i| (i * 100..(i + 1) * 100).contains(&chosen[i])));
        assert!(chosen.iter().any(|line| line % 100 != 0));
        assert_eq!(spread(3, 7, 7), 3);
    }
}
