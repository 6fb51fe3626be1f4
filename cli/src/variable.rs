//! Variables of NetCDF and HDF5 files, with their attributes of the CF conventions.

use crate::array::{Array, Field, Input, merge_leading};
use crate::values;
use bytemuck::{Pod, cast_slice_mut};
use ferrosz::internals::{Copies, Scratch};
use ferrosz::{Fill, Value, ValueType};
use hdf5_reader::messages::datatype::Datatype;
use hdf5_reader::{ByteOrder, Dataset, Hdf5File, OpenOptions};
use memmap2::Mmap;
use netcdf_reader::unpack::{SignParams, UnpackParams};
use netcdf_reader::{NcAttrValue, NcFile, NcGroup, NcOpenOptions, NcReadable, NcType, NcVariable};
use std::fs::File;
use std::path::Path;
use thiserror::Error;

/// The most variables that an error lists.
const MOST_LISTED: usize = 30;

/// The reasons why a variable cannot be read.
#[derive(Debug, Error)]
pub enum VariableError {
    /// The file cannot be read.
    #[error("{0}")]
    File(#[from] netcdf_reader::Error),
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
    /// The variable has a type that ferrosz does not compress.
    #[error("the variable holds {0} values, which ferrosz does not compress")]
    Type(&'static str),
    /// There is no room for the values, in memory or in a temporary file.
    #[error("{0}")]
    Room(#[from] ferrosz::Error),
    /// No computer has memory for the variable.
    #[error("there is no memory for the {0} values of the variable")]
    Memory(u64),
    /// The file is too short for the variable.
    #[error(
        "the variable has {elements} values by its description, for which a file of {file_bytes} bytes is too short"
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
    let file_bytes = mapped.len() as u64;
    let file = NcFile::from_owner(mapped, NcOpenOptions::default())?;
    let name = name.trim_start_matches('/');
    let Ok(variable) = file.variable(name) else {
        return match halves(path, name, file_bytes)? {
            Some(field) => Ok(Input::new(field)),
            None => Err(VariableError::Unknown {
                name: name.to_owned(),
                list: list(&file)?,
            }),
        };
    };
    let reader = Reader {
        path,
        file: &file,
        name,
        variable,
        file_bytes,
    };
    match UnpackParams::from_variable(variable).filter(|_| !is_packed) {
        Some(packing) => reader.unpacked(packing),
        None => reader.stored(),
    }
}

/// The bytes of a file. The readers would copy a dataset that is not in chunks.
fn map(path: &Path) -> Result<Mmap, netcdf_reader::Error> {
    Ok(values::map(&File::open(path)?)?)
}

/// A file as one of HDF5; none if it is none.
fn hdf5(path: &Path) -> Option<Hdf5File> {
    Hdf5File::from_mmap_with_options(map(path).ok()?, OpenOptions::default()).ok()
}

/// A dataset of half precision in an HDF5 file; none if there is none of this name. NetCDF has no such type, so the reader
/// of NetCDF does not see it. Fill values in attributes are not read.
fn halves(path: &Path, name: &str, file_bytes: u64) -> Result<Option<Field>, VariableError> {
    /// The place of the exponent's number of bits in the description of a type ("Datatype Message", class 1, in the
    /// specification of HDF5's file format).
    const EXPONENT_BITS: usize = 13;

    let Some(file) = hdf5(path) else {
        return Ok(None);
    };
    let Ok(dataset) = file.dataset(name) else {
        return Ok(None);
    };
    let is_half = matches!(dataset.dtype(), Datatype::FloatingPoint { size: 2, .. });
    let description = dataset.raw_datatype()?;
    Ok(match description.get(EXPONENT_BITS) {
        Some(5) if is_half => Some(Field::F16(half(&dataset, file_bytes)?)),
        Some(8) if is_half => Some(Field::Bf16(half(&dataset, file_bytes)?)),
        _ => None,
    })
}

/// The values of a dataset of half precision.
fn half<V: Value>(dataset: &Dataset, file_bytes: u64) -> Result<Array<V>, VariableError> {
    let extents = merge_leading(dataset.shape()).ok_or(VariableError::Memory(u64::MAX))?;
    let mut values = room(dataset.num_elements()?, file_bytes)?;
    dataset.read_native_bytes_into(cast_slice_mut::<V, u8>(&mut values))?;
    Ok(Array {
        extents,
        values: values.into(),
    })
}

/// The fill value of a dataset in an HDF5 file, which its elements have before they are written; none if it is 0, which is
/// the usual one and stands for nothing.
fn fill_property(path: &Path, name: &str) -> Option<f64> {
    let dataset = hdf5(path)?.dataset(name).ok()?;
    let mut bytes = dataset.fill_value()?.value.clone()?;
    let (order, is_float, is_signed) = match dataset.dtype() {
        Datatype::FloatingPoint { byte_order, .. } => (*byte_order, true, true),
        Datatype::FixedPoint {
            byte_order, signed, ..
        } => (*byte_order, false, *signed),
        _ => return None,
    };
    if order == ByteOrder::BigEndian {
        bytes.reverse();
    }
    let value = match (&bytes[..], is_float, is_signed) {
        (&[a, b, c, d], true, _) => f32::from_le_bytes([a, b, c, d]).into(),
        (&[a, b, c, d, e, f, g, h], true, _) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        (&[a, b], false, true) => i16::from_le_bytes([a, b]).into(),
        (&[a, b], false, false) => u16::from_le_bytes([a, b]).into(),
        (&[a, b, c, d], false, true) => i32::from_le_bytes([a, b, c, d]).into(),
        (&[a, b, c, d], false, false) => u32::from_le_bytes([a, b, c, d]).into(),
        _ => return None,
    };
    (value != 0.0).then_some(value)
}

/// The names, types and dimensions of the variables of a file.
///
/// # Errors
///
/// [`VariableError::File`].
pub fn list_of(path: &Path) -> Result<String, VariableError> {
    let mapped = map(path)?;
    list(&NcFile::from_owner(mapped, NcOpenOptions::default())?)
}

fn list(file: &NcFile) -> Result<String, VariableError> {
    let mut found = Vec::new();
    list_group(file.root_group()?, "", &mut found);
    let more = found.len().saturating_sub(MOST_LISTED);
    found.truncate(MOST_LISTED);
    let mut list = found.join(", ");
    if more > 0 {
        list.push_str(&format!(", and {more} more"));
    }
    Ok(match list.is_empty() {
        true => "no variables".to_owned(),
        false => list,
    })
}

fn list_group(group: &NcGroup, path: &str, found: &mut Vec<String>) {
    for variable in &group.variables {
        let shape = variable.shape();
        let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
        found.push(format!(
            "{path}{} ({}{}{})",
            variable.name(),
            type_name(variable.dtype()),
            if shape.is_empty() { "" } else { ", " },
            lengths.join(" x ")
        ));
    }
    for inner in &group.groups {
        list_group(inner, &format!("{path}{}/", inner.name), found);
    }
}

fn type_name(dtype: &NcType) -> &'static str {
    match dtype {
        NcType::Byte => "i8",
        NcType::UByte => "u8",
        NcType::Short => "i16",
        NcType::UShort => "u16",
        NcType::Int => "i32",
        NcType::UInt => "u32",
        NcType::Int64 => "i64",
        NcType::UInt64 => "u64",
        NcType::Float => "f32",
        NcType::Double => "f64",
        NcType::Char | NcType::String => "text",
        NcType::Enum { .. } => "enumeration",
        NcType::Compound { .. } => "compound",
        NcType::Opaque { .. } => "opaque",
        NcType::Array { .. } => "array",
        NcType::VLen { .. } => "variable-length",
    }
}

/// A variable of an open file.
struct Reader<'a> {
    path: &'a Path,
    file: &'a NcFile,
    name: &'a str,
    variable: &'a NcVariable,
    file_bytes: u64,
}

/// Room for the values of a file. Deflate, the filter that packs most, makes 1 byte of 1032. A longer array consists of fill
/// values alone but for a small part, or its description is damaged.
fn room<T: Pod>(elements: u64, file_bytes: u64) -> Result<Scratch<T>, VariableError> {
    const SMALLEST: u64 = 64 << 20;
    let most = file_bytes.saturating_mul(1032).max(SMALLEST);
    match elements.saturating_mul(size_of::<T>() as u64) > most {
        true => Err(VariableError::Short {
            elements,
            file_bytes,
        }),
        false => Ok(Scratch::zeroed(Copies::InFiles, elements)?),
    }
}

impl Reader<'_> {
    /// The values as they are stored. Integers get the sign that the attribute `_Unsigned` gives them, as the first
    /// formats of NetCDF had none without.
    fn stored(&self) -> Result<Input, VariableError> {
        let is_turned = SignParams::from_variable(self.variable).is_some();
        let field = match (self.variable.dtype(), is_turned) {
            (NcType::Float, _) => Field::F32(self.array(self.values()?)?),
            (NcType::Double, _) => Field::F64(self.array(self.values()?)?),
            (NcType::Short, false) => Field::I16(self.array(self.values()?)?),
            (NcType::UShort, false) => Field::U16(self.array(self.values()?)?),
            (NcType::Int, false) => Field::I32(self.array(self.values()?)?),
            (NcType::UInt, false) => Field::U32(self.array(self.values()?)?),
            (NcType::Short, true) => Field::U16(self.turned(i16::cast_unsigned)?),
            (NcType::UShort, true) => Field::I16(self.turned(u16::cast_signed)?),
            (NcType::Int, true) => Field::U32(self.turned(i32::cast_unsigned)?),
            (NcType::UInt, true) => Field::I32(self.turned(u32::cast_signed)?),
            (other, _) => return Err(VariableError::Type(type_name(other))),
        };
        Ok(Input {
            field,
            fills: self.missing().into_iter().map(Fill::from).collect(),
            unpacked: None,
        })
    }

