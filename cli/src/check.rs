//! `ferrosz check`.

use crate::stream_file::{self, Stream};
use crate::{
    args::Check, common::Common, damage, damage::Cut, failure::Failure, files, frames, json,
    location::Location, output, progress::Progress, report,
};
use ferrosz::stream::Damage;
use ferrosz::{Decompressor, Info};
use serde_json::json;
use std::time::Instant;

/// Decodes streams and compares all checksums, without the original arrays; true if no stream is damaged.
///
/// # Errors
///
/// If a stream cannot be read, or is damaged outside of its chunks.
pub fn run(args: &Check, common: &Common) -> Result<bool, Failure> {
    let streams: Vec<&Location> = args.streams.iter().collect();
    files::each(&streams, common, |location| check(location, common))
}

fn check(location: &Location, common: &Common) -> Result<bool, Failure> {
    let stream = stream_file::read(location)?;
    if stream_file::is_frames(&stream) {
        return frames::examine::check(location, &stream, common);
    }
    let info = stream_file::info(location, &stream, "check")?;
    let cut = Cut::of(&stream, &info);
    let start = Instant::now();
    let bytes = info.dtype.bytes() as u64;
    let progress = Progress::new("checking", info.elements, bytes, common.quiet);
    let damages = Decompressor::new()
        .progress(&|more| progress.advance(more))
        .check(&stream)
        .map_err(|error| Cut::explain(cut, location, error))?;
    drop(progress);
    let seconds = start.elapsed().as_secs_f64();
    let is_whole = damages.is_empty();
    if common.json {
        let found = json!({
            "whole": is_whole,
            "file_bytes": stream.len(),
            "chunks": info.chunks,
            "cut_off": cut.is_some(),
            "damaged": damage::to_json(&damages, cut),
            "seconds": seconds,
        });
        let object = json::join([json::begin("check", location), json::stream(&info), found]);
        output::print(&format!("{object}\n"))?;
    } else if !is_whole || !common.quiet {
        output::print(&text(location, &stream, &info, &damages))?;
    }
    Ok(is_whole)
}

fn text(location: &Location, stream: &Stream, info: &Info, damages: &[Damage]) -> String {
    let values = format!("{} {}", report::lengths(&info.extents), info.dtype);
    if damages.is_empty() {
        return format!(
            "{location}: whole: {} chunks, {values}, {}; all checksums are right and all values decode\n",
            info.chunks,
            report::bytes(stream.len() as u64)
        );
    }
    let mut lines = vec![format!(
        "{location}: DAMAGED: {} of {} chunks ({values}); `ferrosz decompress --salvage` gives the rest",
        damages.len(),
        info.chunks
    )];
    lines.extend(
        damage::lines(damages, Cut::of(stream, info))
            .iter()
            .map(|line| format!("  {line}")),
    );
    lines.join("\n") + "\n"
}
