//! Suffixes of outputs that would name another format than the one that is written.

use crate::{failure::Failure, location::Location};
use std::ffi::OsStr;
use std::path::Path;

/// What an output holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A stream.
    Stream,
    /// An array: `.npy` by its suffix, else raw values.
    Array,
    /// Frames.
    Frames,
}

/// Suffixes, and what files with them hold.
const FORMATS: [(&[&str], &str); 15] = [
    (&["npy"], "an .npy array"),
    (&["fsz"], "a ferrosz stream"),
    (&["fsf"], "frames of ferrosz"),
    (&["nc", "nc3", "nc4", "cdf"], "NetCDF"),
    (&["h5", "hdf5", "he5", "hdf"], "HDF5"),
    (&["zarr"], "Zarr"),
    (&["npz"], "an archive of .npy arrays"),
    (&["grib", "grb", "grib2", "grb2"], "GRIB"),
    (&["fits"], "FITS"),
    (&["tif", "tiff", "png", "jpg", "jpeg"], "an image"),
    (
        &["gz", "zst", "xz", "bz2", "lz4", "zip", "tar"],
        "packed files",
    ),
    (&["csv", "tsv", "txt", "json"], "text"),
    (&["mat"], "MATLAB variables"),
    (&["parquet", "arrow", "feather"], "tables"),
    (&["pkl", "pickle", "pt"], "Python objects"),
];

/// Who writes files of NetCDF, HDF5 and Zarr.
const WHOLE_FILES: &str = ". Whole files of such a format are written by the command of the Python package, which takes \
                           this line: pip install 'ferrosz[archive]'";

/// The format that a path's suffix names.
fn named(path: &Path) -> Option<&'static str> {
    let suffix = path.extension().and_then(OsStr::to_str)?;
    let has = |suffixes: &[&str]| {
        suffixes
            .iter()
            .any(|known| known.eq_ignore_ascii_case(suffix))
    };
    let found = FORMATS.iter().find(|(suffixes, _)| has(suffixes));
    found.map(|(_, format)| *format)
}

/// Whether a name is one of a format that an array is not written in.
pub fn is_foreign_to_arrays(path: &Path) -> bool {
    named(path).is_some_and(|format| format != FORMATS[0].1)
}

/// Refuses an output whose suffix names a format that it will not have. A redirection has any name.
///
/// # Errors
///
/// If the suffix is one of another format.
pub fn check(output: &Location, holds: Holds) -> Result<(), Failure> {
    let (own, what, advice) = match holds {
        Holds::Stream => (FORMATS[1].1, "a stream", "a name that ends in .fsz"),
        Holds::Array => (
            FORMATS[0].1,
            "raw values",
            "a name that ends in .npy, or in .raw for raw values",
        ),
        Holds::Frames => (FORMATS[2].1, "frames", "a name that ends in .fsf"),
    };
    match output {
        Location::File(path) => match named(path).filter(|format| *format != own) {
            Some(format) => {
                let more = match format {
                    "NetCDF" | "HDF5" | "Zarr" => WHOLE_FILES,
                    _ => "",
                };
                Err(Failure::usage(format_args!(
                    "{output} would hold {what}, and its suffix says {format}: give it {advice}; or write to '-' and \
                     redirect with '>'{more}"
                )))
            }
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_say_what_a_file_holds() {
        let is_taken = |name: &str, holds| check(&Location::File(name.into()), holds).is_ok();
        for (name, of_stream, of_array) in [
            ("a.fsz", true, false),
            ("a.npy", false, true),
            ("a.NPY", false, true),
            ("a.nc", false, false),
            ("a.H5", false, false),
            ("a.zarr", false, false),
            ("a.npy.gz", false, false),
            ("a.raw", true, true),
            ("a.f32", true, true),
            ("a", true, true),
            ("a.v1.2", true, true),
        ] {
            assert_eq!(is_taken(name, Holds::Stream), of_stream, "{name}");
            assert_eq!(is_taken(name, Holds::Array), of_array, "{name}");
        }
        assert!(check(&Location::Pipe, Holds::Array).is_ok());
    }
}
