//! The page: what is said of the array, and of all streams together.

use crate::axis::Axis;
use crate::chart::{Chart, Series};
use crate::curve::Curve;
use crate::html::{self, escape, list};
use crate::originals::Originals;
use crate::section::{self, Section, Summary};
use crate::words;
use ferrosz::{Error, Value};
use std::fmt::Write;

/// Codecs whose curves are drawn.
const MOST_CURVES: usize = 3;

/// An array that was compressed.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a, V> {
    /// Its name, such as that of its file.
    pub name: &'a str,
    /// Its values.
    pub values: &'a [V],
    /// Its lengths, slowest first.
    pub extents: &'a [u64],
    /// The unit of the values; empty if it is not known.
    pub unit: &'a str,
}

/// A stream of the array.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a, V> {
    /// Its name, such as that of its file.
    pub name: &'a str,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What it is decoded to.
    pub decoded: &'a [V],
    /// The command that makes it; none is shown if this is empty.
    pub command: &'a str,
}

/// A page about an array and its streams.
///
/// ```
/// use ferrosz::{Bound, Compressor, Decompressor, Preset};
/// use ferrosz_report::{Field, Report, Stream};
///
/// let values: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
/// let extents = [60, 100];
/// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).extents(&extents)?;
/// let bytes = compressor.compress(&values)?;
/// let decoded = Decompressor::new().decompress::<f32>(&bytes)?;
///
/// let mut report = Report::new(Field { name: "waves", values: &values, extents: &extents, unit: "m" });
/// let stream = Stream { name: "range 1e-3", bytes: &bytes, decoded: &decoded, command: "" };
/// assert!(report.add(&stream)?);
/// let page = report.to_html()?;
/// assert!(page.contains("<h1>waves</h1>"));
/// # Ok::<(), ferrosz::Error>(())
/// ```
pub struct Report<'a, V> {
    field: Field<'a, V>,
    originals: Originals,
    sections: Vec<Section>,
}

impl<'a, V: Value> Report<'a, V> {
    /// A page about an array, without streams yet.
    pub fn new(field: Field<'a, V>) -> Self {
        Self {
            field,
            originals: Originals::default(),
            sections: Vec::new(),
        }
    }

    /// Adds a stream of the array; true if it keeps its bound and its promises.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`] if an array has another number of values than the stream; [`Error::Format`] if the stream
    /// is damaged.
    pub fn add(&mut self, stream: &Stream<'_, V>) -> Result<bool, Error> {
        let number = self.sections.len();
        let section = Section::new(&self.field, stream, number, &mut self.originals)?;
        let is_kept = section.summary.is_kept;
        self.sections.push(section);
        Ok(is_kept)
    }

