//! The messages of a transfer.
//!
//! | message | from | bytes, numbers little-endian |
//! | --- | --- | --- |
//! | greeting | sender | `FERROSZ>`; version, u32; value type, content, rank, 0, each u8; eight extents, u64; most elements of a window, u64; CRC-32 of the bytes before it, u32 |
//! | reply | receiver | 0 if it agrees, otherwise 1, u8; length, u16; so many bytes of text |
//! | window | sender | `WIND`; number, u64; length, u64; so many bytes: a stream or values |
//! | end | sender | `DONE`; number of windows, u64; CRC-32 of all values that the streams decode to, u32 |
//! | receipt | receiver | a reply; if it agrees, also the CRC-32 of all values that arrived, u32 |
//!
//! A transfer is a greeting, a reply, the windows in their order, the end, a receipt. No length of a message is trusted: it
//! is checked against a limit that follows from the greeting, and memory grows as bytes arrive.

use crate::field_file::write_values;
use crc32fast::Hasher;
use ferrosz::codec::container::extents::MAX_RANK;
use ferrosz::windows::Windows;
use ferrosz::{Value, ValueType};
use std::io::{self, Read, Write};
use thiserror::Error;

const MAGIC: [u8; 8] = *b"FERROSZ>";

/// The version of these messages.
pub const VERSION: u32 = 2;

/// Bytes of a greeting behind magic and version.
const GREETING: usize = 4 + 8 * MAX_RANK + 8 + 4;

const WINDOW: [u8; 4] = *b"WIND";

const END: [u8; 4] = *b"DONE";

/// Bytes of the values of a window at most, whatever the receiver allows.
pub const MOST_WINDOW_BYTES: u64 = 1 << 30;

/// Bytes of a reply's text at most.
const MOST_TEXT: usize = 1000;

/// Bytes of a stream beside those of its values, at most.
const STREAM_EXTRA: u64 = 1 << 20;

/// The errors of a message.
#[derive(Debug, Error)]
pub enum MessageError {
    /// The bytes are no greeting.
    #[error("its first bytes are not those of `ferrosz send`")]
    NoGreeting,
    /// Another version.
    #[error(
        "it speaks version {0} of the protocol, and this is version {VERSION}: update the older one"
    )]
    Version(u32),
    /// A message that cannot be.
    #[error("it sent {0}")]
    Invalid(String),
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn invalid(what: impl Into<String>) -> MessageError {
    MessageError::Invalid(what.into())
}

/// What windows carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Streams.
    Streams,
    /// Values, not compressed.
    Values,
}

/// The field that will come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The type of the values.
    pub value_type: ValueType,
    /// What windows carry.
    pub content: Content,
    /// The windows of the field.
    pub windows: Windows,
    /// The most elements of a window, from which the windows follow.
    pub most: u64,
}

impl Greeting {
    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let extents = self.windows.extents();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.push(self.value_type.id());
        bytes.push(match self.content {
            Content::Streams => 0,
            Content::Values => 1,
        });
        bytes.extend([extents.len() as u8, 0]);
        for axis in 0..MAX_RANK {
            bytes.extend(extents.get(axis).unwrap_or(&1).to_le_bytes());
        }
        bytes.extend(self.most.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the message.
    ///
    /// # Errors
    ///
    /// [`MessageError`], also for extents and windows that are too large.
    pub fn read(reader: &mut impl Read) -> Result<Self, MessageError> {
        let mut start = [0; 12];
        reader.read_exact(&mut start)?;
        let (magic, version) = start.split_at(8);
        if magic != MAGIC {
            return Err(MessageError::NoGreeting);
        }
        let version = u32::from_le_bytes(version.try_into().unwrap_or_default());
        if version != VERSION {
            return Err(MessageError::Version(version));
        }
        let mut rest = [0; GREETING];
        reader.read_exact(&mut rest)?;
        let (rest, sum) = rest.split_at(GREETING - 4);
        let found = crc32fast::hash(&[&start[..], rest].concat());
        if found.to_le_bytes() != sum {
            return Err(invalid("a damaged greeting"));
        }
        let (ids, numbers) = rest.split_at(4);
        let (numbers, _) = numbers.as_chunks::<8>();
        let numbers: Vec<u64> = numbers
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect();
        let value_type = ValueType::from_id(ids[0]).ok_or_else(|| invalid("an unknown type"))?;
        let content = match ids[1] {
            0 => Content::Streams,
            1 => Content::Values,
            _ => return Err(invalid("an unknown kind of content")),
        };
        let lengths = (1..=MAX_RANK).contains(&usize::from(ids[2]));
        let lengths = lengths.then(|| &numbers[..usize::from(ids[2])]);
        let most = numbers[MAX_RANK];
        let windows = lengths.and_then(|lengths| Windows::new(lengths, most).ok());
        let windows = windows.ok_or_else(|| invalid("extents that no array has"))?;
        let of_field: Option<u64> = (windows.extents().iter())
            .try_fold(value_type.bytes() as u64, |bytes, length| {
                bytes.checked_mul(*length)
            });
        if of_field.is_none_or(|bytes| bytes > i64::MAX.cast_unsigned()) {
            return Err(invalid("extents that no array has"));
        }
        if windows.most_elements() > MOST_WINDOW_BYTES / value_type.bytes() as u64 {
            return Err(invalid("windows of more than a GiB"));
        }
        Ok(Self {
            value_type,
            content,
            windows,
            most,
        })
    }

    /// Bytes of the values of the field.
    pub fn field_bytes(&self) -> u64 {
        let elements: u64 = self.windows.extents().iter().product();
        elements * self.value_type.bytes() as u64
    }

    /// Bytes of the values of the largest window.
    pub fn window_bytes(&self) -> u64 {
        self.windows.most_elements() * self.value_type.bytes() as u64
    }

    /// Writes a window.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn write_window(writer: &mut impl Write, number: u64, bytes: &[u8]) -> io::Result<()> {
        let mut head = WINDOW.to_vec();
        head.extend(number.to_le_bytes());
        head.extend((bytes.len() as u64).to_le_bytes());
        writer.write_all(&head)?;
        writer.write_all(bytes)
    }

