//! The messages of an object's header, not decoded: a message of an unknown kind or version hides no other.

use super::File;
use hdf5_reader::checksum::jenkins_lookup3;
use hdf5_reader::error::{Error, Result};
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::shared::{self, SharedMessage};
use hdf5_reader::messages::{
    MSG_CONTINUATION, MSG_GROUP_INFO, MSG_LINK, MSG_LINK_INFO, MSG_SHARED_TABLE, MSG_SYMBOL_TABLE,
};
use std::collections::HashSet;

/// The most bytes of a header. Its messages have at most 64 KiB each, and there are a few.
const MOST_BYTES: u64 = 64 << 20;

/// The most parts of a header.
const MOST_PARTS: usize = 1 << 12;

/// The flag of a message that is elsewhere, in another object's header or in a heap.
const IS_SHARED: u8 = 2;

/// A message of a header.
pub struct Message {
    /// Which message it is, as the constants `MSG_...` of `hdf5_reader` name them.
    pub kind: u16,
    flags: u8,
    /// Its bytes, or those that say where it is.
    bytes: Vec<u8>,
}

/// How the messages of a header are written.
#[derive(Clone, Copy)]
enum Form {
    First,
    /// With or without the numbers of their creation.
    Second {
        has_order: bool,
    },
}

/// The parts of a header that are still to be read.
struct Parts {
    form: Form,
    rest: Vec<(u64, u64)>,
    known: HashSet<u64>,
    bytes: u64,
}

/// Whether these are the messages of a group.
pub fn is_group(messages: &[Message]) -> bool {
    let of_group = [MSG_SYMBOL_TABLE, MSG_LINK_INFO, MSG_LINK, MSG_GROUP_INFO];
    messages
        .iter()
        .any(|message| of_group.contains(&message.kind))
}

impl File {
    /// The messages of the object at an address.
    ///
    /// # Errors
    ///
    /// If there is no header, or it is damaged.
    pub fn messages(&self, address: u64) -> Result<Vec<Message>> {
        let mut found = Vec::new();
        let mut parts = match &*self.bytes(address, 4)? {
            b"OHDR" => self.first_part_of_second_form(address, &mut found)?,
            _ => self.first_part(address, &mut found)?,
        };
        while let Some((address, length)) = parts.rest.pop() {
            parts.bytes = parts.bytes.saturating_add(length);
            let is_new = parts.known.insert(address);
            if !is_new || parts.known.len() > MOST_PARTS || parts.bytes > MOST_BYTES {
                return Err(damaged(
                    "the parts of an object's header are a circle, or too many",
                ));
            }
            let bytes = self.bytes(address, size(length)?)?;
            let messages = match parts.form {
                Form::First => &bytes,
                Form::Second { .. } => checked(&bytes, b"OCHK")?,
            };
            self.split(messages, &mut parts, &mut found)?;
        }
        Ok(found)
    }

    fn first_part(&self, address: u64, found: &mut Vec<Message>) -> Result<Parts> {
        const PREFIX: u64 = 16;

        let prefix = self.bytes(address, PREFIX as usize)?;
        let mut cursor = Cursor::new(&prefix);
        match cursor.read_u8()? {
            1 => cursor.skip(7)?,
            other => return Err(Error::UnsupportedObjectHeaderVersion(other)),
        }
        let length = u64::from(cursor.read_u32_le()?);
        let mut parts = Parts::new(Form::First, length);
        let bytes = self.bytes(after(address, PREFIX)?, size(length)?)?;
        self.split(&bytes, &mut parts, found)?;
        Ok(parts)
    }

    fn first_part_of_second_form(&self, address: u64, found: &mut Vec<Message>) -> Result<Parts> {
        let flags = self.bytes(address, 6)?[5];
        let times = if flags & 0x20 != 0 { 16 } else { 0 };
        let limits = if flags & 0x10 != 0 { 4 } else { 0 };
        let width = 1 << (flags & 3);
        let prefix = 6 + times + limits + width;
        let length = {
            let bytes = self.bytes(address, prefix)?;
            if bytes[4] != 2 {
                return Err(Error::UnsupportedObjectHeaderVersion(bytes[4]));
            }
            Cursor::new(&bytes[prefix - width..]).read_uvar(width)?
        };
        let has_order = flags & 4 != 0;
        let mut parts = Parts::new(Form::Second { has_order }, length);
        let whole = size(length)?.checked_add(prefix + 4);
        let whole = whole.ok_or(Error::OffsetOutOfBounds(address))?;
        let bytes = self.bytes(address, whole)?;
        checked(&bytes, b"OHDR")?;
        self.split(&bytes[prefix..whole - 4], &mut parts, found)?;
        Ok(parts)
    }

    /// Splits a part of a header into messages.
    fn split(&self, bytes: &[u8], parts: &mut Parts, found: &mut Vec<Message>) -> Result<()> {
        let before = match parts.form {
            Form::First => 8,
            Form::Second { has_order: false } => 4,
            Form::Second { has_order: true } => 6,
        };
        let mut cursor = Cursor::new(bytes);
        while cursor.remaining() >= before {
            let start = cursor.position();
            let kind = match parts.form {
                Form::First => cursor.read_u16_le()?,
                Form::Second { .. } => cursor.read_u8()?.into(),
            };
            let length = usize::from(cursor.read_u16_le()?);
            let flags = cursor.read_u8()?;
            cursor.set_position(start + before);
            let bytes = cursor.read_bytes(length)?;
            match kind {
                MSG_CONTINUATION => {
                    let mut cursor = Cursor::new(bytes);
                    let address = cursor.read_offset(self.offset_size())?;
                    parts
                        .rest
                        .push((address, cursor.read_length(self.length_size())?));
                }
                _ => found.push(Message {
                    kind,
                    flags,
                    bytes: bytes.to_vec(),
                }),
            }
        }
        Ok(())
    }

