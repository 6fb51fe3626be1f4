//! Output: whole files only, none replaced without `--force`, and text to pipes that may be closed.

use crate::location::{Location, shown};
use crate::{failure::Failure, temporary::Temporary};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Bytes of a write call of the operating system.
const BLOCK: usize = 1 << 20;

/// Refuses an output that can never be written, before any work is done.
///
/// # Errors
///
/// If the output is the input, a terminal, a folder, in a folder that does not exist, a file that may not be replaced
/// (any existing file without `force`, and a read-only one), or a broken symbolic link.
pub fn check(output: &Location, input: Option<&Location>, force: bool) -> Result<(), Failure> {
    let path = match output {
        Location::File(path) => path,
        Location::Pipe if io::stdout().is_terminal() => {
            return Err(Failure::usage(
                "data are not written to a terminal: name an output, or redirect the data with '>'",
            ));
        }
        Location::Pipe => return Ok(()),
        other => return Err(other.is_no_file("an output is")),
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
    check_parent(path)?;
    check_replaced(path, force)
}

/// Refuses an output in a folder that does not exist.
///
/// # Errors
///
/// If there is no such folder.
pub fn check_parent(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    match folder.is_dir() {
        true => Ok(()),
        false => Err(Failure::failed(format_args!(
            "cannot write {}: there is no folder {}",
            shown(path),
            shown(&folder)
        ))),
    }
}

/// Refuses to replace the file under the output's name, if there is one and it may not be replaced.
fn check_replaced(path: &Path, force: bool) -> Result<(), Failure> {
    let Ok(own) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let (name, kind) = (shown(path), if own.is_symlink() { "link" } else { "file" });
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if own.is_symlink() && error.kind() == io::ErrorKind::NotFound => {
            let target = fs::read_link(path).unwrap_or_default();
            return Err(Failure::failed(format_args!(
                "{name} is a link to {}, which does not exist: remove the link, or name another output",
                shown(&target)
            )));
        }
        Err(error) => return Err(Failure::io("write", name, &error)),
    };
    // A device or a named pipe is written to, not replaced.
    if !found.is_file() {
        return Ok(());
    }
    if !force {
        return Err(exists(path, kind));
    }
    if found.permissions().readonly() {
        return Err(Failure::failed(format_args!(
            "{name} is read-only, which --force respects: allow writing to it, or name another output"
        )));
    }
    Ok(())
}

fn exists(path: &Path, kind: &str) -> Failure {
    Failure::failed(format_args!(
        "the {kind} {} exists: add --force to replace it, or name another output",
        shown(path)
    ))
}

/// Writes the bytes that `fill` writes. A file appears under its name only when it is complete, and replaces another
/// only if `force`. If the name is a symbolic link, its target is replaced.
///
/// # Errors
///
/// If `fill` or the operating system fails; an existing file is then unchanged.
pub fn write(
    output: &Location,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match output {
        Location::Pipe => {
            let mut writer = BufWriter::with_capacity(BLOCK, io::stdout().lock());
            let written = fill(&mut writer).and_then(|()| writer.flush());
            written.map_err(|error| Failure::io("write to", "standard output", &error))
        }
        Location::File(path) => write_seek(path, force, |writer| {
            fill(writer).map_err(|error| explain(path, &error))
        }),
        other => Err(other.is_no_file("an output is")),
    }
}

fn explain(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path, "file"),
        _ => Failure::io("write", shown(path), error),
    }
}

/// The path of an output that is written at any position: a file, not a pipe or a device.
pub fn seekable(output: &Location) -> Option<&Path> {
    match output {
        Location::File(path) => {
            let is_file = fs::metadata(path).map_or(true, |found| found.is_file());
            is_file.then_some(path)
        }
        _ => None,
    }
}

/// As [`write`], of an output with this path. If it is [`seekable`], `fill` may write it at any position.
///
/// # Errors
///
/// The errors of [`write`] and of `fill`.
pub fn write_seek<R>(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut FileWriter<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let io = |error| explain(path, &error);
    let filled = |file: &mut File| {
        let mut writer = BufWriter::with_capacity(BLOCK, file);
        let result = fill(&mut writer)?;
        writer.flush().map_err(io)?;
        Ok(result)
    };
    match fs::metadata(path) {
        // A device or a named pipe has no half-written state, and a file must not replace it.
        Ok(found) if !found.is_file() => {
            filled(&mut OpenOptions::new().write(true).open(path).map_err(io)?)
        }
        Ok(_) if !force => Err(exists(path, "file")),
        Ok(found) => {
            let path = fs::canonicalize(path).map_err(io)?;
            let mut temporary = Temporary::new_in(&folder_of(&path)).map_err(io)?;
            let result = filled(&mut temporary.file)?;
            let set = temporary.file.set_permissions(found.permissions());
            set.and_then(|()| temporary.finish(&path, true))
                .map_err(io)?;
            Ok(result)
        }
        Err(_) => {
            let mut temporary = Temporary::new_in(&folder_of(path)).map_err(io)?;
            let result = filled(&mut temporary.file)?;
            temporary.finish(path, false).map_err(io)?;
            Ok(result)
        }
    }
}

/// An output that has its name from its beginning on, so that what was written is there whenever the process ends. It
/// replaces a file only if `force`.
///
/// # Errors
///
/// The errors of the operating system.
pub fn begin(output: &Location, force: bool) -> Result<Box<dyn Write>, Failure> {
    let path = match output {
        Location::Pipe => return Ok(Box::new(io::stdout())),
        Location::File(path) => path,
        other => return Err(other.is_no_file("an output is")),
    };
    let begin = || match fs::metadata(path) {
        Ok(found) if !found.is_file() => OpenOptions::new().write(true).open(path),
        _ => {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            let temporary = Temporary::new_in(&folder_of(&path))?;
            let file = temporary.file.try_clone()?;
            temporary.finish(&path, force)?;
            Ok(file)
        }
    };
    Ok(Box::new(begin().map_err(|error| explain(path, &error))?))
}

/// The failure of a library call that writes a file: a failed write names the file.
pub fn explain_write(path: &Path, error: ferrosz::Error) -> Failure {
    match error {
        ferrosz::Error::Io { reason, .. } => {
            Failure::failed(format_args!("cannot write {}: {reason}", shown(path)))
        }
        error => error.into(),
    }
}

/// The writer of a file.
pub type FileWriter<'a> = BufWriter<&'a mut File>;

/// The folder of a file.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Prints to standard output; a closed pipe is no error.
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

/// Prints a JSON object to standard output, or to standard error if the data go to standard output.
///
/// # Errors
///
/// The errors of [`print()`].
pub fn print_json(object: &Value, data: &Location) -> Result<(), Failure> {
    match data {
        Location::Pipe => {
            note(&object.to_string());
            Ok(())
        }
        _ => print(&format!("{object}\n")),
    }
}

/// Prints to standard error; an error is ignored.
pub fn note(text: &str) {
    // There is no other output that could report the error.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
