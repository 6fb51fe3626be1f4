//! `ferrosz compact`.

use crate::files::{Job, same_name};
use crate::{
    args::Compact, common::Common, failure::Failure, json, output, report, stream_file,
    suffix::Holds,
};
use serde_json::json;

/// Writes each stream as a new one with the same values, without replaced chunks; true if all succeeded.
///
/// # Errors
///
/// If a stream cannot be read, is damaged, or the output cannot be written.
pub fn run(args: &Compact, common: &Common) -> Result<bool, Failure> {
    args.files.each(common, Holds::Stream, same_name, |job| {
        compact(job, args.files.replace.force, common).map(|()| true)
    })
}

fn compact(job: &Job, force: bool, common: &Common) -> Result<(), Failure> {
    let stream = stream_file::read(&job.input)?;
    stream_file::info(&job.input, &stream, "info")?;
    let compact = ferrosz::stream::compact(&stream)
        .map_err(|error| stream_file::explain(&job.input, error))?;
    output::write(&job.output, force, |writer| writer.write_all(&compact))?;
    let (before, after) = (stream.len() as u64, compact.len() as u64);
    if common.json {
        let info = ferrosz::info(&compact)?;
        let run = json!({ "input_bytes": before });
        let begin = json::begin("compact", &job.input);
        let object = json::join([
            begin,
            json::place("output", &job.output),
            json::stream(&info),
            run,
        ]);
        return output::print_json(&object, &job.output);
    }
    if !common.quiet {
        output::note(&format!(
            "{}: {} to {}, all checksums right",
            job.output.output_name(),
            report::bytes(before),
            report::bytes(after)
        ));
    }
    Ok(())
}
