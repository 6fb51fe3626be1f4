//! A picture: panels side by side, each with a caption and a colour bar.

use crate::canvas::{Canvas, Font, Rgb};
pub use crate::colours::Scale;
use crate::pair::Pair;
pub use crate::planes::Grid;
use crate::planes::Plane;
use crate::profile;
use crate::report::Field;
use crate::totals::Promise;
use crate::words;
use ferrosz::{Info, Value};
use ferrosz_verify::Comparison;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight};

const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [32, 32, 36];
const FAINT: Rgb = [104, 104, 112];
/// A point without a value.
const MISSING: Rgb = [188, 188, 196];

const TITLE: Font = Font {
    height: RasterHeight::Size24,
    weight: FontWeight::Bold,
    colour: INK,
};
const CAPTION: Font = Font {
    height: RasterHeight::Size16,
    weight: FontWeight::Bold,
    colour: INK,
};
const TEXT: Font = Font {
    height: RasterHeight::Size16,
    weight: FontWeight::Regular,
    colour: FAINT,
};

/// Width of a panel at least, in pixels.
const MIN_PANEL: u32 = 440;
/// The least and the most height of a picture.
const HEIGHTS: [u32; 2] = [120, 900];
const MARGIN: u32 = 28;
const LINE: u32 = 20;
const BAR: u32 = 14;
const TITLE_LINE: u32 = 36;

/// Pixels of a point along both sides: squares, unless the picture would be very high or low.
fn pixels_of(grid: &Grid) -> [u32; 2] {
    let [columns, rows] = [grid.columns, grid.rows()].map(|points| (points as u32).max(1));
    let width = MIN_PANEL.div_ceil(columns);
    let height = (width * rows).clamp(HEIGHTS[0], HEIGHTS[1]).div_ceil(rows);
    let is_usual = (HEIGHTS[0]..=HEIGHTS[1]).contains(&(width * rows));
    [width, if is_usual { width } else { height }]
}

fn width_of(grid: &Grid) -> u32 {
    grid.columns as u32 * pixels_of(grid)[0]
}

fn height_of(grid: &Grid) -> u32 {
    grid.rows() as u32 * pixels_of(grid)[1]
}

/// One panel.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The first line above the grid.
    pub caption: String,
    /// The second line above the grid.
    pub detail: String,
    /// The points.
    pub grid: Grid,
    /// The colour map.
    pub scale: Scale,
    /// The values' unit; may be empty.
    pub unit: String,
}

/// Draws panels between a title and a footer.
pub fn draw(title: &str, panels: &[Panel], footer: &str) -> Canvas {
    let widths: u32 = panels
        .iter()
        .map(|panel| width_of(&panel.grid) + MARGIN)
        .sum();
    let tallest = panels.iter().map(|panel| height_of(&panel.grid)).max();
    let panel_top = MARGIN + TITLE_LINE;
    let footer_top = panel_top + 2 * LINE + 8 + tallest.unwrap_or(0) + 10 + BAR + LINE + 22;
    let mut canvas = Canvas::new(widths + MARGIN, footer_top + LINE + MARGIN / 2, PAPER);
    canvas.text(MARGIN, MARGIN - 4, title, TITLE);
    let mut left = MARGIN;
    for panel in panels {
        draw_panel(&mut canvas, panel, left, panel_top);
        left += width_of(&panel.grid) + MARGIN;
    }
    canvas.text(MARGIN, footer_top, footer, TEXT);
    canvas
}

fn draw_panel(canvas: &mut Canvas, panel: &Panel, left: u32, top: u32) {
    canvas.text(left, top, &panel.caption, CAPTION);
    canvas.text(left, top + LINE, &panel.detail, TEXT);
    let grid_top = top + 2 * LINE + 8;
    let (width, height) = (width_of(&panel.grid), height_of(&panel.grid));
    canvas.fill(left - 1, grid_top - 1, width + 2, height + 2, INK);
    draw_grid(canvas, panel, left, grid_top);
    draw_bar(canvas, panel, left, grid_top + height + 10);
}

fn draw_grid(canvas: &mut Canvas, panel: &Panel, left: u32, top: u32) {
    let [width, height] = pixels_of(&panel.grid);
    let rows = panel.grid.points.chunks(panel.grid.columns.max(1));
    for (row, points) in (0..).zip(rows) {
        for (column, point) in (0..).zip(points) {
            let colour = match point.is_finite() {
                true => panel.scale.colour(panel.scale.position(*point)),
                false => MISSING,
            };
            let (x, y) = (left + column * width, top + row * height);
            canvas.fill(x, y, width, height, colour);
        }
    }
}

