//! The attributes of an object, of which only those are decoded that are asked for.

use super::datatype::{self, Type};
use super::{File, header::Message};
use crate::{variable::conventions::Attribute, variable::number::NumberType};
use hdf5_reader::btree_v2::BTreeV2Record;
use hdf5_reader::checksum::jenkins_lookup3;
use hdf5_reader::error::{Error, Result};
use hdf5_reader::global_heap::GlobalHeapCollection;
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::{
    MSG_ATTRIBUTE, MSG_ATTRIBUTE_INFO, MSG_DATASPACE, MSG_DATATYPE, attribute_info, dataspace,
};

/// The flags of an attribute whose type or dataspace is elsewhere.
const SHARED_TYPE: u8 = 1;
const SHARED_SPACE: u8 = 2;

/// An attribute, not decoded.
struct Raw<'a> {
    name: &'a [u8],
    flags: u8,
    datatype: &'a [u8],
    dataspace: &'a [u8],
    value: &'a [u8],
}

/// The attributes of an object that have one of some names.
///
/// # Errors
///
/// If the attributes are damaged, not if they are odd.
pub fn read(
    file: &File,
    messages: &[Message],
    names: &[&'static str],
) -> Result<Vec<(&'static str, Attribute)>> {
    let mut found = Vec::new();
    let mut take = |bytes: &[u8]| -> Result<()> {
        let raw = Raw::parse(bytes)?;
        if let Some(name) = names.iter().find(|name| name.as_bytes() == raw.name) {
            found.push((*name, file.attribute(&raw)?));
        }
        Ok(())
    };
    for message in messages {
        match message.kind {
            MSG_ATTRIBUTE => take(&file.contents(message)?)?,
            MSG_ATTRIBUTE_INFO => {
                for bytes in file.many_attributes(&file.contents(message)?, names)? {
                    take(&bytes)?;
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

impl<'a> Raw<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        let version = cursor.read_u8()?;
        let flags = cursor.read_u8()?;
        let mut lengths = [0; 3];
        for length in &mut lengths {
            *length = usize::from(cursor.read_u16_le()?);
        }
        match version {
            1 | 2 => {}
            3 => cursor.skip(1)?,
            other => return Err(Error::UnsupportedAttributeVersion(other)),
        }
        let mut next = |length: usize| -> Result<&'a [u8]> {
            let bytes = cursor.read_bytes(length)?;
            if version == 1 {
                // Lengths are rounded up to eight bytes.
                cursor.skip(length.next_multiple_of(8) - length)?;
            }
            Ok(bytes)
        };
        let [name, datatype, dataspace] = lengths;
        let (name, datatype, dataspace) = (next(name)?, next(datatype)?, next(dataspace)?);
        let value = cursor.read_bytes(cursor.remaining() as usize)?;
        Ok(Self {
            name: name.split(|byte| *byte == 0).next().unwrap_or_default(),
            flags: if version == 1 { 0 } else { flags },
            datatype,
            dataspace,
            value,
        })
    }
}

impl File {
    /// The attributes with some names of an object that has many, not decoded.
    fn many_attributes(&self, message: &[u8], names: &[&str]) -> Result<Vec<Vec<u8>>> {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let mut cursor = Cursor::new(message);
        let info = attribute_info::parse(&mut cursor, offsets, lengths, message.len())?;
        if self.is_none(info.fractal_heap_address) {
            return Ok(Vec::new());
        }
        let hashes: Vec<u32> = names
            .iter()
            .map(|name| jenkins_lookup3(name.as_bytes()))
            .collect();
        let heap = self.heap(info.fractal_heap_address)?;
        let mut found = Vec::new();
        for record in self.records(info.btree_name_index_address)? {
            let BTreeV2Record::AttributeNameHash {
                hash,
                flags,
                heap_id,
                ..
            } = record
            else {
                continue;
            };
            if hashes.contains(&hash) {
                found.push(match flags & 2 {
                    0 => self.heap_object(&heap, &heap_id)?,
                    _ => self.shared_in_heap(MSG_ATTRIBUTE, &heap_id)?,
                });
            }
        }
        Ok(found)
    }

    fn attribute(&self, raw: &Raw<'_>) -> Result<Attribute> {
        let part = |kind, bytes: &[u8], flag| match raw.flags & flag {
            0 => Ok(bytes.to_vec()),
            _ => self.shared(kind, bytes),
        };
        let datatype = part(MSG_DATATYPE, raw.datatype, SHARED_TYPE)?;
        let space = part(MSG_DATASPACE, raw.dataspace, SHARED_SPACE)?;
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let space = dataspace::parse(&mut Cursor::new(&space), offsets, lengths, space.len())?;
        let count = usize::try_from(space.num_elements()?).unwrap_or(usize::MAX);
        Ok(match datatype::parse(&datatype) {
            Type::Number(number) => {
                let length = count.saturating_mul(number.bytes());
                let numbers = raw.value.get(..length);
                match numbers.and_then(|bytes| number.numbers(bytes)) {
                    Some(parts) if number.is_complex => Attribute::Complex(parts),
                    Some(numbers) => {
                        let is_single = number.number_type == NumberType::F32;
                        Attribute::Numbers(numbers, is_single)
                    }
                    None => return Err(super::header::damaged("an attribute is too short")),
                }
            }
            Type::Text(_) => Attribute::Text(text(raw.value)),
            Type::LongText if count == 1 => Attribute::Text(text(&self.long_text(raw.value)?)),
            Type::LongText => Attribute::Other(format!("{count} texts")),
            Type::Other(what) => Attribute::Other(what),
        })
    }

    /// The bytes of a text of any length, by the reference to it.
    fn long_text(&self, reference: &[u8]) -> Result<Vec<u8>> {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let mut cursor = Cursor::new(reference);
        let length = cursor.read_u32_le()? as usize;
        let address = cursor.read_offset(offsets)?;
        let index = cursor.read_u32_le()?;
        if length == 0 || index == 0 {
            return Ok(Vec::new());
        }
        let heap = GlobalHeapCollection::parse_at_storage(&*self.view, address, offsets, lengths)?;
        let object = u16::try_from(index)
            .ok()
            .and_then(|index| heap.get_object(index));
        let bytes = object.and_then(|object| object.data.get(..length));
        let bytes =
            bytes.ok_or_else(|| super::header::damaged("the text of an attribute is missing"))?;
        Ok(bytes.to_vec())
    }
}

/// Text up to its first zero, without the spaces that fill it up.
fn text(bytes: &[u8]) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}
