//! `ferrosz report`: a page about an array and its streams.

use crate::array::{Array, Input, Shape};
use crate::field_file::{self, Assumed, CHECK_FLAGS};
use crate::stream_file::{self, Stream};
use crate::{
    args::Report as Args, common::Common, compress, decompress, failure::Failure, fills, json,
    location::Location, output, report, scratch, values::Values,
};
use ferrosz::{Bound, Compressor, Fill, Info};
use ferrosz_report::{Field, Report, Stream as Reported};
use serde_json::{Value, json};

/// The bounds, relative to the range, without streams and bounds.
const RANGES: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// Writes a page about an array and its streams; true if all of them keep their bounds.
///
/// # Errors
///
/// If an input cannot be read or decoded, a stream is of another array, or the page cannot be written.
pub fn run(args: &Args, common: &Common) -> Result<bool, Failure> {
    output::check(&args.output, Some(&args.field), args.replace.force)?;
    check_bounds(args)?;
    scratch::beside(&args.output);
    let streams: Vec<(&Location, Stream)> = (args.streams.iter())
        .map(|location| Ok((location, stream_file::read(location)?)))
        .collect::<Result<_, Failure>>()?;
    let assumed = match streams.first() {
        Some((location, stream)) => Some(Assumed {
            shape: Shape::of_stream(&stream_file::info(location, stream, "report")?),
            check: CHECK_FLAGS,
        }),
        None => None,
    };
    let input = match &args.field {
        Location::Variable { .. } => field_file::read_input(&args.field, &args.shape)?,
        other => Input::new(field_file::read(other, &args.shape, assumed.as_ref())?),
    };
    compress::note_reading(&input, &args.field, common);
    with_field!(&input.field, array => {
        let page = Page { args, common, array, fills: &input.fills, unit: &input.unit };
        page.write(&streams)
    })
}

/// Refuses what says how to compress where there are streams.
fn check_bounds(args: &Args) -> Result<(), Failure> {
    let is_asked = args.bounds.is_given() || args.coding.is_given() || !args.fill.is_empty();
    match is_asked && !args.streams.is_empty() {
        true => Err(Failure::usage(
            "bounds, presets, --codec and --fill are for an array that is to be compressed: omit them, or the streams",
        )),
        false => Ok(()),
    }
}

/// The page of an array.
struct Page<'a, V: ferrosz::Value> {
    args: &'a Args,
    common: &'a Common,
    array: &'a Array<V>,
    /// The fill values that its file names.
    fills: &'a [Fill],
    /// The unit of its values.
    unit: &'a str,
}

