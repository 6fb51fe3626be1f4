//! What a reconstruction keeps of the structure of an array: spectra, gradients, and quality by slice.

use crate::axis::Axis;
use crate::chart::{Chart, Series};
use crate::chunk_bits::ChunkBits;
use crate::colours::Scale;
use crate::gradients::Gradients;
use crate::lines::Lines;
use crate::pair::Pair;
use crate::section::{Known, pictures};
use crate::slices::{Slice, Slices};
use crate::spectrum::Spectra;
use crate::words;
use ferrosz::Value;

/// Original, reconstruction and error: their marks and names.
const KINDS: [(Series, &str); 3] = [
    (Series::Original, "original"),
    (Series::Decoded, "reconstruction"),
    (Series::Error, "error"),
];

/// Points of a spectrum that are drawn, on a logarithmic axis.
const POINTS: usize = 72;

/// Spectra and gradients along the fastest axes.
pub fn of<V: Value>(known: &Known<'_, V>) -> String {
    let charts: Vec<String> = (known.pair.line_axes().into_iter())
        .flat_map(|axis| {
            let lines = Lines::of(&known.pair, axis);
            [spectrum(&lines), gradients(&lines, known.unit)]
        })
        .flatten()
        .collect();
    match charts.is_empty() {
        true => String::new(),
        false => format!(
            r#"<h3>Structure</h3><div class="charts">{}</div>"#,
            charts.concat()
        ),
    }
}

fn spectrum(lines: &Lines) -> Option<String> {
    let found = Spectra::of(&lines.lines)?;
    let all = || found.powers.iter().flat_map(|powers| powers.iter().skip(1));
    // Rounding of the transform is no power of the array.
    let floor = all().copied().fold(0.0, f64::max) * 1e-25;
    let y = Axis::logarithmic("power", all().copied().filter(|power| *power > floor))?;
    let x = Axis::logarithmic("cycles a value", found.frequencies.iter().copied())?;
    let title = format!("Power spectrum, axis {}", lines.axis);
    let mut chart = Chart::new(&title, x, y).note(&format!(
        "Mean of {} segments of {} values without missing ones, window of Hann; from {}.",
        found.segments,
        found.length,
        lines.describe()
    ));
    for ((series, name), powers) in KINDS.into_iter().zip(&found.powers) {
        chart = chart
            .line(thinned(&found.frequencies, powers), series)
            .key(series, name);
    }
    Some(chart.to_html())
}

/// The points of a spectrum without frequency 0, of which neighbours on a logarithmic axis are averaged.
fn thinned(frequencies: &[f64], powers: &[f64]) -> Vec<(f64, f64)> {
    let last = frequencies.len().saturating_sub(1);
    let mut points = Vec::new();
    let mut from = 1;
    for edge in 1..=POINTS {
        let to = (last as f64).powf(edge as f64 / POINTS as f64) as usize;
        let to = if edge == POINTS { last } else { to };
        if to < from {
            continue;
        }
        let count = (to + 1 - from) as f64;
        let mean = |of: &[f64]| of[from..=to].iter().sum::<f64>() / count;
        points.push((mean(frequencies), mean(powers)));
        from = to + 1;
    }
    points
}

fn gradients(lines: &Lines, unit: &str) -> Option<String> {
    let found = Gradients::of(&lines.lines)?;
    let [original, _] = &found.histograms;
    let outlines = found
        .histograms
        .each_ref()
        .map(|histogram| histogram.outline());
    let shares = || outlines.iter().flatten().map(|(_, share)| *share);
    let label = words::in_unit("difference of neighbours", unit);
    let x = Axis::linear(&label, original.low, original.high);
    let title = format!("Gradients, axis {}", lines.axis);
    let mut chart = Chart::new(&title, x, Axis::logarithmic("share of values", shares())?)
        .note(&format!("From {}.", lines.describe()));
    for ((series, name), outline) in KINDS.into_iter().zip(outlines) {
        // An empty bin is below the axis: its line goes down there, instead of ending.
        let outline = outline
            .into_iter()
            .map(|(at, share)| (at, share.max(f64::MIN_POSITIVE)));
        chart = chart.line(outline, series).key(series, name);
    }
    Some(chart.to_html())
}

