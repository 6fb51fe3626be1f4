//! The report about a stream and its original, with or without a header.

use crate::report;
use ferrosz_verify::{Broken, Class, Comparison, Judgement, Kept, Quality};
use serde_json::{Value, json};

/// The refusal of two arguments that are both `-`.
pub const TWO_PIPES: &str = "only one of ORIGINAL and STREAM can be '-': put the other into a file";

/// A comparison, and what is said about the stream beside it.
pub struct Compared<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// Lengths of the array, slowest first.
    pub extents: &'a [u64],
    /// The bound in words.
    pub bound: String,
    /// The largest error divided by the error that is promised.
    pub largest_over_promise: f64,
    /// Bytes of the array for a byte of the stream.
    pub ratio: f64,
    /// Bits of the stream for a value.
    pub bits_per_value: f64,
    /// The safeguards that were judged, in words; none if there are none.
    pub safeguards: Option<String>,
}

impl Compared<'_> {
    /// The figures, as members of the object of `--json`.
    pub fn to_json(&self) -> Value {
        let index = |at: Option<u64>| at.map(|at| coordinates(at, self.extents));
        let Comparison {
            judgement: found,
            quality,
            fills,
            broken,
        } = self.comparison;
        let class = |(class, kept): &(Class, Kept)| json!({ "class": class.name(), "count": kept.count, "kept": kept.kept });
        json!({
            "kept": self.comparison.is_kept(),
            "broken_safeguards": broken.iter().map(|one| json!({
                "safeguard": one.promise.to_string(),
                "values": one.count,
                "first_index": coordinates(one.first, self.extents),
            })).collect::<Vec<_>>(),
            "limit": found.limit,
            "largest_error": found.largest_error,
            "largest_error_at": found.largest_error_at,
            "largest_error_index": index(found.largest_error_at),
            "largest_error_over_absolute_error": found.largest_over_promise(),
            "values": found.values,
            "values_over_limit": found.over_limit,
            "values_over_absolute_error": found.over_promise,
            "not_finite": found.not_finite - fills.count,
            "not_finite_changed": found.not_finite_changed - (fills.count - fills.kept),
            // JSON has no infinity: for exact values, "psnr" is null.
            "exact": found.psnr() == f64::INFINITY,
            "psnr": found.psnr(),
            "range": found.range,
            "rmse": quality.rmse,
            "nrmse": self.comparison.nrmse(),
            "ssim": quality.ssim,
            "largest_relative_error": quality.largest_relative_error,
            "largest_relative_error_at": quality.largest_relative_error_at,
            "largest_relative_error_index": index(quality.largest_relative_error_at),
            "error_autocorrelation": quality.error_autocorrelation,
            "zeros": quality.zeros.count,
            "zeros_kept": quality.zeros.kept,
            "zeros_lost": quality.zeros.count - quality.zeros.kept,
            "signs_flipped": quality.signs_flipped,
            "became_negative": quality.became_negative,
            "fill_elements": fills.count,
            "fill_elements_kept": fills.kept,
            "bit_for_bit": quality.classes.iter().map(class).collect::<Vec<_>>(),
        })
    }

    /// A safeguard that is not kept, in words.
    fn broken(&self, one: &Broken) -> String {
        let at = place(one.first, self.extents);
        format!(
            "NO: {} is broken by {} of the values, first at {at}",
            one.promise, one.count
        )
    }

    /// The figures, as lines for people.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let compared = self.comparison;
        let (found, quality, fills) = (&compared.judgement, &compared.quality, &compared.fills);
        let at = |at: u64| format!("at {}", place(at, self.extents));
        let of_largest =
            (found.largest_error_at).map_or(String::new(), |worst| format!(", {}", at(worst)));
        let mut pairs = vec![
            ("bound kept", verdict(found)),
            ("error bound", self.bound.clone()),
            (
                "absolute error",
                match found.promise.is_infinite() {
                    true => report::absolute_error(found.promise),
                    false => format!(
                        "{} promised by the stream",
                        report::absolute_error(found.promise)
                    ),
                },
            ),
            (
                "largest error",
                format!("{}{of_largest}", report::number(found.largest_error)),
            ),
            (
                "largest / promised",
                format!("{:.6}", self.largest_over_promise),
            ),
            ("PSNR", report::decibels(found.psnr())),
            (
                "NRMSE",
                or_none(
                    self.comparison.nrmse().map(report::number),
                    "the range is 0",
                ),
            ),
            (
                "SSIM",
                or_none(quality.ssim.map(report::six_digits), "no window is finite"),
            ),
            (
                "relative error",
                match quality.largest_relative_error_at {
                    None => "0".to_owned(),
                    Some(worst) => {
                        let largest = report::number(quality.largest_relative_error);
                        format!("{largest} at most, {}", at(worst))
                    }
                },
            ),
            (
                "autocorrelation",
                or_none(
                    quality.error_autocorrelation.map(|r| format!("{r:.4}")),
                    "all errors are equal",
                ),
            ),
            ("zeros kept", kept(quality.zeros)),
            ("signs flipped", quality.signs_flipped.to_string()),
            ("became negative", became_negative(quality)),
            ("ratio", format!("{:.3}", self.ratio)),
            ("bits a value", report::bits_per_value(self.bits_per_value)),
        ];
        if fills.count > 0 {
            pairs.push(("fill values kept", kept(*fills)));
        }
        let not_finite = found.not_finite - fills.count;
        if not_finite > 0 {
            let changed = found.not_finite_changed - (fills.count - fills.kept);
            let text = format!("{not_finite} not finite, {changed} of them changed");
            pairs.push(("NaN, infinities", text));
        }
        pairs.extend(self.safeguard_pairs());
        pairs
    }

    /// The safeguards, if all of them are kept; otherwise those that are not.
    fn safeguard_pairs(&self) -> Vec<(&'static str, String)> {
        let broken = self.comparison.broken.iter();
        let pairs = broken.map(|one| ("safeguard", self.broken(one)));
        match &self.safeguards {
            Some(all) if self.comparison.broken.is_empty() => {
                vec![("safeguards kept", format!("yes: {all}"))]
            }
            _ => pairs.collect(),
        }
    }
}

