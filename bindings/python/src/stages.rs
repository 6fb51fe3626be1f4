//! `stage_compress`, `stage_decompress`, `stage_decompose` and `stage_compose`: the interpolator alone, and the stages
//! behind it.

use crate::array_in::Field;
use crate::array_out::array_of;
use crate::call;
use crate::dtype::NumberType;
use crate::error::{UNSUPPORTED_TYPE, argument, raised_stages, typed};
use crate::options::device as device_of;
use crate::stream::Bytes;
use ferrosz::codec::with_element;
use ferrosz::{Bound, BoundMode, Device, Dtype};
use ferrosz_stages::container::Container;
use ferrosz_stages::stage::own_stage;
use ferrosz_stages::{
    Code, CodeOrder, CodeWidth, Decomposition, Element, Error, FormatError, Interpolator, Pipeline,
    RadiusRule, Recipe, decompress,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The attributes of `ferrosz.stages.Pipeline`.
#[derive(FromPyObject)]
pub struct Settings {
    stage: String,
    code_bytes: u32,
    by_level: bool,
    radius: Option<Radius>,
    mode: Option<u32>,
    alpha: f64,
    beta: f64,
    rank: Option<u8>,
    device: String,
}

/// A radius, or the name of a rule.
#[derive(FromPyObject)]
enum Radius {
    Given(u32),
    Rule(String),
}

impl Settings {
    /// The interpolator for an array.
    fn interpolator(
        &self,
        py: Python<'_>,
        field: &Field,
        (name, value): (String, f64),
    ) -> PyResult<Interpolator> {
        let mode = (BoundMode::ALL.into_iter().find(|mode| mode.name() == name))
            .ok_or_else(|| argument(py, format!("'{name}' is no kind of bound")))?;
        let bound =
            Bound::new(mode, value).map_err(|error| argument(py, format!("{name}: {error}")))?;
        let rule = match &self.radius {
            None => RadiusRule::Sampled,
            Some(Radius::Given(radius)) => RadiusRule::Given(*radius),
            Some(Radius::Rule(name)) if name == "fits" => RadiusRule::Fits,
            Some(Radius::Rule(name)) => {
                return Err(argument(py, format!("radius: '{name}' is not 'fits'")));
            }
        };
        let order = match self.by_level {
            true => CodeOrder::Level,
            false => CodeOrder::Raster,
        };
        let made = Interpolator::new(bound)
            .order(order)
            .radius_by(rule)
            .device(device_of(py, &self.device)?)
            .extents(field.shape());
        let ranked = made.and_then(|made| match self.rank {
            None => Ok(made),
            Some(rank) => made.with_rank(rank),
        });
        let tuned = ranked.and_then(|made| match self.mode {
            None if [self.alpha, self.beta] != [0.0; 2] => Err(Error::BadTuning),
            None => Ok(made),
            Some(mode) => made.fzgpu_mode(mode, [self.alpha, self.beta]),
        });
        tuned.map_err(|error| raised_stages(py, &error))
    }

    fn width(&self, py: Python<'_>) -> PyResult<CodeWidth> {
        CodeWidth::of_bytes(self.code_bytes).ok_or_else(|| {
            argument(
                py,
                format!("code_bytes: {} is not 1, 2 or 4", self.code_bytes),
            )
        })
    }
}

/// Compresses an array to a container of parts.
#[pyfunction]
pub fn stage_compress<'py>(
    array: &pyo3::Bound<'py, PyAny>,
    settings: Settings,
    bound: (String, f64),
) -> PyResult<pyo3::Bound<'py, PyBytes>> {
    let py = array.py();
    let field = Field::new(array)?;
    let interpolator = settings.interpolator(py, &field, bound)?;
    let stage = own_stage(&settings.stage).map_err(|_| {
        argument(
            py,
            format!("stage: '{}' is none of ferrosz's", settings.stage),
        )
    })?;
    let pipeline = Pipeline::of(interpolator, stage).width(settings.width(py)?);
    let dtype = element_type(py, &field)?;
    let done = call::run(py, field.bytes(), None, false, move |_| {
        Ok(with_element!(dtype, E => pipeline.compress(field.values::<E>())))
    })?;
    let bytes = done.map_err(|error| raised_stages(py, &error))?;
    Ok(PyBytes::new(py, &bytes))
}

/// The array in a container of parts.
#[pyfunction]
pub fn stage_decompress<'py>(
    container: &pyo3::Bound<'py, PyAny>,
    device: &str,
) -> PyResult<pyo3::Bound<'py, PyAny>> {
    let py = container.py();
    let (bytes, device) = (Bytes::new(container)?, device_of(py, device)?);
    let read = Container::read(bytes.as_slice()).map_err(|error| raised_stages(py, &error))?;
    let (dtype, extents) = (read.dtype(), read.extents().to_vec());
    let size = extents
        .iter()
        .fold(8, |size: u64, length| size.saturating_mul(*length));
    with_element!(dtype, E => {
        let work = move |_: call::Advance<'_>| Ok(decompress::<E>(bytes.as_slice(), &[], device));
        let values = call::run(py, size as usize, None, false, work)?;
        array_of(py, values.map_err(|error| raised_stages(py, &error))?, NumberType::real(dtype.value_type()), &extents)
    })
}

/// Codes, anchors, values and positions of outliers, and the recipe.
type Arrays<'py> = (
    pyo3::Bound<'py, PyAny>,
    pyo3::Bound<'py, PyAny>,
    pyo3::Bound<'py, PyAny>,
    pyo3::Bound<'py, PyAny>,
    pyo3::Bound<'py, PyBytes>,
);

