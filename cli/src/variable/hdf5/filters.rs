//! The filters of chunks, beside those that `hdf5-reader` has: deflate, shuffle, fletcher32, szip, n-bit, scale-offset and
//! LZ4.

use super::{bitshuffle, blosc, datatype::StoredNumber};
use crate::{variable::number::NumberType, variable::visible};
use bytemuck::{cast_slice, zeroed_vec};
use ferrosz::{Decompressor, Device, Value};
use hdf5_reader::error::Error;
use hdf5_reader::filters::{FilterRegistry, deflate};
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use std::io::Read;

/// The number of ferrosz's own filter.
const FERROSZ: u16 = 46657;

/// Why a chunk cannot be decoded.
pub type Fault = String;

/// A filter: the bytes of a chunk, the filter's parameters, and the most bytes that it may decode to.
type Filter = fn(&[u8], &[u32], usize) -> Result<Vec<u8>, Fault>;

/// The filters that are known by their bytes alone: number and name.
const FILTERS: [(u16, &str, Filter); 5] = [
    (307, "bzip2", unpack_bzip2),
    (32000, "LZF", lzf),
    (32001, "Blosc", blosc::decode),
    (32008, "bitshuffle", bitshuffle::decode),
    (32015, "zstd", |bytes, _, most| zstd(bytes, most)),
];

/// The names of filters that are not known.
const UNKNOWN: [(u16, &str); 12] = [
    (32002, "MAFISC"),
    (32003, "Snappy"),
    (32009, "SPDP"),
    (32013, "ZFP"),
    (32016, "FPZIP"),
    (32017, "SZ"),
    (32019, "JPEG"),
    (32022, "Bit Groom"),
    (32023, "Granular BitRound"),
    (32024, "SZ3"),
    (32026, "Blosc2"),
    (32028, "SPERR"),
];

/// The filters that `hdf5-reader` has.
const OF_READER: [u16; 7] = [1, 2, 3, 4, 5, 6, 32004];

/// The filters of a dataset's chunks. One that is not known is an error when a chunk needs it: chunks may do without.
pub fn registry(
    filters: &[FilterDescription],
    number: StoredNumber,
    chunk_bytes: usize,
) -> FilterRegistry {
    let mut registry = FilterRegistry::new();
    let most = most_between_filters(chunk_bytes);
    for (id, name, decode) in FILTERS {
        let filter = move |filter: &FilterDescription, bytes: &[u8], _: usize| {
            decode(bytes, &filter.client_data, most).map_err(|why| failed(name, &why))
        };
        registry.register(id, Box::new(filter));
    }
    let own = move |_: &FilterDescription, bytes: &[u8], _: usize| {
        ferrosz(bytes, number, chunk_bytes).map_err(|why| failed("ferrosz", &why))
    };
    registry.register(FERROSZ, Box::new(own));
    for filter in filters {
        let is_known = FILTERS.iter().any(|(id, ..)| *id == filter.id);
        if !is_known && filter.id != FERROSZ && !OF_READER.contains(&filter.id) {
            registry.register(filter.id, Box::new(|filter, _, _| Err(unknown(filter))));
        }
    }
    registry
}

/// The most bytes between two filters, as those after the first one may have made some more of what they could not pack.
fn most_between_filters(chunk_bytes: usize) -> usize {
    const MORE: usize = 1 << 16;

    chunk_bytes
        .saturating_add(chunk_bytes / 8)
        .saturating_add(MORE)
}

fn failed(name: &str, why: &str) -> Error {
    Error::FilterError(format!("the filter {name} cannot decode a chunk: {why}"))
}

fn unknown(filter: &FilterDescription) -> Error {
    let id = filter.id;
    let known = UNKNOWN.iter().find(|(known, _)| *known == id);
    let name = match (known, &filter.name) {
        (Some((_, name)), _) => (*name).to_owned(),
        (None, Some(name)) => format!("'{}'", visible(name)),
        (None, None) => "without a name".to_owned(),
    };
    Error::FilterError(format!(
        "the variable is coded with the filter {name}, number {id}, which is not known: copy the file without it, such as with \
         `h5repack -f NONE IN OUT` where the filter is installed"
    ))
}

