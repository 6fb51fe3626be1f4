//! `Compressor`: arrays to streams.

use crate::arguments::Arguments;
use crate::array_in::Field;
use crate::call;
use crate::device;
use crate::dtype;
use crate::error::{argument, raised};
use crate::group::Members;
use crate::masked;
use crate::options::{
    Aim, Aims, Fills, Options, by_field, choice, device as device_of, preference, threads_of,
    with_axes,
};
use crate::part::IndexedBox;
use crate::pool;
use crate::safeguards;
use crate::stream::Stream;
use ferrosz::codec::with_value;
use ferrosz::parts::agree;
use ferrosz::target::TargetKind;
use ferrosz::{Bound as ErrorBound, BoundMode, Error, Value};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ops::Range;
use std::sync::Arc;

/// Compresses any number of arrays with the same options, also from several threads at the same time. The arguments are
/// those of `compress`.
///
/// >>> compressor = ferrosz.Compressor(range=1e-3, preset="fast")
/// >>> streams = [compressor.compress(np.arange(1000.0) * k) for k in (1, 2)]
/// >>> ferrosz.decompress(streams[1])[999]
/// np.float64(1998.0)
#[pyclass(frozen, module = "ferrosz")]
pub struct Compressor {
    options: Arc<Options>,
    arguments: Arguments,
}

/// The arguments of a compressor; none stands for a default.
#[derive(IntoPyObject, Clone, Copy)]
struct Given<'a> {
    abs: Option<f64>,
    range: Option<f64>,
    max: Option<f64>,
    pwrel: Option<f64>,
    psnr: Option<f64>,
    rmse: Option<f64>,
    mae: Option<f64>,
    ratio: Option<f64>,
    preset: Option<&'a str>,
    codec: Option<&'a str>,
    rank: Option<u8>,
    axes: Option<&'a str>,
    chunk_tiles: Option<u32>,
    levels: Option<u8>,
    prefer: Option<&'a str>,
    wavelets: Option<f64>,
    fill: Option<&'a Fills>,
    keep_sign: Option<bool>,
    keep_zero: Option<bool>,
    keep: Option<&'a str>,
    rewritable: Option<bool>,
    safeguards: Option<&'a Py<PyDict>>,
    statistics: Option<bool>,
    device: Option<&'a str>,
    threads: Option<usize>,
}

impl Given<'_> {
    fn aims(&self) -> Aims {
        Aims {
            bounds: [
                (BoundMode::Abs, self.abs),
                (BoundMode::Range, self.range),
                (BoundMode::Max, self.max),
                (BoundMode::Pwrel, self.pwrel),
            ],
            targets: [
                (TargetKind::Psnr, self.psnr),
                (TargetKind::Rmse, self.rmse),
                (TargetKind::Mae, self.mae),
                (TargetKind::Ratio, self.ratio),
            ],
        }
    }

    /// The compressor with these arguments, but for fill values and targets.
    fn compressor(&self, py: Python<'_>) -> PyResult<ferrosz::Compressor> {
        let bound = match self.aims().only(py)? {
            Aim::Bound(bound) => bound,
            Aim::Target(_) => ErrorBound::default(),
        };
        let failed = |error: Error| raised(py, &error);
        let choice = choice(py, self.preset, self.codec)?;
        let device = device_of(py, self.device.unwrap_or("auto"))?;
        let mut compressor = ferrosz::Compressor::new(choice, bound).device(device);
        if let Some(text) = self.axes {
            compressor = with_axes(py, compressor, text)?;
        }
        if let Some(rank) = self.rank {
            compressor = compressor.with_rank(rank).map_err(failed)?;
        }
        if let Some(tiles) = self.chunk_tiles {
            compressor = compressor.with_chunk_tiles(tiles).map_err(failed)?;
        }
        if let Some(levels) = self.levels {
            compressor = compressor.levels_apart(levels).map_err(failed)?;
        }
        if let Some(name) = self.prefer {
            compressor = compressor.prefer(preference(py, name)?).map_err(failed)?;
        }
        if let Some(error) = self.wavelets {
            compressor = self.with_wavelets(py, compressor, error)?;
        }
        if self.keep.is_some() {
            compressor = compressor.keep_none();
        }
        if self.keep_sign.is_some() {
            compressor = compressor.keep_signs();
        }
        if self.keep_zero.is_some() {
            compressor = compressor.keep_zeros();
        }
        if self.statistics.is_some() {
            compressor = compressor.statistics(true);
        }
        match self.rewritable {
            Some(_) => compressor.rewritable().map_err(failed),
            None => Ok(compressor),
        }
    }

    /// The compressor with coefficients of wavelets, which one codec has.
    fn with_wavelets(
        &self,
        py: Python<'_>,
        compressor: ferrosz::Compressor,
        error: f64,
    ) -> PyResult<ferrosz::Compressor> {
        let own = ferrosz::Codec::DIRECT_RANS.to_string();
        if self.preset.is_some() || self.codec.is_some_and(|codec| codec != own) {
            let message =
                format!("wavelets: the codec is {own}; no other codec and no preset is given");
            return Err(argument(py, message));
        }
        if matches!(self.aims().only(py)?, Aim::Target(_)) {
            let message = "wavelets: give a bound; a target finds their error by itself";
            return Err(argument(py, message));
        }
        compressor
            .wavelets_within(error)
            .map_err(|error| argument(py, format!("wavelets: {error}")))
    }
}

