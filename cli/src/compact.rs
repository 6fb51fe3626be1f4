//! `ferrosz compact`.

use crate::args::{Common, Compact};
use crate::failure::Failure;
use crate::output;
use crate::report;
use crate::stream_file;
use serde_json::json;

/// Writes a stream without updates that holds the same values.
///
/// # Errors
///
/// If the stream cannot be read, is damaged, or the output cannot be written.
pub fn run(args: &Compact, common: &Common) -> Result<(), Failure> {
    output::check(&args.output, Some(&args.input))?;
    let stream = stream_file::read(&args.input)?;
    let compact =
        ferrosz::compact(&stream).map_err(|error| stream_file::explain(&args.input, error))?;
    output::write(&args.output, |writer| writer.write_all(&compact))?;
    let (before, after) = (stream.len() as u64, compact.len() as u64);
    if common.json {
        let object = json!({ "input_bytes": before, "stream_bytes": after });
        return output::print_json(&object, &args.output);
    }
    if !common.quiet {
        output::note(&format!(
            "{} to {}",
            report::bytes(before),
            report::bytes(after)
        ));
    }
    Ok(())
}