    /// Reads the window with this number and so many elements.
    ///
    /// # Errors
    ///
    /// [`MessageError`].
    pub fn read_window(
        &self,
        reader: &mut impl Read,
        number: u64,
        elements: u64,
    ) -> Result<Vec<u8>, MessageError> {
        let head = read_head::<20>(reader, WINDOW)?;
        let [found, length] = [4, 12].map(|at| number_at(&head, at));
        if found != number {
            return Err(invalid(format!(
                "window {found} in place of window {number}"
            )));
        }
        let of_values = elements * self.value_type.bytes() as u64;
        let is_possible = match self.content {
            Content::Values => length == of_values,
            // No codec makes a stream so long; elements of 4 bytes may have the place of values of 2.
            Content::Streams => length <= 4 * of_values + STREAM_EXTRA,
        };
        if !is_possible {
            return Err(invalid(format!(
                "window {number} with {length} bytes for values of {of_values}"
            )));
        }
        let mut bytes = Vec::new();
        // Memory grows as bytes arrive.
        let read = reader.by_ref().take(length).read_to_end(&mut bytes)?;
        match read as u64 == length {
            true => Ok(bytes),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// Writes the end of the field.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn write_end(&self, writer: &mut impl Write, sum: u32) -> io::Result<()> {
        let mut bytes = END.to_vec();
        bytes.extend(self.windows.len().to_le_bytes());
        bytes.extend(sum.to_le_bytes());
        writer.write_all(&bytes)?;
        writer.flush()
    }

    /// Reads the end of the field, and compares it with the sum of the values that arrived.
    ///
    /// # Errors
    ///
    /// [`MessageError`].
    pub fn read_end(&self, reader: &mut impl Read, sum: u32) -> Result<(), MessageError> {
        let bytes = read_head::<16>(reader, END)?;
        let windows = number_at(&bytes, 4);
        if windows != self.windows.len() {
            return Err(invalid(format!(
                "the end of {windows} windows, but the field has {}",
                self.windows.len()
            )));
        }
        match bytes[12..] == sum.to_le_bytes() {
            true => Ok(()),
            false => Err(invalid(
                "the checksum of other values than those that arrived",
            )),
        }
    }
}

/// The bytes of a message that begins with a tag.
fn read_head<const N: usize>(
    reader: &mut impl Read,
    tag: [u8; 4],
) -> Result<[u8; N], MessageError> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    match bytes[..4] == tag {
        true => Ok(bytes),
        false => Err(invalid(format!(
            "other bytes in place of the message {}",
            String::from_utf8_lossy(&tag)
        ))),
    }
}

/// The number at a position of a message.
fn number_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..at + 8).and_then(<[u8]>::first_chunk);
    bytes.copied().map_or(0, u64::from_le_bytes)
}

