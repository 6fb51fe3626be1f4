//! `Decompressor`: streams to arrays.

use crate::arguments::Arguments;
use crate::array_out::{Output, array_of};
use crate::call::{self, Advance};
use crate::device;
use crate::dtype::NumberType;
use crate::error::{argument, raised};
use crate::options::{device as device_of, threads_of};
use crate::part::IndexedBox;
use crate::stream::{Bytes, Stream};
use ferrosz::codec::with_value;
use ferrosz::{Error, Part, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyEllipsis, PyTuple};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// Decompresses any number of streams with the same options, also from several threads at the same time.
///
/// >>> decompressor = ferrosz.Decompressor(device="cpu")
/// >>> decompressor.decompress(ferrosz.compress(np.arange(5.0), abs=0))
/// array([0., 1., 2., 3., 4.])
#[pyclass(frozen, module = "ferrosz")]
pub struct Decompressor {
    decompressor: ferrosz::Decompressor,
    threads: Option<NonZeroUsize>,
    arguments: Arguments,
}

/// The arguments of a decompressor; none stands for a default.
#[derive(IntoPyObject)]
struct Given<'a> {
    device: Option<&'a str>,
    verify_checksums: Option<bool>,
    threads: Option<usize>,
}

#[pymethods]
impl Decompressor {
    #[new]
    #[pyo3(signature = (*, device="auto", verify_checksums=true, threads=None))]
    fn new(
        py: Python<'_>,
        device: &str,
        verify_checksums: bool,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let decompressor = of_device(py, device)?.verify_checksums(verify_checksums);
        let given = Given {
            device: (device != "auto").then_some(device),
            verify_checksums: (!verify_checksums).then_some(false),
            threads,
        };
        Ok(Self {
            decompressor,
            threads: threads_of(py, threads)?,
            arguments: Arguments::new(&given.into_pyobject(py)?)?,
        })
    }

