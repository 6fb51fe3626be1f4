//! The filter Blosc, in the format of its first version.

use super::bitshuffle;
use super::filters::{Fault, copy_before, lz4, zlib, zstd};
use hdf5_reader::filters::shuffle::unshuffle;

/// Bytes before the blocks.
const HEADER: usize = 16;

/// Flags of the header.
const SHUFFLED: u8 = 0x01;
const PLAIN: u8 = 0x02;
const BITSHUFFLED: u8 = 0x04;
const NOT_SPLIT: u8 = 0x10;

/// A block of fewer values, or of values of more bytes, is not split.
const FEWEST_VALUES: usize = 128;
const MOST_SPLITS: usize = 16;

/// What the header says.
struct Header {
    flags: u8,
    size: usize,
    bytes: usize,
    block_bytes: usize,
}

/// The chunk of some bytes.
///
/// # Errors
///
/// If the bytes are no chunk of at most `most` bytes.
pub fn decode(bytes: &[u8], _: &[u32], most: usize) -> Result<Vec<u8>, Fault> {
    let header = Header::parse(bytes)?;
    if header.bytes > most {
        return Err("it has more bytes than a chunk of the variable".to_owned());
    }
    if header.flags & PLAIN != 0 {
        let plain = bytes.get(HEADER..HEADER + header.bytes);
        return plain.map(<[u8]>::to_vec).ok_or_else(cut_off);
    }
    let mut decoded = Vec::with_capacity(header.bytes);
    for block in 0..header.bytes.div_ceil(header.block_bytes) {
        let start = word(bytes, HEADER + 4 * block)?;
        let here = header.block_bytes.min(header.bytes - decoded.len());
        let values = header.block(bytes, start, here)?;
        decoded.extend(header.unshuffled(&values));
    }
    Ok(decoded)
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let Some((&[version, _, flags, size], _)) = bytes.split_first_chunk() else {
            return Err(cut_off());
        };
        if !(1..=2).contains(&version) {
            return Err(format!("its version {version} is not known"));
        }
        let header = Self {
            flags,
            size: usize::from(size).max(1),
            bytes: word(bytes, 4)?,
            block_bytes: word(bytes, 8)?,
        };
        match header.block_bytes {
            0 if header.bytes > 0 => Err("its blocks have no bytes".to_owned()),
            0 => Ok(Self {
                block_bytes: 1,
                ..header
            }),
            _ => Ok(header),
        }
    }

    /// The bytes of a block, still shuffled: of several streams if the bytes of values were split.
    fn block(&self, bytes: &[u8], start: usize, length: usize) -> Result<Vec<u8>, Fault> {
        let is_split = self.flags & NOT_SPLIT == 0
            && self.size <= MOST_SPLITS
            && self.block_bytes / self.size >= FEWEST_VALUES
            && length == self.block_bytes;
        let streams = if is_split { self.size } else { 1 };
        let stream_bytes = length / streams;
        let mut at = start;
        let mut block = Vec::with_capacity(length);
        for _ in 0..streams {
            let packed = word(bytes, at)?;
            let stream = bytes.get(at + 4..).and_then(|rest| rest.get(..packed));
            block.extend(self.stream(stream.ok_or_else(cut_off)?, stream_bytes)?);
            at += 4 + packed;
        }
        match block.len() == length {
            true => Ok(block),
            false => Err(format!(
                "a block has {} bytes instead of {length}",
                block.len()
            )),
        }
    }

    fn stream(&self, packed: &[u8], length: usize) -> Result<Vec<u8>, Fault> {
        if packed.len() == length {
            return Ok(packed.to_vec());
        }
        match self.flags >> 5 {
            0 => blosclz(packed, length),
            1 => lz4(packed, length),
            2 => Err("Snappy in it is not known: copy the file with h5repack".to_owned()),
            3 => zlib(packed, length),
            4 => zstd(packed, length),
            other => Err(format!("its method {other} is not known")),
        }
    }

    fn unshuffled(&self, block: &[u8]) -> Vec<u8> {
        let values = block.len() / self.size;
        if self.flags & SHUFFLED != 0 && self.size > 1 {
            return unshuffle(block, self.size);
        }
        if self.flags & BITSHUFFLED != 0 && values.is_multiple_of(8) {
            let mut decoded = Vec::with_capacity(block.len());
            let (whole, rest) = block.split_at(values * self.size);
            bitshuffle::unshuffle(whole, self.size, &mut decoded);
            decoded.extend(rest);
            return decoded;
        }
        block.to_vec()
    }
}

/// BloscLZ: runs of literal bytes, and copies of bytes before.
fn blosclz(packed: &[u8], length: usize) -> Result<Vec<u8>, Fault> {
    /// The distance above which two more bytes hold it.
    const FAR: usize = 31 << 8 | 255;

    let mut decoded = Vec::with_capacity(length);
    let mut bytes = packed.iter().map(|byte| usize::from(*byte));
    // The upper bits of the first byte are a version.
    let mut control = bytes.next().map(|first| first & 31);
    while let Some(code) = control {
        let mut next = || bytes.next().ok_or_else(cut_off);
        if code < 32 {
            for _ in 0..=code {
                decoded.push(next()? as u8);
            }
        } else {
            let mut count = (code >> 5) - 1;
            if count == 6 {
                loop {
                    let more = next()?;
                    count += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let mut distance = (code & 31) << 8 | next()?;
            if distance == FAR {
                distance += next()? << 8 | next()?;
            }
            if count > length {
                return Err("a copy is too long".to_owned());
            }
            copy_before(&mut decoded, distance + 1, count + 3)?;
        }
        if decoded.len() > length {
            return Err("a block is too long".to_owned());
        }
        control = bytes.next();
    }
    Ok(decoded)
}

fn word(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    Ok(u32::from_le_bytes(*word.ok_or_else(cut_off)?) as usize)
}

fn cut_off() -> Fault {
    "it is cut off".to_owned()
}
