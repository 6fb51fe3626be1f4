//! Fields in parts without a group: a plan, parts that are made by it one by one, and the stream of all parts.

use crate::compress::Compressor;
use crate::cpu::blocks::compress::{Encoder, Task};
use crate::cpu::sink::Sink;
use crate::cpu::tiles::Reader;
use crate::cpu::tiles::chunks::{Image, Numbers};
use crate::cpu::tiles::compress::Field;
use crate::cpu::tiles::kept::Kept;
use crate::cpu::writer::Writer;
use crate::cpu::{self, Progress, Version};
use crate::error::Error;
use crate::heading::Heading;
use crate::large::Written;
use crate::memory;
use crate::stream::StreamRef;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::container::tiles::Prologue;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Codec, Element, Value, ValueType, with_element};
use std::io::{Seek, Write};
use std::ops::Range;

/// How a field is compressed in parts: its header, and with codecs of tiles the prologue and the coarse field. With it
/// each part can be compressed alone, on any machine that reads the field, in any order; then the parts are joined.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::parts::Plan;
/// use ferrosz::{Bound, Codec, Compressor};
/// use std::io::Cursor;
///
/// let field: Vec<f32> = (0..200_000).map(|i| (i as f32 * 1e-3).sin()).collect();
/// let compressor = Compressor::new(Codec::INTERP, Bound::range(1e-3)?).extents(&[20, 100, 100])?;
/// let plan = compressor.plan(&field, 2)?.to_bytes();
/// let part = |number| {
///     let mut file = Cursor::new(Vec::new());
///     Plan::read(&plan)?.compress(number, &field, &mut file, &|_| {})?;
///     Ok::<_, ferrosz::Error>(file.into_inner())
/// };
/// let parts = [part(0)?, part(1)?];
/// let mut file = Cursor::new(Vec::new());
/// Plan::read(&plan)?.join(&[&parts[0], &parts[1]], &mut file)?;
/// assert_eq!(file.into_inner(), compressor.compress(&field)?);
/// # Ok::<(), ferrosz::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    parts: u64,
    /// The header of the stream; the payload's length is missing.
    header: Header,
    /// The prologue and the coarse field.
    start: Chunks,
}

/// Chunks that follow each other.
#[derive(Debug, Clone, PartialEq, Default)]
struct Chunks {
    records: Vec<Record>,
    bytes: Vec<u8>,
}

/// A chunk, as plans and parts describe it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Record {
    form: u32,
    bytes: u64,
    /// The checksum without a seed.
    sum: u64,
}

/// The records of chunks, and their bytes one behind the other.
type Listed<'a> = (Vec<Record>, &'a [u8]);

const PLAN: &[u8; 8] = b"FSZPLAN1";
const PART: &[u8; 8] = b"FSZPART1";

/// Bytes of a record in a file.
const RECORD_BYTES: usize = 24;

/// Bytes of the start of a part: magic, identity of the plan, number, chunks, bytes of chunks, checksum of these and of the
/// records.
const PART_BYTES: usize = 48;

/// Bytes of the start of a plan: magic, number of parts, number of records, header.
const PLAN_BYTES: usize = 24 + HEADER_BYTES;

impl Record {
    fn to_bytes(self) -> impl Iterator<Item = u8> {
        let fields = [u64::from(self.form), self.bytes, self.sum];
        fields.into_iter().flat_map(u64::to_le_bytes)
    }

    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Self {
        Self {
            form: number(bytes, 0) as u32,
            bytes: number(bytes, 1),
            sum: number(bytes, 2),
        }
    }
}