    /// Decompresses a stream, or a box of its array, as the function `decompress` does.
    #[pyo3(signature = (stream, *, out=None, r#box=None, level=0, progress=None, cuda_stream=None))]
    fn decompress<'py>(
        &self,
        stream: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        r#box: Option<&Bound<'py, PyAny>>,
        level: u32,
        progress: Option<&Bound<'py, PyAny>>,
        cuda_stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = stream.py();
        if !is_host_buffer(stream) && device::is_on_gpu(stream) {
            if level > 0 {
                let message = "level: levels are decoded from host memory: copy the stream there";
                return Err(argument(py, message));
            }
            return device::decompress(&self.decompressor, stream, out, r#box, cuda_stream);
        }
        let bytes = Bytes::new(stream)?;
        let info = ferrosz::info(bytes.as_slice()).map_err(|error| raised(py, &error))?;
        let numbers = info.number_extents();
        let whole = PyEllipsis::get(py).to_owned().into_any();
        let part = (r#box.or((level > 0).then_some(&whole)))
            .map(|index| IndexedBox::of_level(index, numbers, level))
            .transpose()?;
        let (part, shape) = match part {
            None => (None, numbers.to_vec()),
            Some(part) => (Some(Part::Box(part.ranges)), part.shape),
        };
        let number_type = NumberType::of(&info);
        let wanted = Wanted {
            decompressor: self.decompressor,
            threads: self.threads,
            source: Source::Buffer(bytes),
            part,
            level,
        };
        wanted.decompress(py, number_type, &shape, out, progress)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.arguments.call(py, "Decompressor")
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> PyResult<bool> {
        self.arguments.is_same(py, &other.arguments)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        self.arguments.hash(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        slf.get().arguments.reduced(&slf.get_type())
    }
}

impl Decompressor {
    /// The settings.
    pub(crate) fn settings(&self) -> (ferrosz::Decompressor, Option<NonZeroUsize>) {
        (self.decompressor, self.threads)
    }
}

/// Whether an object is surely in the memory of the CPU, which saves questions about GPUs.
pub(crate) fn is_host_buffer(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<Stream>() || object.is_instance_of::<PyBytes>()
}

/// Decompression on a device with this name.
///
/// # Errors
///
/// `ArgumentError`.
pub fn of_device(py: Python<'_>, name: &str) -> PyResult<ferrosz::Decompressor> {
    Ok(ferrosz::Decompressor::new().device(device_of(py, name)?))
}

/// The bytes of a stream.
pub enum Source {
    /// All of them.
    Buffer(Bytes),
    /// Those that are known.
    Partial(Arc<RwLock<ferrosz::stream::PartialStream>>),
}

impl Source {
    /// Calls `decode` with the bytes.
    fn with<T>(&self, decode: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Self::Buffer(bytes) => decode(bytes.as_slice()),
            Self::Partial(stream) => decode(
                stream
                    .read()
                    .unwrap_or_else(PoisonError::into_inner)
                    .bytes(),
            ),
        }
    }
}

/// A stream, and the part of its array that is decoded.
pub struct Wanted {
    /// The options.
    pub decompressor: ferrosz::Decompressor,
    /// How many threads share the work, if not all of the pool.
    pub threads: Option<NonZeroUsize>,
    /// The stream.
    pub source: Source,
    /// All of the array if there is none; of complex numbers a part of the array of numbers.
    pub part: Option<Part>,
    /// The level that is decoded; 0 has all values. A higher one is of a box.
    pub level: u32,
}

impl Wanted {
    /// Decodes the numbers, of this type, to an array of this shape: `out`, or a new one.
    ///
    /// # Errors
    ///
    /// `ArgumentError` if `out` cannot be used, and the errors of the library.
    pub fn decompress<'py>(
        mut self,
        py: Python<'py>,
        number_type: NumberType,
        shape: &[u64],
        out: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.part = self.part.map(|part| number_type.part_of_values(part));
        with_value!(number_type.values, V => match out {
            None => self.into_new::<V>(py, number_type, shape, progress),
            Some(out) => {
                self.into_array::<V>(py, Output::new(out, number_type, shape)?, progress)
            }
        })
    }

    /// Decodes to a new array.
    fn into_new<'py, V: Value>(
        self,
        py: Python<'py>,
        number_type: NumberType,
        shape: &[u64],
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let elements = shape.iter().product::<u64>() * number_type.parts();
        let values: Vec<V> = call::run_on(
            py,
            self.threads,
            bytes_of::<V>(elements),
            progress,
            false,
            move |advance| {
                self.source.with(|stream| match (self.level(), &self.part) {
                    (Some(of_box), _) => self.decode_level(stream, of_box, advance),
                    (_, None) => self.decompressor.progress(advance).decompress(stream),
                    (_, Some(part)) => {
                        (self.decompressor.progress(advance)).decompress_part(stream, part)
                    }
                })
            },
        )?;
        array_of(py, values, number_type, shape)
    }

    /// Decodes to an array of the caller.
    fn into_array<'py, V: Value>(
        self,
        py: Python<'py>,
        mut output: Output,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bytes = size_of_val(output.values::<V>());
        let output = call::run_on(py, self.threads, bytes, progress, true, move |advance| {
            self.decode(output.values::<V>(), advance)?;
            Ok(output)
        })?;
        Ok(output.array(py))
    }

    fn decode<V: Value>(&self, values: &mut [V], advance: Advance<'_>) -> Result<(), Error> {
        self.source.with(|stream| {
            let decompressor = self.decompressor.progress(advance);
            match (self.level(), &self.part) {
                (Some(of_box), _) => {
                    values.copy_from_slice(&self.decode_level(stream, of_box, advance)?);
                    Ok(())
                }
                (_, None) => decompressor.decompress_into(stream, values).map(drop),
                (_, Some(part)) => {
                    (decompressor.decompress_part_into(stream, part, values)).map(drop)
                }
            }
        })
    }

    /// The level that is decoded and its box, if it is not 0.
    fn level(&self) -> Option<(u32, &[Range<u64>])> {
        match &self.part {
            Some(Part::Box(ranges)) if self.level > 0 => Some((self.level, ranges)),
            _ => None,
        }
    }

    fn decode_level<V: Value>(
        &self,
        stream: &[u8],
        (level, ranges): (u32, &[Range<u64>]),
        advance: Advance<'_>,
    ) -> Result<Vec<V>, Error> {
        let values = self.decompressor.level_of_box(stream, level, ranges)?;
        advance(values.len() as u64);
        Ok(values)
    }
}

fn bytes_of<V: Value>(elements: u64) -> usize {
    usize::try_from(elements)
        .unwrap_or(usize::MAX)
        .saturating_mul(size_of::<V>())
}
