//! Datasets of HDF5 files, which those of NetCDF-4 are.
//!
//! A file is a graph of objects. Only the objects on the way to a dataset are read, and of these only the messages that
//! matter, so what is odd, damaged or unknown elsewhere costs itself alone. The crate `hdf5-reader` reads whole groups and
//! whole headers; so the headers and links are read here, with its parsers of the single structures, and the dataset that
//! was found is given to it as the only one of a file.

mod attributes;
mod bitshuffle;
mod blosc;
mod dataset;
mod datatype;
mod filters;
mod header;
mod links;
mod listing;
mod lone;

use super::VariableError;
use super::conventions::{Attribute, Attributes, Conventions, NAMES};
use crate::array::{Input, merge_leading};
use dataset::Dataset;
use hdf5_reader::error::{Error, Result};
use hdf5_reader::fractal_heap::FractalHeap;
use hdf5_reader::storage::{Storage, StorageBuffer};
use hdf5_reader::superblock::Superblock;
use header::Message;
use links::Found;
use memmap2::Mmap;
use std::sync::Arc;

/// Reads a dataset, as [`super::read`].
///
/// # Errors
///
/// [`VariableError`].
pub fn read(
    mapped: Mmap,
    name: &str,
    is_packed: bool,
) -> std::result::Result<Input, VariableError> {
    let file = open(mapped)?;
    let address = match find(&file, name)? {
        Found::Object(address) => address,
        Found::Nothing => return Err(unknown(&file, name)),
        Found::NoObject(why) => return Err(VariableError::NoVariable(why)),
    };
    let messages = file.messages(address)?;
    let Some(dataset) = Dataset::new(&file, &messages)? else {
        let is_group = header::is_group(&messages);
        return Err(VariableError::NoVariable(format!(
            "there is no variable '{name}', but {} of this name; the file has {}",
            if is_group { "a group" } else { "a type" },
            listing::list(&file)
        )));
    };
    if is_dimension(&file, &messages)? {
        return Err(VariableError::NoVariable(format!(
            "'{name}' is a dimension of NetCDF without a variable"
        )));
    }
    let number = dataset.number().map_err(VariableError::from)?;
    let attributes = Attributes(attributes::read(&file, &messages, &NAMES)?);
    let fill = dataset.fill(number);
    let of = (number.number_type, number.is_complex);
    let conventions = Conventions::new(of, &attributes, fill, is_packed)?;
    let of_parts = [number.parts()];
    let of_parts = &of_parts[..usize::from(number.is_complex)];
    let extents = merge_leading(&[dataset.lengths(), of_parts].concat())
        .ok_or(VariableError::Memory(u64::MAX))?;
    conventions.input(extents, dataset.numbers(&file, number)?)
}

/// The beginning of the name of a variable that is called like a dimension, but is not its coordinate.
const NOT_COORDINATE: &str = "_nc4_non_coord_";

/// The object that a name stands for, by the rules of NetCDF-4, too.
fn find(file: &File, name: &str) -> Result<Found> {
    let other = match name.rsplit_once('/') {
        Some((group, name)) => format!("{group}/{NOT_COORDINATE}{name}"),
        None => format!("{NOT_COORDINATE}{name}"),
    };
    match file.find(&other)? {
        Found::Object(address) => Ok(Found::Object(address)),
        _ => file.find(name),
    }
}

/// Whether a dataset stands for a dimension of NetCDF-4 that has no variable. It has no values.
fn is_dimension(file: &File, messages: &[Message]) -> Result<bool> {
    const MARK: &str = "This is a netCDF dimension but not a netCDF variable";

    let found = attributes::read(file, messages, &["NAME"])?;
    let is_mark =
        |value: &Attribute| matches!(value, Attribute::Text(text) if text.starts_with(MARK));
    Ok(found.iter().any(|(_, value)| is_mark(value)))
}

/// The names, types and dimensions of the datasets of a file.
///
/// # Errors
///
/// If the file is none of HDF5.
pub fn list(mapped: Mmap) -> std::result::Result<String, VariableError> {
    Ok(listing::list(&open(mapped)?))
}

fn open(mapped: Mmap) -> std::result::Result<File, VariableError> {
    File::open(mapped).map_err(|error| match error {
        Error::InvalidMagic => VariableError::Format,
        other => other.into(),
    })
}

fn unknown(file: &File, name: &str) -> VariableError {
    VariableError::Unknown {
        name: name.to_owned(),
        list: listing::list(file),
    }
}

/// An open file.
struct File {
    view: Arc<View>,
    superblock: Superblock,
}

/// The bytes of a file from its superblock on, which addresses count from.
struct View {
    file: Arc<Mmap>,
    base: usize,
}

impl Storage for View {
    fn len(&self) -> u64 {
        (self.file.len() - self.base) as u64
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
        let start = usize::try_from(offset).ok();
        let start = start.and_then(|start| start.checked_add(self.base));
        let start = start.ok_or(Error::OffsetOutOfBounds(offset))?;
        StorageBuffer::from_shared_owner(self.file.clone(), start, len)
    }
}

impl File {
    fn open(mapped: Mmap) -> Result<Self> {
        let mut view = View {
            file: Arc::new(mapped),
            base: 0,
        };
        let superblock = Superblock::parse_from_storage(&view)?;
        view.base = superblock.base_address as usize;
        Ok(Self {
            view: Arc::new(view),
            superblock,
        })
    }

    /// Bytes of an address.
    fn offset_size(&self) -> u8 {
        self.superblock.offset_size
    }

    /// Bytes of a length.
    fn length_size(&self) -> u8 {
        self.superblock.length_size
    }

    /// Some bytes of the file.
    fn bytes(&self, address: u64, length: usize) -> Result<StorageBuffer> {
        self.view.read_range(address, length)
    }

    /// Whether an address stands for none.
    fn is_none(&self, address: u64) -> bool {
        hdf5_reader::io::Cursor::is_undefined_offset(address, self.offset_size())
    }

    fn heap(&self, address: u64) -> Result<FractalHeap> {
        FractalHeap::parse_at_storage(&*self.view, address, self.offset_size(), self.length_size())
    }

    /// An object of a heap.
    fn heap_object(&self, heap: &FractalHeap, id: &[u8]) -> Result<Vec<u8>> {
        heap.get_object_storage(id, &*self.view, self.offset_size(), self.length_size())
    }
}