/// The chunk of a stream, in the dataset's order of bytes.
fn ferrosz(stream: &[u8], number: StoredNumber, chunk_bytes: usize) -> Result<Vec<u8>, Fault> {
    match number.number_type {
        NumberType::F32 => own::<f32>(stream, number, chunk_bytes),
        NumberType::F64 => own::<f64>(stream, number, chunk_bytes),
        NumberType::F16 => own::<ferrosz::F16>(stream, number, chunk_bytes),
        NumberType::Bf16 => own::<ferrosz::Bf16>(stream, number, chunk_bytes),
        NumberType::I16 => own::<i16>(stream, number, chunk_bytes),
        NumberType::U16 => own::<u16>(stream, number, chunk_bytes),
        NumberType::I32 => own::<i32>(stream, number, chunk_bytes),
        NumberType::U32 => own::<u32>(stream, number, chunk_bytes),
        other => Err(format!("it has no type {}", other.name())),
    }
}

fn own<V: Value>(stream: &[u8], number: StoredNumber, bytes: usize) -> Result<Vec<u8>, Fault> {
    let mut values: Vec<V> = zeroed_vec(bytes / size_of::<V>());
    let decompressor = Decompressor::new().device(Device::Cpu);
    let count = decompressor
        .decompress_into(stream, &mut values)
        .map_err(|error| error.to_string())?;
    if count != values.len() {
        return Err(format!(
            "its stream has {count} values, the chunk {}",
            values.len()
        ));
    }
    let mut bytes = cast_slice::<V, u8>(&values).to_vec();
    if number.is_foreign() {
        bytes
            .chunks_exact_mut(size_of::<V>())
            .for_each(<[u8]>::reverse);
    }
    Ok(bytes)
}

fn unpack_bzip2(bytes: &[u8], _: &[u32], most: usize) -> Result<Vec<u8>, Fault> {
    read_all(bzip2::read::MultiBzDecoder::new(bytes), most)
}

/// The bytes of a Zstandard frame.
pub fn zstd(bytes: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    let decoder =
        ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| error.to_string())?;
    read_all(decoder, most)
}

/// The bytes of a zlib stream.
pub fn zlib(bytes: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    deflate::decompress_with_limit(bytes, most).map_err(|error| error.to_string())
}

/// The bytes of a block of LZ4, which are this many.
pub fn lz4(bytes: &[u8], length: usize) -> Result<Vec<u8>, Fault> {
    let mut decoded = vec![0; length];
    let found = lz4_flex::block::decompress_into(bytes, &mut decoded);
    match found.map_err(|error| error.to_string())? {
        found if found == length => Ok(decoded),
        found => Err(format!("a block has {found} bytes instead of {length}")),
    }
}

fn read_all(reader: impl Read, most: usize) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::new();
    let found = reader.take(most as u64 + 1).read_to_end(&mut decoded);
    match found.map_err(|error| error.to_string())? {
        found if found <= most => Ok(decoded),
        _ => Err("it has more bytes than a chunk of the variable".to_owned()),
    }
}

/// LZF of h5py: runs of literal bytes, and copies of bytes before.
fn lzf(bytes: &[u8], _: &[u32], most: usize) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::new();
    let mut bytes = bytes.iter().copied();
    let cut_off = || "it is cut off".to_owned();
    while let Some(control) = bytes.next() {
        let control = usize::from(control);
        if control < 32 {
            for _ in 0..=control {
                decoded.push(bytes.next().ok_or_else(cut_off)?);
            }
        } else {
            let mut length = control >> 5;
            if length == 7 {
                length += usize::from(bytes.next().ok_or_else(cut_off)?);
            }
            let low = usize::from(bytes.next().ok_or_else(cut_off)?);
            let distance = ((control & 31) << 8 | low) + 1;
            copy_before(&mut decoded, distance, length + 2)?;
        }
        if decoded.len() > most {
            return Err("it has more bytes than a chunk of the variable".to_owned());
        }
    }
    Ok(decoded)
}

/// Appends bytes of the same buffer, which may overlap with those appended.
///
/// # Errors
///
/// If the buffer is shorter than the distance.
pub fn copy_before(decoded: &mut Vec<u8>, distance: usize, length: usize) -> Result<(), Fault> {
    let start = decoded
        .len()
        .checked_sub(distance)
        .ok_or("it refers to bytes before the first")?;
    for at in start..start + length {
        decoded.push(decoded[at]);
    }
    Ok(())
}
