//! Fields in parts without a group: the plan by which parts are made one by one.

mod elements;
mod part;
mod record;

use crate::compress::{Compressor, in_order};
use crate::cpu::mapping::conversion;
use crate::cpu::tiles::Reader;
use crate::cpu::tiles::compress::Field;
use crate::cpu::tiles::holder::Alone;
use crate::cpu::{self, Version};
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::job::Job;
use crate::sample;
use crate::stream_ref::{self, StreamRef};
use crate::table::Table;
use crate::tolerance::Tolerance;
use crate::ways::Way;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::{Family, Layout};
use ferrosz_codec::container::tiles::{Prologue, TileLayout};
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::mask::ClassCount;
use ferrosz_codec::{Codec, Element, Preference, Value, ValueType, with_element};
use record::field;

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
    /// The records of the stream.
    records: Vec<u8>,
    /// A number made from values of all the field, so that a part is hardly made from another field.
    fingerprint: u64,
    /// The prologue and the coarse field.
    start: EncodedChunks,
}

const MAGIC: &[u8; 8] = b"FSZPLAN3";

/// Bytes of the start of a plan: magic, number of parts, number of records, fingerprint, header.
const HEAD_BYTES: usize = 32 + HEADER_BYTES;

/// Values of the fingerprint: so few that a field of any length is hardly read for it, and so many that two fields of an
/// ensemble do not agree in all of them.
const FINGERPRINT_VALUES: u64 = 4096;

