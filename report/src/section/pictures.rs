//! Slices of original, reconstruction and error.

use crate::axis::Axis;
use crate::chart::{Chart, Series};
use crate::colours::Scale;
use crate::html::{MOST_CHOICES, escape};
use crate::image::data_url;
use crate::originals::Originals;
use crate::planes::{Grid, Plane};
use crate::profile::{self, Point};
use crate::section::Known;
use crate::totals::Promise;
use crate::words;
use ferrosz::Value;
use std::fmt::Write;

/// Planes of the array, or the line that it is.
pub fn of<V: Value>(known: &Known<'_, V>, originals: &mut Originals) -> String {
    let pair = &known.pair;
    let worst = known.comparison.judgement.largest_error_at;
    let worst = worst.map(|at| at as usize);
    let mut planes = Plane::choose(pair, worst);
    planes.truncate(MOST_CHOICES);
    let mut html = "<h3>Slices</h3>".to_owned();
    if planes.is_empty() {
        let points = profile::whole(pair);
        html += &lines("All values", "element", known.unit, &points, false);
    } else {
        html += &choices(known, &planes, originals);
    }
    if let (Some(at), Some(axis)) = (worst, pair.line_axes().first()) {
        let points = profile::around(pair, at, *axis);
        let label = format!("index along axis {axis}");
        html += &lines(
            "Through the largest error",
            &label,
            known.unit,
            &points,
            true,
        );
    }
    html
}

/// Sets of three pictures, of which one is shown.
fn choices<V: Value>(known: &Known<'_, V>, planes: &[Plane], originals: &mut Originals) -> String {
    let set = known.number;
    let grids: Vec<[Grid; 3]> = planes
        .iter()
        .map(|plane| plane.grids(&known.pair))
        .collect();
    let values = grids.iter().flat_map(|[original, ..]| &original.points);
    let scale = originals.scale(values);
    let errors = error_scale(known);
    let mut html = r#"<div class="choices">"#.to_owned();
    for (number, plane) in planes.iter().enumerate() {
        let checked = if number == 0 {
            r#" checked="checked""#
        } else {
            ""
        };
        let worst = if plane.has_worst {
            ", largest error"
        } else {
            ""
        };
        let _ = write!(
            html,
            r#"<input type="radio" name="set-{set}" id="set-{set}-{number}"{checked}/><label for="set-{set}-{number}">{}{worst}</label>"#,
            plane.describe()
        );
    }
    for (plane, [original, decoded, error]) in planes.iter().zip(&grids) {
        let steps = plane.steps(&known.pair);
        let sampled = match steps {
            [1, 1] => String::new(),
            [down, right] => format!("every {down} x {right} values"),
        };
        let largest = match steps {
            [1, 1] => "reconstruction minus original".to_owned(),
            _ => format!("the largest of each {} x {} values", steps[0], steps[1]),
        };
        let name = plane.describe();
        let drawn = |caption: &str, detail: &str, grid: &Grid, scale: &Scale| {
            picture([caption, detail, &name], known.unit, grid, scale)
        };
        html += r#"<div class="choice">"#;
        let image = originals.image(&format!("Original at {name}"), original, &scale);
        html += &captioned(["Original", &sampled], &image, known.unit, &scale);
        html += &drawn("Reconstruction", &sampled, decoded, &scale);
        html += &drawn("Error", &largest, error, &errors);
        html += "</div>";
    }
    html + r#"</div><p class="note">The first row is at the top, as in imshow. All slices have the same colours.</p>"#
}

/// Up to the bound; up to the largest error, if that is far below.
fn error_scale<V: Value>(known: &Known<'_, V>) -> Scale {
    let largest = known.comparison.judgement.largest_error;
    Scale::around_zero(match known.promise {
        Promise::Absolute(bound) if bound < 2.0 * largest => bound,
        _ => largest,
    })
}

/// A grid with its colours: its caption, a detail of it, and its place, and the unit of its points.
pub fn picture(
    [caption, detail, place]: [&str; 3],
    unit: &str,
    grid: &Grid,
    scale: &Scale,
) -> String {
    let image = format!(
        r#"<img alt="{caption} at {place}" style="aspect-ratio:1/{:.3}" src="{}"/>"#,
        grid.aspect(),
        data_url(grid, scale)
    );
    captioned([caption, detail], &image, unit, scale)
}

/// An image with its caption, a detail of it, and its colours in this unit.
fn captioned([caption, detail]: [&str; 2], image: &str, unit: &str, scale: &Scale) -> String {
    let [low, high] = scale.labels(unit);
    let middle = match scale.is_diverging {
        true => "<span>0</span>",
        false => "",
    };
    format!(
        r#"<figure class="picture"><figcaption>{caption} <small>{}&#160;</small></figcaption>{image}<div class="bar" style="background:{}"></div><div class="ends"><span>{}</span>{middle}<span>{}</span></div></figure>"#,
        escape(detail),
        scale.css(),
        escape(&low),
        escape(&high)
    )
}

/// Values along a line, and their errors.
fn lines(title: &str, x: &str, unit: &str, points: &[Point], is_near: bool) -> String {
    let [first, last] =
        [points.first(), points.last()].map(|point| point.map_or(0.0, |(at, _)| *at));
    let axis = || Axis::linear(x, first, last);
    let values = points.iter().flat_map(|(_, both)| *both);
    let side = |which: usize| points.iter().map(move |(at, both)| (*at, both[which]));
    let chart = Chart::new(
        title,
        axis(),
        Axis::around(&words::in_unit("value", unit), values),
    )
    .line(side(0), Series::Original)
    .line(side(1), Series::Decoded)
    .key(Series::Original, "original")
    .key(Series::Decoded, "reconstruction");
    let mut html = format!(r#"<div class="charts">{}"#, chart.to_html());
    if is_near {
        let errors = || points.iter().map(|(at, [x, y])| (*at, y - x));
        let label = words::in_unit("error", unit);
        let y = Axis::around(&label, errors().map(|(_, error)| error).chain([0.0]));
        let chart = Chart::new("Error there", axis(), y).line(errors(), Series::Error);
        html += &chart.to_html();
    }
    html + "</div>"
}
