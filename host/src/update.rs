//! Updates of a compressed field: a part is replaced, and only its chunks are recoded.

use crate::cpu::Version;
use crate::cpu::blocks::ChunkDecoder;
use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::error::Error;
use crate::part::Part;
use crate::stream::{StoredChunk, StreamRef};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::{BlockLayout, Family};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::update::to_bytes;
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Element, FormatError};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// The replacement of a part of a stream: bytes to append, and then a new header.
///
/// If they are written in this order, the stream is complete at every moment: until the header is written it is the old
/// stream, and readers skip the appended bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Bytes to write from byte [`Update::append_at`] on.
    pub appended: Vec<u8>,
    /// The end of the stream.
    pub append_at: u64,
    /// Bytes that replace the stream's first bytes, after the others were appended.
    pub header: [u8; HEADER_BYTES],
    /// The number of recoded chunks.
    pub chunks: u64,
}

/// [`Update::of`] values of an element type.
type Replace<T> = fn(&[u8], &Part, &[T]) -> Result<Update, Error>;

impl Update {
    /// The update that replaces a part of a stream's field by `values`, in the order of the part's elements. Only
    /// chunks that the part touches are read and recoded, within the absolute error of the stream, which was resolved
    /// when the stream was made: a bound relative to the range refers to the first field.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part, Update};
    ///
    /// let field = vec![1.0f32; 100_000];
    /// let mut stream = Compressor::new(Codec::PLAIN, Bound::abs(0.01)?).compress(&field)?;
    /// let part = Part::Elements(40_000..40_003);
    /// Update::new(&stream, &part, &[5.0f32, 6.0, 7.0])?.apply(&mut stream);
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert!((decoded[40_001] - 6.0).abs() <= 0.01 && (decoded[50_000] - 1.0).abs() <= 0.01);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UpdateOfTiles`] for codecs of tiles, [`Error::Format`] if the stream or a touched chunk is damaged,
    /// [`Error::RangeOutside`], [`Error::BoxOutside`], and [`Error::PartMismatch`] if the number of `values` is not the
    /// number of the part's elements.
    pub fn new<T: Element>(stream: &[u8], part: &Part, values: &[T]) -> Result<Self, Error> {
        // A static; see `cpu::compress`.
        with_element!(T::DTYPE, E => {
            static UPDATE: Replace<E> = Update::of::<E>;
            UPDATE(stream, part, bytemuck::cast_slice(values))
        })
    }

    fn of<T: Element>(stream: &[u8], part: &Part, values: &[T]) -> Result<Self, Error> {
        let stream = &StreamRef::read(stream)?;
        let header = stream.header;
        let Family::Blocks(layout) = header.layout().family() else {
            return Err(Error::UpdateOfTiles);
        };
        let decoder = ChunkDecoder::new(Version::best(), stream, layout, true)?;
        let chunks = changed_chunks(&decoder, part, values)?;
        let mut recoded = Vec::new();
        let mut image = vec![0; IMAGE_BYTES];
        for (number, elements) in &chunks {
            let (form, bytes, sum) = encode_alone(&decoder, *number, elements, &mut image);
            recoded.push((*number, form, sum, image[..bytes].to_vec()));
        }
        let appended = if recoded.is_empty() {
            Vec::new()
        } else {
            to_bytes(header.identity(), &recoded)
        };
        let updated = Header {
            update_bytes: header.update_bytes + appended.len() as u64,
            ..header
        };
        Ok(Self {
            append_at: header.stream_bytes(),
            header: updated.to_bytes(),
            chunks: recoded.len() as u64,
            appended,
        })
    }

    /// Updates a stream in memory.
    pub fn apply(&self, stream: &mut Vec<u8>) {
        stream.truncate(usize::try_from(self.append_at).unwrap_or(usize::MAX));
        stream.extend_from_slice(&self.appended);
        stream[..HEADER_BYTES].copy_from_slice(&self.header);
    }

    /// Updates a stream in a file that is open for writing. Whatever interrupts the process, the file has the old
    /// stream or the new one: the header, 160 bytes at the start of the file, is written last, with one write, and only
    /// after the other bytes are on the disk.
    ///
    /// # Errors
    ///
    /// The errors of the file; it then holds the old stream or, if the last step failed, possibly the new one.
    pub fn apply_to_file(&self, file: &mut File) -> io::Result<()> {
        // Otherwise bytes of an unfinished update could remain behind the end of a shorter one.
        file.set_len(self.append_at)?;
        file.seek(SeekFrom::Start(self.append_at))?;
        file.write_all(&self.appended)?;
        file.sync_data()?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&self.header)?;
        file.sync_data()
    }
}

/// The chunks that a part touches, by number: their elements, with those of the part replaced.
fn changed_chunks<T: Element>(
    decoder: &ChunkDecoder<'_, T>,
    part: &Part,
    values: &[T],
) -> Result<BTreeMap<u64, Vec<T>>, Error> {
    let regions = part.regions(&decoder.stream.header.layout())?;
    let elements: u64 = regions.iter().map(|region| region.elements()).sum();
    if elements != values.len() as u64 {
        return Err(Error::PartMismatch {
            elements,
            found: values.len() as u64,
        });
    }
    let mut chunks = BTreeMap::new();
    let mut rest = values;
    for region in &regions {
        let (own, behind) = rest.split_at(region.elements() as usize);
        for number in region.chunk_numbers(&decoder.layout.grid) {
            replace(decoder, region, number, own, &mut chunks)?;
        }
        rest = behind;
    }
    Ok(chunks)
}

/// Replaces the elements of a chunk that are in a region by the region's `values`.
fn replace<T: Element>(
    decoder: &ChunkDecoder<'_, T>,
    region: &Region,
    number: u64,
    values: &[T],
    chunks: &mut BTreeMap<u64, Vec<T>>,
) -> Result<(), Error> {
    let mut pieces = Vec::new();
    decoder.for_pieces(number, region, |from, at| pieces.push((from, at as usize)));
    if pieces.is_empty() {
        return Ok(());
    }
    let elements = match chunks.entry(number) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let count = decoder.layout.grid.chunk(number).elements() as usize;
            let mut elements = vec![T::ZERO; count];
            decoder.decode(number, &mut elements)?;
            place.insert(elements)
        }
    };
    for (place, at) in pieces {
        let count = place.len();
        elements[place].copy_from_slice(&values[at..at + count]);
    }
    Ok(())
}

/// Encodes one chunk as a separate field of its extents.
fn encode_alone<T: Element>(
    decoder: &ChunkDecoder<'_, T>,
    number: u64,
    elements: &[T],
    image: &mut [u8],
) -> (Form, usize, u64) {
    let BlockLayout { codec, grid } = &decoder.layout;
    let alone = Grid::alone(grid, &grid.chunk(number));
    let source = Source {
        field: elements,
        grid: &alone,
        chunk: 0,
    };
    let (form, bytes, _) = (decoder.version).encode(*codec, &decoder.quantizer, source, image);
    let seed = decoder.stream.header.identity().seed(number, form.id());
    (form, bytes, checksum(seed, &image[..bytes]))
}

/// A stream without updates that holds the same chunks, without the replaced ones. Chunks are copied, not recoded. If
/// there were updates, a bound relative to the field no longer refers to this field, so the new header has the mode
/// `abs`, with the absolute error of all chunks.
///
/// # Errors
///
/// [`Error::Format`] if the stream or one of its chunks is damaged, and [`Error::OutOfMemory`].
pub fn compact(stream: &[u8]) -> Result<Vec<u8>, Error> {
    let stream = StreamRef::read(stream)?;
    let mut header = stream.header;
    if header.update_bytes != 0 && header.bound.needs_extremes() {
        header.bound = Bound::abs(header.absolute_error())?;
    }
    for number in 0..header.chunks() {
        let StoredChunk { entry, seed, bytes } = stream.chunk(number)?;
        if checksum(seed, bytes) != entry.checksum {
            return Err(FormatError::ChunkChecksum { chunk: number }.into());
        }
    }
    stream.rewrite(header, stream.records, 0..header.chunks())
}
