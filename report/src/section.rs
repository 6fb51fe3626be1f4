//! What is said of one stream.

mod errors;
mod pictures;
mod structure;

use crate::chunk_bits::ChunkBits;
use crate::html::{escape, list};
use crate::originals::Originals;
use crate::pair::Pair;
use crate::report::{Field, Stream};
use crate::slices::Slices;
use crate::totals::{Promise, Totals};
use crate::words;
use ferrosz::{Error, Info, Value};
use ferrosz_verify::{Comparison, Kept};

/// What is said of one stream.
pub struct Section {
    /// What other parts of the page need.
    pub summary: Summary,
    /// The contents, without a heading.
    pub html: String,
    /// The picture of its isosurface; empty if it has none.
    pub isosurface: String,
}

/// The figures of a stream that other parts of the page need.
pub struct Summary {
    /// The name of the stream.
    pub name: String,
    /// The bound, in words.
    pub bound: String,
    /// The stream's own description.
    pub info: Info,
    /// Figures of all pairs.
    pub totals: Totals,
    /// Whether the bound and all promises are kept.
    pub is_kept: bool,
    /// The range of the array.
    pub range: f64,
    /// Elements that are missing or not finite.
    pub missing: u64,
    largest_error: f64,
    psnr: f64,
    ssim: Option<f64>,
}

/// Whether two streams have the same codec, rank and axes.
pub fn is_coded_alike(one: &Info, other: &Info) -> bool {
    one.codec == other.codec && one.rank == other.rank && one.axes == other.axes
}

impl Summary {
    /// The cells of a table.
    pub fn row(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            if self.is_kept { "yes" } else { "NO" }.to_owned(),
            format!("{:.2}", self.info.ratio()),
            format!("{:.3}", self.info.bits_per_value()),
            words::number(self.largest_error),
            decibels(self.psnr),
            self.ssim
                .map_or_else(|| "none".to_owned(), words::six_digits),
        ]
    }

    /// Bits a value and PSNR.
    pub fn point(&self) -> (f64, f64) {
        (self.info.bits_per_value(), self.psnr)
    }
}

/// All that is known of a stream and its original.
struct Known<'a, V> {
    /// The number of the section in its page.
    number: usize,
    /// The unit of the values.
    unit: &'a str,
    pair: Pair<'a, V>,
    info: &'a Info,
    comparison: &'a Comparison,
    promise: Promise,
    totals: Totals,
}

impl Section {
    /// Compares a stream with the original, of which other sections may have shown some, for the section of this number.
    ///
    /// # Errors
    ///
    /// If the stream is damaged, or of another array.
    pub fn new<V: Value>(
        field: &Field<'_, V>,
        stream: &Stream<'_, V>,
        number: usize,
        originals: &mut Originals,
    ) -> Result<Self, Error> {
        let info = ferrosz::info(stream.bytes)?;
        let comparison = Comparison::new(field.values, stream.decoded, &info)?;
        let pair = Pair::new(field.values, stream.decoded, &info.extents, &info.fills);
        let promise = Promise::of(&info);
        let most = match promise {
            Promise::Absolute(bound) => bound.max(comparison.judgement.largest_error),
            Promise::Relative(bound) => bound.max(comparison.quality.largest_relative_error),
        };
        let known = Known {
            number,
            unit: field.unit,
            totals: Totals::of(&pair, promise, if most.is_finite() { most } else { 1.0 }),
            pair,
            info: &info,
            comparison: &comparison,
            promise,
        };
        let chunks = ChunkBits::of(stream.bytes, &info.extents)?;
        let slices = Slices::of(&known.pair, comparison.judgement.range);
        let html = [
            verdict(&comparison),
            cards(&known),
            pictures::of(&known, originals),
            errors::of(&known),
            structure::of(&known),
            structure::by_slice(&slices, chunks.as_ref(), &known.pair),
            facts(&known, stream),
        ]
        .concat();
        let isosurface = originals.isosurface(&known.pair).map(|original| {
            let ratio = format!("ratio {:.2}", info.ratio());
            original.reconstruction(&known.pair, stream.name, &ratio)
        });
        let Known { totals, .. } = known;
        Ok(Self {
            html,
            isosurface: isosurface.unwrap_or_default(),
            summary: Summary {
                name: stream.name.to_owned(),
                bound: words::bound(info.bound),
                is_kept: comparison.is_kept(),
                range: comparison.judgement.range,
                missing: comparison.judgement.not_finite,
                largest_error: comparison.judgement.largest_error,
                psnr: comparison.judgement.psnr(),
                ssim: comparison.quality.ssim,
                totals,
                info,
            },
        })
    }
}

