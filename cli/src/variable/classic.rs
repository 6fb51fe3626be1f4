//! Variables of the classic formats of NetCDF: CDF-1, CDF-2 and CDF-5.

use super::conventions::{Attribute, Attributes, Conventions, NAMES};
use super::number::{Number, NumberType, Numbers};
use super::{VariableError, join_names, list_entry, room};
use crate::array::{Input, merge_leading};
use memmap2::Mmap;
use netcdf_reader::classic::ClassicFile;
use netcdf_reader::{NcAttrValue, NcFormat, NcReadable, NcType, NcVariable};

/// Whether a file is one of these formats.
pub fn is_one(file: &[u8]) -> bool {
    file.starts_with(b"CDF")
}

fn open(file: Mmap) -> Result<ClassicFile, VariableError> {
    let format = match file.get(3) {
        Some(2) => NcFormat::Offset64,
        Some(5) => NcFormat::Cdf5,
        _ => NcFormat::Classic,
    };
    Ok(ClassicFile::from_mmap(file, format)?)
}

/// Reads a variable, as [`super::read`].
///
/// # Errors
///
/// [`VariableError`].
pub fn read(file: Mmap, name: &str, is_packed: bool) -> Result<Input, VariableError> {
    let file_bytes = file.len() as u64;
    let file = open(file)?;
    let name = name.trim_start_matches('/');
    let Some(variable) = file.root_group().variable(name) else {
        return Err(VariableError::Unknown {
            name: name.to_owned(),
            list: names(&file),
        });
    };
    let number_type =
        number_type(variable.dtype()).map_err(|what| VariableError::Type(what.to_owned()))?;
    let conventions =
        Conventions::new((number_type, false), &attributes(variable), None, is_packed)?;
    let extents = merge_leading(&variable.shape()).ok_or(VariableError::Memory(u64::MAX))?;
    conventions.input(extents, numbers(&file, name, variable, file_bytes)?)
}

/// The names, types and dimensions of the variables of a file.
///
/// # Errors
///
/// [`VariableError::Classic`].
pub fn list(file: Mmap) -> Result<String, VariableError> {
    Ok(names(&open(file)?))
}

fn names(file: &ClassicFile) -> String {
    let variables = file.root_group().variables.iter();
    let entries = variables.map(|variable| {
        let type_name = match number_type(variable.dtype()) {
            Ok(number_type) => number_type.name(),
            Err(what) => what,
        };
        list_entry(variable.name(), type_name, &variable.shape())
    });
    join_names(entries.collect())
}

/// The type of a variable's numbers, or what it holds instead.
fn number_type(dtype: &NcType) -> Result<NumberType, &'static str> {
    Ok(match dtype {
        NcType::Byte => NumberType::I8,
        NcType::UByte => NumberType::U8,
        NcType::Short => NumberType::I16,
        NcType::UShort => NumberType::U16,
        NcType::Int => NumberType::I32,
        NcType::UInt => NumberType::U32,
        NcType::Int64 => NumberType::I64,
        NcType::UInt64 => NumberType::U64,
        NcType::Float => NumberType::F32,
        NcType::Double => NumberType::F64,
        NcType::Char | NcType::String => return Err("text"),
        _ => return Err("values of a type of the user"),
    })
}

/// The numbers of a variable.
fn numbers(
    file: &ClassicFile,
    name: &str,
    variable: &NcVariable,
    file_bytes: u64,
) -> Result<Numbers, VariableError> {
    match variable.dtype() {
        NcType::Byte => values::<i8>(file, name, variable, file_bytes),
        NcType::UByte => values::<u8>(file, name, variable, file_bytes),
        NcType::Short => values::<i16>(file, name, variable, file_bytes),
        NcType::UShort => values::<u16>(file, name, variable, file_bytes),
        NcType::Int => values::<i32>(file, name, variable, file_bytes),
        NcType::UInt => values::<u32>(file, name, variable, file_bytes),
        NcType::Int64 => values::<i64>(file, name, variable, file_bytes),
        NcType::UInt64 => values::<u64>(file, name, variable, file_bytes),
        NcType::Float => values::<f32>(file, name, variable, file_bytes),
        NcType::Double => values::<f64>(file, name, variable, file_bytes),
        _ => Err(VariableError::Type("no numbers".to_owned())),
    }
}

fn values<T: NcReadable + Number>(
    file: &ClassicFile,
    name: &str,
    variable: &NcVariable,
    file_bytes: u64,
) -> Result<Numbers, VariableError> {
    let elements = variable
        .num_elements()
        .map_err(netcdf_reader::Error::from)?;
    let mut values = room::<T>(elements, file_bytes)?;
    file.read_variable_into(name, &mut values)?;
    Ok(T::numbers(values))
}

fn attributes(variable: &NcVariable) -> Attributes {
    let found = NAMES.iter().filter_map(|name| {
        let value = &variable.attribute(name)?.value;
        let attribute = match value {
            NcAttrValue::Chars(text) => Attribute::Text(text.clone()),
            _ => match value.as_f64_vec() {
                Some(numbers) => {
                    Attribute::Numbers(numbers, matches!(value, NcAttrValue::Floats(_)))
                }
                None => Attribute::Other("no number".to_owned()),
            },
        };
        Some((*name, attribute))
    });
    Attributes(found.collect())
}
