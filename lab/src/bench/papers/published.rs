//! Ratios that the papers print.

use super::ratios::Spread;

/// The tables of the papers: paper, table, data set, stream, bound, and the least, largest and mean ratio of the set's
/// fields. Two tables give the mean alone.
const PUBLISHED: &str = include_str!("published.csv");

/// The published ratios of a stream on a data set, and the table that has them.
pub fn spread(set: &str, stream: &str, range: f64) -> Option<Spread> {
    PUBLISHED.lines().skip(1).find_map(|line| {
        let [_, _, of, by, at, numbers @ ..] = &line.split(',').collect::<Vec<_>>()[..] else {
            return None;
        };
        if (*of, *by, at.parse()) != (set, stream, Ok(range)) {
            return None;
        }
        let [least, largest, mean] = *numbers else {
            return None;
        };
        let mean = mean.parse().ok()?;
        Some(Spread {
            least: least.parse().unwrap_or(mean),
            mean,
            largest: largest.parse().unwrap_or(mean),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::streams;
    use super::*;

    #[test]
    fn every_line_is_read() {
        let mut lines = 0;
        for line in PUBLISHED.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let found = spread(cells[2], cells[3], cells[4].parse().unwrap());
            let found = found.unwrap_or_else(|| panic!("{line}"));
            assert!(
                found.least <= found.mean && found.mean <= found.largest,
                "{line}"
            );
            let is_ours = streams::named(cells[3]).is_ok();
            assert!(is_ours || cells[3] == "cuSZp2-O 1D 64", "{line}");
            lines += 1;
        }
        assert_eq!(lines, 135);
        assert_eq!(
            spread("NYX", "AATROX", 1e-3).map(|found| found.mean),
            Some(43.10)
        );
        assert_eq!(spread("NYX", "AATROX", 1e-5), None);
    }
}
