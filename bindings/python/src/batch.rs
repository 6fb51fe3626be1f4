//! `compress_batch` and `decompress_batch`: many arrays in one call.

use crate::array_in::Field;
use crate::array_out::array_of;
use crate::call;
use crate::compressor::Compressor;
use crate::decompressor::{Decompressor, is_host_buffer};
use crate::device::{self, DeviceArray};
use crate::dtype::NumberType;
use crate::error::raised;
use crate::masked;
use crate::options::{Aim, Options};
use crate::stream::{Bytes, Stream};
use ferrosz::codec::with_value;
use ferrosz::{Error, Value, ValueType};
use numpy::PyUntypedArray;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Compresses arrays, each to a stream of its own with the bytes of `compressor.compress(array)`; returns the streams in the
/// order of the arrays.
///
/// arrays
///     As `compress` takes them. Their shapes and types may differ.
/// compressor
///     The settings. On a CPU the arrays are compressed at the same time; `device="auto"` is the CPU here. A GPU that is named
///     gets all arrays of one dimension and type in one launch, if the codec is one of blocks and they are float32 or
///     float64; others come one after the other, as arrays in the memory of a GPU do.
///
/// Raises the exception of `compress` for an array that cannot be compressed; a note of it has the array's number.
///
/// >>> arrays = [np.sin(np.arange(1000.0 + k)) for k in range(100)]
/// >>> compressor = ferrosz.Compressor(abs=1e-3, preset="fast")
/// >>> streams = ferrosz.compress_batch(arrays, compressor)
/// >>> streams[7] == compressor.compress(arrays[7])
/// True
#[pyfunction]
pub fn compress_batch<'py>(
    arrays: &Bound<'py, PyAny>,
    compressor: &Bound<'py, Compressor>,
) -> PyResult<Bound<'py, PyList>> {
    let py = arrays.py();
    compressor.get().check_no_bounds(py, "arrays of a batch")?;
    let options = compressor.get().options();
    let mut entries = Vec::new();
    for (number, array) in arrays.try_iter()?.enumerate() {
        let entry = Entry::new(options, &array?);
        entries.push(entry.map_err(|error| numbered(py, "arrays", number, error))?);
    }
    let bytes = entries.iter().map(Entry::bytes).sum();
    let streams = call::run_on(py, options.threads, bytes, None, false, move |_| {
        Ok(compress(entries))
    })?;
    let made = streams.into_iter().enumerate().map(|(number, stream)| {
        let made = match stream {
            Made::Host(Ok(bytes)) => Bound::new(py, Stream::from(bytes)).map(Bound::into_any),
            Made::Host(Err(error)) => Err(raised(py, &error)),
            Made::Device(array) => Ok(array.into_bound(py).into_any()),
        };
        made.map_err(|error| numbered(py, "arrays", number, error))
    });
    PyList::new(py, made.collect::<PyResult<Vec<_>>>()?)
}

/// Decompresses streams; returns their arrays in the order of the streams.
///
/// streams
///     As `decompress` takes them.
/// decompressor
///     The settings; by default those of `Decompressor()`. The device is used as by `compress_batch`.
///
/// Raises the exception of `decompress` for a stream that cannot be decompressed; a note of it has the stream's number.
///
/// >>> streams = [ferrosz.compress(np.arange(float(k)), abs=0.5, preset="fast") for k in (10, 20)]
/// >>> [array.shape for array in ferrosz.decompress_batch(streams)]
/// [(10,), (20,)]
#[pyfunction]
#[pyo3(signature = (streams, decompressor=None))]
pub fn decompress_batch<'py>(
    streams: &Bound<'py, PyAny>,
    decompressor: Option<&Bound<'py, Decompressor>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = streams.py();
    let decompressor = decompressor.map_or_else(Default::default, |it| it.get().settings());
    let (mut arrays, mut by_type) = (BTreeMap::new(), BTreeMap::new());
    for (number, stream) in streams.try_iter()?.enumerate() {
        let stream = stream?;
        if !is_host_buffer(&stream) && device::is_on_gpu(&stream) {
            let array = device::decompress(&decompressor.0, &stream, None, None, None);
            let array = array.map_err(|error| numbered(py, "streams", number, error))?;
            arrays.insert(number, array);
            continue;
        }
        let (value_type, coded) =
            Coded::new(number, &stream).map_err(|error| numbered(py, "streams", number, error))?;
        let (_, of_type) = by_type
            .entry(value_type.id())
            .or_insert((value_type, Vec::new()));
        of_type.push(coded);
    }
    for (value_type, coded) in by_type.into_values() {
        with_value!(value_type, V => decode::<V>(py, decompressor, coded, &mut arrays)?);
    }
    PyList::new(py, arrays.into_values())
}

/// An array of a batch.
enum Entry {
    /// In the memory of the host, and the options with the fill value of a masked array.
    Host(Field, Arc<Options>),
    /// The stream of an array in the memory of a GPU.
    Device(Py<DeviceArray>),
}

/// The stream of an array of a batch.
enum Made {
    Host(Result<Vec<u8>, Error>),
    Device(Py<DeviceArray>),
}

impl Entry {
    fn new(options: &Arc<Options>, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !array.is_instance_of::<PyUntypedArray>() && device::is_on_gpu(array) {
            let stream = device::compress(options, array, None, None)?;
            return Ok(Self::Device(Py::new(array.py(), stream)?));
        }
        let (array, fills) = masked::split(array)?;
        let options = match fills[..] {
            [] => options.clone(),
            _ => Arc::new(options.and_fills(&fills)),
        };
        Ok(Self::Host(Field::new(&array)?, options))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Host(field, _) => field.bytes(),
            Self::Device(_) => 0,
        }
    }
}

