//! The types of HDF5: which of them are numbers that fill their bytes, and words for all others.
//!
//! The size of a type says little: integers may use 20 of 32 bits, and floats have any places and numbers of bits. The
//! description is "Datatype Message" in the specification of HDF5's file format.

use crate::variable::number::NumberType;
use ferrosz::codec::mapping::axes::PARTS;
use hdf5_reader::ByteOrder;
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::datatype::{Datatype, parse_datatype_description};

/// Bytes before the properties of a type.
const HEAD: usize = 8;

/// Bytes of the properties of a floating-point type.
const FLOAT: usize = 12;

/// The names that libraries give the parts of complex numbers, as members of a compound: h5py, PyTables, Julia and NetCDF's
/// nc-complex the first ones, MATLAB and Octave the last ones.
const PART_NAMES: [[&str; 2]; 3] = [["r", "i"], ["re", "im"], ["real", "imag"]];

/// A type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredNumber {
    /// The type; of complex numbers that of their parts, `f32` or `f64`.
    pub number_type: NumberType,
    /// The order of its bytes.
    pub order: ByteOrder,
    /// Whether a number is complex: a real part, and behind it an imaginary one.
    pub is_complex: bool,
}

impl StoredNumber {
    /// How many parts a number has.
    pub fn parts(self) -> u64 {
        if self.is_complex { PARTS } else { 1 }
    }

    /// The bytes of a number.
    pub fn bytes(self) -> usize {
        self.number_type.bytes() * self.parts() as usize
    }

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match (self.is_complex, self.number_type) {
            (false, real) => real.name(),
            (true, NumberType::F32) => "c64",
            (true, _) => "c128",
        }
    }

    /// Whether the bytes have another order than in memory.
    pub fn is_foreign(self) -> bool {
        (self.order == ByteOrder::BigEndian) != cfg!(target_endian = "big")
    }

    /// The numbers, or parts of complex ones, of some bytes of the file; none if the last one is cut off.
    pub fn numbers(self, bytes: &[u8]) -> Option<Vec<f64>> {
        let number = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            if self.order == ByteOrder::BigEndian {
                bytes.reverse();
            }
            self.number_type.number(&bytes)
        };
        bytes.chunks(self.number_type.bytes()).map(number).collect()
    }
}

/// A type of HDF5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Numbers that fill their bytes.
    Number(StoredNumber),
    /// Text of this many bytes.
    Text(u32),
    /// Text of any length.
    LongText,
    /// What is neither, in words.
    Other(String),
}

/// The place of the exponent and the other parts of a floating-point number, in bits.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    offset: u16,
    bits: u16,
    exponent: (u8, u8),
    mantissa: (u8, u8),
    bias: u32,
    sign: u32,
}

impl Parts {
    const fn new(bits: u16, exponent: (u8, u8), bias: u32) -> Self {
        Self {
            offset: 0,
            bits,
            exponent,
            mantissa: (0, exponent.0),
            bias,
            sign: bits as u32 - 1,
        }
    }
}

/// The formats of IEEE 754, and bfloat16.
const FLOATS: [(NumberType, Parts); 4] = [
    (NumberType::F16, Parts::new(16, (10, 5), 15)),
    (NumberType::Bf16, Parts::new(16, (7, 8), 127)),
    (NumberType::F32, Parts::new(32, (23, 8), 127)),
    (NumberType::F64, Parts::new(64, (52, 11), 1023)),
];

/// The type that a message describes.
pub fn parse(message: &[u8]) -> Type {
    let Some((head, properties)) = message.split_first_chunk::<HEAD>() else {
        return Type::Other("values of a damaged type".to_owned());
    };
    let flags = u32::from_le_bytes([head[1], head[2], head[3], 0]);
    let size = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    match head[0] & 0x0f {
        0 => integer(flags, size, properties),
        1 => float(flags, size, properties),
        3 => Type::Text(size),
        6 => match compound_of_parts(message) {
            Some(complex) => Type::Number(complex),
            None => Type::Other(compound_words(message)),
        },
        11 => match complex_of([properties, properties], size) {
            // The parts are a real and an imaginary one, of one type.
            Some(complex) if flags == 1 => Type::Number(complex),
            _ => Type::Other("complex numbers of other parts than f32 and f64".to_owned()),
        },
        9 if flags & 0x0f == 1 => Type::LongText,
        class => Type::Other(words(class, flags, size, message)),
    }
}