    /// The values that the stored ones turn to.
    fn turned<S: NcReadable + Pod, V: Value>(
        &self,
        turn: impl Fn(S) -> V,
    ) -> Result<Array<V>, VariableError> {
        let stored: Scratch<S> = self.values()?;
        let mut values = Scratch::zeroed(Copies::InFiles, stored.len() as u64)?;
        for (value, stored) in values.iter_mut().zip(&*stored) {
            *value = turn(*stored);
        }
        self.array(values)
    }

    /// The values that packed integers stand for.
    fn unpacked(&self, packing: UnpackParams) -> Result<Input, VariableError> {
        let sign = SignParams::from_variable(self.variable);
        let missing = self.missing();
        let value = |stored: f64| {
            let stored = sign.map_or(stored, |sign| sign.reinterpret(stored));
            match missing.contains(&stored) {
                true => f64::NAN,
                false => stored * packing.scale_factor + packing.add_offset,
            }
        };
        let field = match self.variable.dtype() {
            NcType::Byte => self.unpack::<i8>(value),
            NcType::UByte => self.unpack::<u8>(value),
            NcType::Short => self.unpack::<i16>(value),
            NcType::UShort => self.unpack::<u16>(value),
            NcType::Int => self.unpack::<i32>(value),
            NcType::UInt => self.unpack::<u32>(value),
            NcType::Float => self.unpack::<f32>(value),
            NcType::Double => self.unpack::<f64>(value),
            other => Err(VariableError::Type(type_name(other))),
        }?;
        Ok(Input {
            field,
            // NaNs are found where a mask of them is worth its bytes.
            fills: Vec::new(),
            unpacked: Some(type_name(self.variable.dtype())),
        })
    }

