//! How large errors are, where, and how they go together.

use crate::autocorrelation::Autocorrelation;
use crate::axis::Axis;
use crate::chart::{Chart, Series};
use crate::html::{list, table};
use crate::lines::Lines;
use crate::section::{Known, decibels, kept};
use crate::totals::Promise;
use crate::words;
use ferrosz::Value;

/// The figures, charts and the worst errors.
pub fn of<V: Value>(known: &Known<'_, V>) -> String {
    let mut html = format!("<h3>Errors</h3>{}", list(&figures(known)));
    if known.totals.worst.is_empty() {
        return html + "<p>Every value came back as it was: there is no error to draw.</p>";
    }
    html += r#"<div class="charts">"#;
    html += &histogram(known);
    for axis in known.pair.line_axes() {
        html += &autocorrelation(&Lines::of(&known.pair, axis));
    }
    html + "</div>" + &worst(known)
}

fn figures<V: Value>(known: &Known<'_, V>) -> Vec<(&'static str, String)> {
    let (found, quality) = (&known.comparison.judgement, &known.comparison.quality);
    let totals = &known.totals;
    let number = |number| words::with_unit(number, known.unit);
    let or_none = |figure: Option<String>| figure.unwrap_or_else(|| "none".to_owned());
    vec![
        ("largest error", number(found.largest_error)),
        (
            "bound",
            match known.promise {
                Promise::Absolute(bound) if bound > 0.0 && bound.is_finite() => number(bound),
                Promise::Absolute(bound) => words::absolute_error(bound),
                Promise::Relative(bound) => format!("{} of each value", words::short(bound)),
            },
        ),
        (
            "largest relative error",
            words::number(quality.largest_relative_error),
        ),
        ("RMSE", number(quality.rmse)),
        (
            "RMSE / range",
            or_none(known.comparison.nrmse().map(words::number)),
        ),
        ("PSNR, dB", decibels(found.psnr())),
        ("mean absolute error", number(totals.mean_absolute_error())),
        ("bias, the mean error", number(totals.bias())),
        (
            "correlation",
            or_none(totals.correlation().map(correlation)),
        ),
        (
            "autocorrelation of errors",
            or_none(quality.error_autocorrelation.map(|r| format!("{r:.4}"))),
        ),
        ("SSIM", or_none(quality.ssim.map(words::six_digits))),
        ("zeros kept", kept(quality.zeros)),
        ("signs flipped", quality.signs_flipped.to_string()),
        ("became negative", quality.became_negative.to_string()),
        ("fill values kept", kept(known.comparison.fills)),
    ]
}

/// A correlation, with as many nines as it has.
fn correlation(correlation: f64) -> String {
    let missing = 1.0 - correlation.abs();
    match missing > 0.0 && missing < 1e-3 {
        true => format!("1 - {}", words::number(missing)),
        false => format!("{correlation:.4}"),
    }
}

fn histogram<V: Value>(known: &Known<'_, V>) -> String {
    let errors = &known.totals.errors;
    let shares = errors.outline();
    let label = match known.promise {
        Promise::Absolute(_) => words::in_unit("error", known.unit),
        Promise::Relative(_) => "error / |value|".to_owned(),
    };
    let room = 1.08;
    let x = Axis::linear(&label, errors.low * room, errors.high * room);
    let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let y = Axis::linear("share of values", 0.0, most * 1.05);
    let corners = [(errors.low, 0.0)]
        .into_iter()
        .chain(shares)
        .chain([(errors.high, 0.0)]);
    let bound = known.promise.value();
    let mut chart = Chart::new("Error histogram", x, y)
        .line(corners, Series::Error)
        .key(Series::Error, "errors");
    if bound > 0.0 && bound.is_finite() {
        chart = chart
            .vertical(-bound, Series::Limit)
            .vertical(bound, Series::Limit);
        chart = chart.key(Series::Limit, "bound");
    }
    chart.to_html()
}

fn autocorrelation(lines: &Lines) -> String {
    let Some(found) = Autocorrelation::of(&lines.lines) else {
        return String::new();
    };
    let points = || (1u32..).map(f64::from).zip(found.at_lags.iter().copied());
    let lags = found.at_lags.len() as f64;
    let limits = [found.noise, -found.noise, 0.2, -0.2];
    let y = Axis::around("correlation", found.at_lags.iter().copied().chain(limits));
    let title = format!("Autocorrelation of errors, axis {}", lines.axis);
    let x = Axis::linear("distance, values", 0.0, lags + 1.0);
    Chart::new(&title, x, y)
        .horizontal(found.noise, Series::Limit)
        .horizontal(-found.noise, Series::Limit)
        .stems(points(), Series::Error)
        .key(Series::Limit, "95 % of independent errors")
        .note(&format!("From {}.", lines.describe()))
        .to_html()
}

fn worst<V: Value>(known: &Known<'_, V>) -> String {
    let bound = known.promise.value();
    let rows = known.totals.worst.iter().map(|worst| {
        let index = known.pair.index(worst.at);
        let index: Vec<String> = index.iter().map(usize::to_string).collect();
        let (x, y) = worst.pair;
        let over = match bound > 0.0 && bound.is_finite() {
            true => super::share(worst.error.abs() / bound),
            false => "-".to_owned(),
        };
        vec![
            format!("[{}]", index.join(", ")),
            words::number(x),
            words::number(y),
            words::number(y - x),
            over,
        ]
    });
    let [original, reconstruction, error] =
        ["original", "reconstruction", "error"].map(|label| words::in_unit(label, known.unit));
    let heading = ["place", &original, &reconstruction, &error, "of the bound"];
    format!(
        "<h3>Worst errors</h3>{}",
        table(&heading, &rows.collect::<Vec<_>>())
    )
}
