//! `stats` and `where`: statistics of a stream, and values that are found by them.

use crate::array_out::array_of;
use crate::dtype::NumberType;
use crate::error::raised_of_place;
use crate::pool;
use crate::stream::Bytes;
use ferrosz::codec::with_value;
use ferrosz::stream::{ReadAt, StreamAt};
use ferrosz::{Decompressor, Error, Value};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io;
use std::ops::{Bound as End, Range};
use std::path::PathBuf;

/// The place of a stream.
enum Place {
    Memory(Bytes),
    File(File),
    /// A function of a list of pairs of start and stop, which returns their bytes.
    Reader(Py<PyAny>),
}

impl Place {
    /// A function, the path of a file, or a buffer.
    fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        if source.is_callable() {
            return Ok(Self::Reader(source.clone().unbind()));
        }
        match source.extract::<PathBuf>() {
            Ok(path) => Ok(Self::File(File::open(path)?)),
            Err(_) => Ok(Self::Memory(Bytes::new(source)?)),
        }
    }
}

impl ReadAt for Place {
    fn byte_len(&self) -> io::Result<u64> {
        match self {
            Self::Memory(bytes) => bytes.as_slice().byte_len(),
            Self::File(file) => file.byte_len(),
            Self::Reader(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        match self {
            Self::Memory(bytes) => bytes.as_slice().read_ranges(ranges),
            Self::File(file) => file.read_ranges(ranges),
            Self::Reader(reader) => Python::attach(|py| {
                let pairs: Vec<(u64, u64)> = ranges
                    .iter()
                    .map(|range| (range.start, range.end))
                    .collect();
                let read = reader.call1(py, (pairs,)).map_err(io::Error::other)?;
                let parts: Vec<Bound<'_, PyBytes>> = read.extract(py).map_err(io::Error::other)?;
                Ok(parts.iter().map(|part| part.as_bytes().to_vec()).collect())
            }),
        }
    }
}

/// Smallest and largest value, mean, number of values, groups, chunks of a group, and bytes.
type Numbers = (Option<f64>, Option<f64>, Option<f64>, u64, usize, u64, u64);

/// The statistics of a stream, and whether they are outdated; none if it has none.
#[pyfunction]
pub fn stats(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Option<(Numbers, bool)>> {
    let place = Place::new(source)?;
    let found = py.detach(|| StreamAt::open(place)?.statistics());
    let found = found.map_err(|error| raised_of_place(py, &error))?;
    Ok(found.map(|one| {
        let (groups, of_group) = (one.groups().len(), one.chunks_of_group());
        let ends = (one.min(), one.max(), one.mean());
        let numbers = (
            ends.0,
            ends.1,
            ends.2,
            one.count(),
            groups,
            of_group,
            one.bytes,
        );
        (numbers, one.is_outdated)
    }))
}

/// The indices and values that a search found, and the numbers of chunks and bytes that it read.
type Found<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyAny>,
    Vec<u64>,
    [u64; 3],
);

/// The numbers and the values of elements above and below two numbers, in C order, the shape of the array, and the chunks that
/// were decoded, all chunks, and the bytes that were read.
#[pyfunction]
pub fn find<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    above: Option<f64>,
    below: Option<f64>,
) -> PyResult<Found<'py>> {
    let place = Place::new(source)?;
    let end = |number: Option<f64>| number.map_or(End::Unbounded, End::Excluded);
    let wanted = (end(above), end(below));
    let found = py.detach(|| {
        pool::run(|| -> Result<_, Error> {
            let (mut stream, mut found) = (StreamAt::open(place)?, Vec::new());
            let take = |place, number: f64| found.push((place, number));
            let search = stream.find(&Decompressor::new(), wanted, take)?;
            found.sort_unstable_by_key(|(place, _)| *place);
            Ok((stream, search, found))
        })
    })?;
    let (stream, search, found) = found.map_err(|error| raised_of_place(py, &error))?;
    let (places, numbers): (Vec<u64>, Vec<f64>) = found.into_iter().unzip();
    let count = numbers.len() as u64;
    let values = with_value!(stream.dtype(), V => {
        let values = numbers.into_iter().map(|number| V::from_number(number).unwrap_or_default());
        array_of(py, values.collect::<Vec<V>>(), NumberType::real(V::TYPE), &[count])?
    });
    let read = [search.chunks_wanted, search.chunks, stream.traffic().bytes];
    Ok((
        PyArray1::from_vec(py, places),
        values,
        stream.extents(),
        read,
    ))
}
