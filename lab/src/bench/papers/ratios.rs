//! Tables of compression ratios.

use super::super::markdown;
use super::{points::Point, published, streams::STREAMS};
use ferrosz_cli::{failure::Failure, output};
use std::fmt;

/// The ratios of a stream on the fields of a data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The least.
    pub least: f64,
    /// The mean, of ratios as in the papers.
    pub mean: f64,
    /// The largest.
    pub largest: f64,
}

impl Spread {
    /// The spread of these ratios; none if there are none.
    fn of(ratios: impl Iterator<Item = f64>) -> Option<Self> {
        let ratios: Vec<f64> = ratios.collect();
        let least = ratios.iter().copied().reduce(f64::min)?;
        let largest = ratios.iter().copied().reduce(f64::max)?;
        let mean = mean(ratios.into_iter())?;
        Some(Self {
            least,
            mean,
            largest,
        })
    }
}

/// The mean of numbers; none if there are none.
pub fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least == self.largest {
            true => write!(f, "{:.2}", self.mean),
            false => write!(
                f,
                "{:.2} to {:.2}, mean {:.2}",
                self.least, self.largest, self.mean
            ),
        }
    }
}

/// The names of the sets, in their order.
pub fn sets(points: &[Point]) -> Vec<&str> {
    let mut sets: Vec<&str> = Vec::new();
    for point in points {
        if !sets.contains(&point.set.as_str()) {
            sets.push(&point.set);
        }
    }
    sets
}

/// The points of a stream on a set at a bound.
pub fn of<'a>(
    points: &'a [Point],
    set: &'a str,
    stream: &'a str,
    range: f64,
) -> impl Iterator<Item = &'a Point> + Clone {
    (points.iter())
        .filter(move |point| (&*point.set, point.stream, point.range) == (set, stream, range))
}

/// The bounds as the last columns of a heading.
pub fn columns(ranges: &[f64]) -> String {
    let names: Vec<String> = ranges.iter().map(|range| format!("{range:e}")).collect();
    names.join(" | ")
}

/// A cell for each bound, with bars between; `-` where there is none.
pub fn cells<V: fmt::Display>(ranges: &[f64], cell: impl Fn(f64) -> Option<V>) -> String {
    let text = |range: &f64| cell(*range).map_or_else(|| "-".to_owned(), |cell| cell.to_string());
    ranges.iter().map(text).collect::<Vec<_>>().join(" | ")
}

/// Ratios of each stream on each set, with the published ones below ours.
pub fn ratios(points: &[Point], ranges: &[f64]) -> Result<(), Failure> {
    output::print("\nratios, fields of a set: least to largest, mean\n\n")?;
    markdown::heading(&format!("set | stream | | {}", columns(ranges)))?;
    for set in sets(points) {
        for kind in STREAMS {
            let ours = |range| Spread::of(of(points, set, kind.name, range).map(Point::ratio));
            if ranges.iter().all(|range| ours(*range).is_none()) {
                continue;
            }
            let name = kind.name;
            markdown::row(format_args!(
                "{set} | {name} | ours | {}",
                cells(ranges, ours)
            ))?;
            let theirs = |range| published::spread(set, name, range);
            if ranges.iter().any(|range| theirs(*range).is_some()) {
                markdown::row(format_args!(
                    "{set} | {name} | paper | {}",
                    cells(ranges, theirs)
                ))?;
            }
        }
    }
    Ok(())
}

/// A gain of one stream over another that a paper prints.
const GAINS: [(&str, &str); 5] = [
    ("AATROX", "cuSZp"),
    ("AATROX", "cuSZp2-O"),
    ("cuSZp2-O 2D", "cuSZp2-O"),
    ("cuSZp2-O 3D", "cuSZp2-O"),
    ("cuSZ-i", "cuSZ"),
];

/// Means of ratios divided by means of ratios, and those of the papers where both streams are in their tables.
pub fn gains(points: &[Point], ranges: &[f64]) -> Result<(), Failure> {
    output::print("\ngains: mean ratio over mean ratio\n\n")?;
    markdown::heading(&format!("set | gain | | {}", columns(ranges)))?;
    for set in sets(points) {
        for (stream, over) in GAINS {
            let ratio = |name, range| mean(of(points, set, name, range).map(Point::ratio));
            let ours = |range| Some(ratio(stream, range)? / ratio(over, range)?);
            if ranges.iter().all(|range| ours(*range).is_none()) {
                continue;
            }
            let number = |gain: Option<f64>| gain.map(|gain| format!("{gain:.2}"));
            let row = cells(ranges, |range| number(ours(range)));
            markdown::row(format_args!("{set} | {stream} over {over} | ours | {row}"))?;
            let published =
                |name, range| published::spread(set, name, range).map(|found| found.mean);
            let theirs = |range| Some(published(stream, range)? / published(over, range)?);
            if ranges.iter().any(|range| theirs(*range).is_some()) {
                let row = cells(ranges, |range| number(theirs(range)));
                markdown::row(format_args!("{set} | {stream} over {over} | paper | {row}"))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_have_the_mean_of_ratios() {
        let found = Spread::of([4.0, 1.0, 1.0].into_iter()).unwrap();
        assert_eq!(found.to_string(), "1.00 to 4.00, mean 2.00");
        assert_eq!(Spread::of([3.0].into_iter()).unwrap().to_string(), "3.00");
        assert_eq!(Spread::of([].into_iter()), None);
    }
}
