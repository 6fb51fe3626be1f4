//! The options of a compression, from keyword arguments.

use crate::error::{argument, raised};
use crate::safeguards::ValueBounds;
use ferrosz::target::{Target, TargetKind};
use ferrosz::{
    AxesSetting, Bound as ErrorBound, BoundMode, Choice, Codec, Compressor, Device, Error, Fill,
    Preference, Preset, Value,
};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::num::NonZeroUsize;

/// What decides the error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aim {
    /// This bound.
    Bound(ErrorBound),
    /// The bound that reaches this target.
    Target(Target),
}

/// The bounds and targets of a call, by the names of their arguments.
pub struct Aims {
    /// `abs`, `range`, `max` and `pwrel`.
    pub bounds: [(BoundMode, Option<f64>); 4],
    /// `psnr`, `rmse`, `mae` and `ratio`.
    pub targets: [(TargetKind, Option<f64>); 4],
}

impl Aims {
    /// The only one that is given.
    ///
    /// # Errors
    ///
    /// `ArgumentError` if it is not one, or its number is not a valid one.
    pub fn only(&self, py: Python<'_>) -> PyResult<Aim> {
        let bounds = self.bounds.iter().filter_map(|(mode, value)| {
            let value = (*value)?;
            Some((
                mode.name(),
                ErrorBound::new(*mode, value)
                    .map(Aim::Bound)
                    .map_err(Error::from),
            ))
        });
        let targets = self.targets.iter().filter_map(|(kind, value)| {
            let value = (*value)?;
            Some((kind.name(), Target::new(*kind, value).map(Aim::Target)))
        });
        let mut given: Vec<_> = bounds.chain(targets).collect();
        match (given.pop(), &given[..]) {
            (Some((_, aim)), []) => aim.map_err(|error| raised(py, &error)),
            (None, _) => Err(argument(
                py,
                "give one bound or target: abs, range, max, pwrel, psnr, rmse, mae or ratio",
            )),
            (Some((last, _)), others) => {
                let names: Vec<&str> = others.iter().map(|(name, _)| *name).chain([last]).collect();
                Err(argument(
                    py,
                    format!(
                        "give only one of the bounds and targets {}",
                        names.join(", ")
                    ),
                ))
            }
        }
    }
}

/// The fill values of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fills {
    /// Those of these that are in the array, and others that are found in it.
    Auto(Vec<Fill>),
    /// These.
    Given(Vec<Fill>),
}

impl Default for Fills {
    fn default() -> Self {
        Self::Auto(Vec::new())
    }
}

impl Fills {
    /// Those that are known without the array.
    pub fn known(&self) -> &[Fill] {
        match self {
            Self::Auto(fills) | Self::Given(fills) => fills,
        }
    }
}

impl FromPyObject<'_, '_> for Fills {
    type Error = PyErr;

    /// From `"auto"`, `None` or `"none"`, a number, several numbers, or numbers and `"auto"`.
    fn extract(fill: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let wrong = || {
            let message = format!(
                "fill: {fill:?} is not 'auto', None, a number, or a sequence of numbers and 'auto'"
            );
            argument(fill.py(), message)
        };
        if fill.is_none() {
            return Ok(Self::Given(Vec::new()));
        }
        if let Ok(name) = fill.cast::<PyString>() {
            return match name.to_string_lossy().as_ref() {
                "auto" => Ok(Self::Auto(Vec::new())),
                "none" => Ok(Self::Given(Vec::new())),
                _ => Err(wrong()),
            };
        }
        if let Ok(value) = fill.extract::<f64>() {
            return Ok(Self::Given(vec![value.into()]));
        }
        let parts: Vec<FillPart> = fill.extract().map_err(|_| wrong())?;
        let (mut is_auto, mut fills) = (false, Vec::new());
        for part in parts {
            match part {
                FillPart::Value(value) => fills.push(value.into()),
                FillPart::Name(name) if name == "auto" => is_auto = true,
                FillPart::Name(_) => return Err(wrong()),
            }
        }
        Ok(match is_auto {
            true => Self::Auto(fills),
            false => Self::Given(fills),
        })
    }
}

impl<'py> IntoPyObject<'py> for &Fills {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    /// What makes equal fill values again: `"none"`, or a list of numbers, with `"auto"` in front.
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let (is_auto, fills) = match self {
            Fills::Given(fills) if fills.is_empty() => return "none".into_bound_py_any(py),
            Fills::Given(fills) => (false, fills),
            Fills::Auto(fills) => (true, fills),
        };
        let list = PyList::empty(py);
        if is_auto {
            list.append("auto")?;
        }
        for fill in fills {
            // A user gives numbers alone.
            let number = match fill {
                Fill::Value(value) => *value,
                _ => f64::NAN,
            };
            list.append(number)?;
        }
        Ok(list.into_any())
    }
}

/// A part of the argument `fill`.
#[derive(FromPyObject)]
enum FillPart {
    Value(f64),
    Name(String),
}

/// All options of a compression but the extents of the array.
#[derive(Debug, Clone)]
pub struct Options {
    /// The bound or target.
    pub aim: Aim,
    /// The fill values.
    pub fills: Fills,
    /// Codec, rank, axes, and what is kept. Its bound is that of `aim`, unless this is a target.
    pub compressor: Compressor,
    /// The bounds of the values of an array.
    pub bounds: Option<ValueBounds>,
    /// How many threads of the CPU share the work, if not all of the pool.
    pub threads: Option<NonZeroUsize>,
}

