//! What the page shows of the original once, whichever streams are compared with it.

use crate::colours::Scale;
use crate::image::data_url;
use crate::isosurface::Isosurface;
use crate::pair::Pair;
use crate::planes::Grid;
use ferrosz::Value;

/// The pictures of the original that the page has so far.
#[derive(Default)]
pub struct Originals {
    scale: Option<Scale>,
    isosurface: Option<Option<Isosurface>>,
    pictures: Vec<String>,
}

impl Originals {
    /// The colours of values. Those of the first ones stay, so that all streams have the same.
    pub fn scale<'a>(&mut self, values: impl Iterator<Item = &'a f64> + Clone) -> Scale {
        let of_values = || Scale::of_values(values.clone());
        self.scale.get_or_insert_with(of_values).seen_with(values)
    }

    /// Its isosurface; none if it has no volume, or one value only.
    pub fn isosurface<V: Value>(&mut self, pair: &Pair<'_, V>) -> Option<&Isosurface> {
        let isosurface = &mut self.isosurface;
        isosurface
            .get_or_insert_with(|| Isosurface::of(pair))
            .as_ref()
    }

    /// The part of the page about isosurfaces, with those of reconstructions; empty if there are none.
    pub fn isosurfaces(&self, unit: &str, reconstructions: &str) -> String {
        let isosurface = self.isosurface.iter().flatten().next();
        isosurface.map_or_else(String::new, |found| found.to_html(unit, reconstructions))
    }

    /// A picture with this name. The page has its bytes where it is for the first time; any further place refers to them.
    pub fn image(&mut self, name: &str, grid: &Grid, scale: &Scale) -> String {
        let picture = data_url(grid, scale);
        let (width, height) = (grid.columns, grid.rows());
        let image = match self.pictures.iter().position(|known| *known == picture) {
            Some(number) => format!(r##"<use href="#original-{number}"/>"##),
            None => {
                let number = self.pictures.len();
                let image = format!(
                    r#"<image id="original-{number}" width="{width}" height="{height}" preserveAspectRatio="none" href="{picture}"/>"#
                );
                self.pictures.push(picture);
                image
            }
        };
        format!(
            r#"<svg role="img" aria-label="{name}" viewBox="0 0 {width} {height}" preserveAspectRatio="none" style="aspect-ratio:1/{:.3}">{image}</svg>"#,
            grid.aspect()
        )
    }
}
