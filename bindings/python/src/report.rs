//! `report`: a page about an array and its streams.

use crate::array_in::Field;
use crate::call;
use crate::decompressor::of_device;
use crate::masked;
use crate::stream::Bytes;
use crate::verify::info_of;
use ferrosz::codec::with_value;
use ferrosz_report::{Field as Reported, Report, Stream};
use pyo3::prelude::*;

/// A stream of the array, with its name and the call that makes it.
#[derive(FromPyObject)]
pub struct Named<'py>(String, Bound<'py, PyAny>, String);

/// The page about an array and its streams, and which of them keep their bounds: see `ferrosz.report`.
#[pyfunction]
pub fn report_page(
    original: &Bound<'_, PyAny>,
    name: String,
    units: String,
    streams: Vec<Named<'_>>,
    device: &str,
) -> PyResult<(String, Vec<bool>)> {
    let py = original.py();
    let (original, _) = masked::split(original)?;
    let field = Field::new(&original)?;
    let mut named = Vec::new();
    for Named(name, stream, command) in streams {
        let bytes = Bytes::new(&stream)?;
        info_of(py, &field, &bytes)?;
        named.push((name, bytes, command));
    }
    let decompressor = of_device(py, device)?;
    call::run(py, field.bytes(), None, false, move |_| {
        let extents = field.extents();
        with_value!(field.value_type(), V => {
            let mut report = Report::new(Reported {
                name: &name,
                values: field.values::<V>(),
                extents: &extents,
                unit: &units,
            });
            let mut kept = Vec::new();
            for (name, bytes, command) in &named {
                let bytes = bytes.as_slice();
                let decoded = &decompressor.decompress::<V>(bytes)?;
                kept.push(report.add(&Stream { name, bytes, decoded, command })?);
            }
            Ok((report.to_html()?, kept))
        })
    })
}
