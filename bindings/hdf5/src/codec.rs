//! Chunks and streams, without HDF5.

use crate::failure::Failure;
use crate::memory::{Allocator, Memory};
use crate::parameters::{Dataset, FillRequest, Parameters};
use crate::running;
use crate::threads::with_threads;
use bytemuck::{Pod, cast_slice, pod_collect_to_vec, try_cast_slice, try_cast_slice_mut};
use ferrosz::codec::with_value;
use ferrosz::{BoundMode, Compressor, Decompressor, Device, Fill, Value};
use std::borrow::Cow;

/// The compressor of chunks, without fill values.
///
/// # Errors
///
/// If it cannot have these settings.
pub fn compressor(parameters: &Parameters) -> Result<Compressor, Failure> {
    let Parameters { request, dataset } = parameters;
    let value_type = dataset.stored.value_type;
    if request.bound.mode() == BoundMode::Pwrel && !value_type.is_coded_as_is() {
        return Err(ferrosz::Error::MappingOfType(value_type).into());
    }
    if let FillRequest::Value(fill) = request.fill {
        with_value!(value_type, V => V::from_number(fill).map(|_| ()))
            .ok_or(ferrosz::Error::FillOfOtherType { fill, value_type })?;
    }
    let mut compressor = Compressor::new(request.encoder()?, request.bound).device(Device::Cpu);
    if !request.written_once {
        compressor = compressor.rewritable()?;
    }
    if !dataset.extents.is_empty() {
        compressor = compressor.extents(&dataset.extents)?;
    }
    if dataset.stored.is_complex {
        compressor = compressor.complex();
    }
    if request.rank > 0 {
        compressor = compressor.with_rank(request.rank)?;
    }
    if request.chunk_tiles > 0 {
        compressor = compressor.with_chunk_tiles(request.chunk_tiles)?;
    }
    Ok(compressor.prefer(request.preference)?)
}

/// The stream of a chunk.
///
/// # Errors
///
/// If the chunk is not one of the dataset.
pub fn encode(parameters: &Parameters, chunk: &[u8]) -> Result<Vec<u8>, Failure> {
    with_threads(
        chunk.len(),
        || with_value!(parameters.dataset.stored.value_type, V => encode_values::<V>(parameters, chunk)),
    )
}

fn encode_values<V: Value>(parameters: &Parameters, chunk: &[u8]) -> Result<Vec<u8>, Failure> {
    let stored = parameters.dataset.stored;
    if !chunk.len().is_multiple_of(stored.size) {
        let (bytes, size) = (chunk.len(), stored.size);
        let reason = format_args!("a chunk of {bytes} bytes is not one of values of {size} bytes");
        return Err(Failure::new(reason));
    }
    let converted;
    let mut values = match stored.is_of_other_width() {
        true => {
            converted = stored.to_stream(chunk)?;
            values::<V>(&converted)
        }
        false => values::<V>(chunk),
    };
    if stored.is_swapped && !stored.is_of_other_width() {
        values.to_mut().iter_mut().for_each(swap);
    }
    running::compress(parameters, &values, |settings| {
        let with_codec = match settings {
            None => compressor(parameters)?,
            Some(settings) => {
                let (request, axes) = settings.in_request(parameters.request);
                let dataset = parameters.dataset.clone();
                compressor(&Parameters { request, dataset })?.axes(axes)
            }
        };
        Ok(match parameters.request.fill {
            FillRequest::None => with_codec,
            FillRequest::Value(value) => with_codec.fill(value)?,
            FillRequest::Auto => {
                let of_dataset = parameters.dataset.fill.iter().copied();
                with_codec.fills_of(&values, &of_dataset.map(Fill::Bits).collect::<Vec<_>>())
            }
        })
    })
}

/// The values of a chunk; a copy if they are not aligned.
fn values<V: Pod>(chunk: &[u8]) -> Cow<'_, [V]> {
    match try_cast_slice(chunk) {
        Ok(values) => Cow::Borrowed(values),
        Err(_) => Cow::Owned(pod_collect_to_vec(chunk)),
    }
}

/// Reverses the bytes of a value.
fn swap<V: Value>(value: &mut V) {
    bytemuck::bytes_of_mut(value).reverse();
}

/// The chunk of a stream.
///
/// # Errors
///
/// If the stream is damaged, or not one of a chunk of the dataset. HDF5 relies on the length of a chunk.
pub fn decode(dataset: &Dataset, stream: &[u8], allocator: Allocator) -> Result<Memory, Failure> {
    let info = ferrosz::info(stream)?;
    let value_type = dataset.stored.value_type;
    let wanted: u64 = match dataset.extents[..] {
        [] => info.elements,
        ref extents => extents.iter().product(),
    };
    let of = (value_type, dataset.stored.is_complex);
    if (info.dtype, info.is_complex, info.elements) != (of.0, of.1, wanted) {
        return Err(Failure::new(format_args!(
            "the chunk has the stream of {} values of {}, but chunks of the dataset have {wanted} of {value_type}",
            info.elements, info.dtype
        )));
    }
    let bytes = usize::try_from(info.elements).ok();
    let bytes = bytes.and_then(|elements| elements.checked_mul(dataset.stored.size));
    let bytes = bytes
        .ok_or_else(|| Failure::new(format_args!("{} elements are too many", info.elements)))?;
    let mut memory = allocator.allocate(bytes)?;
    let chunk = memory.bytes();
    with_threads(
        bytes,
        || with_value!(value_type, V => decode_values::<V>(dataset, stream, chunk)),
    )?;
    Ok(memory)
}