/// The number at this place of bytes, which have it.
fn number(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(8 * at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Records in a file, and the bytes behind them.
fn records(bytes: &[u8], count: u64) -> Option<Listed<'_>> {
    let end = usize::try_from(count).ok()?.checked_mul(RECORD_BYTES)?;
    let (records, behind) = bytes.split_at_checked(end)?;
    let records = records.as_chunks().0.iter().map(Record::from_bytes);
    Some((records.collect(), behind))
}

impl Compressor {
    /// Plans the compression of a field in so many parts. The parameters of codecs of tiles are decided, which takes up to
    /// a tenth of the time of compression.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::PartsSettings`] as [`Compressor::compress_part`]; [`Error::NotChosen`] with a
    /// preset: call [`Compressor::choose`] first; [`Error::BadPlan`] without parts.
    pub fn plan<V: Value>(&self, field: &[V], parts: u64) -> Result<Plan, Error> {
        let extents = self.extents_for(field.len() as u64)?;
        let whole: Vec<Range<u64>> = extents.lengths().iter().map(|length| 0..*length).collect();
        let compressor = self.with_extents(extents);
        let layout = compressor.layout_of_parts::<V>(&whole, field.len())?;
        if parts == 0 {
            return Err(Error::BadPlan("a plan has at least one part".to_owned()));
        }
        let bound = self.bound();
        // A function for each type; see `cpu::compress`.
        with_element!(V::Coded::DTYPE, E => {
            #[inline(never)]
            fn plan() -> fn(Layout, Bound, u64, &[E]) -> Result<Plan, Error> {
                plan_of::<E>
            }
            plan()(layout, bound, parts, bytemuck::cast_slice(field))
        })
    }
}

fn plan_of<T: Element>(
    layout: Layout,
    bound: Bound,
    parts: u64,
    values: &[T],
) -> Result<Plan, Error> {
    let version = Version::best();
    let quantizer = cpu::resolve(version, bound, values);
    let order = Order::identity(layout.extents.lengths().len());
    let header = layout.header(T::DTYPE, bound, quantizer.error().to_bits64());
    let header = Heading::plain::<T>(order, bound).header(header);
    let mut start = Chunks::default();
    if let (Some(layout), false) = (layout.tiles(), values.is_empty()) {
        let field = Field::new(version, &layout, &quantizer, values);
        let begun = field.begin()?;
        field.put_start(&begun, &mut |images, _| {
            for Image { form, bytes, sum } in images {
                start.records.push(Record {
                    form: form.id(),
                    bytes: bytes.len() as u64,
                    sum: *sum,
                });
                memory::append(&mut start.bytes, bytes)?;
            }
            Ok(())
        })?;
    }
    Ok(Plan {
        parts,
        header,
        start,
    })
}

impl Plan {
    /// The number of parts.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The type of the field's values.
    pub fn value_type(&self) -> ValueType {
        self.header.value_type
    }

    /// The extents of the field.
    pub fn extents(&self) -> &[u64] {
        self.header.extents.lengths()
    }

    /// The codec of the stream.
    pub fn codec(&self) -> Codec {
        self.header.codec
    }

    /// The plan as bytes for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = PLAN.to_vec();
        bytes.extend(self.parts.to_le_bytes());
        bytes.extend((self.start.records.len() as u64).to_le_bytes());
        bytes.extend(self.header.to_bytes());
        bytes.extend(
            self.start
                .records
                .iter()
                .flat_map(|record| record.to_bytes()),
        );
        bytes.extend_from_slice(&self.start.bytes);
        bytes.extend(checksum(0, &bytes).to_le_bytes());
        bytes
    }

    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// [`Error::BadPlan`] if the bytes are no plan, or damaged; [`Error::Format`] for its header.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::BadPlan("the plan is damaged".to_owned());
        let (bytes, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        if !bytes.starts_with(PLAN) {
            return Err(Error::BadPlan("it is no plan of `ferrosz part`".to_owned()));
        }
        if bytes.len() % 4 != 0 || checksum(0, bytes) != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let (head, behind) = bytes.split_at_checked(PLAN_BYTES).ok_or_else(damaged)?;
        let header = Header::read(&head[24..])?;
        let (records, chunks) = records(behind, number(head, 2)).ok_or_else(damaged)?;
        let lengths = records.iter().map(|record| record.bytes);
        let is_complete = lengths.fold(0, u64::saturating_add) == chunks.len() as u64;
        let is_of_layout = records.len() as u64 == start_entries(&header);
        match is_complete && is_of_layout && number(head, 1) > 0 {
            true => Ok(Self {
                parts: number(head, 1),
                header,
                start: Chunks {
                    records,
                    bytes: chunks.to_vec(),
                },
            }),
            false => Err(damaged()),
        }
    }

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

    /// A number made from all of the plan, so that parts of another field are not joined where its plan differs.
    fn identity(&self) -> u64 {
        checksum(0, &self.to_bytes())
    }

    /// Compresses a part of the field, which is given whole, such as a mapped file: only the values of the part and of its
    /// neighbours are read. Writes it from the writer's position on; returns its length. `progress` is called as by
    /// [`Compressor::compress_with_progress`].
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
        let mut sink = Written::new(&mut writer)?;
        sink.append(&[0; PART_BYTES])?;
        let mut records = Vec::new();
        if elements > 0 {
            let put = &mut |chunk: Record, bytes: &[u8]| {
                records.push(chunk);
                sink.append(bytes)
            };
            // A function for each type; see `cpu::compress`.
            with_element!(V::Coded::DTYPE, E => {
                #[inline(never)]
                fn encode_of() -> Encode<E> {
                    encode::<E>
                }
                encode_of()(self, part, bytemuck::cast_slice(field), progress, put)
            })?;
        }
        let listed: Vec<u8> = records
            .iter()
            .flat_map(|record| record.to_bytes())
            .collect();
        sink.append(&listed)?;
        let mut head = PART.to_vec();
        let bytes = records.iter().map(|record| record.bytes).sum();
        for number in [self.identity(), part, records.len() as u64, bytes] {
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
    /// [`Error::BadPlan`] if a part is missing, given twice, damaged, or of another plan; [`Error::Io`].
    pub fn join(
        &self,
        parts: &[&[u8]],
        mut writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        let mut by_number: Vec<Option<Listed<'_>>> = vec![None; parts.len()];
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
        let mut sink = Written::new(&mut writer)?;
        let mut stream = Writer::new(self.header, &[], &mut sink)?;
        for (at, record) in self.start.records.iter().enumerate() {
            match at {
                0 => stream.enter_prologue(record.bytes, record.sum),
                _ => stream.enter(record.form, record.bytes, record.sum),
            }
        }
        stream.append(&[&self.start.bytes])?;
        for (number, (records, mut bytes)) in by_number.into_iter().flatten().enumerate() {
            for Record {
                form,
                bytes: length,
                sum,
            } in records
            {
                // The lengths were summed up when the part was read.
                let chunk = bytes.split_off(..length as usize).unwrap_or_default();
                if checksum(0, chunk) != sum {
                    return Err(damaged(number as u64));
                }
                stream.enter(form, length, sum);
                stream.append(&[chunk])?;
            }
        }
        stream.finish()?;
        sink.finish()
    }

    /// The number of a part, its records and its chunks.
    fn read_part<'a>(&self, identity: u64, bytes: &'a [u8]) -> Result<(u64, Listed<'a>), Error> {
        let cut = || Error::BadPlan("a part is cut off".to_owned());
        let (head, behind) = bytes.split_at_checked(PART_BYTES).ok_or_else(cut)?;
        if !head.starts_with(PART) {
            let text = "a file is no part, or its compression did not end";
            return Err(Error::BadPlan(text.to_owned()));
        }
        let part = number(head, 2);
        if number(head, 1) != identity || part >= self.parts {
            return Err(Error::BadPlan(format!("part {part} is of another plan")));
        }
        let length = usize::try_from(number(head, 4)).ok();
        let split = length.and_then(|length| behind.split_at_checked(length));
        let (chunks, listed) = split.ok_or_else(cut)?;
        let (records, rest) = records(listed, number(head, 3)).ok_or_else(cut)?;
        let entries = self.entries(part);
        let lengths = records.iter().map(|record| record.bytes);
        let is_sound = checksum(checksum(0, &head[..40]), listed) == number(head, 5)
            && rest.is_empty()
            && records.len() as u64 == entries.end - entries.start
            && lengths.fold(0, u64::saturating_add) == chunks.len() as u64;
        match is_sound {
            true => Ok((part, (records, chunks))),
            false => Err(damaged(part)),
        }
    }
}

