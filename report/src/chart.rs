//! Charts as SVG, in the colours of the page's style.

use crate::axis::Axis;
use crate::html::escape;
use std::fmt::Write;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 236.0;

/// The place of the area with the data: left, top, width, height.
const AREA: [f64; 4] = [58.0, 8.0, 292.0, 182.0];

/// The meaning of a mark of a chart. Each meaning has a colour; its lines also have a pattern of dashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// The original.
    Original,
    /// The reconstruction.
    Decoded,
    /// The error.
    Error,
    /// The bound, or what else limits something.
    Limit,
}

impl Series {
    /// The class in the style of the page.
    pub fn class(self) -> &'static str {
        match self {
            Self::Original => "s0",
            Self::Decoded => "s1",
            Self::Error => "s2",
            Self::Limit => "s3",
        }
    }
}

/// A chart.
pub struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    marks: String,
    /// Labels above the marks.
    labels: String,
    key: Vec<(Series, String)>,
    note: String,
}

impl Chart {
    /// An empty chart.
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self {
            title: title.to_owned(),
            x,
            y,
            marks: String::new(),
            labels: String::new(),
            key: Vec::new(),
            note: String::new(),
        }
    }

    /// A sentence below the chart.
    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        note.clone_into(&mut self.note);
        self
    }

    /// An entry of the key.
    #[must_use]
    pub fn key(mut self, series: Series, name: &str) -> Self {
        self.key.push((series, name.to_owned()));
        self
    }

    /// A line through points. It is broken where a point has no place.
    #[must_use]
    pub fn line(mut self, points: impl IntoIterator<Item = (f64, f64)>, series: Series) -> Self {
        let mut path = String::new();
        let mut command = 'M';
        for point in points {
            match self.place(point) {
                Some([x, y]) => {
                    let _ = write!(path, "{command}{x:.1} {y:.1}");
                    command = 'L';
                }
                None => command = 'M',
            }
        }
        if !path.is_empty() {
            let class = series.class();
            let _ = write!(self.marks, r#"<path class="line {class}" d="{path}"/>"#);
        }
        self
    }

    /// Stems from 0 to points.
    #[must_use]
    pub fn stems(mut self, points: impl IntoIterator<Item = (f64, f64)>, series: Series) -> Self {
        let class = series.class();
        for (at, value) in points {
            if let (Some([x, y]), Some([_, zero])) =
                (self.place((at, value)), self.place((at, 0.0)))
            {
                let _ = write!(
                    self.marks,
                    r#"<path class="stem {class}" d="M{x:.1} {zero:.1}L{x:.1} {y:.1}"/>"#
                );
            }
        }
        self
    }

    /// A dot, with a label beside it.
    #[must_use]
    pub fn dot(mut self, point: (f64, f64), label: &str, series: Series) -> Self {
        if let Some([x, y]) = self.place(point) {
            let class = series.class();
            let _ = write!(
                self.marks,
                r#"<circle class="dot {class}" cx="{x:.1}" cy="{y:.1}" r="5"/>"#
            );
            let is_right = x > 0.6 * AREA[2];
            let (shift, anchor) = if is_right {
                (-9.0, "end")
            } else {
                (9.0, "start")
            };
            let _ = write!(
                self.labels,
                r#"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}">{}</text>"#,
                x + shift,
                (y + 14.0).clamp(12.0, AREA[3] - 4.0),
                escape(label)
            );
        }
        self
    }

    /// A line from bottom to top, at a number.
    #[must_use]
    pub fn vertical(mut self, at: f64, series: Series) -> Self {
        if let Some(place) = self.x.place(at) {
            let (x, class) = (place * AREA[2], series.class());
            let _ = write!(
                self.marks,
                r#"<path class="line {class}" d="M{x:.1} 0L{x:.1} {:.1}"/>"#,
                AREA[3]
            );
        }
        self
    }

    /// A line from left to right, at a number.
    #[must_use]
    pub fn horizontal(mut self, at: f64, series: Series) -> Self {
        if let Some(place) = self.y.place(at) {
            let (y, class) = ((1.0 - place) * AREA[3], series.class());
            let _ = write!(
                self.marks,
                r#"<path class="line {class}" d="M0 {y:.1}L{:.1} {y:.1}"/>"#,
                AREA[2]
            );
        }
        self
    }

    /// The place of a point in the area. A point far outside of the area is moved near to it, so that its numbers stay short.
    fn place(&self, (x, y): (f64, f64)) -> Option<[f64; 2]> {
        let (x, y) = (self.x.place(x)?, self.y.place(y)?);
        Some([
            x.clamp(-1.0, 2.0) * AREA[2],
            (1.0 - y).clamp(-1.0, 2.0) * AREA[3],
        ])
    }

    /// The chart as a figure of HTML.
    pub fn to_html(&self) -> String {
        let [left, top, width, height] = AREA;
        let title = escape(&self.title);
        let mut html = format!(
            r#"<figure class="chart"><figcaption>{title}</figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">"#
        );
        self.write_axes(&mut html);
        let _ = write!(
            html,
            r#"<svg x="{left}" y="{top}" width="{width}" height="{height}" overflow="hidden">{}{}</svg></svg>"#,
            self.marks, self.labels
        );
        if !self.key.is_empty() {
            let entry = |(series, name): &(Series, String)| {
                format!(
                    r#"<span><svg class="swatch" viewBox="0 0 24 8" aria-hidden="true"><path class="line {}" d="M0 4L24 4"/></svg> {}</span>"#,
                    series.class(),
                    escape(name)
                )
            };
            let entries: String = self.key.iter().map(entry).collect();
            let _ = write!(html, r#"<p class="key">{entries}</p>"#);
        }
        if !self.note.is_empty() {
            let _ = write!(html, r#"<p class="note">{}</p>"#, escape(&self.note));
        }
        html + "</figure>"
    }

    fn write_axes(&self, html: &mut String) {
        let [left, top, width, height] = AREA;
        let bottom = top + height;
        for (place, label) in self.x.labels() {
            let x = left + place * width;
            let _ = write!(
                html,
                r#"<path class="grid" d="M{x:.1} {top}L{x:.1} {bottom}"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{label}</text>"#,
                bottom + 14.0
            );
        }
        for (place, label) in self.y.labels() {
            let y = bottom - place * height;
            let _ = write!(
                html,
                r#"<path class="grid" d="M{left} {y:.1}L{:.1} {y:.1}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{label}</text>"#,
                left + width,
                left - 5.0,
                y + 4.0
            );
        }
        let _ = write!(
            html,
            r#"<text class="axis" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            left + width / 2.0,
            HEIGHT - 10.0,
            escape(&self.x.label)
        );
        let middle = top + height / 2.0;
        let _ = write!(
            html,
            r#"<text class="axis" x="11" y="{middle}" text-anchor="middle" transform="rotate(-90 11 {middle})">{}</text>"#,
            escape(&self.y.label)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_without_a_place_break_a_line() {
        let axes = || (Axis::linear("x", 0.0, 1.0), Axis::linear("y", 0.0, 1.0));
        let (x, y) = axes();
        let points = [
            (0.0, 0.0),
            (0.5, 0.5),
            (0.7, f64::NAN),
            (f64::INFINITY, 1.0),
            (1.0, 1.0),
        ];
        let html = Chart::new("<title>", x, y)
            .line(points, Series::Original)
            .to_html();
        let path = format!(
            r#"d="M0.0 {0:.1}L{1:.1} {2:.1}M{3:.1} 0.0""#,
            AREA[3],
            AREA[2] / 2.0,
            AREA[3] / 2.0,
            AREA[2]
        );
        assert!(html.contains(&path), "{html}");
        assert!(html.contains("&lt;title&gt;") && !html.contains("NaN") && !html.contains("inf"));
        let (x, y) = axes();
        let empty = Chart::new("t", x, y).line([], Series::Error).to_html();
        assert!(!empty.contains(r#""line"#));
    }
}
