//! Pipelines: the interpolator and a stage behind it, to containers of parts and back. They are not streams.

use crate::arguments::{self, Place};
use crate::buffer::Buffer;
use crate::compressor::device;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::{
    FERROSZ_DAMAGED_STREAM, FERROSZ_INVALID_ARGUMENT, FERROSZ_UNKNOWN_STREAM, ferrosz_status,
};
use crate::types::{bound_mode, ferrosz_bound_mode, ferrosz_type, value_type};
use ferrosz::codec::with_element;
use ferrosz::{Bound, Device, Dtype};
use ferrosz_stages::container::Container;
use ferrosz_stages::stage::own_stage;
use ferrosz_stages::{CodeOrder, CodeWidth, Interpolator, RadiusRule, Stage, decompress};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// An interpolator and the stage behind it. Several threads may compress with one pipeline at the same time, as long as
/// none changes it.
pub struct Pipeline {
    interpolator: Interpolator,
    stage: Arc<dyn Stage>,
    width: CodeWidth,
}

impl From<ferrosz_stages::Error> for Failure {
    fn from(error: ferrosz_stages::Error) -> Self {
        let status = match error {
            ferrosz_stages::Error::Ferrosz(error) => return error.into(),
            ferrosz_stages::Error::DamagedPart { .. } | ferrosz_stages::Error::Stage { .. } => {
                FERROSZ_DAMAGED_STREAM
            }
            ferrosz_stages::Error::UnknownStage(_) => FERROSZ_UNKNOWN_STREAM,
            _ => FERROSZ_INVALID_ARGUMENT,
        };
        Self {
            status,
            text: error.to_string(),
        }
    }
}

/// Makes a pipeline. `stage` is "rans", "huffman", "bit-planes", "fixed-length", "ferrosz" or "plain". `bound_mode` is
/// FERROSZ_ABS, FERROSZ_RANGE or FERROSZ_MAX, and `bound` the error bound in this mode. Null if it fails. Free it with
/// ferrosz_pipeline_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_new(
    stage: *const c_char,
    bound_mode: ferrosz_bound_mode,
    bound: f64,
    error: *mut Error,
) -> *mut Pipeline {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let stage = own_stage(unsafe { arguments::text("stage", stage)? })
            .map_err(|error| Failure::argument("stage", error))?;
        let mode = self::bound_mode(bound_mode)?;
        let bound = Bound::new(mode, bound).map_err(|error| Failure::argument("bound", error))?;
        Ok(Pipeline {
            interpolator: Interpolator::new(bound),
            stage,
            width: CodeWidth::default(),
        })
    })
}

/// Frees a pipeline. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_free(pipeline: *mut Pipeline) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(pipeline) };
}

/// Changes the interpolator of a pipeline; leaves it as it is if the change fails.
fn change(
    pipeline: *mut Pipeline,
    error: *mut Error,
    change: impl FnOnce(Interpolator) -> Result<Interpolator, Failure>,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let pipeline = unsafe { arguments::object_mut("pipeline", pipeline)? };
        pipeline.interpolator = change(pipeline.interpolator)?;
        Ok(())
    })
}

/// Sets the extents of the fields: `dimensions` lengths, slowest dimension first. Without extents a field is a line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_set_extents(
    pipeline: *mut Pipeline,
    dimensions: u64,
    extents: *const u64,
    error: *mut Error,
) -> ferrosz_status {
    change(pipeline, error, |interpolator| {
        // SAFETY: by the contract of the crate.
        let extents = unsafe { arguments::slice("extents", extents, dimensions)? };
        Ok(interpolator.extents(extents)?)
    })
}

/// Sets the dimensions along which is predicted, 1 to 3, the last ones. Without it they are those of the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_set_rank(
    pipeline: *mut Pipeline,
    rank: u32,
    error: *mut Error,
) -> ferrosz_status {
    change(pipeline, error, |interpolator| {
        Ok(interpolator.with_rank(u8::try_from(rank).unwrap_or(u8::MAX))?)
    })
}

