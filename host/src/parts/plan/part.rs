//! Parts of a plan: each is a file, and all of them make a stream.

use super::elements::{AsTheyAre, Elements, Mapped, OfChunks, OfTiles};
use super::record::{self, field};
use super::{Plan, fingerprint, start_entries};
use crate::cpu::blocks::compress;
use crate::cpu::numbers::Numbers;
use crate::cpu::sink::Sink;
use crate::cpu::tiles::compress::{Field, KnownStart};
use crate::cpu::tiles::kept::Kept;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version};
use crate::encoded::{EncodedChunks, Put};
use crate::error::Error;
use crate::job::Job;
use crate::large::Written;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::Family;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Element, Value, with_value};
use std::io::{Seek, Write};
use std::ops::Range;

const MAGIC: &[u8; 8] = b"FSZPART1";

/// Bytes of the start of a part: magic, identity of the plan, number, chunks, bytes of chunks, checksum of these and of the
/// records.
const HEAD_BYTES: usize = 48;

impl Plan {
    /// The entries of a part.
    fn entries(&self, part: u64) -> Range<u64> {
        let first = start_entries(&self.header);
        let count = self.header.chunks() - first;
        let start = |part: u64| {
            let before = u128::from(count) * u128::from(part) / u128::from(self.parts);
            first + before as u64
        };
        start(part)..start(part + 1)
    }

    /// Compresses a part of the field, which is given whole, such as a mapped file: only the values of the part and of its
    /// neighbours are read. Writes it from the writer's position on; returns its length. `progress` is called as by
    /// [`Compressor::progress`](crate::Compressor::progress).
    ///
    /// # Errors
    ///
    /// [`Error::BadPlan`] if there is no such part, or the field is not that of the plan; [`Error::Io`];
    /// [`Error::OutOfMemory`].
    pub fn compress<V: Value>(
        &self,
        part: u64,
        field: &[V],
        mut writer: impl Write + Seek + Send,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<u64, Error> {
        let bad = |text: String| Err(Error::BadPlan(text));
        if part >= self.parts {
            return bad(format!(
                "there is no part {part}: the plan has {}",
                self.parts
            ));
        }
        let elements = self.header.extents.elements();
        if V::TYPE != self.header.value_type || field.len() as u64 != elements {
            return bad(format!(
                "the plan is of {elements} values of {}, the field has {} of {}",
                self.header.value_type,
                field.len(),
                V::TYPE
            ));
        }
        if fingerprint(field) != self.fingerprint {
            return bad("the plan is of a field with other values".to_owned());
        }
        let mut sink = Written::new(&mut writer)?;
        sink.append(&[0; HEAD_BYTES])?;
        let mut listings = Vec::new();
        if elements > 0 {
            let put = &mut |wave: &[EncodedChunks], _| {
                listings.extend(wave.iter().flat_map(|chunks| &chunks.listings));
                let parts: Vec<&[u8]> = wave.iter().map(|chunks| &chunks.bytes[..]).collect();
                sink.append_all(&parts)
            };
            with_value!(V::TYPE, W => {
                compiled_here!(encode_of: Encode<W> = Plan::encode::<W>);
                encode_of()(self, part, bytemuck::cast_slice(field), progress, put)
            })?;
        }
        let listed = record::list(&listings);
        sink.append(&listed)?;
        let mut head = MAGIC.to_vec();
        let bytes = listings.iter().map(|chunk| chunk.bytes).sum();
        for number in [self.identity(), part, listings.len() as u64, bytes] {
            head.extend(number.to_le_bytes());
        }
        head.extend(checksum(checksum(0, &head), &listed).to_le_bytes());
        sink.set_start(&head)?;
        sink.finish()
    }

    /// Joins the parts, in any order, to a stream, which is written from the writer's position on; returns its length. Every
    /// chunk is checked. The parts may be mapped files.
    ///
    /// # Errors
    ///
    /// [`Error::BadPlan`] if a part is missing, given twice, damaged, or of another plan; [`Error::Format`] if the parts have more
    /// bytes than a stream can have; [`Error::Io`]; [`Error::OutOfMemory`].
    pub fn join(
        &self,
        parts: &[&[u8]],
        mut writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        let mut by_number: Vec<Option<EncodedChunks<&[u8]>>> = vec![None; parts.len()];
        let identity = self.identity();
        for bytes in parts {
            let (number, part) = self.read_part(identity, bytes)?;
            let place = usize::try_from(number)
                .ok()
                .and_then(|at| by_number.get_mut(at));
            if place.is_some_and(|place| place.replace(part).is_some()) {
                return Err(Error::BadPlan(format!("part {number} is given twice")));
            }
        }
        let missing = |part: &u64| by_number.get(*part as usize).is_none_or(Option::is_none);
        if let Some(part) = (0..self.parts).find(missing) {
            return Err(Error::BadPlan(format!(
                "part {part} of {} is missing",
                self.parts
            )));
        }
        let lengths = by_number.iter().flatten().map(|part| part.bytes.len());
        let payload = lengths.sum::<usize>() + self.start.bytes.len();
        let whole = Header {
            payload_bytes: payload as u64,
            ..self.header
        };
        // A stream of more bytes than its field can have is none.
        Header::read(&whole.to_bytes())?;
        let mut sink = Written::new(&mut writer)?;
        let mut stream = Writer::new(self.header, &self.records, &mut sink)?;
        stream.append(std::slice::from_ref(&self.start))?;
        for (part, chunks) in (0..).zip(by_number.into_iter().flatten()) {
            if !chunks.is_sound() {
                return Err(damaged(part));
            }
            stream.append(&[chunks])?;
        }
        stream.finish()?;
        sink.finish()
    }

    /// The number of a part, and its chunks.
    fn read_part<'a>(
        &self,
        identity: u64,
        bytes: &'a [u8],
    ) -> Result<(u64, EncodedChunks<&'a [u8]>), Error> {
        let cut = || Error::BadPlan("a part is cut off".to_owned());
        let (head, behind) = bytes.split_at_checked(HEAD_BYTES).ok_or_else(cut)?;
        if !head.starts_with(MAGIC) {
            let text = "a file is no part, or its compression did not end";
            return Err(Error::BadPlan(text.to_owned()));
        }
        let part = field(head, 2);
        if field(head, 1) != identity || part >= self.parts {
            return Err(Error::BadPlan(format!("part {part} is of another plan")));
        }
        let length = usize::try_from(field(head, 4)).ok();
        let split = length.and_then(|length| behind.split_at_checked(length));
        let (chunks, listed) = split.ok_or_else(cut)?;
        let (entries, most) = (
            self.entries(part),
            self.header.layout().split().max_chunk_bytes(),
        );
        let read = record::read(listed, entries.start, field(head, 3));
        let (listings, rest) = read.ok_or_else(cut)?;
        let is_sound = checksum(checksum(0, &head[..40]), listed) == field(head, 5)
            && rest.is_empty()
            && listings.len() as u64 == entries.end - entries.start
            && listings.iter().all(|chunk| chunk.bytes <= most);
        match record::complete(listings, chunks).filter(|_| is_sound) {
            Some(chunks) => Ok((part, chunks)),
            None => Err(damaged(part)),
        }
    }
}