    fn unpack<S: NcReadable + Pod + Into<f64>>(
        &self,
        value: impl Fn(f64) -> f64,
    ) -> Result<Field, VariableError> {
        let value = |stored: S| value(stored.into());
        Ok(match self.unpacked_type() {
            ValueType::F32 => Field::F32(self.turned(|stored| value(stored) as f32)?),
            _ => Field::F64(self.turned(value)?),
        })
    }

    /// The type of unpacked values: that of the attributes, if it is `f32`.
    fn unpacked_type(&self) -> ValueType {
        let is_double = |name: &str| {
            let value = self.variable.attribute(name).map(|found| &found.value);
            value.is_some_and(|value| !matches!(value, NcAttrValue::Floats(_)))
        };
        match is_double("scale_factor") || is_double("add_offset") {
            true => ValueType::F64,
            false => ValueType::F32,
        }
    }

    /// The values of missing elements, as numbers of the stored type.
    fn missing(&self) -> Vec<f64> {
        let sign = SignParams::from_variable(self.variable);
        let of_attribute = |name: &str| {
            let found = self.variable.attribute(name);
            found.and_then(|found| found.value.as_f64_vec())
        };
        let of_file = || fill_property(self.path, self.name).map(|value| vec![value]);
        let fill = of_attribute("_FillValue").or_else(of_file);
        let numbers = [fill, of_attribute("missing_value")];
        let numbers = numbers.into_iter().flatten().flatten();
        let mut missing: Vec<f64> = Vec::new();
        for number in numbers {
            let number = sign.map_or(number, |sign| sign.reinterpret(number));
            let number = match self.variable.dtype() {
                NcType::Float => f64::from(number as f32),
                _ => number,
            };
            // NaN is not equal to itself.
            if !missing
                .iter()
                .any(|known| known.to_bits() == number.to_bits())
            {
                missing.push(number);
            }
        }
        missing
    }

    /// The values of the file, which may be more than memory has room for.
    fn values<T: NcReadable + Pod>(&self) -> Result<Scratch<T>, VariableError> {
        let elements = self
            .variable
            .num_elements()
            .map_err(netcdf_reader::Error::from)?;
        let mut values = room(elements, self.file_bytes)?;
        self.file.read_variable_into(self.name, &mut values)?;
        Ok(values)
    }

    fn array<V: Value>(&self, values: Scratch<V>) -> Result<Array<V>, VariableError> {
        let extents = merge_leading(&self.variable.shape());
        let extents = extents.ok_or(VariableError::Memory(u64::MAX))?;
        Ok(Array {
            extents,
            values: values.into(),
        })
    }
}
