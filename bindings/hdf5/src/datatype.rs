//! The types of values that HDF5 and ferrosz have in common.

use crate::Hid;
use crate::failure::Failure;
use crate::hdf5::{Datatype, Hdf5};
use ferrosz::ValueType;

const H5T_INTEGER: i32 = 0;
const H5T_FLOAT: i32 = 1;
const H5T_COMPOUND: i32 = 6;
const H5T_COMPLEX: i32 = 11;
const H5T_ORDER_LE: i32 = 0;
const H5T_ORDER_BE: i32 = 1;

/// A floating-point type by the places of its bits: [sign, exponent, exponent's size, significand, its size], and bias.
const FLOATS: [(ValueType, [usize; 5], usize); 4] = [
    (ValueType::F32, [31, 23, 8, 0, 23], 127),
    (ValueType::F64, [63, 52, 11, 0, 52], 1023),
    (ValueType::F16, [15, 10, 5, 0, 10], 15),
    (ValueType::Bf16, [15, 7, 8, 0, 7], 127),
];

/// The names that libraries give the parts of complex numbers, as members of a compound.
const PART_NAMES: [[&str; 2]; 3] = [["r", "i"], ["re", "im"], ["real", "imag"]];

/// The values of a dataset as they are in chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Their type in a stream.
    pub value_type: ValueType,
    /// The bytes of one in a chunk: those of the type, but 1 for `i16` and `u16`, or 8 for `i32` and `u32`, if the dataset has
    /// integers of 8 or 64 bits.
    pub size: usize,
    /// Whether the bytes of a value are in the order that this machine has not.
    pub is_swapped: bool,
    /// Whether values are the parts of complex numbers: a real one, and the imaginary one behind it.
    pub is_complex: bool,
}

impl Stored {
    /// Values with this type in a stream, and so many bytes in a chunk; none if there are no such values.
    pub fn new(value_type: ValueType, size: usize, is_swapped: bool) -> Option<Self> {
        let is_possible = match value_type {
            ValueType::I16 | ValueType::U16 => matches!(size, 1 | 2),
            ValueType::I32 | ValueType::U32 => matches!(size, 4 | 8),
            _ => size == value_type.bytes(),
        };
        is_possible.then_some(Self {
            value_type,
            size,
            is_swapped,
            is_complex: false,
        })
    }

    /// The same values as the parts of complex numbers; none if they cannot be.
    pub fn complex(self) -> Option<Self> {
        let found = Self {
            is_complex: true,
            ..self
        };
        self.value_type.is_coded_as_is().then_some(found)
    }

    /// The values of a datatype of HDF5.
    ///
    /// # Errors
    ///
    /// If ferrosz has no such type.
    pub fn of(hdf5: &Hdf5, datatype: Hid) -> Result<Self, Failure> {
        let size = hdf5.type_size(datatype)?;
        let part = match hdf5.type_class(datatype)? {
            H5T_COMPOUND => parts(hdf5, datatype, size)?,
            H5T_COMPLEX => hdf5.base_type(datatype).map(Some)?,
            _ => return Self::of_real(hdf5, datatype)?.ok_or_else(|| none(size)),
        };
        let part = match &part {
            Some(part) => Self::of_real(hdf5, part.id())?,
            None => None,
        };
        let found = part
            .filter(|part| 2 * part.size == size)
            .and_then(Self::complex);
        found.ok_or_else(|| none(size))
    }

    /// The values of a datatype that has no parts; none if ferrosz has no such type.
    fn of_real(hdf5: &Hdf5, datatype: Hid) -> Result<Option<Self>, Failure> {
        let value_type = match hdf5.type_class(datatype)? {
            H5T_FLOAT => float(hdf5, datatype)?,
            H5T_INTEGER => integer(hdf5, datatype)?,
            _ => None,
        };
        let size = hdf5.type_size(datatype)?;
        let Some(found) = value_type.and_then(|value_type| Self::new(value_type, size, false))
        else {
            return Ok(None);
        };
        let own = match cfg!(target_endian = "little") {
            true => H5T_ORDER_LE,
            false => H5T_ORDER_BE,
        };
        match hdf5.type_order(datatype)? {
            order @ (H5T_ORDER_LE | H5T_ORDER_BE) => Ok(Some(Self {
                is_swapped: order != own,
                ..found
            })),
            _ => Err(Failure::new(
                "the dataset's byte order is neither little nor big endian",
            )),
        }
    }
}

/// The error of a type of so many bytes.
fn none(size: usize) -> Failure {
    let names = ValueType::ALL.map(ValueType::name).join(", ");
    Failure::new(format_args!(
        "the dataset's type, of {size} bytes, is none of {names}, nor an integer of 8 or 64 bits, nor complex numbers of two \
         f32 or f64; leave the filter away"
    ))
}

/// The type of the parts of complex numbers, as which a compound of two has members: one type, one behind the other.
fn parts<'a>(hdf5: &'a Hdf5, datatype: Hid, size: usize) -> Result<Option<Datatype<'a>>, Failure> {
    let members = hdf5.members(datatype)?;
    let are_parts = match &members[..] {
        [(real, 0, part), (imaginary, place, other)] => {
            PART_NAMES.contains(&[real, imaginary])
                && 2 * place == size
                && hdf5.are_equal(part.id(), other.id())?
        }
        _ => false,
    };
    let first = members.into_iter().next().filter(|_| are_parts);
    Ok(first.map(|(_, _, part)| part))
}

fn float(hdf5: &Hdf5, datatype: Hid) -> Result<Option<ValueType>, Failure> {
    let fields = hdf5.type_fields(datatype)?;
    let bias = hdf5.type_exponent_bias(datatype)?;
    let found = FLOATS
        .iter()
        .find(|known| (known.1, known.2) == (fields, bias));
    Ok(found.map(|known| known.0))
}

fn integer(hdf5: &Hdf5, datatype: Hid) -> Result<Option<ValueType>, Failure> {
    let size = hdf5.type_size(datatype)?;
    // Integers of fewer bits than their bytes have may be stored with others beside them.
    if hdf5.type_precision(datatype)? != 8 * size || hdf5.type_offset(datatype)? != 0 {
        return Ok(None);
    }
    let is_signed = hdf5.type_sign(datatype)? != 0;
    Ok(match (size, is_signed) {
        (1 | 2, true) => Some(ValueType::I16),
        (1 | 2, false) => Some(ValueType::U16),
        (4 | 8, true) => Some(ValueType::I32),
        (4 | 8, false) => Some(ValueType::U32),
        _ => None,
    })
}
