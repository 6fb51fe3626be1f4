//! Updates of a compressed field: a part is replaced, and only its chunks are recoded.

use crate::cpu::Version;
use crate::cpu::blocks::ChunkDecoder;
use crate::cpu::code::fixed_length::{IMAGE_BYTES, Source};
use crate::cpu::mapping::coded::fill_chunk;
use crate::cpu::mapping::conversion;
use crate::cpu::mapping::mask::MaskDecoder;
use crate::decompress::read;
use crate::error::Error;
use crate::nearby::is_close;
use crate::part::Part;
use crate::reading::{Reading, regions};
use crate::scratch::Copies;
use crate::stream_ref::{StoredChunk, StreamRef};
use crate::table::Table;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::{BlockLayout, Family};
use ferrosz_codec::container::region::Region;
use ferrosz_codec::container::table::CHUNK_ALIGNMENT;
use ferrosz_codec::container::update::{NewChunk, to_bytes};
use ferrosz_codec::with_element;
use ferrosz_codec::{Bound, Element, FormatError, Value};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
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
type Replace<T> = fn(&StreamRef<'_>, &Part, &[T], IsTight<'_, T>) -> Result<Update, Error>;

/// Whether an element of the coded field stands for a value that the quantiser's error may move beyond the bound, or to a
/// fill value. The chunks of such elements are stored raw.
type IsTight<'a, T> = &'a dyn Fn(T) -> bool;

impl Update {
    /// The update that replaces a part of a stream's field by `values`, in the order of the part's elements. Only
    /// chunks that the part touches are read and recoded, within the absolute error of the stream, which was resolved
    /// when the stream was made: a bound relative to the range refers to the first field.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
    /// use ferrosz::stream::Update;
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
    pub fn new<V: Value>(stream: &[u8], part: &Part, values: &[V]) -> Result<Self, Error> {
        let stream = read::<V>(stream)?;
        stream.refuse_safeguards("an update")?;
        let conversion = &stream.conversion;
        let error = stream.header.quantizer::<V::Coded>()?.error();
        let close = CloseToFill::of(&stream, error);
        let is_tight = |element| {
            let value = conversion.to_value::<V>(element);
            let is_value = conversion.to_coded(value).to_bits64() == element.to_bits64();
            is_value && !conversion.has_room(value, error) || close.has(element)
        };
        let coded = conversion::to_coded(Copies::InMemory, conversion, None, values)?;
        with_element!(V::Coded::DTYPE, E => {
            compiled_here!(update: Replace<E> = Update::of::<E>);
            let is_tight = |element: E| is_tight(<V::Coded as Element>::from_bits64(element.to_bits64()));
            update()(&stream, part, bytemuck::cast_slice(&coded), &is_tight)
        })
    }

    fn of<T: Element>(
        stream: &StreamRef<'_>,
        part: &Part,
        values: &[T],
        is_tight: IsTight<'_, T>,
    ) -> Result<Self, Error> {
        let header = stream.header;
        let Family::Blocks(layout) = header.layout().family() else {
            return Err(Error::UpdateOfTiles);
        };
        let decoder = ChunkDecoder::new(Version::best(), stream, layout, true)?;
        let reading = Reading::new(&header.layout(), &stream.order, Some(part))?;
        let chunks = changed_chunks(&decoder, &reading, values)?;
        let mut recoded = Vec::new();
        let mut image = vec![0; IMAGE_BYTES];
        for (number, elements) in &chunks {
            let (form, bytes, sum) =
                encode_alone(&decoder, *number, elements, is_tight, &mut image)?;
            recoded.push((*number, form, sum, image[..bytes].to_vec()));
        }
        recoded.extend(changed_mask(stream, &reading, values)?);
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

/// The chunks of the mask that a part touches, recoded.
fn changed_mask<T: Element>(
    stream: &StreamRef<'_>,
    reading: &Reading,
    values: &[T],
) -> Result<Vec<NewChunk>, Error> {
    let Some(decoder) = MaskDecoder::new(stream, true) else {
        return Ok(Vec::new());
    };
    let (mut coded, mut rest) = (Vec::new(), values);
    for piece in &reading.of_mask {
        let (own, behind) = rest.split_at(piece.elements() as usize);
        coded.extend_from_slice(&piece.gather(own));
        rest = behind;
    }
    let regions = regions(&reading.of_mask);
    let touched: BTreeSet<u64> = (regions.iter())
        .flat_map(|region| decoder.chunks_of(region))
        .collect();
    let table = Table::of(&stream.header);
    let recode = |chunk| {
        let (number, form, bytes) = decoder.recode(chunk, &regions, &coded)?;
        let sum = table.sealed(number, form.id(), checksum(0, &bytes));
        Ok((number, form, sum, bytes))
    };
    touched.into_iter().map(recode).collect()
}

/// The elements of a coded field that are so close to the element of a fill value that they may be decoded to it.
struct CloseToFill<'a, T> {
    stream: &'a StreamRef<'a>,
    error: T,
}

impl<'a, T: Element> CloseToFill<'a, T> {
    fn of(stream: &'a StreamRef<'_>, error: T) -> Self {
        Self { stream, error }
    }

