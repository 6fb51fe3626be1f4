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
    /// Whether the values are the parts of complex numbers.
    is_complex: bool,
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
        let (value_type, is_complex) = value_type(data_type)?;
        ArrayBytes::new_fill_value(data_type, 1, fill_value)?;
        let shape: Vec<u64> = shape.iter().map(|length| length.get()).collect();
        Ok(Self {
            extents: extents(&shape, is_complex)?,
            shape,
            data_type: data_type.clone(),
            value_type,
            is_complex,
            fill_value: fill_value.clone(),
        })
    }

    /// The lengths of its axes, slowest first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The lengths of the axes of its stream. A chunk without axes has a stream with one. Complex numbers have one more axis,
    /// that of their parts.
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

    /// Whether its values are the parts of complex numbers.
    pub fn is_complex(&self) -> bool {
        self.is_complex
    }

    /// A part of the chunk as a part of its values.
    pub fn part_of_values(&self, part: Part) -> Part {
        match self.is_complex {
            true => part.of_parts(),
            false => part,
        }
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
            // As long as a value, or as both parts of a number: `Chunk::new` has checked it.
            let of_array = self.fill_value.as_ne_bytes().chunks_exact(size_of::<V>());
            let fills = of_array.map(|bytes| Fill::Bits(pod_read_unaligned::<V>(bytes).to_value_bits()));
            let fills: Vec<Fill> = fills.collect();
            let values = values(bytes);
            let mut compressor = compressor.extents(self.extents()).map_err(codec_error)?;
            if self.is_complex {
                compressor = compressor.complex();
            }
            compressor.fills_of::<V>(&values, &fills).compress(&values).map_err(codec_error)
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
        let found = (info.dtype, info.is_complex, info.elements);
        if found != (self.value_type, self.is_complex, self.elements()) {
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

/// The type of values that ferrosz and Zarr have in common, and whether they are the parts of complex numbers.
///
/// # Errors
///
/// [`CodecError::UnsupportedDataType`].
pub fn value_type(data_type: &DataType) -> Result<(ValueType, bool), CodecError> {
    let name = data_type.name_v3();
    let is_of = |of: &str, bytes: usize| {
        name.as_deref() == Some(of) && data_type.fixed_size() == Some(bytes)
    };
    let mut real = ValueType::ALL.into_iter();
    let real = real.find(|value_type| is_of(zarr_name(*value_type), value_type.bytes()));
    let mut complex = COMPLEX.into_iter();
    let complex = complex.find(|(name, parts)| is_of(name, 2 * parts.bytes()));
    let complex = complex.map(|(_, parts)| (parts, true));
    let found = real.map(|value_type| (value_type, false)).or(complex);
    found.ok_or_else(|| CodecError::UnsupportedDataType(data_type.clone(), "ferrosz".to_string()))
}

/// The names of the types of complex numbers in the metadata of arrays, and the types of their parts.
const COMPLEX: [(&str, ValueType); 2] = [
    ("complex64", ValueType::F32),
    ("complex128", ValueType::F64),
];

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
fn extents(shape: &[u64], is_complex: bool) -> Result<Extents, CodecError> {
    let numbers = if shape.is_empty() { &[1] } else { shape };
    let parts: &[u64] = if is_complex { &[2] } else { &[] };
    Extents::new(&[numbers, parts].concat())
        .ok_or_else(|| codec_error(Error::BadExtents(format!("{shape:?}"))))
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
