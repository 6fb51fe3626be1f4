//! Variables of NetCDF and HDF5 files, with their attributes of the CF conventions.

mod classic;
mod conventions;
mod hdf5;
mod number;

use crate::{array::Input, values};
use bytemuck::Pod;
use ferrosz::scratch::{Copies, Scratch};
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;
use thiserror::Error;

/// The most variables that an error lists.
const MOST_LISTED: usize = 30;

/// The reasons why a variable cannot be read.
#[derive(Debug, Error)]
pub enum VariableError {
    /// The operating system cannot read the file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The NetCDF file cannot be read.
    #[error("{0}")]
    Classic(#[from] netcdf_reader::Error),
    /// The file has another format.
    #[error("the file is none of NetCDF or HDF5")]
    Format,
    /// The HDF5 file cannot be read.
    #[error("{0}")]
    Hdf5(#[from] hdf5_reader::error::Error),
    /// There is no such variable.
    #[error("there is no variable '{name}'; the file has {list}")]
    Unknown {
        /// The given name.
        name: String,
        /// The names, types and dimensions of the variables.
        list: String,
    },
    /// The name stands for what is no variable, or is not in the file.
    #[error("{0}")]
    NoVariable(String),
    /// The variable holds what ferrosz does not compress, or stores it in a way that is not read.
    #[error("the variable holds {0}, which ferrosz does not compress")]
    Type(String),
    /// The values are in another place than the file.
    #[error("{0}")]
    Elsewhere(String),
    /// The chunks are coded with a filter that is not known, or are damaged.
    #[error("{0}")]
    Filter(String),
    /// Integers of 64 bits that are no integers of 32 bits.
    #[error(
        "the variable holds {name} values from {least} to {most}; ferrosz compresses integers of up to 32 bits: scale them, or \
         convert them to f64"
    )]
    Range {
        /// The stored type.
        name: &'static str,
        /// The least value.
        least: i128,
        /// The largest value.
        most: i128,
    },
    /// `scale_factor` or `add_offset` is no number.
    #[error("the attribute {name} is {value}, not a number: --packed compresses the stored values")]
    Packing {
        /// The attribute.
        name: &'static str,
        /// What it is.
        value: String,
    },
    /// There is no room for the values, in memory or in a temporary file.
    #[error("{0}")]
    Room(#[from] ferrosz::Error),
    /// No computer has memory for the variable.
    #[error("there is no memory for the {0} values of the variable")]
    Memory(u64),
    /// The file is too short for the variable.
    #[error(
        "the variable has {elements} values by its description, with the edges of its chunks, for which a file of {file_bytes} bytes is too short"
    )]
    Short {
        /// Elements of the variable.
        elements: u64,
        /// Bytes of the file.
        file_bytes: u64,
    },
}

/// Reads a variable of a NetCDF or HDF5 file. Its fill values are those of `_FillValue` and `missing_value`; without the
/// first one, the fill value of the dataset in HDF5.
///
/// Values with `scale_factor` or `add_offset` are unpacked as the CF conventions say (section 8.1): to the type of these
/// attributes, and missing elements to NaN. With `is_packed` they are read as they are stored.
///
/// # Errors
///
/// [`VariableError`].
pub fn read(path: &Path, name: &str, is_packed: bool) -> Result<Input, VariableError> {
    let mapped = map(path)?;
    match classic::is_one(&mapped) {
        true => classic::read(mapped, name, is_packed),
        false => hdf5::read(mapped, name, is_packed),
    }
}

/// The names, types and dimensions of the variables of a file.
///
/// # Errors
///
/// If the file is none of NetCDF or HDF5.
pub fn list_of(path: &Path) -> Result<String, VariableError> {
    let mapped = map(path)?;
    match classic::is_one(&mapped) {
        true => classic::list(mapped),
        false => hdf5::list(mapped),
    }
}

/// The bytes of a file. The readers would copy a dataset that is not in chunks.
fn map(path: &Path) -> Result<Mmap, io::Error> {
    values::map(&File::open(path)?)
}

/// The first names of a list, and the number of the others.
fn join_names(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MOST_LISTED);
    names.truncate(MOST_LISTED);
    let mut list = names.join(", ");
    if more > 0 {
        list.push_str(&format!(", and {more} more"));
    }
    match list.is_empty() {
        true => "no variables".to_owned(),
        false => list,
    }
}

/// A variable in a list: its name, type and lengths.
fn list_entry(name: &str, type_name: &str, lengths: &[u64]) -> String {
    let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
    let comma = if lengths.is_empty() { "" } else { ", " };
    let name = visible(name);
    format!("{name} ({type_name}{comma}{})", lengths.join(" x "))
}

/// A name of a file, without characters that steer a terminal.
fn visible(name: &str) -> String {
    let replaced = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    name.chars().map(replaced).collect()
}

/// Bytes of values that a file may stand for. Deflate, the filter that packs most, makes 1 byte of 1032. A longer array
/// consists of fill values alone but for a small part, or its description is damaged.
fn most_bytes(file_bytes: u64) -> u64 {
    const SMALLEST: u64 = 64 << 20;
    file_bytes.saturating_mul(1032).max(SMALLEST)
}

/// Room for the values of a file.
fn room<T: Pod>(elements: u64, file_bytes: u64) -> Result<Scratch<T>, VariableError> {
    match elements.saturating_mul(size_of::<T>() as u64) > most_bytes(file_bytes) {
        true => Err(VariableError::Short {
            elements,
            file_bytes,
        }),
        false => Ok(Scratch::zeroed(Copies::InFiles, elements)?),
    }
}