fn damaged(part: u64) -> Error {
    Error::BadPlan(format!("part {part} is damaged: compress it again"))
}

/// The entries of a plan: the prologue and the coarse field.
fn start_entries(header: &Header) -> u64 {
    match header.layout().family() {
        Family::Blocks(_) => 0,
        Family::Tiles(layout) => layout.entries() - layout.entries().min(layout.fine_chunks()),
    }
}

/// [`encode`] of an element type.
type Encode<T> = fn(&Plan, u64, &[T], Progress<'_>, Put<'_>) -> Result<(), Error>;

/// Called with a chunk and its bytes.
type Put<'a> = &'a mut (dyn FnMut(Record, &[u8]) -> Result<(), Error> + Send);

/// Encodes the chunks of a part.
fn encode<T: Element>(
    plan: &Plan,
    part: u64,
    values: &[T],
    progress: Progress<'_>,
    put: Put<'_>,
) -> Result<(), Error> {
    let (header, entries) = (plan.header, plan.entries(part));
    let version = Version::best();
    let quantizer: Quantizer<T> = header.quantizer()?;
    match header.layout().family() {
        Family::Blocks(layout) => {
            let encoder = Encoder {
                version,
                codec: layout.codec,
                quantizer: &quantizer,
                grid: layout.grid,
                field: values,
                progress,
            };
            encoder.encode(entries, &mut |tasks, _| {
                for task in tasks {
                    put_task(task, put)?;
                }
                Ok(())
            })
        }
        Family::Tiles(layout) => {
            let (mut table, mut start) = (Vec::new(), 0);
            for (number, record) in (0..).zip(&plan.start.records) {
                let entry = Entry {
                    start,
                    // The prologue's contents give its length.
                    bytes: if number == 0 { 0 } else { record.bytes },
                    form: record.form,
                    checksum: (header.identity().seed(number, record.form))
                        .wrapping_add(record.sum),
                };
                table.push(entry.to_bytes(header.layout().split()));
                start += record.bytes;
            }
            let stream = StreamRef::of_start(header, &table, &plan.start.bytes)?;
            let reader = Reader::<T>::new(version, &stream, &layout, true)?;
            let first = plan.start.records.first();
            let length = first.map_or(0, |prologue| prologue.bytes as usize);
            let prologue = plan.start.bytes.get(..length).unwrap_or_default();
            let (prologue, _) = Prologue::read(&layout, quantizer.error(), prologue)
                .map_err(|fault| fault.in_chunk(0))?;
            let first = start_entries(&header);
            let numbers: Vec<u64> = (entries.start - first..entries.end - first).collect();
            let field = Field::new(version, &layout, &quantizer, values);
            let (known, counted) = (reader.known(), Kept::default());
            let numbers = Numbers::Some(&numbers);
            field.put_chunks(
                &prologue,
                known,
                &counted,
                numbers,
                progress,
                &mut |images, _| {
                    for Image { form, bytes, sum } in images {
                        let record = Record {
                            form: form.id(),
                            bytes: bytes.len() as u64,
                            sum: *sum,
                        };
                        put(record, bytes)?;
                    }
                    Ok(())
                },
            )
        }
    }
}

fn put_task(task: &Task, put: Put<'_>) -> Result<(), Error> {
    for entry in task.entries() {
        let record = Record {
            form: entry.form,
            bytes: entry.bytes,
            sum: entry.checksum,
        };
        let range = entry.range();
        put(
            record,
            &task.bytes()[range.start as usize..range.end as usize],
        )?;
    }
    Ok(())
}