impl Compressor {
    /// Plans the compression of a field in so many parts. The parameters of codecs of tiles are decided, which takes up to
    /// a tenth of the time of compression. A preset chooses for the whole field, among the codecs that need
    /// [no mask](Compressor::choose_without_mask). The field is copied if its values are converted or its axes are turned.
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`]; [`Error::Refused`] with settings that plans [cannot have](crate::ways);
    /// [`Error::BadPlan`] without parts.
    pub fn plan<V: Value>(&self, field: &[V], parts: u64) -> Result<Plan, Error> {
        let elements = field.len() as u64;
        let compressor = self.with_extents(self.extents_for(elements)?);
        compressor.check_way::<V>(Way::Plan)?;
        if parts == 0 {
            return Err(Error::BadPlan("a plan has at least one part".to_owned()));
        }
        let chosen = compressor.choose_without_mask(field)?;
        chosen.max_compressed_len(elements, V::TYPE)?;
        let (coder, conversion) = chosen.convert_in_parts(Way::Plan, field, |_| Ok(()))?;
        let (layout, order) = (chosen.layout_for(elements)?, chosen.order_for(elements)?);
        let job = Job {
            layout,
            tolerance: chosen.tolerance(coder.bound()),
            bound_of_values: self.bound(),
            mapping: ValueMapping::default(),
            order,
            conversion,
        };
        let coded = conversion::to_coded(self.copies, &conversion, None, field)?;
        let turned = in_order(self.copies, layout.extents.lengths(), &order, &coded)?;
        let (error_bits, start) = with_element!(V::Coded::DTYPE, E => {
            compiled_here!(start: StartOf<E> = start_of::<E>);
            start()(&job, bytemuck::cast_slice(&turned))?
        });
        let records = job.records();
        Ok(Plan {
            parts,
            header: job.header(&records, error_bits),
            records,
            fingerprint: fingerprint(field),
            start,
        })
    }
}

/// [`Plan::check_start`] of an element type.
type CheckStart = fn(&Plan, &TileLayout) -> Result<(), Error>;

/// [`start_of`] an element type.
type StartOf<T> = fn(&Job, &[T]) -> Result<(u64, EncodedChunks), Error>;

/// The bits of the absolute error of a coded field, and its prologue and coarse field.
fn start_of<T: Element>(job: &Job, values: &[T]) -> Result<(u64, EncodedChunks), Error> {
    let version = Version::best();
    let (quantizer, tightening) = cpu::resolve(version, job.tolerance, values);
    let mut start = EncodedChunks::default();
    if let (Some(layout), false) = (job.layout.tiles(), values.is_empty()) {
        let holder = Alone::new(&layout, values);
        let field = Field {
            version,
            layout: &layout,
            quantizer: &quantizer,
        };
        let begun = field.begin(tightening, &holder)?;
        field.put_start(&holder, &begun, &mut |wave, _| start.append(wave))?;
    }
    Ok((quantizer.error().to_bits64(), start))
}

/// The checksum of values from all parts of a field.
fn fingerprint<V: Value>(values: &[V]) -> u64 {
    let all = values.len() as u64;
    let taken = sample::spread(all, all.min(FINGERPRINT_VALUES));
    let taken: Vec<V> = taken.map(|at| values[at as usize]).collect();
    let mut bytes = bytemuck::cast_slice(&taken).to_vec();
    // Checksums are of whole words.
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    checksum(0, &bytes)
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

    /// Whether the values are the parts of complex numbers.
    pub fn is_complex(&self) -> bool {
        Order::of_records(&self.records, &self.header).is_ok_and(|order| order.is_complex())
    }

    /// The extents of the field.
    pub fn extents(&self) -> Vec<u64> {
        let coded = &self.header.extents;
        let order = Order::of_records(&self.records, &self.header);
        let extents = order.map_or(*coded, |order| order.user_extents(coded));
        extents.lengths().to_vec()
    }

    /// The codec of the stream.
    pub fn codec(&self) -> Codec {
        self.header.codec
    }

    /// The plan as bytes for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let records = self.start.listings.len() as u64;
        for number in [self.parts, records, self.fingerprint] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.header.to_bytes());
        bytes.extend(&self.records);
        bytes.extend(record::list(&self.start.listings));
        bytes.extend_from_slice(&self.start.bytes);
        bytes.extend(checksum(0, &bytes).to_le_bytes());
        bytes
    }

    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// [`Error::BadPlan`] if the bytes are no plan, or damaged; [`Error::Format`] for its header; [`Error::OutOfMemory`].
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::BadPlan("the plan is damaged".to_owned());
        let (bytes, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        if !bytes.starts_with(MAGIC) {
            return Err(Error::BadPlan("it is no plan of `ferrosz part`".to_owned()));
        }
        if bytes.len() % 4 != 0 || checksum(0, bytes) != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let (head, behind) = bytes.split_at_checked(HEAD_BYTES).ok_or_else(damaged)?;
        let header = Header::read(&head[HEAD_BYTES - HEADER_BYTES..])?;
        let records = usize::try_from(header.record_bytes).ok();
        let split = records.and_then(|records| behind.split_at_checked(records));
        let (records, behind) = split.ok_or_else(damaged)?;
        let (listings, bytes) = record::read(behind, 0, field(head, 2)).ok_or_else(damaged)?;
        let start = record::complete(listings, bytes).ok_or_else(damaged)?;
        if start.listings.len() as u64 != start_entries(&header) || field(head, 1) == 0 {
            return Err(damaged());
        }
        let plan = Self {
            parts: field(head, 1),
            header,
            records: records.to_vec(),
            fingerprint: field(head, 3),
            start: EncodedChunks {
                listings: start.listings,
                bytes: start.bytes.to_vec(),
            },
        };
        match plan.check() {
            Err(Error::Format(_)) => Err(damaged()),
            checked => checked.map(|()| plan),
        }
    }

    /// Refuses what no field has as its plan: the stream of its parts would be damaged.
    fn check(&self) -> Result<(), Error> {
        let (header, job) = (&self.header, self.job()?);
        let records = job.records();
        if job.header(&records, header.error_bits) != *header || records != self.records {
            return Err(Error::BadPlan("the plan is damaged".to_owned()));
        }
        let layout = match header.layout().family() {
            Family::Tiles(layout) if header.extents.elements() > 0 => layout,
            _ => return Ok(()),
        };
        with_element!(header.dtype, E => {
            compiled_here!(check: CheckStart = Plan::check_start::<E>);
            check()(self, &layout)
        })
    }

    fn check_start<T: Element>(&self, layout: &TileLayout) -> Result<(), Error> {
        self.with_start::<T, ()>(layout, |_, _| Ok(()))
    }

    /// The job of the stream, but for the bound of the coded field and those of its levels, which are resolved.
    fn job(&self) -> Result<Job, Error> {
        let (header, records) = (&self.header, &self.records);
        Ok(Job {
            layout: Layout {
                classes: ClassCount::default(),
                ..header.layout()
            },
            tolerance: Tolerance {
                bound: header.bound,
                tightening: Preference::Ratio.tightening(),
            },
            bound_of_values: header.bound,
            mapping: ValueMapping::default(),
            order: Order::of_records(records, header)?,
            conversion: stream_ref::conversion(header, records)?,
        })
    }

    /// Calls `run` with the prologue and the decoded coarse field.
    fn with_start<T: Element, R>(
        &self,
        layout: &TileLayout,
        run: impl FnOnce(&Prologue<T>, &[T]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let header = self.header;
        let (table, mut end) = (Table::of(&header), 0);
        let entries = self.start.listings.iter().map(|chunk| {
            end += chunk.bytes;
            table.entry(chunk, end - chunk.bytes)
        });
        let entries: Vec<_> = entries.collect();
        let stream = StreamRef::of_start(header, &self.records, &entries, &self.start.bytes)?;
        let reader = Reader::<T>::new(Version::best(), &stream, layout, true)?;
        let first = self.start.listings.first();
        let length = first.map_or(0, |prologue| prologue.bytes as usize);
        let prologue = self.start.bytes.get(..length).unwrap_or_default();
        let error = header.quantizer::<T>()?.error();
        let read = Prologue::read(layout, error, prologue);
        let (prologue, _) = read.map_err(|fault| fault.in_chunk(0))?;
        run(&prologue, reader.known())
    }

    /// A number made from all of the plan, so that parts of another field are not joined where its plan differs.
    fn identity(&self) -> u64 {
        checksum(0, &self.to_bytes())
    }
}

/// The entries of a plan: the prologue and the coarse field.
fn start_entries(header: &Header) -> u64 {
    match header.layout().family() {
        Family::Blocks(_) => 0,
        Family::Tiles(layout) => layout.entries() - layout.entries().min(layout.fine_chunks()),
    }
}
