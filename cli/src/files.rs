//! Inputs and outputs of a command: `IN`, `IN OUT`, or `IN... --out-dir DIR`.

use crate::location::{Location, shown};
use crate::suffix::{self, Holds};
use crate::{common::Common, failure::Failure, json, output};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use serde_json::json;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The suffix of streams.
const SUFFIX: &str = "fsz";

/// The suffix of files of frames.
const FRAMES_SUFFIX: &str = "fsf";

/// The inputs and outputs of a command.
#[derive(Debug, Clone, Args)]
pub struct Files {
    /// Input, and output if there is one input; '-' is standard input or output
    #[arg(value_name = "IN [OUT]", required = true, value_parser = OsStringValueParser::new().map(Location::from))]
    pub files: Vec<Location>,
    /// Put outputs into this folder, under default names; then all files are inputs
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Whether outputs may replace files.
    #[command(flatten)]
    pub replace: Replace,
}

/// Whether files may be replaced.
#[derive(Debug, Clone, Copy, Args)]
pub struct Replace {
    /// Replace files that exist
    #[arg(long, short)]
    pub force: bool,
}

/// An input and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The input.
    pub input: Location,
    /// The output.
    pub output: Location,
}

/// Gives the default file name of an output, without folder, for an input; none if the input has no default output.
pub type DefaultName = fn(&Path) -> Option<PathBuf>;

/// `field.npy.fsz` of `field.npy`.
pub fn stream_name(input: &Path) -> Option<PathBuf> {
    with_suffix(input, SUFFIX)
}

/// `run.f32.fsf` of `run.f32`.
pub fn frames_name(input: &Path) -> Option<PathBuf> {
    with_suffix(input, FRAMES_SUFFIX)
}

fn with_suffix(input: &Path, suffix: &str) -> Option<PathBuf> {
    let mut name = input.file_name()?.to_owned();
    name.push(".");
    name.push(suffix);
    Some(name.into())
}

/// `field.npy` of `field.npy.fsz`; `field.npy`, too, of `field.fsz`, which does not name the array's format, and
/// `field.nc.npy` of `field.nc.fsz`, as an array alone is no NetCDF file.
pub fn array_name(input: &Path) -> Option<PathBuf> {
    let suffix = input.extension()?;
    if ![SUFFIX, FRAMES_SUFFIX]
        .iter()
        .any(|known| suffix.eq_ignore_ascii_case(known))
    {
        return None;
    }
    let name = PathBuf::from(input.file_stem()?);
    match name.extension() {
        // An array from a NetCDF file, say, is no such file.
        Some(_) if !suffix::is_foreign_to_arrays(&name) => Some(name),
        _ => {
            let mut name = name.into_os_string();
            name.push(".npy");
            Some(name.into())
        }
    }
}

impl Files {
    /// Pairs of inputs and outputs.
    ///
    /// # Errors
    ///
    /// If inputs and outputs cannot be told from each other, or two outputs would be one file.
    pub fn jobs(&self, default_name: DefaultName) -> Result<Vec<Job>, Failure> {
        let jobs = match (&self.out_dir, &self.files[..]) {
            (None, [input, output]) => vec![Job {
                input: input.clone(),
                output: output.clone(),
            }],
            (None, [Location::Pipe]) => vec![Job {
                input: Location::Pipe,
                output: Location::Pipe,
            }],
            (None, [input]) => vec![job(input, None, default_name)?],
            (None, files) => {
                return Err(Failure::usage(format_args!(
                    "{} files are one too many for an input and an output: if all are inputs, name a folder for the \
                     outputs with --out-dir",
                    files.len()
                )));
            }
            (Some(folder), inputs) => {
                let jobs = inputs
                    .iter()
                    .map(|input| job(input, Some(folder.as_path()), default_name));
                jobs.collect::<Result<_, _>>()?
            }
        };
        let mut seen = HashMap::new();
        for Job { input, output } in &jobs {
            if let Location::File(path) = output
                && let Some(other) = seen.insert(path, input)
            {
                return Err(Failure::usage(format_args!(
                    "{other} and {input} would both be written to {output}: give them separately"
                )));
            }
        }
        Ok(jobs)
    }