/// PSNR and SSIM of slices, and the bits of chunks.
pub fn by_slice<V: Value>(
    slices: &Slices,
    chunks: Option<&ChunkBits>,
    pair: &Pair<'_, V>,
) -> String {
    let note = match slices.slices.len() == slices.all {
        true => format!("All {} {}.", slices.all, slices.what),
        false => format!("{} of {} {}.", slices.slices.len(), slices.all, slices.what),
    };
    let mut html = r#"<h3>By slice and chunk</h3><div class="charts">"#.to_owned();
    let psnr: fn(&Slice) -> Option<f64> = |slice| slice.psnr.filter(|psnr| psnr.is_finite());
    if slices.all > 1 {
        html += &slice_chart("PSNR by slice", "PSNR, dB", slices, psnr, &note);
        html += &slice_chart("SSIM by slice", "SSIM", slices, |slice| slice.ssim, &note);
    }
    if let Some(chunks) = chunks {
        html += &bits(chunks, pair);
    }
    html + "</div>"
}

fn slice_chart(
    title: &str,
    label: &str,
    slices: &Slices,
    figure: fn(&Slice) -> Option<f64>,
    note: &str,
) -> String {
    let figures = || {
        slices
            .slices
            .iter()
            .filter_map(|slice| Some((slice.number as f64, figure(slice)?)))
    };
    if figures().next().is_none() {
        return String::new();
    }
    let x = Axis::linear("slice", 0.0, slices.all.saturating_sub(1) as f64);
    let y = Axis::around(label, figures().map(|(_, figure)| figure));
    let points = slices.slices.iter();
    let points = points.map(|slice| (slice.number as f64, figure(slice).unwrap_or(f64::NAN)));
    Chart::new(title, x, y)
        .line(points, Series::Original)
        .note(note)
        .to_html()
}

/// Bits a value of the chunks: a picture, or a line of an array that is one.
fn bits<V: Value>(chunks: &ChunkBits, pair: &Pair<'_, V>) -> String {
    let [low, high] = chunks.ends.map(words::number);
    let detail = format!("{} chunks, {low} to {high} bits a value", chunks.chunks);
    let is_line = chunks.grid.rows() == 1 || pair.long_axes().len() < 2;
    match (&chunks.axes[..], is_line) {
        ([down, right], false) => {
            let scale = Scale::between(
                chunks
                    .grid
                    .points
                    .iter()
                    .copied()
                    .fold(f64::INFINITY, f64::min),
                chunks.grid.points.iter().copied().fold(0.0, f64::max),
            );
            let detail =
                format!("{detail}; axis {down} down, axis {right} to the right, mean along others");
            let picture = pictures::picture(
                ["Bits a value", &detail, "all chunks"],
                "",
                &chunks.grid,
                &scale,
            );
            format!(r#"<div class="map">{picture}</div>"#)
        }
        _ => {
            let step = chunks.steps.iter().copied().max().unwrap_or(1) as f64;
            let points = || {
                (0u32..)
                    .map(f64::from)
                    .zip(chunks.grid.points.iter().copied())
            };
            let x = Axis::linear("element", 0.0, chunks.grid.points.len() as f64 * step);
            let y = Axis::around("bits a value", chunks.grid.points.iter().copied());
            Chart::new("Bits a value by chunk", x, y)
                .line(
                    points().map(|(cell, bits)| ((cell + 0.5) * step, bits)),
                    Series::Original,
                )
                .note(&detail)
                .to_html()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_spectra_have_all_powers_once() {
        for last in [4, 16, 100, 1024] {
            let frequencies: Vec<f64> = (0..=last).map(f64::from).collect();
            let powers = vec![2.0; frequencies.len()];
            let found = thinned(&frequencies, &powers);
            assert!(found.len() <= POINTS && found.len() >= 4.min(last as usize));
            assert_eq!(found[0], (1.0, 2.0));
            assert!(found.iter().all(|point| (point.1 - 2.0).abs() < 1e-12));
            assert!(found.windows(2).all(|two| two[0].0 < two[1].0));
        }
    }
}
