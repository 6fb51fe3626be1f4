//! A chunk: its shape and type, and its values as a stream and back.

use crate::error::codec_error;
use bytemuck::allocation::try_zeroed_vec;
use bytemuck::{pod_collect_to_vec, pod_read_unaligned, try_cast_slice, try_cast_slice_mut};
use ferrosz::codec::with_value;
use ferrosz::stream::Extents;
use ferrosz::{Compressor, Decompressor, Error, Fill, Part, Value, ValueType};
use std::borrow::Cow;
use std::num::NonZeroU64;
use zarrs::array::codec::api::InvalidBytesLengthError;
use zarrs::array::{ArrayBytes, CodecError, DataType, FillValue, Indexer};
use zarrs::plugin::ExtensionName;

/// A chunk of an array, without its values.
#[derive(Debug, Clone)]
pub struct Chunk {
    shape: Vec<u64>,
    extents: Extents,
    data_type: DataType,
    value_type: ValueType,
    fill_value: FillValue,
}

impl Chunk {
    /// A chunk as zarrs describes it.
    ///
    /// # Errors
    ///
    /// [`CodecError::UnsupportedDataType`] if ferrosz has no such values; [`CodecError::DataTypeFillValueError`]; an error
    /// that names the shape if it has more than eight dimensions, or too many elements.
    pub fn new(
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
    ) -> Result<Self, CodecError> {
        let value_type = value_type(data_type)?;
        ArrayBytes::new_fill_value(data_type, 1, fill_value)?;
        let shape: Vec<u64> = shape.iter().map(|length| length.get()).collect();
        Ok(Self {
            extents: extents(&shape)?,
            shape,
            data_type: data_type.clone(),
            value_type,
            fill_value: fill_value.clone(),
        })
    }

    /// The lengths of its axes, slowest first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The lengths of the axes of its stream. A chunk without axes has a stream with one.
    pub fn extents(&self) -> &[u64] {
        self.extents.lengths()
    }

    /// The type of its values as zarrs has it.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The type of its values.
    pub fn value_type(&self) -> ValueType {
        self.value_type
    }

    /// The number of its values.
    pub fn elements(&self) -> u64 {
        self.extents.elements()
    }

    /// The bytes of its values.
    pub fn field_bytes(&self) -> u64 {
        self.elements()
            .saturating_mul(self.value_type.bytes() as u64)
    }

    /// As many fill values of the array as an indexer has elements.
    ///
    /// # Errors
    ///
    /// [`CodecError::DataTypeFillValueError`].
    pub fn filled(&self, indexer: &dyn Indexer) -> Result<ArrayBytes<'static>, CodecError> {
        let values = ArrayBytes::new_fill_value(&self.data_type, indexer.len(), &self.fill_value);
        Ok(values?)
    }

    /// The stream of the values that have these bytes. The fill value of the array is one of the stream's, if a value has it.
    ///
    /// # Errors
    ///
    /// If the bytes are not as many as the chunk has; those of the library.
    pub fn compress(&self, compressor: &Compressor, bytes: &[u8]) -> Result<Vec<u8>, CodecError> {
        if bytes.len() as u64 != self.field_bytes() {
            let wanted = usize::try_from(self.field_bytes()).unwrap_or(usize::MAX);
            return Err(InvalidBytesLengthError::new(bytes.len(), wanted).into());
        }
        with_value!(self.value_type, V => {
            // As long as a value: `Chunk::new` has checked it.
            let fill_value: V = pod_read_unaligned(self.fill_value.as_ne_bytes());
            let values = values(bytes);
            let fill = Fill::Bits(fill_value.to_value_bits());
            let compressor = compressor.extents(self.extents()).map_err(codec_error)?;
            compressor.fills_of::<V>(&values, &[fill]).compress(&values).map_err(codec_error)
        })
    }

    /// The bytes of the values of a stream.
    ///
    /// # Errors
    ///
    /// If the stream is damaged, or not one of such a chunk.
    pub fn decompress(
        &self,
        decompressor: &Decompressor,
        stream: &[u8],
    ) -> Result<Vec<u8>, CodecError> {
        let info = ferrosz::info(stream).map_err(codec_error)?;
        if (info.dtype, info.elements) != (self.value_type, self.elements()) {
            return Err(CodecError::Other(format!(
                "codec ferrosz: the chunk has the stream of {} values of {}, but chunks of the array have {} of {}",
                info.elements,
                info.dtype,
                self.elements(),
                self.value_type
            )));
        }
        self.values(decompressor, stream, None, self.elements())
    }

    /// The bytes of the values of a part of a stream whose type is that of the chunk.
    ///
    /// # Errors
    ///
    /// If the part has not as many elements; those of the library.
    pub fn decompress_part(
        &self,
        decompressor: &Decompressor,
        stream: &[u8],
        part: &Part,
    ) -> Result<Vec<u8>, CodecError> {
        self.values(
            decompressor,
            stream,
            Some(part),
            part.extents().iter().product(),
        )
    }

    fn values(
        &self,
        decompressor: &Decompressor,
        stream: &[u8],
        part: Option<&Part>,
        elements: u64,
    ) -> Result<Vec<u8>, CodecError> {
        let bytes = elements.saturating_mul(self.value_type.bytes() as u64);
        let mut values = zeroed(bytes).map_err(codec_error)?;
        with_value!(self.value_type, V => decompress_into::<V>(decompressor, stream, part, &mut values))
            .map_err(codec_error)?;
        Ok(values)
    }
}

