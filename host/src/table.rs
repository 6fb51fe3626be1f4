//! The entries of a stream's table.

use crate::encoded::Listing;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::table::{ENTRY_BYTES, Entry, Split};

/// What makes the entry of a chunk in the table of a stream, and back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    pub(crate) identity: Identity,
    pub(crate) split: Split,
    /// Whether the first entry is that of a prologue, which has its length in its contents.
    pub(crate) has_prologue: bool,
}

impl Table {
    /// The table of a stream with this header; the length of its payload does not matter.
    pub(crate) fn of(header: &Header) -> Self {
        Self {
            identity: header.identity(),
            split: header.layout().split(),
            has_prologue: header.codec.tiles().is_some(),
        }
    }

    /// The checksum of a chunk in this stream, given that without a seed.
    pub(crate) fn sealed(&self, number: u64, form: u32, sum: u64) -> u64 {
        self.identity.seed(number, form).wrapping_add(sum)
    }

    /// The bytes of the entry of a chunk that starts here in the payload.
    pub(crate) fn entry(&self, listing: &Listing, start: u64) -> [u8; ENTRY_BYTES] {
        let &Listing {
            number,
            form,
            bytes,
            sum,
        } = listing;
        let entry = Entry {
            start,
            bytes: match (number, self.has_prologue) {
                (0, true) => 0,
                _ => bytes,
            },
            form,
            checksum: self.sealed(number, form, sum),
        };
        entry.to_bytes(self.split)
    }

    /// The checksum without a seed of the chunk of an entry of this stream.
    pub(crate) fn unsealed(&self, number: u64, entry: &Entry) -> u64 {
        let seed = self.sealed(number, entry.form, 0);
        entry.checksum.wrapping_sub(seed)
    }

    /// The chunk of an entry of this stream, of which the stream has so many bytes.
    pub(crate) fn listing(&self, number: u64, entry: &Entry, bytes: u64) -> Listing {
        Listing {
            number,
            form: entry.form,
            bytes,
            sum: self.unsealed(number, entry),
        }
    }
}