/// Writes a reply: `refusal` says why the receiver does not agree.
///
/// # Errors
///
/// The errors of the writer.
pub fn write_reply(writer: &mut impl Write, refusal: Option<&str>) -> io::Result<()> {
    let text = refusal.unwrap_or_default().as_bytes();
    let text = &text[..text.len().min(MOST_TEXT)];
    let mut bytes = vec![u8::from(refusal.is_some())];
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text);
    writer.write_all(&bytes)?;
    writer.flush()
}

/// Reads a reply; the text of a refusal.
///
/// # Errors
///
/// [`MessageError`].
pub fn read_reply(reader: &mut impl Read) -> Result<Option<String>, MessageError> {
    let mut head = [0; 3];
    reader.read_exact(&mut head)?;
    let [status, length @ ..] = head;
    let length = usize::from(u16::from_le_bytes(length));
    if status > 1 || length > MOST_TEXT {
        return Err(invalid("a reply that is none of `ferrosz receive`"));
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text)?;
    // A terminal must not obey it.
    let text = String::from_utf8_lossy(&text).replace(|c: char| c.is_control(), " ");
    Ok((status == 1).then_some(text))
}

/// Writes the receipt of a field that arrived whole.
///
/// # Errors
///
/// The errors of the writer.
pub fn write_receipt(writer: &mut impl Write, sum: u32) -> io::Result<()> {
    write_reply(writer, None)?;
    writer.write_all(&sum.to_le_bytes())?;
    writer.flush()
}

/// Reads a receipt, and compares it with the sum of the values that were sent; the text of a refusal.
///
/// # Errors
///
/// [`MessageError`].
pub fn read_receipt(reader: &mut impl Read, sum: u32) -> Result<Option<String>, MessageError> {
    if let Some(refusal) = read_reply(reader)? {
        return Ok(Some(refusal));
    }
    let mut found = [0; 4];
    reader.read_exact(&mut found)?;
    match found == sum.to_le_bytes() {
        true => Ok(None),
        false => Err(invalid(
            "a receipt with the checksum of other values than those that were sent",
        )),
    }
}

/// The checksum of values, as they lie in a file.
#[derive(Default)]
pub struct Sum(Hasher);

impl Sum {
    /// Adds values.
    pub fn add<V: Value>(&mut self, values: &[V]) {
        // It takes all bytes.
        let _ = write_values(self, values);
    }

    /// The sum of all values.
    pub fn value(self) -> u32 {
        self.0.finalize()
    }
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greeting(extents: &[u64], most: u64) -> Greeting {
        Greeting {
            value_type: ValueType::F32,
            content: Content::Streams,
            windows: Windows::new(extents, most).unwrap(),
            most,
        }
    }

    /// A greeting with other bytes at a position, and the right checksum.
    fn forged(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut whole = greeting(&[10, 20], 100).to_bytes();
        let end = whole.len() - 4;
        whole[at..at + bytes.len()].copy_from_slice(bytes);
        let sum = crc32fast::hash(&whole[..end]);
        whole[end..].copy_from_slice(&sum.to_le_bytes());
        whole
    }

    #[test]
    fn greetings_are_read_as_written() {
        for extents in [&[10, 20][..], &[1], &[0, 5], &[1, 2, 3, 4, 5, 6, 7, 8]] {
            for content in [Content::Streams, Content::Values] {
                let greeting = Greeting {
                    content,
                    ..greeting(extents, 50)
                };
                let read = Greeting::read(&mut &greeting.to_bytes()[..]).unwrap();
                assert_eq!(read, greeting);
            }
        }
    }