/// Draws the colour bar, with the values at both ends and in the middle.
fn draw_bar(canvas: &mut Canvas, panel: &Panel, left: u32, top: u32) {
    let width = width_of(&panel.grid);
    canvas.fill(left - 1, top - 1, width + 2, BAR + 2, INK);
    for x in 0..width {
        let position = f64::from(x) / f64::from(width - 1);
        canvas.fill(left + x, top, 1, BAR, panel.scale.colour(position));
    }
    let [low, high] = panel.scale.ends;
    let labels = [low, (low + high) / 2.0, high].map(|value| words::with_unit(value, &panel.unit));
    for (part, text) in (0..).zip(&labels) {
        let free = width.saturating_sub(TEXT.width(text));
        canvas.text(left + part * free / 2, top + BAR + 4, text, TEXT);
    }
}

/// Rows of the picture of a line.
const LINE_ROWS: usize = 64;

/// Draws original, reconstruction and error in the slice with the largest error.
///
/// ```
/// use ferrosz::{Bound, Compressor, Decompressor, Preset};
/// use ferrosz_report::{Field, picture};
/// use ferrosz_verify::Comparison;
///
/// let values: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
/// let extents = [60, 100];
/// let compressor = Compressor::new(Preset::Small, Bound::range(1e-2)?).extents(&extents)?;
/// let stream = compressor.compress(&values)?;
/// let decoded = Decompressor::new().decompress::<f32>(&stream)?;
/// let info = ferrosz::info(&stream)?;
/// let comparison = Comparison::new(&values, &decoded, &info)?;
/// let field = Field { name: "waves", values: &values, extents: &extents, unit: "" };
/// let mut png = Vec::new();
/// picture(&field, &decoded, &info, &comparison).write_png(&mut png)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn picture<V: Value>(
    field: &Field<'_, V>,
    decoded: &[V],
    info: &Info,
    comparison: &Comparison,
) -> Canvas {
    let pair = Pair::new(field.values, decoded, &info.extents, &info.fills);
    let found = &comparison.judgement;
    let planes = Plane::choose(&pair, found.largest_error_at.map(|at| at as usize));
    let (place, [original, decoded, error]) = match planes.first() {
        Some(plane) => (plane.describe(), plane.grids(&pair)),
        None => ("all values".to_owned(), grids_of_line(&pair)),
    };
    let scale = Scale::of_values(original.points.iter());
    let largest = match Promise::of(info) {
        Promise::Absolute(bound) if bound < 2.0 * found.largest_error => bound,
        _ => found.largest_error,
    };
    let panel = |caption: String, detail: String, grid: Grid, scale: Scale| Panel {
        caption,
        detail,
        grid,
        scale,
        unit: field.unit.to_owned(),
    };
    let size = format!(
        "{} {}",
        words::lengths(info.number_extents()),
        info.type_name()
    );
    let coded = format!(
        "ratio {:.2}, PSNR {}",
        info.ratio(),
        words::decibels(found.psnr())
    );
    let errors = format!(
        "largest {}",
        words::with_unit(found.largest_error, field.unit)
    );
    let name = format!("{}, {}", info.codec, words::bound(info.bound));
    let panels = [
        panel("Original".to_owned(), size, original, scale),
        panel(format!("Reconstruction: {name}"), coded, decoded, scale),
        panel(
            "Error".to_owned(),
            errors,
            error,
            Scale::around_zero(largest),
        ),
    ];
    let title = format!("{} {place}", field.name);
    let footer = match comparison.is_kept() {
        true => "All values are within the bound.",
        false => "The bound is NOT KEPT.",
    };
    draw(&title, &panels, footer)
}

/// A line as grids of equal rows.
fn grids_of_line<V: Value>(pair: &Pair<'_, V>) -> [Grid; 3] {
    let points = profile::whole(pair);
    let side = |of: fn([f64; 2]) -> f64| {
        let row: Vec<f64> = points.iter().map(|(_, both)| of(*both)).collect();
        Grid {
            columns: row.len(),
            points: row.repeat(LINE_ROWS),
        }
    };
    [side(|[x, _]| x), side(|[_, y]| y), side(|[x, y]| y - x)]
}