fn decode_values<V: Value>(
    dataset: &Dataset,
    stream: &[u8],
    chunk: &mut [u8],
) -> Result<(), Failure> {
    let decompressor = Decompressor::new().device(Device::Cpu);
    if dataset.stored.is_of_other_width() {
        let values = decompressor.decompress::<V>(stream)?;
        dataset.stored.to_chunk(&values, chunk);
        return Ok(());
    }
    let swap_all = |values: &mut [V]| {
        if dataset.stored.is_swapped {
            values.iter_mut().for_each(swap);
        }
    };
    match try_cast_slice_mut::<u8, V>(chunk) {
        Ok(values) => {
            decompressor.decompress_into(stream, values)?;
            swap_all(values);
        }
        // An HDF5 that checks memory gives some that is not aligned.
        Err(_) => {
            let mut values = decompressor.decompress::<V>(stream)?;
            swap_all(&mut values);
            chunk.copy_from_slice(cast_slice(&values));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Stored;
    use crate::parameters::Request;
    use ferrosz::{Bound, Preset, ValueType};

    fn parameters(fill: FillRequest, of_dataset: Option<u64>) -> Parameters {
        Parameters {
            request: Request {
                bound: Bound::abs(0.5).unwrap(),
                choice: Preset::Small.into(),
                rank: 0,
                chunk_tiles: 0,
                preference: ferrosz::Preference::Ratio,
                fill,
                written_once: false,
            },
            dataset: Dataset {
                stored: Stored {
                    value_type: ValueType::F32,
                    size: 4,
                    is_swapped: false,
                    is_complex: false,
                },
                fill: of_dataset.into_iter().collect(),
                extents: vec![10, 100],
            },
        }
    }

    #[test]
    fn fill_values_are_those_of_the_request_and_of_the_dataset() {
        let mut values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let of_dataset = Some(u64::from(500.0f32.to_bits()));
        // Those of the mask. NaN, which every mask has, is left away.
        let fills = |fill, of_dataset, values: &[f32]| {
            let parameters = parameters(fill, of_dataset);
            let stream = encode(&parameters, cast_slice(values)).unwrap();
            let mut fills = ferrosz::info(&stream).unwrap().fills;
            fills.retain(|fill| !fill.is_nan());
            fills
        };
        assert_eq!(fills(FillRequest::Auto, None, &values), []);
        assert_eq!(fills(FillRequest::Auto, of_dataset, &values), [500.0]);
        assert_eq!(fills(FillRequest::None, of_dataset, &values), []);
        assert_eq!(fills(FillRequest::Value(7.0), of_dataset, &values), [7.0]);
        values[500] = 1.0;
        assert_eq!(fills(FillRequest::Auto, of_dataset, &values), []);
        values[10..20].fill(-9999.0);
        assert_eq!(fills(FillRequest::Auto, of_dataset, &values), [-9999.0]);
    }

    #[test]
    fn chunks_that_are_not_aligned_are_coded_as_others() {
        let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let mut bytes = vec![0];
        bytes.extend_from_slice(cast_slice(&values));
        // No other test has these, whose chunks would be before those here.
        let parameters = parameters(FillRequest::None, None);
        let aligned = encode(&parameters, cast_slice(&values)).unwrap();
        assert_eq!(encode(&parameters, &bytes[1..]).unwrap(), aligned);
        let mut chunks = [vec![0; 4001], vec![0; 4004]];
        let [odd, even] = &mut chunks;
        let odd = &mut odd[1..4001];
        decode_values::<f32>(&parameters.dataset, &aligned, odd).unwrap();
        decode_values::<f32>(&parameters.dataset, &aligned, &mut even[4..]).unwrap();
        assert_eq!(odd, &even[4..]);
    }

    /// A shorter stream would let HDF5 read behind the end of the memory.
    #[test]
    fn streams_of_other_chunks_are_refused() {
        let mut other = parameters(FillRequest::Auto, None);
        let stream = encode(&other, &[0; 4000]).unwrap();
        assert!(decode(&other.dataset, &stream, Allocator::of(None)).is_ok());
        other.dataset.extents = vec![10, 101];
        assert!(decode(&other.dataset, &stream, Allocator::of(None)).is_err());
        assert!(encode(&other, &[0; 4000]).is_err());
        assert!(encode(&other, &[0; 4001]).is_err());
        other.dataset.extents = vec![10, 100];
        other.dataset.stored.value_type = ValueType::I32;
        assert!(decode(&other.dataset, &stream, Allocator::of(None)).is_err());
    }
}