impl Compressor {
    /// Refuses bounds for each value in a call that does not compress one array of the host.
    pub fn check_no_bounds(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        match self.options.bounds {
            Some(_) => Err(argument(
                py,
                format!("safeguards: abs_field is for one array of the host, not for {what}"),
            )),
            None => Ok(()),
        }
    }
}

#[pymethods]
impl Compressor {
    #[new]
    #[pyo3(signature = (
        *, abs=None, range=None, max=None, pwrel=None, psnr=None, rmse=None, mae=None, ratio=None, preset=None, codec=None,
        rank=None, axes=None, chunk_tiles=None, levels=0, prefer="ratio", wavelets=None, fill=Fills::default(), keep_sign=false, keep_zero=false,
        keep=Some("auto"), rewritable=false, safeguards=None, statistics=false, device="auto", threads=None
    ), text_signature = "(*, abs=None, range=None, max=None, pwrel=None, psnr=None, rmse=None, mae=None, ratio=None, preset=None, \
        codec=None, rank=None, axes=None, chunk_tiles=None, levels=0, prefer='ratio', wavelets=None, fill='auto', keep_sign=False, keep_zero=False, \
        keep='auto', rewritable=False, safeguards=None, statistics=False, device='auto', threads=None)")]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword of Python")]
    fn new(
        py: Python<'_>,
        abs: Option<f64>,
        range: Option<f64>,
        max: Option<f64>,
        pwrel: Option<f64>,
        psnr: Option<f64>,
        rmse: Option<f64>,
        mae: Option<f64>,
        ratio: Option<f64>,
        preset: Option<&str>,
        codec: Option<&str>,
        rank: Option<u8>,
        axes: Option<&str>,
        chunk_tiles: Option<u32>,
        levels: u8,
        prefer: &str,
        wavelets: Option<f64>,
        fill: Fills,
        keep_sign: bool,
        keep_zero: bool,
        keep: Option<&str>,
        rewritable: bool,
        safeguards: Option<Py<PyDict>>,
        statistics: bool,
        device: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let given = Given {
            abs,
            range,
            max,
            pwrel,
            psnr,
            rmse,
            mae,
            ratio,
            preset,
            codec,
            rank,
            axes,
            chunk_tiles,
            levels: (levels > 0).then_some(levels),
            prefer: (prefer != "ratio").then_some(prefer),
            wavelets,
            fill: (fill != Fills::default()).then_some(&fill),
            keep_sign: keep_sign.then_some(true),
            keep_zero: keep_zero.then_some(true),
            keep: (!by_field(py, keep)?).then_some("none"),
            rewritable: rewritable.then_some(true),
            safeguards: safeguards.as_ref(),
            statistics: statistics.then_some(true),
            device: (device != "auto").then_some(device),
            threads,
        };
        let (compressor, bounds) = match &safeguards {
            Some(all) => safeguards::apply(all.bind(py), given.compressor(py)?)?,
            None => (given.compressor(py)?, None),
        };
        let aim = given.aims().only(py)?;
        if bounds.is_some() && matches!(aim, Aim::Target(_)) {
            let message = "safeguards: abs_field has a bound for each value, and a target searches one for all";
            return Err(argument(py, message));
        }
        let options = Options {
            aim,
            compressor,
            fills: fill.clone(),
            bounds,
            threads: threads_of(py, threads)?,
        };
        Ok(Self {
            options: Arc::new(options),
            arguments: Arguments::new(&given.into_pyobject(py)?)?,
        })
    }

    /// Compresses an array, as the function `compress` does.
    #[pyo3(signature = (array, *, out=None, progress=None, cuda_stream=None))]
    fn compress<'py>(
        &self,
        array: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
        cuda_stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        if !array.is_instance_of::<PyUntypedArray>() && device::is_on_gpu(array) {
            self.check_no_bounds(py, "an array on a GPU")?;
            let made = device::compress(&self.options, array, out, cuda_stream)?;
            return Ok(Bound::new(py, made)?.into_any());
        }
        if out.is_some() {
            let message =
                "out: only the stream of an array on a GPU is written to memory of the caller";
            return Err(argument(py, message));
        }
        let (array, fills) = masked::split(array)?;
        let field = Field::new(&array)?;
        let options = match fills[..] {
            [] => self.options.clone(),
            _ => Arc::new(self.options.and_fills(&fills)),
        };
        let threads = options.threads;
        let bytes = call::run_on(
            py,
            threads,
            field.bytes(),
            progress,
            false,
            move |advance| {
                with_value!(field.value_type(), V => {
                    compress::<V>(&options, &field, advance)
                })
            },
        )?;
        Ok(Bound::new(py, Stream::from(bytes))?.into_any())
    }

    /// Compresses the part of an array that this member of a group has, as the function `compress_part` does. A target would
    /// need the whole array. Fill values are not looked for.
    #[pyo3(signature = (array, group, *, r#box, shape))]
    fn compress_part(
        &self,
        array: &Bound<'_, PyAny>,
        group: &Bound<'_, PyAny>,
        r#box: &Bound<'_, PyAny>,
        shape: Lengths,
    ) -> PyResult<u64> {
        let py = array.py();
        self.check_no_bounds(py, "a part of an array")?;
        let members = Members::new(group)?;
        // An argument that is wrong on this member alone is an error of all.
        let part = self.part(array, r#box, &shape.extents());
        let failed = part.as_ref().err().map(|error| Error::Group {
            action: "prepare its part",
            reason: error.to_string(),
        });
        let agreed = py.detach(|| agree(&members, failed.map_or(Ok(()), Err)));
        let part = part?;
        agreed.map_err(|error| members.raised(py, &error))?;
        let length = py.detach(|| {
            pool::run_on(self.options.threads, || {
                with_value!(part.field.value_type(), V => {
                    let values = part.field.values::<V>();
                    part.compressor.compress_part(&members, &part.own, values)
                })
            })
        })?;
        length.map_err(|error| members.raised(py, &error))
    }

    /// The bytes of `out` that always suffice for the stream of an array on a GPU with this shape and element type. A preset
    /// chooses the codec by the array, so it has no such number: give a codec.
    ///
    /// >>> compressor = ferrosz.Compressor(abs=1e-3, codec="plain")
    /// >>> 40000 < compressor.max_stream_bytes((100, 100), "float32") < 41000
    /// True
    #[pyo3(signature = (shape, dtype))]
    fn max_stream_bytes(&self, shape: Lengths, dtype: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = dtype.py();
        let number_type = dtype::named(dtype)?;
        let extents = number_type.of_values(&shape.extents());
        let is_complex = number_type.is_complex;
        let compressor =
            (self.options).with_fills(self.options.fills.known(), &extents, is_complex);
        // The product of extents that the library has taken does not overflow.
        compressor
            .and_then(|it| it.max_compressed_len(extents.iter().product(), number_type.values))
            .map_err(|error| raised(py, &error))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.arguments.call(py, "Compressor")
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

/// A shape: one length, or several.
#[derive(FromPyObject)]
enum Lengths {
    One(u64),
    Several(Vec<u64>),
}

impl Lengths {
    /// The lengths, slowest first; a single element without dimensions has one.
    fn extents(self) -> Vec<u64> {
        match self {
            Self::One(length) => vec![length],
            Self::Several(lengths) if lengths.is_empty() => vec![1],
            Self::Several(lengths) => lengths,
        }
    }
}

/// The part of an array that a member of a group has.
struct Part {
    compressor: ferrosz::Compressor,
    field: Field,
    own: Vec<Range<u64>>,
}

impl Compressor {
    /// The settings.
    pub(crate) fn options(&self) -> &Arc<Options> {
        &self.options
    }

    /// The part of an array of this shape at an index.
    fn part(
        &self,
        array: &Bound<'_, PyAny>,
        index: &Bound<'_, PyAny>,
        extents: &[u64],
    ) -> PyResult<Part> {
        let py = array.py();
        if let Aim::Target(target) = self.options.aim {
            let kind = target.kind().name();
            let message =
                format!("{kind}: a target is searched for in a whole array; give a bound");
            return Err(argument(py, message));
        }
        let mut wanted = IndexedBox::new(index, extents)?;
        let field = Field::new(array)?;
        let number_type = field.number_type();
        let of_values = number_type.of_values(extents);
        let compressor = self
            .options
            .with_fills(
                self.options.fills.known(),
                &of_values,
                number_type.is_complex,
            )
            .map_err(|error| raised(py, &error))?;
        if field.shape() != wanted.shape {
            let message = format!(
                "array: its shape is {:?}, and that of the box {:?}",
                field.shape(),
                wanted.shape
            );
            return Err(argument(py, message));
        }
        if number_type.is_complex {
            wanted.ranges.push(0..number_type.parts());
        }
        Ok(Part {
            compressor,
            field,
            own: wanted.ranges,
        })
    }
}

/// The stream of a field.
fn compress<V: Value>(
    options: &Options,
    field: &Field,
    advance: call::Advance<'_>,
) -> Result<Vec<u8>, Error> {
    let (values, is_complex) = (field.values::<V>(), field.number_type().is_complex);
    let compressor = options.compressor_for(values, &field.extents(), is_complex)?;
    match options.aim {
        Aim::Bound(_) => {
            let calls = compressor.progress(advance);
            match &options.bounds {
                Some(own) if own.shape != field.extents() => Err(Error::BadBounds(format!(
                    "they have the shape {:?}, and the array {:?}",
                    own.shape,
                    field.extents()
                ))),
                Some(own) => calls.bounds_of_values(&own.bounds).compress(values),
                None => calls.compress(values),
            }
        }
        Aim::Target(target) => {
            let found = compressor.search(target, values)?;
            advance(values.len() as u64);
            Ok(found.stream)
        }
    }
}
