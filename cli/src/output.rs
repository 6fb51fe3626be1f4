//! Writing: files whole or not at all, and text to a reader that may have gone.

use crate::failure::Failure;
use crate::location::Location;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes given to the operating system at once.
const BLOCK: usize = 1 << 20;

/// Complains early where an output could never be written, before work is put into it.
///
/// # Errors
///
/// If the output is the input, a folder, or in a folder that does not exist.
pub fn check(output: &Location, input: Option<&Location>) -> Result<(), Failure> {
    let Location::File(path) = output else {
        return Ok(());
    };
    if input.is_some_and(|input| input.is_same_file(output)) {
        return Err(Failure::usage(format_args!(
            "input and output are both {output}: name another output"
        )));
    }
    if path.is_dir() {
        return Err(Failure::failed(format_args!(
            "{output} is a folder: name a file in it"
        )));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(Failure::failed(format_args!(
            "cannot write {output}: there is no folder {}",
            folder.display()
        )));
    }
    Ok(())
}

/// Writes what `fill` writes. A file appears under its name only when it is complete.
///
/// # Errors
///
/// If `fill` or the operating system fails; a file that was there before is then untouched.
pub fn write(
    output: &Location,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match output {
        Location::Pipe => write_to(io::stdout().lock(), fill),
        Location::File(path) => write_file(path, fill),
    }
    .map_err(|error| match output {
        Location::Pipe => Failure::io("write to", "standard output", &error),
        Location::File(path) => Failure::io("write", path.display(), &error),
    })
}

fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match fs::metadata(path) {
        // A device or a named pipe has no half-written state, and must not be replaced by a file.
        Ok(found) if !found.is_file() => write_to(OpenOptions::new().write(true).open(path)?, fill),
        Ok(found) => replace(&fs::canonicalize(path)?, Some(found.permissions()), fill),
        Err(_) => replace(path, None, fill),
    }
}

/// Writes to a temporary file in the same folder, and renames it: dropped on the way, it is gone.
fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ferrosz-").suffix(".part");
    let open_to_all = default_permissions();
    if let Some(permissions) = open_to_all {
        builder.permissions(permissions);
    }
    let mut temporary = builder.tempfile_in(folder_of(path))?;
    write_to(temporary.as_file_mut(), fill)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// What an ordinary new file has; the user's mask is applied to it.
#[cfg(unix)]
fn default_permissions() -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn default_permissions() -> Option<fs::Permissions> {
    None
}

fn write_to<W: Write>(
    target: W,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BLOCK, target);
    fill(&mut writer)?;
    writer.flush()
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Prints to standard output; a reader that has gone is no failure.
///
/// # Errors
///
/// If standard output cannot be written for another reason.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write to", "standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Prints a JSON object to standard output, or to standard error if that carries the data.
///
/// # Errors
///
/// As [`print()`].
pub fn print_json(object: &Value, data: &Location) -> Result<(), Failure> {
    match data {
        Location::Pipe => {
            note(&object.to_string());
            Ok(())
        }
        Location::File(_) => print(&format!("{object}\n")),
    }
}

/// Prints to standard error, come what may.
pub fn note(text: &str) {
    // There is nowhere left to tell of a failure.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
