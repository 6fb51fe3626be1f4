//! The header of NumPy's `.npy` files, versions 1 to 3.
//!
//! The header is the text of a Python dictionary with three known keys. The scanner has no recursion and knows only the
//! values that these keys can have: reading any header, even a malicious one, takes time and memory in proportion to
//! its length.

use crate::array::{ArrayType, npy_name};
use crate::npy_type;
use ferrosz::ValueType;
use std::io::{self, Read};
use thiserror::Error;

/// The first bytes of every `.npy` file.
pub const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// Bytes of a header at most; the header of a plain array is far shorter.
const MAX_HEADER_BYTES: u32 = 1 << 16;

/// Values start at a multiple of this.
const ALIGNMENT: usize = 64;

/// Order of a value's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Low byte first.
    Little,
    /// High byte first.
    Big,
}

/// The contents of a `.npy` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Type of the values. Values of two bytes without a type, which may be anything, are taken for `bf16`.
    pub of: ArrayType,
    /// Order of the values' bytes.
    pub order: ByteOrder,
    /// Lengths, in the order of indices; none for a single value.
    pub shape: Vec<u64>,
    /// Whether the first dimension runs fastest, instead of the last.
    pub is_fortran: bool,
    /// Bytes before the values.
    pub bytes: u64,
}