/// A figure, or the reason why there is none.
fn or_none(figure: Option<String>, reason: &str) -> String {
    figure.unwrap_or_else(|| format!("none: {reason}"))
}

fn kept(found: Kept) -> String {
    match found.count {
        0 => "none in the original".to_owned(),
        count if count == found.kept => format!("{count} of {count}"),
        count => format!("{} of {count}, {} lost", found.kept, count - found.kept),
    }
}

/// The values that came back below 0 and were not.
fn became_negative(quality: &Quality) -> String {
    match (quality.not_negative, quality.became_negative) {
        (0, _) => "none, as all were".to_owned(),
        (_, 0) => "none".to_owned(),
        (all, some) => format!("{some} of {all} values of 0 and above"),
    }
}

/// The coordinates of an element, as `--box` counts them, and its number in memory order.
fn place(element: u64, extents: &[u64]) -> String {
    if extents.len() == 1 {
        return format!("element {element}");
    }
    let coordinates: Vec<String> = (coordinates(element, extents).iter())
        .map(u64::to_string)
        .collect();
    format!("[{}], element {element}", coordinates.join(", "))
}

/// The index of an element along each axis.
fn coordinates(element: u64, extents: &[u64]) -> Vec<u64> {
    let mut rest = element;
    let mut found: Vec<u64> = (extents.iter().rev())
        .map(|length| {
            let length = (*length).max(1);
            let index = rest % length;
            rest /= length;
            index
        })
        .collect();
    found.reverse();
    found
}

fn verdict(found: &Judgement) -> String {
    if found.is_kept() {
        return format!("yes, by all {} values", found.values);
    }
    format!(
        "NO: {} of {} values are off by more than the bound, {} by more than the stream promises; \
         {} not finite changed",
        found.over_limit, found.values, found.over_promise, found.not_finite_changed
    )
}
