//! The CPU backend: the codec's own functions, chunks in parallel.

use crate::error::Error;
use crate::info::table;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::encode::chunk::{self, IMAGE_BYTES};
use ferrosz_codec::error::ChunkFault;
use ferrosz_codec::quantize::Quantizer;
use ferrosz_codec::stream::chunk::CHUNK;
use ferrosz_codec::stream::container::{Extents, HEADER_BYTES, Header};
use ferrosz_codec::stream::table::{ENTRY_BYTES, Entry};
use ferrosz_codec::{Bound, Codec, Element, FormatError};
use rayon::prelude::*;
use std::ops::Range;

/// Chunks that one task encodes: enough to make a task's start and its buffer cheap.
const TASK_CHUNKS: usize = 16;

/// Told how many more elements are done.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// What a task has encoded: entries whose places count from the task's own payload, and that.
struct Encoded {
    entries: Vec<Entry>,
    payload: Vec<u8>,
}

/// Smallest and largest finite value.
pub(crate) fn extremes<T: Element>(values: &[T]) -> Extremes<T> {
    values
        .par_chunks(TASK_CHUNKS * CHUNK)
        .map(|values| {
            let mut extremes = Extremes::default();
            for value in values {
                extremes.see(*value);
            }
            extremes
        })
        .reduce(Extremes::default, Extremes::union)
}

/// Compresses a field whose extents have been checked.
pub(crate) fn compress<T: Element>(
    codec: Codec,
    bound: Bound,
    extents: Extents,
    values: &[T],
    progress: Progress<'_>,
) -> Vec<u8> {
    let extremes = if bound.needs_extremes() {
        extremes(values)
    } else {
        Extremes::default()
    };
    let quantizer = bound.resolve(&extremes);
    let tasks: Vec<Encoded> = values
        .par_chunks(TASK_CHUNKS * CHUNK)
        .enumerate()
        .map(|(task, values)| {
            let encoded = encode(codec, &quantizer, task * TASK_CHUNKS, values);
            progress(values.len() as u64);
            encoded
        })
        .collect();
    let header = Header {
        dtype: T::DTYPE,
        codec,
        extents,
        bound,
        error_bits: quantizer.error().to_bits64(),
        payload_bytes: tasks.iter().map(|task| task.payload.len() as u64).sum(),
    };
    assemble(&header, &tasks)
}

fn encode<T: Element>(
    codec: Codec,
    quantizer: &Quantizer<T>,
    first_chunk: usize,
    values: &[T],
) -> Encoded {
    let mut image = vec![0; IMAGE_BYTES];
    let mut encoded = Encoded {
        entries: Vec::with_capacity(TASK_CHUNKS),
        payload: Vec::new(),
    };
    for (index, values) in (first_chunk as u64..).zip(values.chunks(CHUNK)) {
        let (form, bytes, sum) = chunk::encode(codec, quantizer, index, values, &mut image);
        let start = encoded.payload.len() as u64;
        encoded.entries.push(Entry::new(start, form, sum));
        encoded.payload.extend_from_slice(&image[..bytes]);
    }
    encoded
}

fn assemble(header: &Header, tasks: &[Encoded]) -> Vec<u8> {
    let mut stream = Vec::with_capacity(header.stream_bytes() as usize);
    stream.extend_from_slice(&header.to_bytes());
    let mut start = 0;
    for task in tasks {
        for entry in &task.entries {
            let placed = Entry {
                start: start + entry.start,
                ..*entry
            };
            stream.extend_from_slice(&placed.to_bytes());
        }
        start += task.payload.len() as u64;
    }
    for task in tasks {
        stream.extend_from_slice(&task.payload);
    }
    stream
}

/// Decodes elements `range`, which lie within the field, into `values`. `stream` is whole.
pub(crate) fn decompress<T: Element>(
    header: &Header,
    stream: &[u8],
    range: Range<u64>,
    verify: bool,
    values: &mut [T],
    progress: Progress<'_>,
) -> Result<(), Error> {
    let quantizer = header.quantizer::<T>()?;
    let table = table(header, stream)?;
    let payload = &stream[HEADER_BYTES + table.len() * ENTRY_BYTES..];
    let source = Source {
        header,
        quantizer,
        table,
        payload,
        verify,
    };
    // Of several faults, the one in the lowest chunk is reported, whoever finds his first.
    let fault = pieces(range, values)
        .into_par_iter()
        .filter_map(|(chunk, skip, out)| {
            let result = source.decode(chunk, skip, out);
            progress(out.len() as u64);
            result.err().map(|fault| (chunk, fault))
        })
        .min_by_key(|(chunk, _)| *chunk);
    match fault {
        None => Ok(()),
        Some((_, fault)) => Err(Error::Format(fault)),
    }
}

/// Cuts the output at the borders of chunks: chunk number, elements of it to skip, output.
fn pieces<T>(range: Range<u64>, mut values: &mut [T]) -> Vec<(u64, usize, &mut [T])> {
    let mut pieces = Vec::new();
    let mut at = range.start;
    while !values.is_empty() {
        let skip = (at % CHUNK as u64) as usize;
        let count = (CHUNK - skip).min(values.len());
        let (piece, rest) = values.split_at_mut(count);
        pieces.push((at / CHUNK as u64, skip, piece));
        values = rest;
        at += count as u64;
    }
    pieces
}

struct Source<'a, T> {
    header: &'a Header,
    quantizer: Quantizer<T>,
    table: &'a [[u8; ENTRY_BYTES]],
    payload: &'a [u8],
    verify: bool,
}

impl<T: Element> Source<'_, T> {
    /// Decodes a chunk without its first `skip` elements, as far as `out` goes.
    fn decode(&self, chunk: u64, skip: usize, out: &mut [T]) -> Result<(), FormatError> {
        let elements =
            ferrosz_codec::stream::chunk::chunk_elements(self.header.elements(), chunk) as usize;
        let (entry, bytes) = self.bytes(chunk).ok_or(ChunkFault::Place.in_chunk(chunk))?;
        let decode = |values: &mut [T]| {
            chunk::decode(
                self.header.codec,
                &self.quantizer,
                chunk,
                &entry,
                bytes,
                self.verify,
                values,
            )
            .map_err(|fault| fault.in_chunk(chunk))
        };
        if out.len() == elements {
            return decode(out);
        }
        let mut whole = vec![T::ZERO; elements];
        decode(&mut whole)?;
        out.copy_from_slice(&whole[skip..skip + out.len()]);
        Ok(())
    }

    /// A chunk's entry and bytes; none if the table puts it where it cannot be.
    fn bytes(&self, chunk: u64) -> Option<(Entry, &[u8])> {
        let index = usize::try_from(chunk).ok()?;
        let entry = Entry::from_bytes(self.table.get(index)?);
        let end = match self.table.get(index + 1) {
            Some(next) => Entry::from_bytes(next).start,
            None => self.payload.len() as u64,
        };
        let range = usize::try_from(entry.start).ok()?..usize::try_from(end).ok()?;
        Some((entry, self.payload.get(range)?))
    }
}