impl Options {
    /// These options with more fill values.
    pub fn and_fills(&self, more: &[f64]) -> Self {
        let mut found = self.clone();
        let (Fills::Auto(fills) | Fills::Given(fills)) = &mut found.fills;
        for fill in more.iter().copied().map(Fill::from) {
            if !fills.contains(&fill) {
                fills.push(fill);
            }
        }
        found
    }

    /// The compressor for a field of these extents, which may be of the parts of complex numbers.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn compressor_for<V: Value>(
        &self,
        values: &[V],
        extents: &[u64],
        is_complex: bool,
    ) -> Result<Compressor, Error> {
        self.filled(self.of_extents(extents, is_complex)?, values)
    }

    /// A compressor with the fill values of a field.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn filled<V: Value>(
        &self,
        compressor: Compressor,
        values: &[V],
    ) -> Result<Compressor, Error> {
        match &self.fills {
            Fills::Auto(known) => {
                // The library leaves values away that the type does not have. Here they are arguments of a user.
                for fill in known {
                    if let Fill::Value(fill) = *fill
                        && V::from_number(fill).is_none()
                    {
                        let value_type = V::TYPE;
                        return Err(Error::FillOfOtherType { fill, value_type });
                    }
                }
                Ok(compressor.fills_of(values, known))
            }
            Fills::Given(fills) => add_fills(compressor, fills),
        }
    }

    /// The compressor for a field of these extents, which may be of the parts of complex numbers, with these fill values.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn with_fills(
        &self,
        fills: &[Fill],
        extents: &[u64],
        is_complex: bool,
    ) -> Result<Compressor, Error> {
        add_fills(self.of_extents(extents, is_complex)?, fills)
    }

    /// The compressor for a field of these extents, which are those of its parts if it is of complex numbers. Fill values are
    /// left away.
    ///
    /// # Errors
    ///
    /// Those of the library.
    pub fn of_extents(&self, extents: &[u64], is_complex: bool) -> Result<Compressor, Error> {
        let compressor = self.compressor.extents(extents)?;
        Ok(match is_complex {
            true => compressor.complex(),
            false => compressor,
        })
    }
}

/// A compressor with these fill values.
fn add_fills(compressor: Compressor, fills: &[Fill]) -> Result<Compressor, Error> {
    let add = |compressor: Compressor, fill: &Fill| compressor.fill(*fill);
    fills.iter().try_fold(compressor, add)
}

/// The preset or the codec of a call.
///
/// # Errors
///
/// `ArgumentError` if both are given, or one is unknown.
pub fn choice(py: Python<'_>, preset: Option<&str>, codec: Option<&str>) -> PyResult<Choice> {
    match (preset, codec) {
        (None, None) => Ok(Preset::default().into()),
        (Some(name), None) => {
            let preset = name.parse::<Preset>().map(Choice::from);
            preset.map_err(|error| argument(py, format!("preset: '{name}': {error}")))
        }
        (None, Some(name)) => Ok(codec_of(py, name)?.into()),
        (Some(_), Some(_)) => Err(argument(py, "give preset or codec, not both")),
    }
}

/// Whether a preset keeps signs and zeros by the values of an array; docs/book/promises.md has the rules.
///
/// # Errors
///
/// `ArgumentError` if the argument is neither `"auto"` nor `"none"` nor `None`.
pub fn by_field(py: Python<'_>, keep: Option<&str>) -> PyResult<bool> {
    match keep {
        Some("auto") => Ok(true),
        Some("none") | None => Ok(false),
        Some(other) => Err(argument(
            py,
            format!("keep: '{other}' is neither 'auto' nor 'none'"),
        )),
    }
}

/// The codec with this name.
///
/// # Errors
///
/// `ArgumentError`.
pub fn codec_of(py: Python<'_>, name: &str) -> PyResult<Codec> {
    let codec: Result<Codec, _> = name.parse();
    codec.map_err(|_| {
        let names = Codec::ALL.map(Codec::name).join(", ");
        argument(py, format!("codec: '{name}' is not a codec: {names}"))
    })
}

/// A compressor with axes: roles such as `"s,z,y,x"`, or `"auto"`.
///
/// # Errors
///
/// `ArgumentError`.
pub fn with_axes(py: Python<'_>, compressor: Compressor, text: &str) -> PyResult<Compressor> {
    let axes: Result<AxesSetting, _> = text.parse();
    axes.map(|axes| compressor.with_axes(axes))
        .map_err(|error| argument(py, format!("axes: {error}")))
}

/// The preference with this name.
///
/// # Errors
///
/// `ArgumentError`.
pub fn preference(py: Python<'_>, name: &str) -> PyResult<Preference> {
    name.parse()
        .map_err(|error| argument(py, format!("prefer: {error}")))
}

/// The device with this name.
///
/// # Errors
///
/// `ArgumentError`.
pub fn device(py: Python<'_>, name: &str) -> PyResult<Device> {
    name.parse()
        .map_err(|text: String| argument(py, format!("device: {text}")))
}

/// A number of threads, if there is one.
///
/// # Errors
///
/// `ArgumentError` of 0.
pub fn threads_of(py: Python<'_>, given: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let checked = |threads| {
        let message = "threads: 0 threads do no work; give at least 1, or None";
        NonZeroUsize::new(threads).ok_or_else(|| argument(py, message))
    };
    given.map(checked).transpose()
}
