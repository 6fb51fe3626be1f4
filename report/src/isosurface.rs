//! The surface on which a volume of the original has one value, and beside it those of its reconstructions.

use crate::html::escape;
use crate::pair::Pair;
use crate::solid::{Vector, View};
use crate::volume::{Elements, Volume};
use crate::words;
use ferrosz::Value;
use std::fmt::Write;

/// Room for labels at the left and below, in pixels.
const ROOM: [usize; 2] = [44, 26];

/// The corner of a box that is hidden; a bit for each axis says whether it is at its end.
const HIDDEN: usize = 0b010;

/// The middles of edges, how far from them the names of their axes are, and which end of a name is there.
const LABELS: [(Vector, [f64; 2], &str); 3] = [
    ([0.5, 0.0, 0.0], [-5.0, 0.0], "end"),
    ([0.0, 0.5, 1.0], [6.0, 13.0], "start"),
    ([0.0, 0.0, 0.5], [0.0, 17.0], "middle"),
];

/// The isosurface of the original.
pub struct Isosurface {
    elements: Elements,
    volume: Volume,
    isovalue: f64,
    view: View,
}

impl Isosurface {
    /// That of an array; none if it has no volume, or one value only.
    pub fn of<V: Value>(pair: &Pair<'_, V>) -> Option<Self> {
        let elements = Elements::choose(pair)?;
        let volume = elements.volume(|at| pair.original(at));
        Some(Self {
            isovalue: volume.isovalue()?,
            view: View::new(elements.axes.map(|axis| pair.extents[axis])),
            elements,
            volume,
        })
    }

    /// The picture of a reconstruction of this name, and what else is said about it.
    pub fn reconstruction<V: Value>(&self, pair: &Pair<'_, V>, name: &str, about: &str) -> String {
        let decoded = self.elements.volume(|at| Some(pair.both(at)?.1));
        let [all, _, changed] = self.volume.sides(&decoded, self.isovalue);
        let share = words::percent(changed, all);
        let detail = format!("{about}; {share} ({changed}) changed sides");
        self.figure(name, &detail, &decoded)
    }

    /// The part of the page about the original, and about reconstructions, of which these are the pictures.
    pub fn to_html(&self, unit: &str, reconstructions: &str) -> String {
        let isovalue = words::with_unit(self.isovalue, unit);
        let [all, above, _] = self.volume.sides(&self.volume, self.isovalue);
        let detail = format!("{} above {isovalue}", words::percent(above, all));
        format!(
            r#"<h3>Isosurface</h3><div class="charts">{}{reconstructions}</div><p class="note">Solid is what is above {}, the value that a tenth of the {all} values {} of the original are above; if more than a tenth are the highest value, it alone is above. Blue is the surface, interpolated between these values; orange is where their box cuts the solid. Values that changed sides are above it in the one and not in the other. Index 0 of all axes is at the lower left. Beside missing values nothing is drawn.</p>"#,
            self.figure("Original", &detail, &self.volume),
            escape(&isovalue),
            self.elements.name
        )
    }

    /// What is above the isovalue in a volume, in its box.
    fn figure(&self, name: &str, detail: &str, volume: &Volume) -> String {
        let ([width, height], [left, below]) = (self.view.size(), ROOM);
        let (name, detail) = (escape(name), escape(detail));
        format!(
            r#"<figure class="chart"><figcaption>{name} <small>{detail}</small></figcaption><svg viewBox="-{left} 0 {} {}" role="img" aria-label="Isosurface of {name}: {detail}"><image width="{width}" height="{height}" href="{}"/>{}</svg></figure>"#,
            width + left + 2,
            height + below,
            self.view.data_url(volume, self.isovalue),
            self.frame()
        )
    }

    /// The edges of the box that are seen, and the names of the axes beside some.
    fn frame(&self) -> String {
        let mut edges = String::new();
        for (corner, bit) in (0..8).flat_map(|corner| [1, 2, 4].map(|bit| (corner, bit))) {
            if corner & bit == 0 && corner != HIDDEN && corner | bit != HIDDEN {
                for (step, end) in [("M", corner), ("L", corner | bit)] {
                    let place = [4, 2, 1].map(|bit| f64::from(u8::from(end & bit > 0)));
                    let [x, y] = self.view.project(place);
                    let _ = write!(edges, "{step}{x:.1} {y:.1}");
                }
            }
        }
        let mut frame = format!(r#"<path class="grid" d="{edges}"/>"#);
        for (axis, (middle, [right, down], anchor)) in self.elements.axes.iter().zip(LABELS) {
            let [x, y] = self.view.project(middle);
            let _ = write!(
                frame,
                r#"<text class="axis" x="{:.1}" y="{:.1}" text-anchor="{anchor}">axis {axis}</text>"#,
                x + right,
                y + down
            );
        }
        frame
    }
}
