//! The codec: the traits by which zarrs calls it.

use crate::chunk::{Chunk, value_type};
use crate::configuration::FerroszCodecConfiguration;
use crate::partial_decoder::{PartialDecoder, decompressor};
use ferrosz::Compressor;
use std::any::Any;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
use zarrs::array::codec::api::{CodecPluginV3, PartialDecoderCapability, PartialEncoderCapability};
use zarrs::array::{
    ArrayBytes, ArrayBytesRaw, ArrayCodecTraits, ArrayPartialDecoderTraits,
    ArrayToBytesCodecTraits, BytesPartialDecoderTraits, BytesRepresentation, Codec, CodecError,
    CodecMetadataOptions, CodecOptions, CodecTraits, CodecTraitsV3, DataType, FillValue,
    RecommendedConcurrency,
};
#[cfg(feature = "async")]
use zarrs::array::{AsyncArrayPartialDecoderTraits, AsyncBytesPartialDecoderTraits};
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{PluginCreateError, ZarrVersion, impl_extension_aliases};

/// A thread has work with so many elements: those of a chunk of a codec of tiles.
const ELEMENTS_OF_THREAD: u64 = 1 << 16;

/// The array-to-bytes codec `ferrosz`.
///
/// Each chunk becomes a stream of ferrosz, which the command and the other ways in read. The fill value of the array comes
/// back exactly, and spoils no prediction. So do other values that look like fill values, such as 1e20.
#[derive(Debug, Clone)]
pub struct FerroszCodec {
    configuration: FerroszCodecConfiguration,
    compressor: Compressor,
}

impl FerroszCodec {
    /// The codec with a configuration.
    ///
    /// ```
    /// use ferrosz_zarrs::{FerroszCodec, FerroszCodecConfiguration};
    ///
    /// let configuration = FerroszCodecConfiguration::abs(1e-3);
    /// assert!(FerroszCodec::new_with_configuration(&configuration).is_ok());
    /// // No bound is given.
    /// assert!(FerroszCodec::new_with_configuration(&Default::default()).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`PluginCreateError::ConfigurationInvalid`] if it does not have one bound, has both a preset and a codec, or settings
    /// that the library does not have.
    pub fn new_with_configuration(
        configuration: &FerroszCodecConfiguration,
    ) -> Result<Self, PluginCreateError> {
        Ok(Self {
            configuration: *configuration,
            compressor: configuration.compressor()?,
        })
    }
}

impl_extension_aliases!(FerroszCodec, v3: "ferrosz");

inventory::submit! {
    CodecPluginV3::new::<FerroszCodec>()
}

impl CodecTraitsV3 for FerroszCodec {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let configuration = FerroszCodecConfiguration::of_metadata(metadata)?;
        let codec = Self::new_with_configuration(&configuration)?;
        Ok(Codec::ArrayToBytes(Arc::new(codec)))
    }
}

impl CodecTraits for FerroszCodec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(
        &self,
        _version: ZarrVersion,
        _options: &CodecMetadataOptions,
    ) -> Option<Configuration> {
        Some(self.configuration.into())
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability {
            partial_read: true,
            partial_decode: true,
        }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability {
            partial_encode: false,
        }
    }
}

impl ArrayCodecTraits for FerroszCodec {
    /// As many threads as the chunk keeps busy. The library works in the pool of threads that calls it, which is that of
    /// zarrs, so that there are never more threads than zarrs has. With this number zarrs has fewer large chunks in memory
    /// at the same time, and more small ones.
    fn recommended_concurrency(
        &self,
        shape: &[NonZeroU64],
        data_type: &DataType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        value_type(data_type)?;
        let lengths = shape.iter().map(|length| length.get());
        let elements = lengths.fold(1, u64::saturating_mul);
        let threads = elements.div_ceil(ELEMENTS_OF_THREAD);
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        Ok(RecommendedConcurrency::new_maximum(threads))
    }
}

#[cfg_attr(
    all(feature = "async", not(target_arch = "wasm32")),
    async_trait::async_trait
)]
#[cfg_attr(all(feature = "async", target_arch = "wasm32"), async_trait::async_trait(?Send))]
impl ArrayToBytesCodecTraits for FerroszCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToBytesCodecTraits> {
        self
    }

    /// Unbounded: the size follows from the values, and a preset has no codec whose longest stream were known.
    fn encoded_representation(
        &self,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
    ) -> Result<BytesRepresentation, CodecError> {
        Chunk::new(shape, data_type, fill_value)?;
        Ok(BytesRepresentation::UnboundedSize)
    }

    fn encode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        if let Some(reason) = self.configuration.refusal() {
            return Err(CodecError::Other(reason));
        }
        let chunk = Chunk::new(shape, data_type, fill_value)?;
        let stream = chunk.compress(&self.compressor, &bytes.into_fixed()?)?;
        Ok(Cow::Owned(stream))
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytesRaw<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let chunk = Chunk::new(shape, data_type, fill_value)?;
        let values = chunk.decompress(&decompressor(options), &bytes)?;
        Ok(values.into())
    }

    fn partial_decoder(
        self: Arc<Self>,
        input_handle: Arc<dyn BytesPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        _options: &CodecOptions,
    ) -> Result<Arc<dyn ArrayPartialDecoderTraits>, CodecError> {
        let chunk = Chunk::new(shape, data_type, fill_value)?;
        Ok(Arc::new(PartialDecoder::new(input_handle, chunk)))
    }

    #[cfg(feature = "async")]
    async fn async_partial_decoder(
        self: Arc<Self>,
        input_handle: Arc<dyn AsyncBytesPartialDecoderTraits>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        _options: &CodecOptions,
    ) -> Result<Arc<dyn AsyncArrayPartialDecoderTraits>, CodecError> {
        let chunk = Chunk::new(shape, data_type, fill_value)?;
        Ok(Arc::new(PartialDecoder::new(input_handle, chunk)))
    }
}
