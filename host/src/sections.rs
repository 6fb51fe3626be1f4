//! Sections behind the chunks of a stream.

use crate::error::Error;
use crate::memory;
use crate::stream_ref::StreamRef;
use ferrosz_codec::FormatError;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::container::section::{self, Section};
use ferrosz_codec::container::statistics;

/// A section to write: its kind and its contents.
pub(crate) type NewSection<'a> = (RecordKind, &'a [u8]);

/// Appends sections to a stream without updates. They lie behind sections that it has.
///
/// # Errors
///
/// [`Error::Format`] if the header is damaged; [`Error::OutOfMemory`].
pub(crate) fn append(stream: &mut Vec<u8>, sections: &[NewSection<'_>]) -> Result<(), Error> {
    let mut header = Header::read(stream)?;
    for (kind, contents) in sections {
        let bytes = section::to_bytes(*kind, contents, header.identity());
        memory::append(stream, &bytes)?;
        header.payload_bytes += bytes.len() as u64;
        header.has_sections = true;
        header.needs_sections |= kind.is_critical();
    }
    stream[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
    Ok(())
}

impl<'a> StreamRef<'a> {
    /// The contents of the section of a kind; none if the stream has none.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidSections`] if they are damaged.
    pub(crate) fn section(&self, kind: RecordKind) -> Result<Option<&'a [u8]>, FormatError> {
        self.section_fault.map_or(Ok(()), Err)?;
        let found = self.sections.iter().find(|one| one.head.kind == kind);
        found.map(Section::contents).transpose()
    }

    /// Appends the sections of this stream to a rewritten one, but for statistics that updates have made wrong.
    ///
    /// # Errors
    ///
    /// As [`append`], and [`Error::Format`] if a section is damaged.
    pub(crate) fn copy_sections(&self, stream: &mut Vec<u8>) -> Result<(), Error> {
        let is_outdated = self.header.update_bytes > 0;
        let all = self.sections.iter();
        let all = all.filter(|one| !(is_outdated && one.head.kind == statistics::KIND));
        let all = all.map(|one| Ok((one.head.kind, one.contents()?)));
        append(stream, &all.collect::<Result<Vec<_>, FormatError>>()?)
    }

    /// Checks the contents of all sections.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidSections`].
    pub(crate) fn check_sections(&self) -> Result<(), FormatError> {
        self.section_fault.map_or(Ok(()), Err)?;
        let mut all = self.sections.iter();
        all.try_for_each(|one| one.contents().map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::writer::Writer;
    use crate::encoded::EncodedChunks;
    use crate::stream::{StreamAt, Update, compact};
    use crate::table::Table;
    use crate::{Bound, Codec, Compressor, Decompressor, Device, Part};
    use ferrosz_codec::oracle;

    const NOTE: RecordKind = RecordKind(*b"note");
    const NEEDED: RecordKind = RecordKind(*b"NOTE");

    fn field() -> Vec<f32> {
        let value = |i: u32| {
            if i % 97 == 5 {
                -9.0
            } else {
                (i as f32 * 0.01).sin()
            }
        };
        (0..120_000).map(value).collect()
    }

    /// Streams of blocks and tiles, with and without a mask.
    fn streams() -> Vec<Vec<u8>> {
        let mut streams = Vec::new();
        for codec in [
            Codec::PLAIN,
            Codec::LORENZO,
            Codec::INTERP,
            Codec::LORENZO_RANS,
        ] {
            let compressor = Compressor::new(codec, Bound::abs(1e-3).unwrap());
            let compressor = compressor.extents(&[2, 200, 300]).unwrap();
            let masked = compressor.fill(-9.0).unwrap();
            streams.extend([compressor, masked].map(|one| one.compress(&field()).unwrap()));
        }
        streams
    }

    fn with(stream: &[u8], sections: &[NewSection<'_>]) -> Vec<u8> {
        let mut stream = stream.to_vec();
        append(&mut stream, sections).unwrap();
        stream
    }

    fn decode(stream: &[u8]) -> Result<Vec<f32>, Error> {
        Decompressor::new().device(Device::Cpu).decompress(stream)
    }

    #[test]
    fn unknown_sections_are_passed_over_or_refused_in_every_way() {
        let part = Part::Box(vec![1..2, 50..53, 7..200]);
        for stream in streams() {
            let noted = with(
                &stream,
                &[(NOTE, b"hello"), (RecordKind(*b"more"), &[7; 40])],
            );
            let values = decode(&stream).unwrap();
            assert_eq!(decode(&noted).unwrap(), values);
            assert_eq!(oracle::decompress::<f32>(&noted).unwrap(), values);
            #[cfg(feature = "emulator")]
            {
                let emulator = Decompressor::new().device(Device::Emulator);
                assert_eq!(emulator.decompress::<f32>(&noted).unwrap(), values);
            }
            let of_part: Vec<f32> = Decompressor::new().decompress_part(&stream, &part).unwrap();
            let mut at = StreamAt::open(&noted[..]).unwrap();
            let found: Vec<f32> = at.decompress_part(&Decompressor::new(), &part).unwrap();
            assert_eq!(found, of_part);
            assert_eq!(Decompressor::new().check(&noted).unwrap(), []);
            let read = StreamRef::read(&noted).unwrap();
            assert_eq!(read.section(NOTE).unwrap(), Some(&b"hello"[..]));
            let needed = with(&noted, &[(NEEDED, b"")]);
            let unknown = |error| matches!(error, Error::Format(FormatError::Unknown { .. }));
            assert!(unknown(decode(&needed).unwrap_err()));
            assert!(oracle::decompress::<f32>(&needed).is_err());
            let mut at = StreamAt::open(&needed[..]).unwrap();
            let refused = at.decompress_part::<f32>(&Decompressor::new(), &part);
            assert!(unknown(refused.unwrap_err()));
        }
    }

    #[test]
    fn damaged_sections_are_found() {
        for stream in streams() {
            let noted = with(&stream, &[(NOTE, &[3; 20])]);
            for at in stream.len()..noted.len() {
                let mut damaged = noted.clone();
                damaged[at] ^= 32;
                assert!(decode(&damaged).is_ok(), "{at}");
                assert!(Decompressor::new().check(&damaged).is_err(), "{at}");
            }
            assert!(decode(&noted[..noted.len() - 1]).is_err());
            let needed = with(&noted, &[(NEEDED, &[3; 20])]);
            for at in (0..needed.len() - noted.len()).map(|at| noted.len() + at) {
                let mut damaged = needed.clone();
                damaged[at] ^= 32;
                assert!(decode(&damaged).is_err(), "{at}");
            }
        }
    }

    #[test]
    fn updates_lie_behind_sections_and_compaction_keeps_these() {
        let bound = Bound::range(1e-3).unwrap();
        let stream = Compressor::new(Codec::PLAIN, bound)
            .compress(&field())
            .unwrap();
        let mut noted = with(&stream, &[(NOTE, b"hello")]);
        let part = Part::Elements(9000..9003);
        let update = Update::new(&noted, &part, &[5.0f32, 6.0, 7.0]).unwrap();
        update.apply(&mut noted);
        assert!((decode(&noted).unwrap()[9001] - 6.0).abs() < 0.01);
        let compacted = compact(&noted).unwrap();
        assert_eq!(decode(&compacted).unwrap(), decode(&noted).unwrap());
        let read = StreamRef::read(&compacted).unwrap();
        assert_ne!(
            read.header.identity(),
            Header::read(&noted).unwrap().identity()
        );
        assert_eq!(read.section(NOTE).unwrap(), Some(&b"hello"[..]));
    }

    #[test]
    fn a_writer_appends_the_same_sections() {
        for stream in streams() {
            let read = StreamRef::read(&stream).unwrap();
            let mut written = Vec::new();
            let mut writer = Writer::new(read.header, read.records, &mut written).unwrap();
            for number in 0..read.header.chunks() {
                let chunk = read.chunk(number).unwrap();
                let bytes = chunk.bytes.len() as u64;
                let listing = Table::of(&read.header).listing(number, &chunk.entry, bytes);
                let chunk = EncodedChunks {
                    listings: vec![listing],
                    bytes: chunk.bytes,
                };
                writer.append(&[chunk]).unwrap();
            }
            writer.append_section(NOTE, b"hello").unwrap();
            writer.finish().unwrap();
            assert!(written == with(&stream, &[(NOTE, b"hello")]));
        }
    }
}
