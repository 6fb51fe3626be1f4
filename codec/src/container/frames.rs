//! Files of frames: streams one after the other, as they come ([FRAMES.md](../../FRAMES.md)).
//!
//! ```text
//! file    =  start  |  frames, with an index behind every 65,536  |  index  |  end
//! record  =  head (32 bytes)  |  bytes: the stream of a frame, or an index
//! ```
//!
//! A writer never goes back, so the file may be a pipe. A file that ends early has all whole frames.

use crate::container::checksum::checksum;
use alloc::vec::Vec;

/// The first bytes of a file of frames.
pub const FRAMES_MAGIC: [u8; 8] = magic(b'F');

/// Bytes of the head of a record.
pub const FRAME_HEAD_BYTES: usize = 32;

/// The version that is written and read here.
pub const FRAMES_VERSION: u64 = 1;

/// Frames between two indexes at most. A writer has their positions in memory.
pub const INDEXED_FRAMES: usize = 1 << 16;

/// All records lie at multiples of this.
pub const FRAME_ALIGNMENT: usize = 8;

/// Bytes of an index before the positions.
const INDEX_START: usize = 16;

/// The first bytes of a record of the kind with this letter.
const fn magic(kind: u8) -> [u8; 8] {
    [0x89, b'F', b'S', kind, b'\r', b'\n', 0x1A, b'\n']
}

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameHead {
    /// The beginning of the file.
    Start {
        /// The version of the format.
        version: u64,
    },
    /// A frame, whose stream follows.
    Frame {
        /// Its number, from 0 on.
        number: u64,
        /// Bytes of the stream.
        bytes: u64,
    },
    /// The positions of frames, which follow.
    Index {
        /// Frames before this record.
        frames: u64,
        /// Bytes of the index.
        bytes: u64,
    },
    /// The end of the file.
    End {
        /// Frames of the file.
        frames: u64,
        /// The position of the last index; 0 if there is none.
        index: u64,
    },
}

impl FrameHead {
    /// The head as it lies in the file.
    pub fn to_bytes(self) -> [u8; FRAME_HEAD_BYTES] {
        let (kind, numbers) = match self {
            Self::Start { version } => (b'F', [version, 0]),
            Self::Frame { number, bytes } => (b'f', [number, bytes]),
            Self::Index { frames, bytes } => (b'i', [frames, bytes]),
            Self::End { frames, index } => (b'e', [frames, index]),
        };
        let mut head = [0; FRAME_HEAD_BYTES];
        let (words, _) = head.as_chunks_mut::<8>();
        words[0] = magic(kind);
        words[1] = numbers[0].to_le_bytes();
        words[2] = numbers[1].to_le_bytes();
        let sum = checksum(0, &head[..24]);
        head[24..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// Reads a head; none if the bytes are none, or their checksum is wrong.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let head: &[u8; FRAME_HEAD_BYTES] = bytes.first_chunk()?;
        let (words, _) = head.as_chunks::<8>();
        let kind = head[3];
        if words[0] != magic(kind) || u64::from_le_bytes(words[3]) != checksum(0, &head[..24]) {
            return None;
        }
        let [first, second] = [words[1], words[2]].map(u64::from_le_bytes);
        match kind {
            b'F' => Some(Self::Start { version: first }),
            b'f' => Some(Self::Frame {
                number: first,
                bytes: second,
            }),
            b'i' => Some(Self::Index {
                frames: first,
                bytes: second,
            }),
            b'e' => Some(Self::End {
                frames: first,
                index: second,
            }),
            _ => None,
        }
    }

    /// Bytes of the record behind its head.
    pub fn content_bytes(self) -> u64 {
        match self {
            Self::Start { .. } | Self::End { .. } => 0,
            Self::Frame { bytes, .. } | Self::Index { bytes, .. } => bytes,
        }
    }
}

/// The positions of the frames since the index before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameIndex {
    /// The position of the index before; 0 if there is none.
    pub previous: u64,
    /// The position of the head of each frame.
    pub positions: Vec<u64>,
}

impl FrameIndex {
    /// The record of the index, behind so many frames in all.
    pub fn to_bytes(&self, frames: u64) -> Vec<u8> {
        let bytes = (INDEX_START + 8 * self.positions.len()) as u64;
        let mut content = self.previous.to_le_bytes().to_vec();
        content.extend(self.positions.iter().flat_map(|at| at.to_le_bytes()));
        let mut record = FrameHead::Index { frames, bytes }.to_bytes().to_vec();
        record.extend(checksum(frames, &content).to_le_bytes());
        record.extend(content);
        record
    }

    /// Reads the bytes behind the head of an index, behind so many frames in all; none if they are no index, or their checksum
    /// is wrong.
    pub fn read(frames: u64, bytes: &[u8]) -> Option<Self> {
        let (sum, content) = bytes.split_first_chunk::<8>()?;
        let (words, rest) = content.as_chunks::<8>();
        let (previous, positions) = words.split_first()?;
        let is_right = rest.is_empty() && u64::from_le_bytes(*sum) == checksum(frames, content);
        is_right.then(|| Self {
            previous: u64::from_le_bytes(*previous),
            positions: positions.iter().map(|at| u64::from_le_bytes(*at)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_and_no_bit_may_differ() {
        for head in [
            FrameHead::Start { version: 1 },
            FrameHead::Frame {
                number: 7,
                bytes: 4000,
            },
            FrameHead::Index {
                frames: 8,
                bytes: 80,
            },
            FrameHead::End {
                frames: u64::MAX,
                index: 1 << 40,
            },
        ] {
            let bytes = head.to_bytes();
            assert_eq!(FrameHead::read(&bytes), Some(head));
            assert_eq!(FrameHead::read(&bytes[..31]), None);
            for bit in 0..8 * FRAME_HEAD_BYTES {
                let mut damaged = bytes;
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(FrameHead::read(&damaged), None, "{head:?}, bit {bit}");
            }
        }
    }

    #[test]
    fn indexes_come_back_and_no_bit_may_differ() {
        let index = FrameIndex {
            previous: 99,
            positions: alloc::vec![32, 1000, 1 << 33],
        };
        let record = index.to_bytes(3);
        let (head, content) = record.split_at(FRAME_HEAD_BYTES);
        let head = FrameHead::read(head).expect("a head");
        assert_eq!(head.content_bytes(), content.len() as u64);
        assert_eq!(FrameIndex::read(3, content), Some(index));
        assert_eq!(FrameIndex::read(4, content), None);
        for bit in 0..8 * content.len() {
            let mut damaged = content.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FrameIndex::read(3, &damaged), None, "bit {bit}");
        }
        for length in 0..content.len() {
            assert_eq!(FrameIndex::read(3, &content[..length]), None);
        }
    }
}
