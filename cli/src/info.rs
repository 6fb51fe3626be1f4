//! `ferrosz info`.

use crate::args::{Common, Info as Args};
use crate::compress::bound_text;
use crate::failure::Failure;
use crate::output;
use crate::report;
use crate::stream_file;
use ferrosz::{BoundMode, ChunkForms, Info};
use serde_json::{Value, json};

/// Shows what a stream says of itself.
///
/// # Errors
///
/// If it cannot be read or is no stream.
pub fn run(args: &Args, common: &Common) -> Result<(), Failure> {
    let (info, file_bytes) = stream_file::read_info(&args.stream)?;
    if file_bytes != info.stream_bytes {
        output::note(&format!(
            "warning: {} has {file_bytes} bytes, and its header says {}: it will not decompress",
            args.stream, info.stream_bytes
        ));
    }
    let text = if common.json {
        format!("{}\n", to_json(&info, file_bytes))
    } else {
        report::pairs(&to_pairs(&info))
    };
    output::print(&text)
}

fn to_json(info: &Info, file_bytes: u64) -> Value {
    json!({
        "dtype": info.dtype.name(),
        "dims": info.extents,
        "elements": info.elements,
        "codec": info.codec.name(),
        "bound_mode": info.bound.mode().name(),
        "bound": info.bound.value(),
        "absolute_error": info.absolute_error,
        "lossless": info.absolute_error == 0.0,
        "field_bytes": info.field_bytes,
        "stream_bytes": info.stream_bytes,
        "file_bytes": file_bytes,
        "ratio": info.ratio(),
        "bits_per_value": info.bits_per_value(),
        "chunk_elements": info.chunk_elements,
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
    vec![
        ("element type", info.dtype.to_string()),
        ("dimensions", report::lengths(&info.extents)),
        ("codec", info.codec.to_string()),
        (
            "error bound",
            format!(
                "{}{}",
                bound_text(info.bound),
                relative_to(info.bound.mode())
            ),
        ),
        ("absolute error", absolute_error(info.absolute_error)),
        ("array", report::bytes(info.field_bytes)),
        ("stream", report::bytes(info.stream_bytes)),
        ("ratio", format!("{:.3}", info.ratio())),
        ("bits a value", format!("{:.3}", info.bits_per_value())),
        (
            "chunks",
            format!(
                "{} of {} values: {}",
                info.chunks,
                info.chunk_elements,
                forms.join("; ")
            ),
        ),
    ]
}

fn absolute_error(error: f64) -> String {
    if error == 0.0 {
        "0: lossless".to_owned()
    } else {
        format!("{error:e}")
    }
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