/// The type of values that ferrosz and Zarr have in common.
///
/// # Errors
///
/// [`CodecError::UnsupportedDataType`].
pub fn value_type(data_type: &DataType) -> Result<ValueType, CodecError> {
    let name = data_type.name_v3();
    let found = ValueType::ALL.into_iter().find(|value_type| {
        name.as_deref() == Some(zarr_name(*value_type))
            && data_type.fixed_size() == Some(value_type.bytes())
    });
    found.ok_or_else(|| CodecError::UnsupportedDataType(data_type.clone(), "ferrosz".to_string()))
}

/// The name of a type in the metadata of arrays.
fn zarr_name(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::F32 => "float32",
        ValueType::F64 => "float64",
        ValueType::F16 => "float16",
        ValueType::Bf16 => "bfloat16",
        ValueType::I16 => "int16",
        ValueType::U16 => "uint16",
        ValueType::I32 => "int32",
        ValueType::U32 => "uint32",
    }
}

/// The extents of the stream of a chunk.
fn extents(shape: &[u64]) -> Result<Extents, CodecError> {
    let lengths = if shape.is_empty() { &[1] } else { shape };
    Extents::new(lengths).ok_or_else(|| codec_error(Error::BadExtents(format!("{shape:?}"))))
}

/// The values of these bytes; a copy if they are not aligned.
fn values<V: Value>(bytes: &[u8]) -> Cow<'_, [V]> {
    match try_cast_slice(bytes) {
        Ok(values) => Cow::Borrowed(values),
        Err(_) => Cow::Owned(pod_collect_to_vec(bytes)),
    }
}

/// Zeroed memory; an error if there is not so much.
fn zeroed(bytes: u64) -> Result<Vec<u8>, Error> {
    let length = usize::try_from(bytes).ok();
    let memory = length.and_then(|length| try_zeroed_vec(length).ok());
    memory.ok_or(Error::OutOfMemory { bytes })
}

/// Decodes a part of a stream, or all of it, to the bytes of as many values.
fn decompress_into<V: Value>(
    decompressor: &Decompressor,
    stream: &[u8],
    part: Option<&Part>,
    bytes: &mut [u8],
) -> Result<(), Error> {
    let decode = |values: &mut [V]| -> Result<(), Error> {
        match part {
            None => decompressor.decompress_into(stream, values),
            Some(part) => decompressor.decompress_part_into(stream, part, values),
        }
        .map(drop)
    };
    match try_cast_slice_mut(bytes) {
        Ok(values) => decode(values),
        // An allocator may give memory for bytes that is not aligned for values.
        Err(_) => {
            let mut values = pod_collect_to_vec::<u8, V>(bytes);
            decode(&mut values)?;
            bytes.copy_from_slice(bytemuck::cast_slice(&values));
            Ok(())
        }
    }
}
