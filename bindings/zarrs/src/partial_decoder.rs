//! The partial decoders of zarrs: elements of a chunk from ranges of its bytes.

use crate::chunk::Chunk;
use crate::reading::{Reading, Step};
use ferrosz::Decompressor;
use std::sync::Arc;
use zarrs::array::{
    ArrayBytes, ArrayPartialDecoderTraits, BytesPartialDecoderTraits, CodecError, CodecOptions,
    DataType, Indexer,
};
#[cfg(feature = "async")]
use zarrs::array::{AsyncArrayPartialDecoderTraits, AsyncBytesPartialDecoderTraits};
use zarrs::storage::StorageError;

/// A partial decoder of a chunk, whose bytes `input` reads.
///
/// It keeps no bytes between calls, so it needs no lock. A lock could be a deadlock: while the library waits for its
/// threads, rayon may give the waiting thread a task that takes the same lock.
pub struct PartialDecoder<I: ?Sized> {
    input: Arc<I>,
    chunk: Chunk,
}

impl<I: ?Sized> PartialDecoder<I> {
    /// A partial decoder.
    pub fn new(input: Arc<I>, chunk: Chunk) -> Self {
        Self { input, chunk }
    }
}

/// The decompressor of a call with these options.
pub fn decompressor(options: &CodecOptions) -> Decompressor {
    Decompressor::new().verify_checksums(options.validate_checksums())
}

impl ArrayPartialDecoderTraits for PartialDecoder<dyn BytesPartialDecoderTraits> {
    fn data_type(&self) -> &DataType {
        self.chunk.data_type()
    }

    fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists()
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    fn partial_decode(
        &self,
        indexer: &dyn Indexer,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'_>, CodecError> {
        let has_ranges = self.input.supports_partial_decode();
        let mut reading = Reading::new(&self.chunk, indexer, decompressor(options), has_ranges)?;
        loop {
            let ranges = match reading.step()? {
                Step::Read(ranges) => ranges,
                Step::Done(elements) => return Ok(elements),
            };
            let wanted = Box::new(ranges.clone().into_iter());
            match self.input.partial_decode_many(wanted, options)? {
                Some(bytes) => reading.put(&ranges, bytes)?,
                None => return self.chunk.filled(indexer),
            }
        }
    }

    fn supports_partial_decode(&self) -> bool {
        self.input.supports_partial_decode()
    }
}

#[cfg(feature = "async")]
#[cfg_attr(target_arch = "wasm32", async_trait::async_trait(?Send))]
#[cfg_attr(not(target_arch = "wasm32"), async_trait::async_trait)]
impl AsyncArrayPartialDecoderTraits for PartialDecoder<dyn AsyncBytesPartialDecoderTraits> {
    fn data_type(&self) -> &DataType {
        self.chunk.data_type()
    }

    async fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists().await
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    async fn partial_decode<'a>(
        &'a self,
        indexer: &dyn Indexer,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let has_ranges = self.input.supports_partial_decode();
        let mut reading = Reading::new(&self.chunk, indexer, decompressor(options), has_ranges)?;
        loop {
            let ranges = match reading.step()? {
                Step::Read(ranges) => ranges,
                Step::Done(elements) => return Ok(elements),
            };
            let wanted = Box::new(ranges.clone().into_iter());
            match self.input.partial_decode_many(wanted, options).await? {
                Some(bytes) => reading.put(&ranges, bytes)?,
                None => return self.chunk.filled(indexer),
            }
        }
    }

    fn supports_partial_decode(&self) -> bool {
        self.input.supports_partial_decode()
    }
}
