//! Tables of the numbers that the papers draw as figures.

use super::super::markdown;
use super::points::Point;
use super::ratios::{cells, columns, mean, of, sets};
use super::streams::STREAMS;
use ferrosz_cli::{failure::Failure, output, report};

/// Rates of both directions, the mean of the fields of a set as in the papers, and of all fields.
pub fn throughput(points: &[Point], ranges: &[f64]) -> Result<(), Failure> {
    output::print("\nthroughput: compress / decompress, GB/s of the field\n\n")?;
    markdown::heading(&format!("set | stream | {}", columns(ranges)))?;
    let row = |name: &str, stream: &str, found: &dyn Fn(f64) -> Vec<Point>| {
        let cell = |range| {
            let points = found(range);
            let rate = |way: usize| mean(points.iter().map(move |point| point.rates()[way]));
            let [compress, decompress] = [rate(0)?, rate(1)?].map(report::number);
            Some(format!("{compress} / {decompress}"))
        };
        match ranges.iter().any(|range| !found(*range).is_empty()) {
            true => markdown::row(format_args!("{name} | {stream} | {}", cells(ranges, cell))),
            false => Ok(()),
        }
    };
    for set in sets(points) {
        for kind in STREAMS {
            row(set, kind.name, &|range| {
                of(points, set, kind.name, range).cloned().collect()
            })?;
        }
    }
    for kind in STREAMS {
        row("all", kind.name, &|range| {
            let of_kind = |point: &&Point| (point.stream, point.range) == (kind.name, range);
            points.iter().filter(of_kind).cloned().collect()
        })?;
    }
    Ok(())
}

/// Rate and distortion.
pub fn quality(points: &[Point], ranges: &[f64]) -> Result<(), Failure> {
    output::print("\nquality: bits a value, PSNR in dB, SSIM\n\n")?;
    markdown::heading(&format!("field | stream | {}", columns(ranges)))?;
    each_field(points, |field, stream, found| {
        let cell = |range| {
            let point = found(range)?;
            let ssim = point
                .ssim
                .map_or_else(|| "-".to_owned(), |ssim| format!("{ssim:.5}"));
            Some(format!("{:.3}, {:.2}, {ssim}", point.bits(), point.psnr))
        };
        markdown::row(format_args!("{field} | {stream} | {}", cells(ranges, cell)))
    })
}

/// The PSNR of interpolation less the PSNR of Lorenzo prediction at the same bound.
pub fn advantage(points: &[Point], ranges: &[f64]) -> Result<(), Failure> {
    output::print("\nadvantage: PSNR of a stream less that of cuSZ at the same bound, dB\n\n")?;
    markdown::heading(&format!("field | stream | {}", columns(ranges)))?;
    each_field(points, |field, stream, found| {
        if !["cuSZ-i", "cuSZ-i quality", "cuSZ-Hi", "interp"].contains(&stream) {
            return Ok(());
        }
        let cell = |range| {
            let of_cusz = |point: &&Point| {
                (&*point.field, point.stream, point.range) == (field, "cuSZ", range)
            };
            let over = points.iter().find(of_cusz)?;
            Some(format!("{:+.2}", found(range)?.psnr - over.psnr))
        };
        markdown::row(format_args!("{field} | {stream} | {}", cells(ranges, cell)))
    })
}

/// Bandwidths in 10^9 bytes a second: two of AATROX's case study, and the one of cuSZ-i's.
const LINKS: [f64; 3] = [11.4, 32.0, 1.0];

/// The speedup of a transfer by compression, as AATROX's section 5.6 defines it; and the seconds that 10^9 bytes take
/// over a link of 1 GB/s with decompression, as in cuSZ-i's Fig. 7c.
pub fn transfer(points: &[Point], ranges: &[f64]) -> Result<(), Failure> {
    let links = LINKS.map(|link| format!("{link} GB/s")).join(", ");
    output::print(&format!(
        "\ntransfer: speedup at {links}; seconds a GB at 1 GB/s, both calls included; PSNR in dB\n\n"
    ))?;
    markdown::heading(&format!("field | stream | {}", columns(ranges)))?;
    each_field(points, |field, stream, found| {
        let cell = |range| {
            let point = found(range)?;
            let [compress, decompress] = point.rates();
            let [first, second, third] = LINKS.map(|link| speedup(link, point.ratio(), compress));
            let seconds = 1.0 / compress + 1.0 / point.ratio() + 1.0 / decompress;
            Some(format!(
                "{first:.2}, {second:.2}, {third:.1}; {seconds:.4}; {:.1}",
                point.psnr
            ))
        };
        markdown::row(format_args!("{field} | {stream} | {}", cells(ranges, cell)))
    })
}

/// AATROX's section 5.6: the time of the plain transfer over that of compression and the shorter transfer.
fn speedup(link: f64, ratio: f64, compress: f64) -> f64 {
    1.0 / ((1.0 / (link * ratio) + 1.0 / compress) * link)
}

/// Calls `row` with each field and stream, and with its points by bound.
fn each_field(
    points: &[Point],
    row: impl Fn(&str, &str, &dyn Fn(f64) -> Option<Point>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut done: Vec<(&str, &str)> = Vec::new();
    for point in points {
        let pair = (&*point.field, point.stream);
        if done.contains(&pair) {
            continue;
        }
        done.push(pair);
        row(pair.0, pair.1, &|range| {
            let of_pair = |point: &&Point| {
                (&*point.field, point.stream, point.range) == (pair.0, pair.1, range)
            };
            points.iter().find(of_pair).cloned()
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speedup_is_the_papers() {
        // CESM-ATM in section 5.6: ratios 26.3 to 95.2, 372.6 GB/s, "over 70 times" and at least 10 times.
        assert!(speedup(1.0, 95.2, 372.6) > 70.0);
        assert!((speedup(11.4, 26.3, 372.6) - 14.57).abs() < 0.01);
        // Without compression in the way, the speedup is the ratio.
        assert!((speedup(1.0, 8.0, f64::INFINITY) - 8.0).abs() < 1e-12);
    }
}
