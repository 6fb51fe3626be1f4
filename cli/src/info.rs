//! `ferrosz info`.

use crate::stream_file::{self, End, Known, Outline};
use crate::{
    args::Info as Args, codec_choice, common::Common, failure::Failure, files, fills, frames, json,
    location::Location, output, report, safeguards,
};
use ferrosz::stream::{ChunkForms, Role};
use ferrosz::{BoundMode, Info};
use serde_json::{Value, json};

/// Shows shape, codec, error bound and sizes of streams; true if all could be read.
///
/// # Errors
///
/// If an input cannot be read or is no stream.
pub fn run(args: &Args, common: &Common) -> Result<bool, Failure> {
    let streams: Vec<&Location> = args.streams.iter().collect();
    files::each(&streams, common, |stream| {
        let text = match stream_file::read_outline(stream)? {
            Known::Frames(file) => frames::examine::info(stream, &file, common)?,
            Known::Stream(outline) => {
                if let Some(text) = remark(&outline, stream) {
                    output::note(&text);
                }
                match common.json {
                    true => format!("{}\n", to_json(stream, &outline)),
                    false => report::pairs(&to_pairs(&outline.info)),
                }
            }
        };
        output::print(&match common.json || streams.len() == 1 {
            true => text,
            false => format!("{stream}:\n{text}\n"),
        })?;
        Ok(true)
    })
}

/// A remark about a file that is shorter or longer than its stream.
fn remark(outline: &Outline, stream: &Location) -> Option<String> {
    let (file, said) = (outline.file_bytes, outline.info.stream_bytes);
    match outline.end {
        End::Stream => None,
        End::UnfinishedUpdate => Some(format!(
            "note: behind the stream's end, {stream} has {} bytes of an update that was not finished; \
             they are ignored, and the next update overwrites them",
            file - said
        )),
        End::Zeros => Some(format!(
            "note: behind the stream's end, {stream} has {} of zeros, as some file systems leave them where an \
             append was cut off; they are ignored",
            report::bytes(file - said)
        )),
        End::Missing | End::Foreign => Some(format!(
            "warning: {stream} has {file} bytes, and its header says {said}: it will not decompress"
        )),
    }
}

fn to_json(stream: &Location, outline: &Outline) -> Value {
    let info = &outline.info;
    let more = json!({
        "mask_bytes": info.mask_bytes,
        "update_bytes": info.update_bytes,
        "file_bytes": outline.file_bytes,
        "unfinished_update": outline.end == End::UnfinishedUpdate,
        "trailing_zeros": outline.end == End::Zeros,
        "data_checked": false,
        "chunk_elements": info.chunk_elements,
        "chunk_dims": info.chunk_extents,
        "chunk_tiles": info.chunk_tiles,
        "levels_apart": info.levels_apart,
        "coefficient_error": info.coefficient_error,
        "chunks": info.chunks,
        "chunk_forms": {
            "zero": info.forms.zero,
            "constant": info.forms.constant,
            "coded": info.forms.coded,
            "coded_with_exceptions": info.forms.coded_with_exceptions,
            "raw": info.forms.raw,
        },
    });
    json::join([json::begin("info", stream), json::stream(info), more])
}

/// The number and the lengths of the chunks, and their forms.
fn chunks(info: &Info) -> String {
    let forms: Vec<String> = (forms(&info.forms).into_iter())
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let tiles = info.chunk_tiles.map(|tiles| format!("{tiles} tiles of "));
    let apart = match info.levels_apart {
        0 => String::new(),
        1 => ", 1 level apart".to_owned(),
        levels => format!(", {levels} levels apart"),
    };
    format!(
        "{} of {}{} values{apart}: {}",
        info.chunks,
        tiles.unwrap_or_default(),
        report::lengths(&info.chunk_extents),
        forms.join("; ")
    )
}

/// The codec, and whether it codes coefficients.
fn codec(info: &Info) -> String {
    let codec = codec_choice::describe(info.codec, info.rank);
    match info.coefficient_error {
        Some(error) => format!("{codec}; wavelets, coefficients within {error:e}"),
        None => codec,
    }
}

fn to_pairs(info: &Info) -> Vec<(&'static str, String)> {
    let mut pairs = vec![
        ("element type", info.type_name().to_owned()),
        ("dimensions", report::lengths(info.number_extents())),
        ("axes", axes(info)),
        ("codec", codec(info)),
        (
            "error bound",
            format!(
                "{}{}",
                report::bound(info.bound),
                relative_to(info.bound.mode())
            ),
        ),
        (
            "absolute error",
            report::absolute_error(info.absolute_error),
        ),
        (
            "fill values",
            fills::describe(&info.fills).map_or_else(
                || "none".to_owned(),
                |fills| format!("{fills}; mask of {}", report::bytes(info.mask_bytes)),
            ),
        ),
        (
            "safeguards",
            safeguards::describe(info).map_or_else(
                || "none".to_owned(),
                |all| {
                    format!(
                        "{all}; corrections of {}",
                        report::bytes(info.section_bytes)
                    )
                },
            ),
        ),
        ("array", report::bytes(info.field_bytes)),
        ("stream", report::bytes(info.stream_bytes)),
        ("ratio", format!("{:.3}", info.ratio())),
        (
            "bits a value",
            report::bits_per_value(info.bits_per_value()),
        ),
        ("chunks", chunks(info)),
    ];
    if info.update_bytes > 0 {
        let text = format!(
            "{}; `ferrosz compact` drops what they replaced",
            report::bytes(info.update_bytes)
        );
        pairs.push(("updates", text));
    }
    pairs.push((
        "data",
        "not checked; `ferrosz check` decodes all of it".to_owned(),
    ));
    pairs
}

/// The roles of the dimensions, and how the array is coded because of them.
fn axes(info: &Info) -> String {
    let roles = info.axes.roles();
    let slices = roles.iter().zip(&info.extents);
    let slices = slices.filter(|(role, _)| **role == Role::Slice);
    let count: u64 = slices.map(|(_, length)| length).product();
    let parts = match info.is_complex {
        true => "; the last axis has the real and the imaginary parts",
        false => "",
    };
    let coded = match count {
        _ if info.rank == 1 => format!("{}, coded as one line", info.axes),
        0 | 1 => format!("{}, coded together", info.axes),
        _ => format!("{}: {count} slices that are coded apart", info.axes),
    };
    format!("{coded}{parts}")
}

fn relative_to(mode: BoundMode) -> &'static str {
    match mode {
        BoundMode::Abs => "",
        BoundMode::Range => ", relative to max - min of the finite values",
        BoundMode::Max => ", relative to the largest finite magnitude",
        BoundMode::Pwrel => ", relative to each value",
    }
}

fn forms(forms: &ChunkForms) -> [(&'static str, u64); 5] {
    [
        ("zero", forms.zero),
        ("constant", forms.constant),
        ("coded", forms.coded),
        ("coded, with exceptions", forms.coded_with_exceptions),
        ("raw", forms.raw),
    ]
}