    fn has(&self, element: T) -> bool {
        let mapping = &self.stream.mapping;
        let coded = |bits: &u64| mapping.coded(T::from_bits64(*bits), false);
        is_close(
            mapping.classes.fills().iter().map(coded),
            self.error,
            element,
        )
    }
}

/// Puts holes into a chunk of the coded field where the stream's mask has classes of fill values: an element that was decoded
/// to a fill value may be valid.
fn put_holes<T: Element>(
    decoder: &ChunkDecoder<'_, T>,
    number: u64,
    elements: &mut [T],
) -> Result<(), Error> {
    let Some(mask) = MaskDecoder::new(decoder.stream, true) else {
        return Ok(());
    };
    let grid = &decoder.layout.grid;
    let ChunkBox {
        origin: [z, y, x],
        extents: [depth, height, width],
    } = grid.chunk(number);
    let rows = (0..depth * height).map(|row| {
        let at = [z + u64::from(row / height), y + u64::from(row % height), x];
        grid.flat(at)..grid.flat(at) + u64::from(width)
    });
    Ok(mask.put_holes(rows, elements)?)
}

/// The chunks of the coded field that a part touches, by number, with the elements of the part replaced.
fn changed_chunks<T: Element>(
    decoder: &ChunkDecoder<'_, T>,
    reading: &Reading,
    values: &[T],
) -> Result<BTreeMap<u64, Vec<T>>, Error> {
    let elements = reading.elements();
    if elements != values.len() as u64 {
        return Err(Error::PartMismatch {
            elements,
            found: values.len() as u64,
        });
    }
    let mut chunks = BTreeMap::new();
    let mut rest = values;
    for piece in &reading.pieces {
        let (own, behind) = rest.split_at(piece.elements() as usize);
        let own = piece.gather(own);
        let mut of_regions = &own[..];
        for region in piece.regions() {
            let (of_region, after) = of_regions.split_at(region.elements() as usize);
            for number in region.chunk_numbers(&decoder.layout.grid) {
                replace(decoder, &region, number, of_region, &mut chunks)?;
            }
            of_regions = after;
        }
        rest = behind;
    }
    Ok(chunks)
}

/// Replaces the elements of a chunk of the coded field that are in a region by those of the region's `values`.
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
            put_holes(decoder, number, &mut elements)?;
            place.insert(elements)
        }
    };
    for (place, at) in pieces {
        for (element, value) in elements[place].iter_mut().zip(&values[at..]) {
            (*element, _) = decoder.stream.mapping.to_coded(*value);
        }
    }
    Ok(())
}

/// Encodes one chunk of the coded field as a separate field of its extents.
fn encode_alone<T: Element>(
    decoder: &ChunkDecoder<'_, T>,
    number: u64,
    elements: &[T],
    is_tight: IsTight<'_, T>,
    image: &mut [u8],
) -> Result<(Form, usize, u64), Error> {
    let BlockLayout { codec, grid } = &decoder.layout;
    let alone = Grid::alone(grid, &grid.chunk(number));
    let mapping = &decoder.stream.mapping;
    let mut coded = elements.to_vec();
    if mapping.has_holes() {
        fill_chunk(&alone, &mut coded)?;
    }
    let source = Source {
        field: &coded,
        grid: &alone,
        chunk: 0,
    };
    let quantizer = decoder.quantizer.with_holes(mapping.has_holes());
    let is_present = |element: &&T| !quantizer.is_hole(**element);
    let mut present = elements.iter().filter(is_present);
    let (form, bytes, sum) = match present.any(|element| is_tight(*element)) {
        true => {
            let bytes = put_raw(source.field, image);
            (Form::Raw, bytes, checksum(0, &image[..bytes]))
        }
        false => (decoder.version).encode(*codec, &quantizer, source, image),
    };
    let table = Table::of(&decoder.stream.header);
    Ok((form, bytes, table.sealed(number, form.id(), sum)))
}

/// Writes a chunk in its raw form; returns its bytes.
fn put_raw<T: Element>(elements: &[T], image: &mut [u8]) -> usize {
    let bytes = elements.len() * T::BYTES;
    for (place, element) in image.chunks_exact_mut(T::BYTES).zip(elements) {
        place.copy_from_slice(&element.to_bits64().to_le_bytes()[..T::BYTES]);
    }
    let padded = bytes.next_multiple_of(CHUNK_ALIGNMENT as usize);
    image[bytes..padded].fill(0);
    padded
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
    let header = without_updates(&stream)?;
    for number in 0..header.chunks() {
        let StoredChunk { entry, seed, bytes } = stream.chunk(number)?;
        if checksum(seed, bytes) != entry.checksum {
            return Err(FormatError::ChunkChecksum { chunk: number }.into());
        }
    }
    let mut compacted = stream.rewrite(header, stream.records, 0..header.chunks())?;
    stream.copy_sections(&mut compacted)?;
    Ok(compacted)
}

/// The header of a stream without its updates, whose bytes it still counts.
pub(crate) fn without_updates(stream: &StreamRef<'_>) -> Result<Header, Error> {
    let mut header = stream.header;
    if header.update_bytes != 0 && header.bound.needs_extremes() {
        header.bound = Bound::abs(stream.absolute_error())?;
    }
    Ok(header)
}
