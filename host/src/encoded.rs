//! Encoded chunks on their way from an encoder to a stream.

use crate::error::Error;
use crate::{memory, parallel};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use std::ops::Range;

/// A chunk, or the prologue of a stream of tiles, as a table lists it, but for its place. Its checksum has no seed, so that it
/// is the same in all streams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Listing {
    /// The number of its entry.
    pub(crate) number: u64,
    /// The number of its form.
    pub(crate) form: u32,
    pub(crate) bytes: u64,
    pub(crate) sum: u64,
}

/// Chunks, one behind the other: the bytes are those of the listings, in their order, and as many.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct EncodedChunks<B = Vec<u8>> {
    pub(crate) listings: Vec<Listing>,
    pub(crate) bytes: B,
}

/// Called with the chunks of a wave in their order, and with the number of waves that have about as many bytes, or 0 if that
/// is not known.
pub(crate) type Put<'a> = &'a mut (dyn FnMut(&[EncodedChunks], u64) -> Result<(), Error> + Send);

impl EncodedChunks {
    /// Forgets all chunks, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.listings.clear();
        self.bytes.clear();
    }

    /// Appends a chunk.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn push(&mut self, number: u64, form: Form, bytes: &[u8]) -> Result<(), Error> {
        self.push_summed(number, form, bytes, checksum(0, bytes))
    }

    /// Appends a chunk whose checksum without a seed is known.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn push_summed(
        &mut self,
        number: u64,
        form: Form,
        bytes: &[u8],
        sum: u64,
    ) -> Result<(), Error> {
        self.listings.push(Listing {
            number,
            form: form.id(),
            bytes: bytes.len() as u64,
            sum,
        });
        memory::append(&mut self.bytes, bytes)
    }

    /// Appends chunks.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn append(&mut self, chunks: &[Self]) -> Result<(), Error> {
        let listings = chunks.iter().flat_map(|chunks| &chunks.listings);
        self.listings.extend(listings);
        let parts: Vec<&[u8]> = chunks.iter().map(|chunks| &chunks.bytes[..]).collect();
        memory::append_all(&mut self.bytes, &parts)
    }
}

impl<B: AsRef<[u8]>> EncodedChunks<B> {
    /// Whether there are as many bytes as the listings say.
    pub(crate) fn is_complete(&self) -> bool {
        let lengths = self.listings.iter().map(|chunk| chunk.bytes);
        lengths.fold(0, u64::saturating_add) == self.bytes.as_ref().len() as u64
    }
}

impl EncodedChunks<&[u8]> {
    /// Whether the bytes of each chunk, which are as many as its listing says, have its checksum.
    pub(crate) fn is_sound(&self) -> bool {
        let mut rest = self.bytes;
        let mut chunks = self.listings.iter();
        chunks.all(|chunk| {
            let bytes = rest.split_off(..chunk.bytes as usize);
            bytes.is_some_and(|bytes| checksum(0, bytes) == chunk.sum)
        })
    }
}

/// Encodes so many units in waves of at most `wave`, and puts the chunks of each wave. `encode` gets the units of a wave, and
/// memory of an earlier one.
///
/// # Errors
///
/// Those of `encode` and of `put`.
pub(crate) fn in_waves(
    units: u64,
    wave: u64,
    put: Put<'_>,
    mut encode: impl FnMut(Range<u64>, &mut Vec<EncodedChunks>) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let waves = units.div_ceil(wave);
    let (mut now, mut before) = (Vec::new(), Vec::new());
    for number in 0..waves {
        let range = number * wave..units.min((number + 1) * wave);
        // While a wave is encoded, threads that are free put the wave before it into the stream.
        let (placed, encoded) = parallel::join(
            || put(&before, if number == 1 { waves } else { 0 }),
            || encode(range, &mut now),
        );
        placed.and(encoded)?;
        std::mem::swap(&mut now, &mut before);
    }
    put(&before, 0)
}
