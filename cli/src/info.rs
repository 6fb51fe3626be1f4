//! `ferrosz info`.

use crate::args::{Common, Info as Args};
use crate::codec_choice;
use crate::compress::bound_text;
use crate::failure::Failure;
use crate::location::Location;
use crate::output;
use crate::report;
use crate::stream_file::{self, End, Outline};
use ferrosz::{BoundMode, ChunkForms, Info};
use serde_json::{Value, json};

/// Shows what a stream says of itself.
///
/// # Errors
///
/// If it cannot be read or is no stream.
pub fn run(args: &Args, common: &Common) -> Result<(), Failure> {
    let outline = stream_file::read_outline(&args.stream)?;
    if let Some(text) = remark(&outline, &args.stream) {
        output::note(&text);
    }
    let text = if common.json {
        format!("{}\n", to_json(&outline))
    } else {
        report::pairs(&to_pairs(&outline.info))
    };
    output::print(&text)
}

/// What is to be said of a file that does not end with its stream.
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

fn to_json(outline: &Outline) -> Value {
    let info = &outline.info;
    json!({
        "dtype": info.dtype.name(),
        "dims": info.extents,
        "elements": info.elements,
        "codec": info.codec.name(),
        "rank": info.rank,
        "bound_mode": info.bound.mode().name(),
        "bound": info.bound.value(),
        "absolute_error": info.absolute_error,
        "lossless": info.absolute_error == 0.0,
        "field_bytes": info.field_bytes,
        "stream_bytes": info.stream_bytes,
        "update_bytes": info.update_bytes,
        "file_bytes": outline.file_bytes,
        "unfinished_update": outline.end == End::UnfinishedUpdate,
        "trailing_zeros": outline.end == End::Zeros,
        "ratio": info.ratio(),
        "bits_per_value": info.bits_per_value(),
        "chunk_elements": info.chunk_elements,
        "chunk_dims": info.chunk_extents,
        "chunk_tiles": info.chunk_tiles,
        "chunks": info.chunks,
        "chunk_forms": {
            "zero": info.forms.zero,
            "constant": info.forms.constant,
            "coded": info.forms.coded,
            "coded_with_exceptions": info.forms.coded_with_exceptions,
            "raw": info.forms.raw,
        },
    })
}

fn to_pairs(info: &Info) -> Vec<(&'static str, String)> {
    let forms: Vec<String> = (forms(&info.forms).into_iter())
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let mut pairs = vec![
        ("element type", info.dtype.to_string()),
        ("dimensions", report::lengths(&info.extents)),
        ("codec", codec_choice::describe(info.codec, info.rank)),
        (
            "error bound",
            format!(
                "{}{}",
                bound_text(info.bound),
                relative_to(info.bound.mode())
            ),
        ),
        (
            "absolute error",
            report::absolute_error(info.absolute_error),
        ),
        ("array", report::bytes(info.field_bytes)),
        ("stream", report::bytes(info.stream_bytes)),
        ("ratio", format!("{:.3}", info.ratio())),
        ("bits a value", format!("{:.3}", info.bits_per_value())),
        (
            "chunks",
            format!(
                "{} of {}{} values: {}",
                info.chunks,
                info.chunk_tiles
                    .map_or_else(String::new, |tiles| format!("{tiles} tiles of ")),
                report::lengths(&info.chunk_extents),
                forms.join("; ")
            ),
        ),
    ];
    if info.update_bytes > 0 {
        let text = format!(
            "{}; `ferrosz compact` drops what they replaced",
            report::bytes(info.update_bytes)
        );
        pairs.push(("updates", text));
    }
    pairs
}

fn relative_to(mode: BoundMode) -> &'static str {
    match mode {
        BoundMode::Abs => "",
        BoundMode::Range => ", relative to max - min of the finite values",
        BoundMode::Max => ", relative to the largest finite magnitude",
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