/// The description of values of so many bytes that are nothing else: the reader knows not all types of complex numbers.
pub fn opaque(size: usize) -> Vec<u8> {
    let mut message = vec![0x15, 0, 0, 0];
    message.extend((size as u32).to_le_bytes());
    message
}

fn integer(flags: u32, size: u32, properties: &[u8]) -> Type {
    let Some((&[a, b, c, d], _)) = properties.split_first_chunk() else {
        return Type::Other("integers of a damaged type".to_owned());
    };
    let (offset, bits) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    let is_signed = flags & 0x08 != 0;
    let sign = if is_signed { "signed" } else { "unsigned" };
    if offset != 0 || u32::from(bits) != size.saturating_mul(8) {
        return Type::Other(format!("{sign} integers of {bits} bits in {size} bytes"));
    }
    let number_type = match (size, is_signed) {
        (1, true) => NumberType::I8,
        (1, false) => NumberType::U8,
        (2, true) => NumberType::I16,
        (2, false) => NumberType::U16,
        (4, true) => NumberType::I32,
        (4, false) => NumberType::U32,
        (8, true) => NumberType::I64,
        (8, false) => NumberType::U64,
        _ => return Type::Other(format!("{sign} integers of {bits} bits")),
    };
    let order = match flags & 1 {
        0 => ByteOrder::LittleEndian,
        _ => ByteOrder::BigEndian,
    };
    Type::Number(StoredNumber {
        number_type,
        order,
        is_complex: false,
    })
}

fn float(flags: u32, size: u32, properties: &[u8]) -> Type {
    /// The bits of the order of bytes.
    const ORDER: u32 = 0x41;
    /// The bits that say whether the first one of the mantissa is stored, and their value if it is not.
    const NORMALISATION: (u32, u32) = (0x30, 0x20);

    let Some((&[a, b, c, d, e, f, g, h, i, j, k, l], _)) = properties.split_first_chunk() else {
        return Type::Other("floating-point numbers of a damaged type".to_owned());
    };
    let parts = Parts {
        offset: u16::from_le_bytes([a, b]),
        bits: u16::from_le_bytes([c, d]),
        exponent: (e, f),
        mantissa: (g, h),
        bias: u32::from_le_bytes([i, j, k, l]),
        sign: flags >> 8 & 0xff,
    };
    let order = match flags & ORDER {
        0 => ByteOrder::LittleEndian,
        1 => ByteOrder::BigEndian,
        _ => {
            return Type::Other(format!(
                "floating-point numbers of {size} bytes in VAX order"
            ));
        }
    };
    let is_ieee = flags & NORMALISATION.0 == NORMALISATION.1;
    let known = FLOATS.iter().find(|(_, known)| *known == parts && is_ieee);
    match known {
        Some((number_type, _)) if number_type.bytes() == size as usize => {
            Type::Number(StoredNumber {
                number_type: *number_type,
                order,
                is_complex: false,
            })
        }
        _ => Type::Other(float_words(size, &parts)),
    }
}

fn float_words(size: u32, parts: &Parts) -> String {
    let (bits, exponent, mantissa) = (parts.bits, parts.exponent.1, parts.mantissa.1);
    let name = match (bits, exponent) {
        (80.., _) => "long double numbers",
        _ => "floating-point numbers",
    };
    format!(
        "{name} of {bits} bits in {size} bytes ({exponent} of the exponent, {mantissa} of the mantissa)"
    )
}

/// Words for the values of a type that are no numbers and no text.
fn words(class: u8, flags: u32, size: u32, message: &[u8]) -> String {
    match class {
        2 => "times".to_owned(),
        4 => format!("bit fields of {size} bytes"),
        5 => format!("opaque values of {size} bytes"),
        7 => match flags & 0x0f {
            1 | 3 => "references to regions".to_owned(),
            4 => "references to attributes".to_owned(),
            _ => "references to objects".to_owned(),
        },
        8 => enumeration_words(message),
        9 => "lists of any length".to_owned(),
        10 => array_words(size, message),
        other => format!("values of the unknown class {other}"),
    }
}

fn description(message: &[u8]) -> Option<Datatype> {
    let (found, _) = parse_datatype_description(&mut Cursor::new(message)).ok()?;
    Some(found)
}

