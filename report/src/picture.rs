//! The picture of the demo: panels side by side, each with a caption and a colour bar.

use crate::canvas::{Canvas, Font, Rgb};
use ferrosz_cli::report;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight};

const PAPER: Rgb = [255, 255, 255];
const INK: Rgb = [32, 32, 36];
const FAINT: Rgb = [104, 104, 112];

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
const MARGIN: u32 = 28;
const LINE: u32 = 20;
const BAR: u32 = 14;
const TITLE_LINE: u32 = 36;

/// The colour at a position from 0, the low end, to 1, the high end.
pub type ColourMap = fn(f64) -> Rgb;

/// A grid of values, rows from bottom to top.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Values in a row.
    pub columns: usize,
    /// The values.
    pub values: Vec<f64>,
}

impl Grid {
    /// Smallest and largest value.
    pub fn range(&self) -> (f64, f64) {
        let values = self.values.iter().copied();
        (
            values.clone().fold(f64::INFINITY, f64::min),
            values.fold(f64::NEG_INFINITY, f64::max),
        )
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// Pixels of a value along each side.
    fn scale(&self) -> u32 {
        MIN_PANEL.div_ceil((self.columns as u32).max(1))
    }

    fn width(&self) -> u32 {
        self.columns as u32 * self.scale()
    }

    fn height(&self) -> u32 {
        self.rows() as u32 * self.scale()
    }
}

/// One panel.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The first line above the grid.
    pub caption: String,
    /// The second line above the grid.
    pub detail: String,
    /// The values.
    pub grid: Grid,
    /// The colour map.
    pub colours: ColourMap,
    /// The values at the low and the high end of the colour map.
    pub range: (f64, f64),
    /// The values' unit.
    pub unit: &'static str,
}

/// Draws panels between a title and a footer.
pub fn draw(title: &str, panels: &[Panel], footer: &str) -> Canvas {
    let widths: u32 = panels.iter().map(|panel| panel.grid.width() + MARGIN).sum();
    let tallest = panels.iter().map(|panel| panel.grid.height()).max();
    let panel_top = MARGIN + TITLE_LINE;
    let footer_top = panel_top + 2 * LINE + 8 + tallest.unwrap_or(0) + 10 + BAR + LINE + 22;
    let mut canvas = Canvas::new(widths + MARGIN, footer_top + LINE + MARGIN / 2, PAPER);
    canvas.text(MARGIN, MARGIN - 4, title, TITLE);
    let mut left = MARGIN;
    for panel in panels {
        draw_panel(&mut canvas, panel, left, panel_top);
        left += panel.grid.width() + MARGIN;
    }
    canvas.text(MARGIN, footer_top, footer, TEXT);
    canvas
}

fn draw_panel(canvas: &mut Canvas, panel: &Panel, left: u32, top: u32) {
    canvas.text(left, top, &panel.caption, CAPTION);
    canvas.text(left, top + LINE, &panel.detail, TEXT);
    let grid_top = top + 2 * LINE + 8;
    let (width, height) = (panel.grid.width(), panel.grid.height());
    canvas.fill(left - 1, grid_top - 1, width + 2, height + 2, INK);
    draw_grid(canvas, panel, left, grid_top);
    draw_bar(canvas, panel, left, grid_top + height + 10);
}

fn draw_grid(canvas: &mut Canvas, panel: &Panel, left: u32, top: u32) {
    let scale = panel.grid.scale();
    let (low, high) = panel.range;
    // The first row of values is at the bottom.
    let rows = panel.grid.values.chunks(panel.grid.columns.max(1)).rev();
    for (row, values) in (0..).zip(rows) {
        for (column, value) in (0..).zip(values) {
            let position = (value - low) / (high - low);
            let (x, y) = (left + column * scale, top + row * scale);
            canvas.fill(x, y, scale, scale, (panel.colours)(position));
        }
    }
}

/// Draws the colour bar, with the values at both ends and in the middle.
fn draw_bar(canvas: &mut Canvas, panel: &Panel, left: u32, top: u32) {
    let width = panel.grid.width();
    canvas.fill(left - 1, top - 1, width + 2, BAR + 2, INK);
    for x in 0..width {
        let position = f64::from(x) / f64::from(width - 1);
        canvas.fill(left + x, top, 1, BAR, (panel.colours)(position));
    }
    let (low, high) = panel.range;
    let label = |value: f64| format!("{} {}", report::number(value), panel.unit);
    let labels = [low, (low + high) / 2.0, high].map(label);
    for (part, text) in (0..).zip(&labels) {
        let free = width.saturating_sub(TEXT.width(text));
        canvas.text(left + part * free / 2, top + BAR + 4, text, TEXT);
    }
}