/// Arrays of one type that one compressor takes, by their numbers.
struct Alike<'a> {
    value_type: ValueType,
    compressor: ferrosz::Compressor,
    fields: Vec<(usize, &'a Field)>,
}

impl Alike<'_> {
    fn compress(&self, streams: &mut BTreeMap<usize, Made>) {
        with_value!(self.value_type, V => {
            let fields: Vec<&[V]> = self.fields.iter().map(|(_, field)| field.values()).collect();
            let made = self.compressor.compress_batch(&fields);
            for ((number, _), stream) in self.fields.iter().zip(made) {
                streams.insert(*number, Made::Host(stream));
            }
        });
    }
}

/// The streams of arrays. Those that one compressor takes are compressed in one call of the library.
fn compress(entries: Vec<Entry>) -> Vec<Made> {
    let mut streams = BTreeMap::new();
    let mut groups: Vec<Alike<'_>> = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let (field, options) = match entry {
            Entry::Host(field, options) => (field, options),
            Entry::Device(_) => continue,
        };
        let value_type = field.value_type();
        match with_value!(value_type, V => prepare::<V>(options, field)) {
            Err(error) => drop(streams.insert(number, Made::Host(Err(error)))),
            Ok(Prepared::Stream(stream)) => drop(streams.insert(number, Made::Host(Ok(stream)))),
            Ok(Prepared::Settings(compressor)) => {
                let is_alike = |of: &&mut Alike<'_>| {
                    of.value_type == value_type && of.compressor == *compressor
                };
                match groups.iter_mut().find(is_alike) {
                    Some(group) => group.fields.push((number, field)),
                    None => groups.push(Alike {
                        value_type,
                        compressor: *compressor,
                        fields: vec![(number, field)],
                    }),
                }
            }
        }
    }
    for group in groups {
        group.compress(&mut streams);
    }
    for (number, entry) in entries.into_iter().enumerate() {
        if let Entry::Device(array) = entry {
            streams.insert(number, Made::Device(array));
        }
    }
    streams.into_values().collect()
}

/// An array before the call that it has in common with others.
enum Prepared {
    /// Its settings.
    Settings(Box<ferrosz::Compressor>),
    /// Its stream, which was searched for a target.
    Stream(Vec<u8>),
}

fn prepare<V: Value>(options: &Options, field: &Field) -> Result<Prepared, Error> {
    let values = field.values::<V>();
    // Without extents an array is a line, and lines of any lengths have a launch in common.
    let compressor = match (field.shape(), field.number_type().is_complex) {
        ([_], false) => options.compressor,
        (_, is_complex) => options.of_extents(&field.extents(), is_complex)?,
    };
    let compressor = options.filled(compressor, values)?;
    Ok(match options.aim {
        Aim::Bound(_) => Prepared::Settings(Box::new(compressor)),
        Aim::Target(target) => Prepared::Stream(compressor.search(target, values)?.stream),
    })
}

/// A stream of a batch in the memory of the host, and the numbers and the shape of its array.
struct Coded {
    number: usize,
    bytes: Bytes,
    number_type: NumberType,
    shape: Vec<u64>,
}

impl Coded {
    fn new(number: usize, stream: &Bound<'_, PyAny>) -> PyResult<(ValueType, Self)> {
        let bytes = Bytes::new(stream)?;
        let info = ferrosz::info(bytes.as_slice()).map_err(|error| raised(stream.py(), &error))?;
        let coded = Self {
            number,
            bytes,
            number_type: NumberType::of(&info),
            shape: info.number_extents().to_vec(),
        };
        Ok((info.dtype, coded))
    }
}

/// Decodes streams of one type, in one call of the library.
fn decode<'py, V: Value>(
    py: Python<'py>,
    (decompressor, threads): (ferrosz::Decompressor, Option<NonZeroUsize>),
    coded: Vec<Coded>,
    arrays: &mut BTreeMap<usize, Bound<'py, PyAny>>,
) -> PyResult<()> {
    let of_array = |it: &Coded| {
        let numbers = it.shape.iter().product::<u64>();
        numbers * it.number_type.parts() * size_of::<V>() as u64
    };
    let bytes = coded.iter().map(of_array);
    let bytes = bytes.fold(0u64, u64::saturating_add) as usize;
    let (coded, values) = call::run_on(py, threads, bytes, None, false, move |_| {
        let streams: Vec<&[u8]> = coded.iter().map(|it| it.bytes.as_slice()).collect();
        let values = decompressor.decompress_batch::<V>(&streams);
        Ok((coded, values))
    })?;
    for (coded, values) in coded.into_iter().zip(values) {
        let array = values
            .map_err(|error| raised(py, &error))
            .and_then(|values| array_of(py, values, coded.number_type, &coded.shape))
            .map_err(|error| numbered(py, "streams", coded.number, error))?;
        arrays.insert(coded.number, array);
    }
    Ok(())
}

/// An error with a note that has the number of its item.
fn numbered(py: Python<'_>, list: &str, number: usize, error: PyErr) -> PyErr {
    let noted = error
        .value(py)
        .call_method1(intern!(py, "add_note"), (format!("{list}[{number}]"),));
    match noted {
        Ok(_) => error,
        Err(other) => other,
    }
}