    /// The bytes of the first message of a kind; none if there is none.
    ///
    /// # Errors
    ///
    /// If the message is elsewhere, and not there.
    pub fn message(&self, messages: &[Message], kind: u16) -> Result<Option<Vec<u8>>> {
        let found = messages.iter().find(|message| message.kind == kind);
        found.map(|message| self.contents(message)).transpose()
    }

    /// The bytes of a message, wherever they are.
    ///
    /// # Errors
    ///
    /// If they are elsewhere, and not there.
    pub fn contents(&self, message: &Message) -> Result<Vec<u8>> {
        match message.flags & IS_SHARED {
            0 => Ok(message.bytes.clone()),
            _ => self.shared(message.kind, &message.bytes),
        }
    }

    /// The message of this kind that some bytes of a message refer to.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub fn shared(&self, kind: u16, reference: &[u8]) -> Result<Vec<u8>> {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let mut cursor = Cursor::new(reference);
        match shared::parse(&mut cursor, kind, offsets, lengths, reference.len())? {
            SharedMessage::SharedInSohm { heap_id, .. } => self.shared_in_heap(kind, &heap_id),
            SharedMessage::SharedInOhdr { address, .. } => {
                let of_kind =
                    |message: &Message| message.kind == kind && message.flags & IS_SHARED == 0;
                let found = self.messages(address)?.into_iter().find(of_kind);
                found
                    .map(|message| message.bytes)
                    .ok_or_else(|| damaged("a message that objects share is not there"))
            }
        }
    }

    /// A message of a kind in the heap that the file has for messages of several objects.
    ///
    /// # Errors
    ///
    /// If it is not there.
    pub fn shared_in_heap(&self, kind: u16, id: &[u8]) -> Result<Vec<u8>> {
        let missing = || damaged("the file has no table of the messages that objects share");
        let extension = self.superblock.extension_address.ok_or_else(missing)?;
        let messages = self.messages(extension)?;
        let table = messages
            .iter()
            .find(|message| message.kind == MSG_SHARED_TABLE);
        let table = &table.ok_or_else(missing)?.bytes;
        let mut cursor = Cursor::new(table);
        cursor.skip(1)?;
        let address = cursor.read_offset(self.offset_size())?;
        let count = usize::from(cursor.read_u8()?);
        let heap = self
            .heap_of_kind(address, count, kind)?
            .ok_or_else(missing)?;
        let message = self.heap_object(&self.heap(heap)?, id)?;
        match u16::try_from(message.len()) {
            Ok(_) => Ok(message),
            Err(_) => Err(damaged("a message that objects share is too long")),
        }
    }

    /// The heap of the shared messages of a kind, by the table at this address.
    fn heap_of_kind(&self, address: u64, count: usize, kind: u16) -> Result<Option<u64>> {
        let entry = 14 + 2 * usize::from(self.offset_size());
        let bytes = self.bytes(address, 8 + count * entry)?;
        let mut cursor = Cursor::new(checked(&bytes, b"SMTB")?);
        for _ in 0..count {
            cursor.skip(2)?;
            let kinds = cursor.read_u16_le()?;
            cursor.skip(10)?;
            cursor.read_offset(self.offset_size())?;
            let heap = cursor.read_offset(self.offset_size())?;
            if 1u16
                .checked_shl(kind.into())
                .is_some_and(|bit| kinds & bit != 0)
            {
                return Ok(Some(heap));
            }
        }
        Ok(None)
    }
}

impl Parts {
    /// None but the first one, which has this length.
    fn new(form: Form, length: u64) -> Self {
        Self {
            form,
            rest: Vec::new(),
            known: HashSet::new(),
            bytes: length,
        }
    }
}

/// The bytes between a signature and a checksum.
fn checked<'a>(bytes: &'a [u8], signature: &[u8; 4]) -> Result<&'a [u8]> {
    let Some((covered, checksum)) = bytes.split_last_chunk::<4>() else {
        return Err(damaged("a part of the file is too short"));
    };
    let (expected, actual) = (u32::from_le_bytes(*checksum), jenkins_lookup3(covered));
    if expected != actual {
        return Err(Error::ChecksumMismatch { expected, actual });
    }
    let found = covered.strip_prefix(signature);
    found.ok_or_else(|| damaged("a part of the file has another signature"))
}

fn after(address: u64, bytes: u64) -> Result<u64> {
    let sum = address.checked_add(bytes);
    sum.ok_or(Error::OffsetOutOfBounds(address))
}

fn size(length: u64) -> Result<usize> {
    match length <= MOST_BYTES {
        true => Ok(length as usize),
        false => Err(damaged("a part of an object's header is too long")),
    }
}

/// The error of a damaged file.
pub fn damaged(what: &str) -> Error {
    Error::InvalidData(what.to_owned())
}
