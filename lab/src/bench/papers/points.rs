//! A stream at one bound, measured on one field.

use super::super::agree::time_both_ways;
use super::super::field::{Subject, load_whole, widened};
use super::super::flags::Source;
use super::super::{gpu::OnDevice, machine::Machine, memory::Memory, times::Times};
use super::codes::{self, NonZero};
use super::streams::{PaperStream, STREAMS};
use super::{CODES, Papers, sets::Member};
use ferrosz::{Bound, Element};
use ferrosz_cli::{common::Common, failure::Failure, output, with_element_field};
use ferrosz_verify::{judge, ssim};
use serde_json::{Value, json};

/// A stream at one bound, measured on one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The data set.
    pub set: String,
    /// The field.
    pub field: String,
    /// The name of the stream.
    pub stream: &'static str,
    /// The bound, relative to the range.
    pub range: f64,
    /// Bytes of a value.
    pub value_bytes: u64,
    /// Bytes of the field.
    pub field_bytes: u64,
    /// Bytes of the stream.
    pub stream_bytes: u64,
    /// The PSNR of the decoded field, in decibels.
    pub psnr: f64,
    /// Its mean structural similarity, if a table shows it; none if no window is finite.
    pub ssim: Option<f64>,
    /// Times of compression.
    pub compress: Times,
    /// Times of decompression.
    pub decompress: Times,
}

impl Point {
    /// Bytes of the field divided by bytes of the stream.
    pub fn ratio(&self) -> f64 {
        self.field_bytes as f64 / self.stream_bytes as f64
    }

    /// Bits of the stream for each value.
    pub fn bits(&self) -> f64 {
        (8 * self.value_bytes) as f64 / self.ratio()
    }

    /// 10^9 bytes of the field a second, of compression and decompression.
    pub fn rates(&self) -> [f64; 2] {
        [self.compress, self.decompress].map(|times| times.rate(self.field_bytes))
    }

    /// The object of `--json`.
    pub fn to_json(&self) -> Value {
        let [compress, decompress] = self.rates();
        json!({
            "set": self.set,
            "field": self.field,
            "stream": self.stream,
            "range": self.range,
            "field_bytes": self.field_bytes,
            "stream_bytes": self.stream_bytes,
            "ratio": self.ratio(),
            "bits": self.bits(),
            "psnr": self.psnr.is_finite().then_some(self.psnr),
            "ssim": self.ssim,
            "compress_gb_s": compress,
            "decompress_gb_s": decompress,
        })
    }
}

/// All points of all fields, in their order; and the counts of their codes, if a table shows them.
///
/// # Errors
///
/// If a field cannot be read, or a result is wrong.
pub fn all(
    papers: &Papers,
    machine: &Machine,
    common: &Common,
) -> Result<(Vec<Point>, Vec<NonZero>), Failure> {
    let (mut points, mut codes) = (Vec::new(), Vec::new());
    for Member { set, file } in &papers.fields {
        let (name, field) = load_whole(&Source::File(file.clone()), &papers.shape)?;
        let field = if papers.f64 { widened(field) } else { field };
        let set = set.clone().unwrap_or_else(|| name.clone());
        if !common.quiet {
            output::note(&format!("{set}: {name}"));
        }
        with_element_field!(field, array => {
            let subject = Subject::new(name, array)?;
            points.extend(of_field(papers, machine, &set, &subject)?);
            if papers.shows(CODES) {
                for range in &papers.range {
                    codes.push(codes::count(&subject, *range)?);
                }
            }
            Ok::<_, Failure>(())
        })?;
    }
    Ok((points, codes))
}

/// The points of one field.
fn of_field<T: Element + OnDevice>(
    papers: &Papers,
    machine: &Machine,
    set: &str,
    subject: &Subject<T>,
) -> Result<Vec<Point>, Failure> {
    let dimensions = subject.extents.lengths().len();
    let asked = |kind: &PaperStream| papers.streams.is_empty() || papers.streams.contains(kind);
    let mut points = Vec::new();
    for kind in STREAMS
        .into_iter()
        .filter(|kind| asked(kind) && kind.takes(dimensions))
    {
        for range in &papers.range {
            let point = measure(papers, machine, subject, kind, *range).map_err(|failure| {
                let name = &subject.name;
                Failure::failed(format_args!("{name}, {}, {range:e}: {failure}", kind.name))
            })?;
            points.push(Point {
                set: set.to_owned(),
                ..point
            });
        }
    }
    Ok(points)
}

fn measure<T: Element + OnDevice>(
    papers: &Papers,
    machine: &Machine,
    subject: &Subject<T>,
    kind: PaperStream,
    range: f64,
) -> Result<Point, Failure> {
    let bound = Bound::range(range).map_err(Failure::usage)?;
    let field = &subject.values[..];
    let coding = kind.coding(subject, bound)?;
    let stream = coding.compress(field)?;
    let mut memory = Memory::new(machine, field, &*coding)?;
    let ([compress, decompress], values) = time_both_ways(&mut memory, &*coding, &stream)?;
    Ok(Point {
        set: String::new(),
        field: subject.name.clone(),
        stream: kind.name,
        range,
        value_bytes: T::BYTES as u64,
        field_bytes: size_of_val(field) as u64,
        stream_bytes: stream.len() as u64,
        psnr: judge(field, &values, bound, f64::INFINITY).psnr(),
        ssim: match papers.shows("quality") {
            true => ssim(field, &values, subject.extents.lengths()),
            false => None,
        },
        compress: compress.single,
        decompress: decompress.single,
    })
}
