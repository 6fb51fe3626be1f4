//! `ferrosz update`.

use crate::args::{ShapeFlags, Update as Args};
use crate::array::{Field, Shape};
use crate::field_file::{self, Assumed};
use crate::{
    common::Common, failure::Failure, json, location::Location, output, report, stream_file,
};
use ferrosz::codec::container::header::HEADER_BYTES;
use ferrosz::stream::{ReadAt, StreamAt, Update};
use ferrosz::{Device, Info, Part};
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Instant;

/// Replaces a part of a compressed array in the file of its stream.
///
/// # Errors
///
/// If the stream or the new values cannot be read, the values do not fit the part, or the stream cannot be written; the
/// stream is then unchanged.
pub fn run(args: &Args, common: &Common) -> Result<(), Failure> {
    let Location::File(path) = &args.stream else {
        return Err(Failure::usage(
            "STREAM is changed in place: name a file, not '-', a variable or a URL",
        ));
    };
    if args.stream.is_same_file(&args.input) {
        return Err(Failure::usage(format_args!(
            "the stream and the new values are both {}: name other values",
            args.stream
        )));
    }
    let changing = |error: io::Error| Failure::io("update", &args.stream, &error);
    let mut file = open_alone(path).map_err(changing)?;
    let header = first_bytes(&file).map_err(changing)?;
    let explain = |error| stream_file::explain_first(&args.stream, &header, error, "update");
    let mut stream = StreamAt::open(&file).map_err(explain)?;
    let info = stream.info().map_err(explain)?;
    let part = (args.part.of(info.number_extents())?)
        .ok_or_else(|| Failure::usage("the part to replace is missing: add --elements or --box"))?;
    let array = Shape::of_stream(&info);
    let field = read_values(&args.input, &args.stream, &array, &part)?;
    let start = Instant::now();
    let of_values = array.of.part_of_values(&part);
    stream.check_end().map_err(explain)?;
    let update = with_field!(&field, array => stream.update(&of_values, &array.values));
    let update = update.map_err(explain)?;
    let read = stream.traffic().bytes;
    if let Err(error) = update.apply_to_file(&mut file) {
        // The first error is the one to report.
        let _ = cut_off_unfinished(&file, &header, update.append_at);
        return Err(changing(error));
    }
    report(
        args,
        &update,
        &info,
        &part,
        read,
        start.elapsed().as_secs_f64(),
        common,
    )
}

/// Opens a file, and locks it against other `ferrosz update` commands until it is closed. Without the lock, two updates
/// at the same time would overwrite each other's appended chunks. While the lock is waited for, the file may be replaced:
/// the new one is then opened and locked, as an update of the old one would be lost.
fn open_alone(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match file.lock() {
            // Some file systems have no locks.
            Err(error) if error.kind() != io::ErrorKind::Unsupported => return Err(error),
            _ if is_at(&file, path)? => return Ok(file),
            _ => {}
        }
    }
}

/// Whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, there) = (file.metadata()?, fs::metadata(path)?);
    Ok(mark_of(&open) == mark_of(&there))
}

/// What tells a file from all others: its device and its number there.
#[cfg(unix)]
fn mark_of(found: &fs::Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// What tells a file from most others, as far as the standard library says.
#[cfg(not(unix))]
fn mark_of(found: &fs::Metadata) -> impl PartialEq + use<> {
    (found.len(), found.created().ok(), found.modified().ok())
}

/// Removes what an update that failed has appended, if the file still begins with the old header.
fn cut_off_unfinished(file: &File, header: &[u8], append_at: u64) -> io::Result<()> {
    match first_bytes(file)? == header {
        true => file.set_len(append_at),
        false => Ok(()),
    }
}

/// The bytes of the header of the stream in a file; fewer of a shorter file.
fn first_bytes(file: &File) -> io::Result<Vec<u8>> {
    let header = 0..HEADER_BYTES as u64;
    Ok(file.read_ranges(std::slice::from_ref(&header))?.concat())
}

/// Reads the new values of a part of the array of `stream`. They have its element type and the part's shape, without regard
/// to dimensions of length 1. If the part is all elements, the shape of the whole array is accepted, too.
///
/// # Errors
///
/// If the values cannot be read, or do not fit.
pub fn read_values(
    input: &Location,
    stream: &Location,
    array: &Shape,
    part: &Part,
) -> Result<Field, Failure> {
    let wanted = Shape {
        of: array.of,
        extents: array.of.of_values(part.extents()),
    };
    let assumed = Assumed {
        shape: wanted.clone(),
        check: "check --elements or --box, and the file",
    };
    let field = field_file::read(input, &ShapeFlags::default(), Some(&assumed))?;
    let found = field.shape();
    let is_of = |extents: &[u64]| longer(&found.extents) == longer(extents);
    let is_whole = array
        .numbers_count()
        .is_some_and(|count| *part == Part::Elements(0..count));
    let fits = is_of(&wanted.extents) || is_whole && is_of(&array.extents);
    if found.of == wanted.of && fits {
        return Ok(field);
    }
    let advice = match found.of == wanted.of && found.elements() == wanted.elements() {
        true => {
            ": the values are as many, but their order would be another; transpose or reshape the array"
        }
        false => "",
    };
    Err(Failure::failed(format_args!(
        "{input} holds {found}, and the part of {stream} that it is to replace has {wanted}{advice}"
    )))
}

/// The lengths other than 1.
fn longer(extents: &[u64]) -> Vec<u64> {
    (extents.iter().copied())
        .filter(|length| *length != 1)
        .collect()
}

fn report(
    args: &Args,
    update: &Update,
    info: &Info,
    part: &Part,
    read: u64,
    seconds: f64,
    common: &Common,
) -> Result<(), Failure> {
    let elements: u64 = part.extents().iter().product();
    let appended = update.appended.len() as u64;
    if common.json {
        let run = json!({
            "part_dims": part.extents(),
            "elements": elements,
            "chunks": update.chunks,
            "bytes_read": read,
            "appended_bytes": appended,
            "update_bytes": info.update_bytes + appended,
            "stream_bytes": info.stream_bytes + appended,
            "device": Device::Cpu.to_string(),
            "seconds": seconds,
        });
        let begin = json::begin("update", &args.input);
        let output = json::place("output", &args.stream);
        let object = json::join([begin, output, json::stream(info), run]);
        return output::print(&format!("{object}\n"));
    }
    if !common.quiet {
        output::note(&format!(
            "{elements} values replaced: {} of {} chunks recoded, {} appended; absolute error {}; \
             {seconds:.3} s",
            update.chunks,
            info.chunks,
            report::bytes(appended),
            report::absolute_error(info.absolute_error),
        ));
    }
    Ok(())
}