fn damaged(part: u64) -> Error {
    Error::BadPlan(format!("part {part} is damaged: compress it again"))
}

/// [`Plan::encode`] of a type of values.
type Encode<V> = fn(&Plan, u64, &[V], Progress<'_>, Put<'_>) -> Result<(), Error>;

impl Plan {
    /// Encodes the chunks of a part.
    fn encode<V: Value>(
        &self,
        part: u64,
        field: &[V],
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let Job {
            order, conversion, ..
        } = self.job()?;
        match conversion.is_none() && order.is_identity() {
            true => {
                let field = AsTheyAre::<V::Coded>(bytemuck::cast_slice(field));
                self.encode_of(part, &field, progress, put)
            }
            false => {
                let mapped = Mapped::new(field, conversion, &order, &self.header.extents);
                self.encode_of(part, &mapped, progress, put)
            }
        }
    }

    fn encode_of<T: Element>(
        &self,
        part: u64,
        elements: &dyn Elements<T>,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let (header, entries) = (self.header, self.entries(part));
        let version = Version::best();
        let quantizer: Quantizer<T> = header.quantizer()?;
        match header.layout().family() {
            Family::Blocks(layout) => {
                let grid = &layout.grid;
                let values = OfChunks { grid, elements };
                let chunks = Numbers::Range(entries);
                compress::encode(version, layout, &quantizer, &values, chunks, progress, put)
            }
            Family::Tiles(layout) => {
                let first = start_entries(&header);
                let numbers = Numbers::Range(entries.start - first..entries.end - first);
                let field = Field {
                    version,
                    layout: &layout,
                    quantizer: &quantizer,
                };
                let grid = &layout.fine;
                let values = OfTiles { grid, elements };
                let coarse = layout.coarse.unwrap_or(layout.fine);
                self.with_start(&layout, |prologue, decoded| {
                    let known = KnownStart {
                        prologue,
                        anchor: &|_, at| decoded[coarse.flat(at) as usize],
                        counted: &Kept::default(),
                        lines: None,
                    };
                    field.put_chunks(&values, known, numbers, progress, put)
                })
            }
        }
    }
}