fn verdict(comparison: &Comparison) -> String {
    let found = &comparison.judgement;
    match comparison.is_kept() {
        true => format!(
            r#"<p class="good">&#10003; All {} values are within the bound, decided in exact arithmetic.</p>"#,
            found.values
        ),
        false => format!(
            r#"<p class="bad">&#10007; The bound is NOT KEPT: {} of {} values are off by more; {} not finite were changed; {}
            safeguards are broken.</p>"#,
            found.over_limit.max(found.over_promise),
            found.values,
            found.not_finite_changed,
            comparison.broken.len()
        ),
    }
}

fn cards<V>(known: &Known<'_, V>) -> String {
    let Known {
        info, comparison, ..
    } = known;
    let ssim = comparison.quality.ssim;
    let cards = [
        (format!("{:.2}", info.ratio()), "ratio".to_owned()),
        (
            format!("{:.3}", info.bits_per_value()),
            "bits a value".to_owned(),
        ),
        (
            words::bytes(info.stream_bytes),
            format!("of {}", words::bytes(info.field_bytes)),
        ),
        (
            share(comparison.largest_over_promise(info)),
            "largest error / bound".to_owned(),
        ),
        (decibels(comparison.judgement.psnr()), "PSNR, dB".to_owned()),
        (
            ssim.map_or_else(|| "none".to_owned(), words::six_digits),
            "SSIM".to_owned(),
        ),
    ];
    let card = |(value, name): &(String, String)| {
        format!(
            "<div><b>{}</b><span>{}</span></div>",
            escape(value),
            escape(name)
        )
    };
    format!(
        r#"<div class="cards">{}</div>"#,
        cards.iter().map(card).collect::<String>()
    )
}

/// A share of the bound, never rounded up to it.
fn share(share: f64) -> String {
    match share {
        share if share < 1.0 && share > 0.9995 => "0.9999".to_owned(),
        share => words::number(share),
    }
}

fn decibels(psnr: f64) -> String {
    match psnr {
        f64::INFINITY => "exact".to_owned(),
        psnr if psnr.is_finite() => format!("{psnr:.2}"),
        _ => "none".to_owned(),
    }
}

fn kept(found: Kept) -> String {
    match found.count {
        0 => "none in the original".to_owned(),
        count => format!("{} of {count}", found.kept),
    }
}

/// What the stream is, and how it is made.
fn facts<V>(known: &Known<'_, V>, stream: &Stream<'_, V>) -> String {
    let info = known.info;
    let mut pairs = vec![
        ("codec", format!("{}, rank {}", info.codec, info.rank)),
        ("error bound", words::bound(info.bound)),
        ("absolute error", words::absolute_error(info.absolute_error)),
        ("axes", info.axes.to_string()),
        ("array", words::bytes(info.field_bytes)),
        ("stream", words::bytes(info.stream_bytes)),
        ("chunks", info.chunks.to_string()),
        ("ferrosz", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    if !info.fills.is_empty() {
        let fills: Vec<String> = info.fills.iter().map(|fill| words::short(*fill)).collect();
        let mask = words::bytes(info.mask_bytes);
        pairs.push((
            "fill values",
            format!("{}; mask of {mask}", fills.join(", ")),
        ));
    }
    if !info.safeguards.is_empty() {
        let all: Vec<String> = info.safeguards.iter().map(ToString::to_string).collect();
        pairs.push(("safeguards", all.join("; ")));
    }
    let command = match stream.command {
        "" => String::new(),
        command => format!("<pre>{}</pre>", escape(command)),
    };
    format!("<h3>Stream</h3>{}{command}", list(&pairs))
}