/// Sets the codes between interpolator and stage: `bytes` of each, 1, 2 (the default) or 4, and their order, `by_level` or
/// that of the field (the default).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_set_codes(
    pipeline: *mut Pipeline,
    bytes: u32,
    by_level: bool,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let pipeline = unsafe { arguments::object_mut("pipeline", pipeline)? };
        pipeline.width = CodeWidth::of_bytes(bytes)
            .ok_or_else(|| Failure::argument("bytes", format!("{bytes} is not 1, 2 or 4")))?;
        pipeline.interpolator = pipeline.interpolator.order(match by_level {
            true => CodeOrder::Level,
            false => CodeOrder::Raster,
        });
        Ok(())
    })
}

/// Sets the radius of codes: values whose codes would not be below it in magnitude are outliers. With 0 it is the least
/// with which all codes fit. Without this call all but about a thousandth of a sample fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_set_radius(
    pipeline: *mut Pipeline,
    radius: u32,
    error: *mut Error,
) -> ferrosz_status {
    change(pipeline, error, |interpolator| {
        Ok(interpolator.radius_by(match radius {
            0 => RadiusRule::Fits,
            radius => RadiusRule::Given(radius),
        }))
    })
}

/// Tunes as a mode of FZGPUModules' stage does, 0 to 5. `alpha` and `beta` are for mode 5 alone, and otherwise 0; there a 0
/// falls back to the alpha that follows from the bound, and to the beta 4. Without this call tuning is for the fewest bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_set_mode(
    pipeline: *mut Pipeline,
    mode: u32,
    alpha: f64,
    beta: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(pipeline, error, |interpolator| {
        Ok(interpolator.fzgpu_mode(mode, [alpha, beta])?)
    })
}

/// Sets where fields are decomposed: "auto" (the default), "cpu", "cuda" or "cuda:1". The bytes are the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_set_device(
    pipeline: *mut Pipeline,
    device: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change(pipeline, error, |interpolator| {
        // SAFETY: by the contract of the crate.
        let name = unsafe { arguments::text("device", device)? };
        Ok(interpolator.device(self::device(name)?))
    })
}

/// Compresses a field of `elements` values of `type`, FERROSZ_F32 or FERROSZ_F64, to a container of parts. Free it with
/// ferrosz_buffer_free. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_compress(
    pipeline: *const Pipeline,
    r#type: ferrosz_type,
    field: *const c_void,
    elements: u64,
    error: *mut Error,
) -> *mut Buffer {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let pipeline = unsafe { arguments::object("pipeline", pipeline)? };
        let pipeline = ferrosz_stages::Pipeline::of(pipeline.interpolator, pipeline.stage.clone())
            .width(pipeline.width);
        let bytes = with_element!(element_type(r#type)?, E => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<E>("field", field.cast(), elements)? };
            pipeline.compress(field)
        });
        Ok(Buffer(bytes?))
    })
}

/// Decompresses a container of parts of `bytes` bytes to the start of `values`, which has room for `room` values of `type`,
/// and stores the number of elements in `elements`, which may be null; with too little room that is the room needed.
/// `device` is as for ferrosz_pipeline_set_device, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_pipeline_decompress(
    device: *const c_char,
    container: *const c_void,
    bytes: u64,
    r#type: ferrosz_type,
    values: *mut c_void,
    room: u64,
    elements: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        Place::optional(elements).store(0);
        let device = match device.is_null() {
            true => Device::Auto,
            // SAFETY: by the contract of the crate.
            false => self::device(unsafe { arguments::text("device", device)? })?,
        };
        // SAFETY: by the contract of the crate.
        let bytes = unsafe { arguments::slice::<u8>("container", container.cast(), bytes)? };
        let needed = Container::read(bytes)?.extents().iter().product();
        with_element!(element_type(r#type)?, E => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::output::<E>(values, room, needed, elements)? };
            values.copy_from_slice(&decompress::<E>(bytes, &[], device)?);
        });
        Ok(())
    })
}

/// The type of elements that are interpolated.
fn element_type(number: ferrosz_type) -> Result<Dtype, Failure> {
    let of_values = value_type(number)?;
    let found = (Dtype::ALL.into_iter()).find(|dtype| dtype.value_type() == of_values);
    found.ok_or_else(|| {
        let reason = format!("pipelines have float or double values, not {of_values}");
        Failure::argument("type", reason)
    })
}