/// The errors of a `.npy` header.
#[derive(Debug, Error)]
pub enum NpyError {
    /// The magic bytes are missing.
    #[error("it does not begin as a .npy file")]
    NotNpy,
    /// An unknown version.
    #[error(".npy version {0}.{1} is unknown")]
    Version(u8, u8),
    /// The header ends early.
    #[error("it ends within its .npy header")]
    CutOff,
    /// The header is longer than [`MAX_HEADER_BYTES`].
    #[error("its .npy header claims to be {0} bytes long")]
    TooLong(u32),
    /// The header's text is not understood.
    #[error("its .npy header is malformed: {0}")]
    Malformed(&'static str),
    /// An element type that ferrosz does not compress; the text says how to convert it.
    #[error("{0}")]
    Dtype(String),
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Header {
    /// Reads a header, and leaves `reader` at the first value.
    ///
    /// # Errors
    ///
    /// [`NpyError`], for any malformed or unsupported header; never a panic.
    pub fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        let [magic @ .., major, minor] = read_array::<8>(reader)?;
        if magic != MAGIC {
            return Err(NpyError::NotNpy);
        }
        let (length, prefix) = match major {
            1 => (u32::from(u16::from_le_bytes(read_array(reader)?)), 10),
            2 | 3 => (u32::from_le_bytes(read_array(reader)?), 12),
            _ => return Err(NpyError::Version(major, minor)),
        };
        if length > MAX_HEADER_BYTES {
            return Err(NpyError::TooLong(length));
        }
        let mut text = vec![0; length as usize];
        read_exact(reader, &mut text)?;
        let header = Scanner { rest: &text }.dictionary()?;
        Ok(Self {
            bytes: u64::from(length) + prefix,
            ..header
        })
    }

    /// The bytes of a version 1 header of a little-endian array in C order.
    pub fn to_bytes(of: ArrayType, shape: &[u64]) -> Vec<u8> {
        let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
        // Python writes a tuple of one with a comma.
        let comma = if shape.len() == 1 { "," } else { "" };
        let text = format!(
            "{{'descr': '<{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
            name_of(of),
            lengths.join(", "),
        );
        let prefix = MAGIC.len() + 4;
        let total = (prefix + text.len() + 1).next_multiple_of(ALIGNMENT);
        // The header holds a few lengths of at most 20 digits: far fewer than 65,536 bytes.
        let length = (total - prefix) as u16;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(length.to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(total - 1, b' ');
        bytes.push(b'\n');
        bytes
    }
}

/// The name of a type behind the order of its bytes.
fn name_of(of: ArrayType) -> &'static str {
    match (of.is_complex, of.dtype) {
        (true, ValueType::F32) => "c8",
        (true, _) => "c16",
        (false, dtype) => npy_name(dtype),
    }
}

fn read_array<const N: usize>(reader: &mut impl Read) -> Result<[u8; N], NpyError> {
    let mut bytes = [0; N];
    read_exact(reader, &mut bytes)?;
    Ok(bytes)
}

fn read_exact(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyError> {
    reader.read_exact(bytes).map_err(|error| {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            NpyError::CutOff
        } else {
            NpyError::Io(error)
        }
    })
}

/// Scans a header's text from its beginning.
struct Scanner<'a> {
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    /// Parses the dictionary; `bytes` of the header is left at 0.
    fn dictionary(mut self) -> Result<Header, NpyError> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{', "it is not a dictionary")?;
        while !self.accept(b'}') {
            let key = self.string()?;
            self.expect(b':', "a key without a value")?;
            match key {
                b"descr" => element = Some(self.element()?),
                b"fortran_order" => fortran = Some(self.boolean()?),
                b"shape" => shape = Some(self.tuple()?),
                _ => return Err(NpyError::Malformed("an unknown key")),
            }
            if !self.accept(b',') {
                self.expect(b'}', "no comma between entries")?;
                break;
            }
        }
        let (of, order) = element.ok_or(NpyError::Malformed("no 'descr'"))?;
        Ok(Header {
            of,
            order,
            shape: shape.ok_or(NpyError::Malformed("no 'shape'"))?,
            is_fortran: fortran.ok_or(NpyError::Malformed("no 'fortran_order'"))?,
            bytes: 0,
        })
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_space();
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, byte: u8, otherwise: &'static str) -> Result<(), NpyError> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(NpyError::Malformed(otherwise))
        }
    }

    /// Takes the longest prefix whose bytes all pass `test`.
    fn take_while(&mut self, test: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !test(*byte));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn string(&mut self) -> Result<&'a [u8], NpyError> {
        let quote = if self.accept(b'\'') {
            b'\''
        } else {
            self.expect(b'"', "text is not in quotes")?;
            b'"'
        };
        let text = self.take_while(|byte| byte != quote);
        self.expect(quote, "text without an end")?;
        Ok(text)
    }

    fn element(&mut self) -> Result<(ArrayType, ByteOrder), NpyError> {
        self.skip_space();
        if self.rest.first() == Some(&b'[') {
            return Err(NpyError::Dtype(npy_type::explain_records(self.rest)));
        }
        let descr = self.string()?;
        let order = match descr.first() {
            Some(b'>') => ByteOrder::Big,
            Some(b'<') => ByteOrder::Little,
            // Of values without a type.
            Some(b'|') if descr == b"|V2" => ByteOrder::Little,
            _ => return Err(NpyError::Dtype(npy_type::explain(descr))),
        };
        let real = ValueType::ALL.into_iter().map(ArrayType::real);
        let complex = ArrayType::COMPLEX.into_iter().map(|(_, dtype)| ArrayType {
            dtype,
            is_complex: true,
        });
        let has_name = |of: &ArrayType| descr.get(1..) == Some(name_of(*of).as_bytes());
        let found = real.chain(complex).find(has_name);
        found
            .map(|of| (of, order))
            .ok_or_else(|| NpyError::Dtype(npy_type::explain(descr)))
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.skip_space();
        match self.take_while(|byte| byte.is_ascii_alphabetic()) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(NpyError::Malformed("'fortran_order' is not True or False")),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        let mut lengths = Vec::new();
        self.expect(b'(', "'shape' is not a tuple")?;
        while !self.accept(b')') {
            lengths.push(self.length()?);
            if !self.accept(b',') {
                self.expect(b')', "no comma between lengths")?;
                break;
            }
        }
        Ok(lengths)
    }

    fn length(&mut self) -> Result<u64, NpyError> {
        self.skip_space();
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        // Python 2 wrote long integers with an L.
        self.accept(b'L');
        str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or(NpyError::Malformed("a length is not a whole number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(major: u8, text: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([major, 0]);
        match major {
            1 => bytes.extend((text.len() as u16).to_le_bytes()),
            _ => bytes.extend((text.len() as u32).to_le_bytes()),
        }
        bytes.extend(text.as_bytes());
        bytes
    }

    fn read(text: &str) -> Result<Header, NpyError> {
        Header::read(&mut file(1, text).as_slice())
    }

    #[test]
    fn what_is_written_is_read() {
        for shape in [vec![], vec![5], vec![0], vec![3, 4], vec![u64::MAX, 1, 7]] {
            let complex = ArrayType::COMPLEX.map(|(_, dtype)| ArrayType {
                dtype,
                is_complex: true,
            });
            for of in ValueType::ALL
                .into_iter()
                .map(ArrayType::real)
                .chain(complex)
            {
                let bytes = Header::to_bytes(of, &shape);
                assert_eq!(bytes.len() % ALIGNMENT, 0);
                let header = Header::read(&mut bytes.as_slice()).unwrap();
                let wanted = Header {
                    of,
                    order: ByteOrder::Little,
                    shape: shape.clone(),
                    is_fortran: false,
                    bytes: bytes.len() as u64,
                };
                assert_eq!(header, wanted);
            }
        }
    }

    #[test]
    fn all_versions_and_spellings_are_read() {
        let text = "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3), }   \n";
        for major in 1..=3 {
            let header = Header::read(&mut file(major, text).as_slice()).unwrap();
            assert_eq!(
                (header.of.dtype, header.order),
                (ValueType::F64, ByteOrder::Big)
            );
            assert_eq!(header.shape, [2, 3]);
        }
        for text in [
            r#"{"shape":(2L,3L),"fortran_order":False,"descr":"<f4"}"#,
            "{ 'shape' : ( 2 , 3 , ) , 'descr' : '>f4' , 'fortran_order' : False , }\n",
        ] {
            assert_eq!(read(text).unwrap().shape, [2, 3], "{text}");
        }
    }

    #[test]
    fn fortran_order_is_told() {
        let header =
            |order| format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': (2, 3)}}");
        assert!(read(&header("True")).unwrap().is_fortran);
        assert!(!read(&header("False")).unwrap().is_fortran);
    }

    #[test]
    fn refusals_say_why() {
        let refusal = |text: &str| read(text).unwrap_err().to_string();
        let array =
            |descr: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,)}}");
        assert!(refusal(&array("'<i8'")).contains("int64"));
        assert!(refusal(&array("'|u1'")).contains("uint8"));
        assert!(refusal(&array("'|V7'")).contains("'|V7'"));
        assert!(refusal(&array("[('a', '<f4')]")).contains("several fields"));
    }

    #[test]
    fn malformed_headers_are_refused() {
        for text in [
            "",
            "{",
            "}",
            "{}",
            "[]",
            "{'descr'}",
            "{'descr': '<f4'}",
            "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
            "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
            "{'descr': '\u{e4}', 'fortran_order': False, 'shape': (2,)}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_cut_is_refused() {
        let whole = Header::to_bytes(ArrayType::real(ValueType::F32), &[4, 5]);
        for length in 0..whole.len() {
            assert!(Header::read(&mut &whole[..length]).is_err(), "{length}");
        }
        let absurd = [&MAGIC[..], &[2, 0], &u32::MAX.to_le_bytes()].concat();
        assert!(matches!(
            Header::read(&mut absurd.as_slice()),
            Err(NpyError::TooLong(_))
        ));
        let unknown = [&MAGIC[..], &[9, 1], &[0; 8]].concat();
        assert!(matches!(
            Header::read(&mut unknown.as_slice()),
            Err(NpyError::Version(9, 1))
        ));
    }
}