    /// Does all jobs; true if all succeeded. If one of several jobs fails, its error is printed, and the others go on.
    ///
    /// # Errors
    ///
    /// The failure of a single job, and the errors of [`Files::jobs`].
    pub fn each(
        &self,
        common: &Common,
        holds: Holds,
        default_name: DefaultName,
        mut run: impl FnMut(&Job) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let jobs = self.jobs(default_name)?;
        let force = self.replace.force;
        let checked = |job: &Job| {
            output::check(&job.output, Some(&job.input), force)?;
            suffix::check(&job.output, holds)
        };
        if let Some(folder) = &self.out_dir {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::io("make the folder", shown(folder), &error))?;
        }
        if let [job] = &jobs[..] {
            checked(job)?;
            return run(job);
        }
        let inputs: Vec<&Location> = jobs.iter().map(|job| &job.input).collect();
        let mut jobs = jobs.iter();
        each(&inputs, common, |_| match jobs.next() {
            Some(job) => {
                checked(job)?;
                run(job)
            }
            None => Ok(true),
        })
    }
}

/// Calls `run` for each input; true if all calls succeeded. If one of several fails, its error is printed on standard
/// error, with `--json` also as an object on standard output, and the others go on.
///
/// # Errors
///
/// The failure of a single input; a failure to print an object.
pub fn each(
    inputs: &[&Location],
    common: &Common,
    mut run: impl FnMut(&Location) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    if let [input] = inputs {
        return run(input);
    }
    let mut all = true;
    for input in inputs {
        match run(input) {
            Ok(went_well) => all &= went_well,
            // Nobody reads what the others would write.
            Err(Failure::Closed) => return Err(Failure::Closed),
            Err(failure) => {
                all = false;
                output::note(&format!("error: {failure}"));
                if common.json {
                    let error = json!({ "error": failure.to_string() });
                    let object = json::join([json::place("input", input), error]);
                    output::print(&format!("{object}\n"))?;
                }
            }
        }
    }
    Ok(all)
}

fn job(input: &Location, folder: Option<&Path>, default_name: DefaultName) -> Result<Job, Failure> {
    let Some(path) = &input.stem() else {
        return Err(Failure::usage(
            "standard input has no name for its output: omit --out-dir",
        ));
    };
    let name = default_name(path).ok_or_else(|| {
        Failure::usage(format_args!(
            "{input} does not end in .{SUFFIX}: name an output"
        ))
    })?;
    let folder = folder.unwrap_or_else(|| path.parent().unwrap_or(Path::new("")));
    Ok(Job {
        input: input.clone(),
        output: Location::File(folder.join(name)),
    })
}

/// The file name of the input, for an output in another folder.
pub fn same_name(input: &Path) -> Option<PathBuf> {
    input.file_name().map(OsStr::to_owned).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str], folder: Option<&str>) -> Files {
        let names = names
            .iter()
            .map(|name| Location::from(std::ffi::OsString::from(name)));
        Files {
            files: names.collect(),
            out_dir: folder.map(PathBuf::from),
            replace: Replace { force: false },
        }
    }

    fn outputs(files: &Files, default_name: DefaultName) -> Result<Vec<String>, String> {
        let jobs = files
            .jobs(default_name)
            .map_err(|failure| failure.to_string())?;
        let outputs = jobs.iter().map(|job| match &job.output {
            Location::Pipe => "-".to_owned(),
            output => output.to_string(),
        });
        Ok(outputs.collect())
    }

    #[test]
    fn outputs_have_names_of_their_own() {
        for (names, folder, default_name, expected) in [
            (
                &["a.npy"][..],
                None,
                stream_name as DefaultName,
                &["a.npy.fsz"][..],
            ),
            (&["in/a.f32"], None, stream_name, &["in/a.f32.fsz"]),
            (&["a.npy", "b"], None, stream_name, &["b"]),
            (&["-"], None, stream_name, &["-"]),
            (
                &["x/a.npy", "b"],
                Some("out"),
                stream_name,
                &["out/a.npy.fsz", "out/b.fsz"],
            ),
            (&["in/a.npy.fsz"], None, array_name, &["in/a.npy"]),
            (&["a.f32.FSZ"], None, array_name, &["a.f32"]),
            (&["a.fsz"], None, array_name, &["a.npy"]),
            (&["a.f32"], None, frames_name, &["a.f32.fsf"]),
            (&["a.f32.fsf"], None, array_name, &["a.f32"]),
            (&["a.nc.fsz"], None, array_name, &["a.nc.npy"]),
        ] {
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(outputs(&files(names, folder), default_name), Ok(expected));
        }
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        for (names, folder, words) in [
            (&["a.fsz", "b.fsz", "c.fsz"][..], None, "--out-dir"),
            (
                &["x/a.fsz", "y/a.fsz"],
                Some("out"),
                "both be written to out/a.npy",
            ),
            (&["a.npy"], None, "does not end in .fsz"),
            (&["-"], Some("out"), "--out-dir"),
        ] {
            let refusal = outputs(&files(names, folder), array_name).unwrap_err();
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}