impl<V: ferrosz::Value> Page<'_, V> {
    fn write(&self, streams: &[(&Location, Stream)]) -> Result<bool, Failure> {
        let Self { args, array, .. } = self;
        if array.values.is_empty() {
            return Err(Failure::failed(format_args!(
                "{} has no values to look at",
                args.field
            )));
        }
        let name = args.field.to_string();
        let mut report = Report::new(Field {
            name: &name,
            values: &array.values,
            extents: &array.extents,
            unit: self.unit,
        });
        let mut shown = Vec::new();
        for (location, stream) in streams {
            let info = stream_file::info(location, stream, "report")?;
            self.check_comparable(location, &info)?;
            let added = self.add(&mut report, &location.to_string(), stream);
            shown.push(added.map_err(|error| stream_file::explain(location, error))?);
        }
        if streams.is_empty() {
            for bound in args.bounds.all_or(&RANGES)? {
                let stream = self.compress(bound)?;
                shown.push(self.add(&mut report, &report::bound(bound), &stream)?);
            }
        }
        let html = report.to_html()?;
        output::write(&args.output, args.replace.force, |writer| {
            writer.write_all(html.as_bytes())
        })?;
        self.print(&shown, html.len() as u64)?;
        Ok(shown.iter().all(|(_, _, is_kept)| *is_kept))
    }

    fn check_comparable(&self, location: &Location, info: &Info) -> Result<(), Failure> {
        let (found, wanted) = (self.array.shape(), Shape::of_stream(info));
        match found == wanted {
            true => Ok(()),
            false => Err(Failure::failed(format_args!(
                "{} holds {found}, and {location} is of {wanted}: they are not the same array",
                self.args.field
            ))),
        }
    }

    /// Adds a stream: its name, its description, and whether it keeps its bound.
    fn add(
        &self,
        report: &mut Report<'_, V>,
        name: &str,
        stream: &[u8],
    ) -> Result<(String, Info, bool), ferrosz::Error> {
        let info = ferrosz::info(stream)?;
        let decoded: Values<V> = decompress::whole_or_mapped(stream, &info, self.common)?;
        let command = command(self.args, &self.array.shape(), &info);
        let is_kept = report.add(&Reported {
            name,
            bytes: stream,
            decoded: &decoded,
            command: &command,
        })?;
        Ok((name.to_owned(), info, is_kept))
    }

    /// The stream that `ferrosz compress` makes.
    fn compress(&self, bound: Bound) -> Result<Stream, Failure> {
        let Self {
            args,
            common,
            array,
            fills,
            unit: _,
        } = self;
        let compressor = Compressor::new(args.coding.choice(), bound)
            .device(common.device)
            .bounded_memory()
            .small_statistics();
        let compressor = fills::with_fills(&args.fill, compressor, &array.values, fills)?;
        let mut compressor = compressor.extents(&array.extents)?;
        if array.is_complex {
            compressor = compressor.complex();
        }
        let chosen = compressor.choose(&array.values)?;
        compress::to_stream(chosen.progress(&|_| ()), array)
    }

    /// Says what was written.
    fn print(&self, shown: &[(String, Info, bool)], bytes: u64) -> Result<(), Failure> {
        let Self { args, common, .. } = self;
        if common.json {
            let streams: Vec<Value> = (shown.iter())
                .map(|(name, info, is_kept)| {
                    let own = json!({ "stream": name, "kept": is_kept });
                    json::join([own, json::stream(info)])
                })
                .collect();
            let object = json::join([
                json::begin("report", &args.field),
                json::place("output", &args.output),
                json!({ "html_bytes": bytes, "streams": streams }),
            ]);
            return output::print_json(&object, &args.output);
        }
        if !common.quiet {
            let broken = shown.iter().filter(|(_, _, is_kept)| !is_kept).count();
            let verdict = match broken {
                0 => "all within their bounds".to_owned(),
                _ => format!("BOUND NOT KEPT by {broken} of them"),
            };
            output::note(&format!(
                "{}: {} streams, {verdict}; {}",
                args.output.output_name(),
                shown.len(),
                report::bytes(bytes)
            ));
        }
        Ok(())
    }
}

/// The command that makes a stream with these properties of the array.
fn command(args: &Args, shape: &Shape, info: &Info) -> String {
    let mut words = vec!["ferrosz compress".to_owned(), quoted(&args.field)];
    let is_raw = !args.field.is_npy() && matches!(args.field, Location::File(_) | Location::Pipe);
    if is_raw {
        words.push(format!("--dtype {} --dims {}", shape.of, shape.dims()));
    }
    if args.shape.packed {
        words.push("--packed".to_owned());
    }
    words.push("OUT.fsz".to_owned());
    words.push(format!(
        "--{} {:e}",
        info.bound.mode().name(),
        info.bound.value()
    ));
    words.push(format!("--codec {} --rank {}", info.codec, info.rank));
    if let Some(error) = info.coefficient_error {
        words.push(format!("--wavelets {error:e}"));
    }
    if info.has_roles() {
        words.push(format!("--axes {}", info.axes));
    }
    if let Some(tiles) = info.chunk_tiles {
        words.push(format!("--chunk-tiles {tiles}"));
    }
    if info.levels_apart > 0 {
        words.push(format!("--levels {}", info.levels_apart));
    }
    for fill in info.fills.iter().filter(|fill| !fill.is_nan()) {
        words.push(format!("--fill {fill:e}"));
    }
    let keeps = [(info.keeps_zeros, "zero"), (info.keeps_signs, "sign")];
    let keeps = keeps.into_iter().filter(|(is_kept, _)| *is_kept);
    words.extend(keeps.map(|(_, what)| format!("--keep {what}")));
    words.join(" ")
}

/// A name as a shell takes it.
fn quoted(location: &Location) -> String {
    let name = location.to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+=@%".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name,
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_a_shell() {
        let of = |name: &str| quoted(&Location::from(std::ffi::OsString::from(name)));
        assert_eq!(of("a/t-1.npy"), "a/t-1.npy");
        assert_eq!(of("my field.npy"), "'my field.npy'");
        assert_eq!(of("it's"), r"'it'\''s'");
    }
}