    /// The page. Compresses a sample of the array with the codecs of the streams.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn to_html(&self) -> Result<String, Error> {
        let mut contents = format!("<h1>{}</h1>", escape(self.field.name));
        if let Some(Section { summary, .. }) = self.sections.first() {
            contents += &self.about(summary);
        }
        contents += &self.comparison();
        let isosurfaces = self
            .sections
            .iter()
            .map(|section| section.isosurface.as_str());
        let isosurfaces: String = isosurfaces.collect();
        contents += &self.originals.isosurfaces(self.field.unit, &isosurfaces);
        contents += &self.curves()?;
        for (number, section) in self.sections.iter().enumerate() {
            let name = escape(&section.summary.name);
            let _ = write!(
                contents,
                r#"<section id="stream-{number}"><h2>{name}</h2>{}</section>"#,
                section.html
            );
        }
        let _ = write!(
            contents,
            "<footer>Made by ferrosz {} from all values of the array, but for what is said to be from a sample. Errors are \
             reconstruction minus original. Hatched are missing values.</footer>",
            env!("CARGO_PKG_VERSION")
        );
        Ok(html::page(
            &format!("{}: ferrosz report", self.field.name),
            &contents,
        ))
    }

    /// What is known of the array alone.
    fn about(&self, summary: &Summary) -> String {
        let totals = &summary.totals;
        let [mean, deviation] = totals.original();
        let [low, high] = totals.ranges[0];
        let info = &summary.info;
        let number = |number| words::with_unit(number, self.field.unit);
        let mut pairs = vec![
            (
                "array",
                format!(
                    "{} {}",
                    words::lengths(info.number_extents()),
                    info.type_name()
                ),
            ),
            ("size", words::bytes(info.field_bytes)),
        ];
        if totals.count() > 0 {
            pairs.extend([
                ("smallest", number(low)),
                ("largest", number(high)),
                ("mean", number(mean)),
                ("standard deviation", number(deviation)),
            ]);
        }
        pairs.push(("missing or not finite", summary.missing.to_string()));
        list(&pairs)
    }

    /// A row for each of several streams.
    fn comparison(&self) -> String {
        if self.sections.len() < 2 {
            return String::new();
        }
        let heading = [
            "stream",
            "bound kept",
            "ratio",
            "bits a value",
            "largest error",
            "PSNR dB",
            "SSIM",
        ];
        let rows = self.sections.iter().map(|section| section.summary.row());
        let mut table = html::table(&heading, &rows.collect::<Vec<_>>());
        for (number, section) in self.sections.iter().enumerate() {
            let name = escape(&section.summary.name);
            let link = format!(r##"<td><a href="#stream-{number}">{name}</a></td>"##);
            table = table.replacen(&format!("<tr><td>{name}</td>"), &format!("<tr>{link}"), 1);
        }
        format!("<h3>All streams</h3>{table}")
    }

    /// Rate over distortion of each codec, and the streams.
    fn curves(&self) -> Result<String, Error> {
        let mut curves: Vec<Curve> = Vec::new();
        let mut infos: Vec<&Summary> = Vec::new();
        for Section { summary, .. } in &self.sections {
            let is_known = |other: &&Summary| section::is_coded_alike(&other.info, &summary.info);
            if summary.range > 0.0 && !infos.iter().any(is_known) && infos.len() < MOST_CURVES {
                curves.push(Curve::of(&self.field, &summary.info, summary.range)?);
                infos.push(summary);
            }
        }
        let chosen: Vec<(f64, f64)> = self
            .sections
            .iter()
            .map(|section| section.summary.point())
            .collect();
        let points = || {
            curves
                .iter()
                .flat_map(|curve| curve.points.iter().map(|[bits, psnr]| (*bits, *psnr)))
        };
        let all = || points().chain(chosen.iter().copied());
        let Some(first) = curves.iter().find(|curve| !curve.points.is_empty()) else {
            return Ok(String::new());
        };
        let x = Axis::around("bits a value", all().map(|point| point.0));
        let y = Axis::around("PSNR, dB", all().map(|point| point.1));
        let mut chart = Chart::new("PSNR over bits a value", x, y).note(&format!(
            "Bounds from 1e-2 to 1e-5 of the range, of {}. Dots: the streams of this page.",
            first.describe(self.field.extents)
        ));
        let kinds = [Series::Original, Series::Decoded, Series::Error];
        for (curve, kind) in curves.iter().zip(kinds) {
            let points = curve.points.iter().map(|[bits, psnr]| (*bits, *psnr));
            chart = chart.line(points, kind).key(kind, &curve.name);
        }
        for (section, point) in self.sections.iter().zip(&chosen) {
            let of = |other: &&Summary| section::is_coded_alike(&other.info, &section.summary.info);
            let kind = infos.iter().position(of).and_then(|at| kinds.get(at));
            chart = chart.dot(
                *point,
                &section.summary.bound,
                *kind.unwrap_or(&Series::Limit),
            );
        }
        Ok(format!(
            r#"<h3>Rate over distortion</h3><div class="charts">{}</div>"#,
            chart.to_html()
        ))
    }
}
