//! The filter bitshuffle: the bits of the values of a block, sorted by their place, with LZ4, with Zstandard or as they
//! are.

use super::filters::{Fault, lz4, zstd};

/// The filter's number of a method.
const NONE: u32 = 0;
const LZ4: u32 = 2;
const ZSTD: u32 = 3;

/// The chunk of some bytes. `parameters` are two numbers of a version, the bytes of a value, the values of a block or 0,
/// and the method.
///
/// # Errors
///
/// If the bytes are no chunk of at most `most` bytes.
pub fn decode(bytes: &[u8], parameters: &[u32], most: usize) -> Result<Vec<u8>, Fault> {
    let parameter = |at: usize| parameters.get(at).copied().unwrap_or(0);
    let size = parameter(2) as usize;
    if size == 0 {
        return Err("its values have no bytes".to_owned());
    }
    let values = match parameter(3) as usize {
        0 => default_block(size),
        values => values,
    };
    match parameter(4) {
        NONE => plain(bytes, size, values),
        method @ (LZ4 | ZSTD) => packed(bytes, size, method, most),
        other => Err(format!("its method {other} is not known")),
    }
}

/// The values of a block, if the file does not say it.
fn default_block(size: usize) -> usize {
    const BYTES: usize = 8192;
    const FEWEST: usize = 128;

    (BYTES / size / 8 * 8).max(FEWEST)
}

/// A chunk of blocks that are not packed.
fn plain(bytes: &[u8], size: usize, values: usize) -> Result<Vec<u8>, Fault> {
    if !values.is_multiple_of(8) {
        return Err(format!(
            "its blocks have {values} values, not a multiple of eight"
        ));
    }
    let mut decoded = Vec::with_capacity(bytes.len());
    for block in bytes.chunks(values.saturating_mul(size)) {
        unshuffle_tail(block, size, &mut decoded);
    }
    Ok(decoded)
}

/// A chunk of packed blocks: its length, the length of a block, and the blocks, each after its packed length.
fn packed(bytes: &[u8], size: usize, method: u32, most: usize) -> Result<Vec<u8>, Fault> {
    let cut_off = || "it is cut off".to_owned();
    let (length, rest) = bytes.split_first_chunk().ok_or_else(cut_off)?;
    let (block_bytes, mut rest) = rest.split_first_chunk().ok_or_else(cut_off)?;
    let block_bytes = u32::from_be_bytes(*block_bytes) as usize;
    let length = usize::try_from(u64::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > most || block_bytes == 0 || !block_bytes.is_multiple_of(8 * size) {
        return Err("its lengths are not those of a chunk".to_owned());
    }
    let mut decoded = Vec::new();
    // The last values, fewer than eight, are as they are.
    let whole = length - length % (8 * size);
    while decoded.len() < whole {
        let here = block_bytes.min(whole - decoded.len());
        let (packed, behind) = rest.split_first_chunk().ok_or_else(cut_off)?;
        let packed = u32::from_be_bytes(*packed) as usize;
        let (block, behind) = behind.split_at_checked(packed).ok_or_else(cut_off)?;
        rest = behind;
        let block = match method {
            LZ4 => lz4(block, here)?,
            _ => zstd(block, here)?,
        };
        if block.len() != here {
            return Err(format!(
                "a block has {} bytes instead of {here}",
                block.len()
            ));
        }
        unshuffle(&block, size, &mut decoded);
    }
    decoded.extend(rest.get(..length - whole).ok_or_else(cut_off)?);
    Ok(decoded)
}

/// Appends the values of a block; the last ones, fewer than eight, are as they are.
fn unshuffle_tail(block: &[u8], size: usize, decoded: &mut Vec<u8>) {
    let whole = block.len() - block.len() % (8 * size);
    unshuffle(&block[..whole], size, decoded);
    decoded.extend(&block[whole..]);
}

/// Appends the values of a block, a multiple of eight: bit `k` of byte `b` of all values is row `8 b + k` of the block.
pub fn unshuffle(block: &[u8], size: usize, decoded: &mut Vec<u8>) {
    let row_bytes = block.len() / size / 8;
    let start = decoded.len();
    decoded.resize(start + block.len(), 0);
    let values = &mut decoded[start..];
    for (row, bits) in block.chunks_exact(row_bytes.max(1)).enumerate() {
        let (byte, bit) = (row / 8, row % 8);
        for (at, eight) in bits.iter().enumerate() {
            for value in 0..8 {
                let is_set = eight >> value & 1;
                values[(8 * at + value) * size + byte] |= is_set << bit;
            }
        }
    }
}
