//! The workspace: 64-bit cells that the blocks of a launch share. All are 0 before a compression
//! or a decompression; between calls those of [`OF_EXTREMES`] and [`OF_CENSUS`] are.

use core::array::from_fn;
use core::ops::Range;
use ferrosz_simt::{Thread, View};

/// Counts the blocks of a compression as they start: the next chunk. All blocks raise it, so nothing
/// else that they read is in its 128 bytes.
pub const TICKET: u64 = 0;
/// Two cells, until the next call: the extremes of the field, see `Extremes::to_cells`, once their search has ended.
pub const SEEN_EXTREMES: u64 = 1;
/// Behind them three cells, until the next call: the counts of the field's `Census`, if it was taken.
pub const SEEN_CENSUS: u64 = 3;
/// The three cells that the extremes kernel takes a census with. No block of that launch raises [`TICKET`].
pub const OF_CENSUS: Range<u64> = 8..11;
/// Counts the blocks of the extremes kernel as they end.
pub const EXTREMES_DONE: u64 = 16;
/// Two cells: see `Extremes::to_cells`.
pub const EXTREMES: u64 = 17;
/// The cells that the extremes kernel searches with.
pub const OF_EXTREMES: Range<u64> = EXTREMES_DONE..EXTREMES + 2;
/// Three cells: the quantiser, see `Quantizer::to_bits`.
pub const QUANTIZER: u64 = 19;
/// Behind the quantiser, if the extremes were searched: the range of the finite values, the bits of an `f64`.
pub const RANGE: u64 = 22;
/// Behind the range, if the extremes were searched: the identity of the stream that has the resolved error.
pub const IDENTITY: u64 = 23;
/// The length of the stream in bytes, once a compression has ended.
pub const STREAM_BYTES: u64 = 24;
/// The fault that a decompression found: see [`Fault`].
pub const FAULT: u64 = 25;
/// Words of the entropy coder's frequencies in the stream.
pub const FREQUENCIES_WORDS: u64 = 26;
/// Bytes of the prologue of a stream of tiles.
pub const PROLOGUE_BYTES: u64 = 27;
/// How many values have no code, where codes are exported or imported.
pub const OUTLIERS: u64 = 28;
/// Bytes of the chunks of the mask in the stream.
pub const MASK_BYTES: u64 = 29;
/// The number of the kind of conversion that was chosen for a field of values of 16 bits.
pub const CONVERSION: u64 = 30;
/// Behind it, the bits of the absolute error in its record.
pub const CONVERSION_ERROR: u64 = 31;
/// The first look-back state of those over chunks, one a chunk.
pub const STATES: u64 = 32;

/// Cells for a field of `chunks` chunks.
pub const fn count(chunks: u64) -> u64 {
    STATES + chunks
}

/// Numbers that a kernel is given, or that an earlier launch leaves in the workspace, where the bound was resolved.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Given<const N: usize> {
    known: [u64; N],
    /// Not 0 if they are in the workspace.
    in_cells: u32,
}

impl<const N: usize> Given<N> {
    /// Numbers that the host knows.
    pub const fn known(known: [u64; N]) -> Self {
        Self { known, in_cells: 0 }
    }

    /// Numbers that an earlier launch leaves in the workspace.
    pub const fn in_cells() -> Self {
        Self {
            known: [0; N],
            in_cells: 1,
        }
    }

    /// The former or, if `in_cells` is not 0, the latter.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn new(known: [u64; N], in_cells: u32) -> Self {
        Self { known, in_cells }
    }

    /// The numbers, which would be in the workspace from cell `first` on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn find<T: Thread>(&self, t: T, cells: View<u64>, first: u64) -> [u64; N] {
        if self.in_cells != 0 {
            let word = |i: u64| u64::from(t.load(cells.words(), 2 * first + i));
            from_fn(|i| word(2 * i as u64) | word(2 * i as u64 + 1) << 32)
        } else {
            self.known
        }
    }
}

/// The fault that a decompression found, as the cell [`FAULT`] holds it: the largest wins, which is the
/// header, then the entropy coder's tables, then the first update, then the lowest chunk, and of that the fault with the lowest code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The header is not the one the caller spoke of, or is damaged.
    Header,
    /// The entropy coder's tables are wrong: the code of their `TableFault`.
    Tables(u32),
    /// An update is wrong: its first byte, among those of all updates.
    Update(u64),
    /// A chunk is wrong: its number, and the code of its `ChunkFault`.
    Chunk(u64, u32),
}

/// The bit of a complement that only faults of chunks have.
const OF_CHUNK: u64 = 1 << 63;

/// Updates begin at multiples of this many bytes.
const UPDATE_UNIT: u64 = 16;

impl Fault {
    /// The fault in a cell; none in 0.
    pub const fn from_cell(cell: u64) -> Option<Self> {
        let code = !cell as u32 & 0xff;
        match (!cell, !cell >> 8) {
            (u64::MAX, _) => None,
            (0, _) => Some(Self::Header),
            (OF_CHUNK.., _) => Some(Self::Chunk((!cell ^ OF_CHUNK) >> 8, code)),
            (_, 0) => Some(Self::Tables(code)),
            (_, unit) => Some(Self::Update(UPDATE_UNIT * (unit - 1))),
        }
    }

    /// The fault as a cell.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn to_cell(self) -> u64 {
        match self {
            Self::Header => u64::MAX,
            Self::Tables(code) => !(code as u64),
            Self::Update(at) => !((at / UPDATE_UNIT + 1) << 8),
            Self::Chunk(chunk, code) => !(OF_CHUNK | chunk << 8 | code as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pipeline::cells::Fault;

    #[test]
    fn the_lowest_chunk_wins_and_others_over_chunks() {
        let low = Fault::Chunk(3, 5);
        let high = Fault::Chunk(1 << 50, 1);
        let tables = Fault::Tables(5);
        let update = Fault::Update(48);
        for fault in [low, high, tables, update, Fault::Header] {
            assert_eq!(Fault::from_cell(fault.to_cell()), Some(fault));
        }
        assert!(low.to_cell() > high.to_cell());
        assert!(Fault::Chunk(3, 1).to_cell() > low.to_cell());
        assert!(update.to_cell() > Fault::Chunk(0, 1).to_cell());
        assert!(Fault::Update(0).to_cell() > update.to_cell());
        assert!(tables.to_cell() > Fault::Update(0).to_cell());
        assert!(Fault::Header.to_cell() > tables.to_cell());
        assert_eq!(Fault::from_cell(0), None);
    }
}