    #[test]
    fn every_cut_and_every_flip_of_a_greeting_is_refused() {
        let whole = greeting(&[10, 20], 100).to_bytes();
        for length in 0..whole.len() {
            assert!(Greeting::read(&mut &whole[..length]).is_err(), "{length}");
        }
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Greeting::read(&mut &flipped[..]).is_err(), "{bit}");
        }
    }

    #[test]
    fn forged_greetings_are_refused() {
        let huge = u64::MAX.to_le_bytes();
        let refusal = |bytes: &[u8]| Greeting::read(&mut &bytes[..]).unwrap_err().to_string();
        assert!(refusal(&forged(8, &[9, 0, 0, 0])).contains("version 9"));
        assert!(refusal(&forged(0, b"GET / HT")).contains("first bytes"));
        assert!(refusal(&forged(12, &[77])).contains("type"));
        assert!(refusal(&forged(13, &[2])).contains("content"));
        assert!(refusal(&forged(14, &[0])).contains("extents"));
        assert!(refusal(&forged(14, &[9])).contains("extents"));
        assert!(refusal(&forged(16, &huge)).contains("extents"));
        let large = [(1u64 << 31).to_le_bytes(), 3u64.to_le_bytes()].concat();
        let mut bytes = forged(16, &large);
        assert!(Greeting::read(&mut &bytes[..]).is_ok(), "windows of 100");
        let end = bytes.len() - 4;
        bytes[80..88].copy_from_slice(&huge);
        let sum = crc32fast::hash(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&sum);
        assert!(refusal(&bytes).contains("a GiB"));
        let large = [(1u64 << 40).to_le_bytes(), (1u64 << 22).to_le_bytes()].concat();
        assert!(refusal(&forged(16, &large)).contains("extents"));
    }

    #[test]
    fn windows_come_in_order_and_are_not_longer_than_they_can_be() {
        let greeting = greeting(&[10, 20], 100);
        let mut bytes = Vec::new();
        Greeting::write_window(&mut bytes, 3, b"stream").unwrap();
        let read = |bytes: &[u8], number| greeting.read_window(&mut &bytes[..], number, 100);
        assert_eq!(read(&bytes, 3).unwrap(), b"stream");
        assert!(
            read(&bytes, 2)
                .unwrap_err()
                .to_string()
                .contains("in place of window 2")
        );
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length], 3).is_err(), "{length}");
        }
        // So many bytes do not come, and are not waited for.
        bytes[12..20].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        assert!(
            read(&bytes, 3)
                .unwrap_err()
                .to_string()
                .contains("for values of 400")
        );
        bytes[..4].copy_from_slice(b"WINE");
        assert!(
            read(&bytes, 3)
                .unwrap_err()
                .to_string()
                .contains("other bytes")
        );
        let values = Greeting {
            content: Content::Values,
            ..greeting.clone()
        };
        let mut bytes = Vec::new();
        Greeting::write_window(&mut bytes, 0, &[7; 399]).unwrap();
        assert!(values.read_window(&mut &bytes[..], 0, 100).is_err());
    }

    #[test]
    fn the_end_is_that_of_the_values() {
        let greeting = greeting(&[10, 20], 100);
        let mut bytes = Vec::new();
        greeting.write_end(&mut bytes, 77).unwrap();
        assert!(greeting.read_end(&mut &bytes[..], 77).is_ok());
        let refusal = |bytes: &[u8], sum| greeting.read_end(&mut &bytes[..], sum).unwrap_err();
        assert!(refusal(&bytes, 78).to_string().contains("checksum"));
        bytes[4] += 1;
        assert!(refusal(&bytes, 77).to_string().contains("3 windows"));
    }

    #[test]
    fn replies_are_short_text() {
        let reply = |refusal: Option<&str>| {
            let mut bytes = Vec::new();
            write_reply(&mut bytes, refusal).unwrap();
            read_reply(&mut &bytes[..]).unwrap()
        };
        assert_eq!(reply(None), None);
        assert_eq!(
            reply(Some("no\x1b[2Jroom\n")).as_deref(),
            Some("no [2Jroom ")
        );
        assert_eq!(
            reply(Some(&"x".repeat(5000))).map(|text| text.len()),
            Some(MOST_TEXT)
        );
        assert!(read_reply(&mut &[0, 255, 255][..]).is_err());
        assert!(read_reply(&mut &b"HTTP/1.1"[..]).is_err());
    }

    #[test]
    fn a_receipt_is_that_of_the_values() {
        let mut bytes = Vec::new();
        write_receipt(&mut bytes, 77).unwrap();
        assert_eq!(read_receipt(&mut &bytes[..], 77).unwrap(), None);
        let refusal = read_receipt(&mut &bytes[..], 78).unwrap_err().to_string();
        assert!(refusal.contains("checksum"), "{refusal}");
        // A reply without a sum says nothing about the values.
        assert!(read_receipt(&mut &bytes[..3], 77).is_err());
        let mut bytes = Vec::new();
        write_reply(&mut bytes, Some("no")).unwrap();
        let found = read_receipt(&mut &bytes[..], 77).unwrap();
        assert_eq!(found.as_deref(), Some("no"));
    }

    #[test]
    fn sums_are_those_of_the_bytes_of_a_file() {
        let mut sum = Sum::default();
        sum.add(&[1.0f32, 2.0]);
        sum.add(&[3.0f32]);
        let bytes: Vec<u8> = [1.0f32, 2.0, 3.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        assert_eq!(sum.value(), crc32fast::hash(&bytes));
    }
}