/// Decomposes an array.
#[pyfunction]
pub fn stage_decompose<'py>(
    array: &pyo3::Bound<'py, PyAny>,
    settings: Settings,
    bound: (String, f64),
) -> PyResult<Arrays<'py>> {
    let py = array.py();
    let field = Field::new(array)?;
    let interpolator = settings.interpolator(py, &field, bound)?;
    let width = settings.width(py)?;
    with_element!(element_type(py, &field)?, E => match width {
        CodeWidth::U8 => decomposed::<E, u8>(py, field, interpolator),
        CodeWidth::U16 => decomposed::<E, u16>(py, field, interpolator),
        CodeWidth::U32 => decomposed::<E, u32>(py, field, interpolator),
    })
}

fn decomposed<T: Element, C: Code + numpy::Element>(
    py: Python<'_>,
    field: Field,
    interpolator: Interpolator,
) -> PyResult<Arrays<'_>> {
    let bytes = field.bytes();
    let work = move |_: call::Advance<'_>| Ok(interpolator.decompose(field.values::<T>()));
    let parts: Decomposition<T, C> =
        call::run(py, bytes, None, false, work)?.map_err(|error| raised_stages(py, &error))?;
    let (anchors, outliers) = (
        parts.anchors.len() as u64,
        parts.outlier_values.len() as u64,
    );
    let indices = numpy::PyArray1::from_vec(py, parts.outlier_indices);
    let number_type = NumberType::real(T::DTYPE.value_type());
    Ok((
        numpy::PyArray1::from_vec(py, parts.codes).into_any(),
        array_of(py, parts.anchors, number_type, &[anchors])?,
        array_of(py, parts.outlier_values, number_type, &[outliers])?,
        indices.into_any(),
        PyBytes::new(py, &parts.recipe.to_bytes()),
    ))
}

/// The attributes of `ferrosz.stages.Parts`, as bytes.
#[derive(FromPyObject)]
pub struct PartBytes<'py> {
    codes: pyo3::Bound<'py, PyAny>,
    anchors: pyo3::Bound<'py, PyAny>,
    outlier_values: pyo3::Bound<'py, PyAny>,
    outlier_indices: pyo3::Bound<'py, PyAny>,
    recipe: pyo3::Bound<'py, PyAny>,
    shape: Vec<u64>,
}

/// Composes an array from its parts.
#[pyfunction]
pub fn stage_compose<'py>(
    py: Python<'py>,
    parts: PartBytes<'py>,
    device: &str,
) -> PyResult<pyo3::Bound<'py, PyAny>> {
    let device = device_of(py, device)?;
    let recipe = Bytes::new(&parts.recipe)?;
    let (dtype, width) =
        Recipe::<f32>::types_of(recipe.as_slice()).map_err(|error| raised_format(py, error))?;
    with_element!(dtype, E => match width {
        CodeWidth::U8 => composed::<E, u8>(py, &parts, device),
        CodeWidth::U16 => composed::<E, u16>(py, &parts, device),
        CodeWidth::U32 => composed::<E, u32>(py, &parts, device),
    })
}

fn composed<'py, T: Element, C: Code>(
    py: Python<'py>,
    parts: &PartBytes<'py>,
    device: Device,
) -> PyResult<pyo3::Bound<'py, PyAny>> {
    let recipe = Recipe::<T>::from_bytes(Bytes::new(&parts.recipe)?.as_slice())
        .map_err(|error| raised_format(py, error))?;
    let decomposition = Decomposition::<T, C> {
        recipe,
        codes: items(&parts.codes, "codes")?,
        anchors: items(&parts.anchors, "anchors")?,
        outlier_values: items(&parts.outlier_values, "outlier_values")?,
        outlier_indices: items(&parts.outlier_indices, "outlier_indices")?,
    };
    let size = decomposition.codes.len() * T::BYTES;
    let work = move |_: call::Advance<'_>| Ok(decomposition.compose_on(device));
    let values = call::run(py, size, None, false, work)?;
    array_of(
        py,
        values.map_err(|error| raised_stages(py, &error))?,
        NumberType::real(T::DTYPE.value_type()),
        &parts.shape,
    )
}

/// The items of a buffer of an array's bytes.
fn items<P: bytemuck::Pod>(buffer: &pyo3::Bound<'_, PyAny>, name: &str) -> PyResult<Vec<P>> {
    let bytes = Bytes::new(buffer)?;
    let bytes = bytes.as_slice();
    if !bytes.len().is_multiple_of(size_of::<P>()) {
        let message = format!(
            "{name}: its items do not have {} bytes each",
            size_of::<P>()
        );
        return Err(argument(buffer.py(), message));
    }
    Ok(bytemuck::pod_collect_to_vec(bytes))
}

fn raised_format(py: Python<'_>, error: FormatError) -> PyErr {
    raised_stages(py, &Error::Ferrosz(error.into()))
}

/// The type of the elements of an array that is interpolated.
fn element_type(py: Python<'_>, field: &Field) -> PyResult<Dtype> {
    let number_type = field.number_type();
    let found =
        (Dtype::ALL.into_iter()).find(|dtype| NumberType::real(dtype.value_type()) == number_type);
    found.ok_or_else(|| {
        let message = format!("arrays of float32 or float64 are decomposed, not of {number_type}");
        typed(py, UNSUPPORTED_TYPE, message)
    })
}