fn compound_words(message: &[u8]) -> String {
    match description(message) {
        Some(Datatype::Compound { fields, .. }) => {
            format!("compound values of {} members", fields.len())
        }
        _ => "compound values".to_owned(),
    }
}

/// The complex numbers that a compound of two stands for, if its members have the names of parts, and lie one behind the
/// other.
fn compound_of_parts(message: &[u8]) -> Option<StoredNumber> {
    let Datatype::Compound { size, fields } = description(message)? else {
        return None;
    };
    let [real, imaginary] = &fields[..] else {
        return None;
    };
    if !PART_NAMES.contains(&[&real.name, &imaginary.name]) {
        return None;
    }
    // The name and the place of a member come before its type, and in the first version its dimensions.
    let before = |name: &str| match message[0] >> 4 {
        1 => (name.len() + 1).next_multiple_of(8) + 32,
        2 => (name.len() + 1).next_multiple_of(8) + 4,
        _ => name.len() + 2,
    };
    let first = HEAD + before(&real.name);
    let second = first + HEAD + FLOAT + before(&imaginary.name);
    let found = complex_of([message.get(first..)?, message.get(second..)?], size)?;
    let places = [real.byte_offset, imaginary.byte_offset];
    (places == [0, size / 2]).then_some(found)
}

/// Complex numbers of some bytes, of two parts with these types.
fn complex_of(parts: [&[u8]; 2], size: u32) -> Option<StoredNumber> {
    let part = |message: &[u8]| match message.first()? & 0x0f {
        1 => match parse(message) {
            Type::Number(part) => Some(part),
            _ => None,
        },
        _ => None,
    };
    let [real, imaginary] = parts.map(part);
    let found = StoredNumber {
        is_complex: true,
        ..real.filter(|_| real == imaginary)?
    };
    let is_taken = matches!(found.number_type, NumberType::F32 | NumberType::F64);
    (is_taken && found.bytes() == size as usize).then_some(found)
}

fn enumeration_words(message: &[u8]) -> String {
    let name_of = |bytes: &[u8]| match parse(bytes) {
        Type::Number(number) => number.number_type.name().to_owned(),
        _ => "other values".to_owned(),
    };
    let base = name_of(message.get(HEAD..).unwrap_or_default());
    let is_of_bools = match description(message) {
        Some(Datatype::Enum { members, .. }) => {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            names == ["FALSE", "TRUE"]
        }
        _ => false,
    };
    match is_of_bools {
        true => "truth values (an enumeration of FALSE and TRUE)".to_owned(),
        false => format!("an enumeration (names for {base} values; convert it to integers first)"),
    }
}

fn array_words(size: u32, message: &[u8]) -> String {
    match description(message) {
        Some(Datatype::Array { dims, .. }) => {
            let lengths: Vec<String> = dims.iter().map(u64::to_string).collect();
            format!("arrays of {} values each", lengths.join(" x "))
        }
        _ => format!("arrays of {size} bytes each"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The description of `f32`, little endian.
    const SINGLE: [u8; 20] = [
        0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0,
    ];

    #[test]
    fn a_float_is_one_of_ieee_only_if_all_its_parts_are() {
        let number = |message: &[u8]| match parse(message) {
            Type::Number(number) => Some(number),
            _ => None,
        };
        let single = number(&SINGLE).expect("a number");
        assert_eq!(
            (single.number_type, single.order),
            (NumberType::F32, ByteOrder::LittleEndian)
        );
        // Order of bytes, normalisation, sign, size, offset, precision, exponent, mantissa, bias.
        for at in [1, 2, 4, 8, 10, 12, 13, 14, 15, 16] {
            for bit in 0..8 {
                let mut other = SINGLE;
                other[at] ^= 1 << bit;
                let is_padding = at == 1 && matches!(bit, 1..=3 | 7);
                let is_order = at == 1 && bit == 0;
                assert_eq!(
                    number(&other).is_some(),
                    is_padding || is_order,
                    "{at} {bit}"
                );
            }
        }
    }

    #[test]
    fn no_description_is_too_short_or_too_odd() {
        for class in 0..=u8::MAX {
            for length in 0..SINGLE.len() {
                let mut message = SINGLE[..length].to_vec();
                if let Some(first) = message.first_mut() {
                    *first = class;
                }
                let _ = parse(&message);
            }
        }
    }
}
