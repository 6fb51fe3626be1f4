//! Parameters of streams of cuSZp and AATROX, which have no header: format, element type, extents and absolute error.

mod outline;
mod part;
mod stream;

use crate::arguments;
use crate::compressor::device;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::{
    FERROSZ_DAMAGED_STREAM, FERROSZ_INVALID_ARGUMENT, FERROSZ_OUT_OF_MEMORY, ferrosz_status,
};
use crate::types::{bound_mode, ferrosz_bound_mode, ferrosz_type, value_type};
use ferrosz::codec::with_element;
use ferrosz_cuszp::aatrox::{self, AatroxError};
use ferrosz_cuszp::bound::{Arithmetic, absolute_error};
use ferrosz_cuszp::cuszp::{self, CuszpError, Framing, Mode};
use ferrosz_cuszp::{Bound, Device, Dtype, Element, Shape};
use std::ffi::{c_char, c_void};

/// The format of streams without header, and all else that their writer and their readers must have the same. Several threads
/// may use one, as long as none changes it.
pub struct Bare {
    dtype: Dtype,
    extents: Vec<u64>,
    format: BareFormat,
    device: Device,
    /// The absolute error, once it is set.
    error: Option<f64>,
}

/// A format with its settings.
#[derive(Clone, Copy)]
enum BareFormat {
    Aatrox,
    Cuszp {
        mode: Mode,
        rank: Option<Shape>,
        framing: Framing,
        strict: bool,
        allow_missing: bool,
    },
}

impl Bare {
    /// The parameters for elements of a type, which is that of the object.
    fn of<T: Element>(&self) -> Result<ferrosz_cuszp::Bare<T>, Failure> {
        let error = self.error.ok_or_else(|| {
            let reason = "it has no error: call ferrosz_bare_set_bound first";
            Failure::argument("bare", reason)
        })?;
        let error = T::from_f64(error);
        let elements = |product: u64, length: &u64| product.saturating_mul(*length);
        Ok(match self.format {
            BareFormat::Aatrox => aatrox::Params {
                elements: self.extents.iter().fold(1, elements),
                error,
            }
            .into(),
            BareFormat::Cuszp {
                mode,
                rank,
                framing,
                strict,
                allow_missing,
            } => {
                let params = cuszp::Params::of_array(&self.extents, framing, mode, error)?;
                cuszp::Params {
                    shape: rank.unwrap_or(params.shape),
                    strict,
                    allow_missing,
                    ..params
                }
                .into()
            }
        })
    }
}

impl From<ferrosz_cuszp::Error> for Failure {
    fn from(error: ferrosz_cuszp::Error) -> Self {
        use ferrosz_cuszp::Error::{Aatrox, Cuszp, Ferrosz};
        let status = match &error {
            Ferrosz(error) => return error.clone().into(),
            Cuszp(CuszpError::OutOfMemory { .. }) | Aatrox(AatroxError::OutOfMemory { .. }) => {
                FERROSZ_OUT_OF_MEMORY
            }
            Cuszp(
                CuszpError::CorruptRate { .. }
                | CuszpError::CutInRates { .. }
                | CuszpError::Truncated { .. }
                | CuszpError::PayloadMissing { .. }
                | CuszpError::TailMissing { .. }
                | CuszpError::Trailing { .. },
            )
            | Aatrox(
                AatroxError::CorruptRate { .. }
                | AatroxError::CutInHead { .. }
                | AatroxError::Truncated { .. }
                | AatroxError::Trailing { .. },
            ) => FERROSZ_DAMAGED_STREAM,
            _ => FERROSZ_INVALID_ARGUMENT,
        };
        let text = error.to_string();
        Self { status, text }
    }
}

impl From<CuszpError> for Failure {
    fn from(error: CuszpError) -> Self {
        ferrosz_cuszp::Error::from(error).into()
    }
}

/// Makes the parameters of streams without header, of arrays with these extents: one to three for cuSZp, slowest dimension
/// first. `format` is "cuszp", which has the mode "plain" and blocks of as many dimensions as the array, or "aatrox". `type` is
/// FERROSZ_F32 or FERROSZ_F64. An error must be set before any use. Null if it fails. Free it with ferrosz_bare_free.
///
/// These streams have the limits of those compressors: the bound is not guaranteed, NaNs and infinities do not come back, and
/// there are no checksums. Unless you need them, use ferrosz_compress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_new(
    format: *const c_char,
    r#type: ferrosz_type,
    dimensions: u64,
    extents: *const u64,
    error: *mut Error,
) -> *mut Bare {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let format = match unsafe { arguments::text("format", format)? } {
            "aatrox" => BareFormat::Aatrox,
            "cuszp" => BareFormat::Cuszp {
                mode: Mode::Plain,
                rank: None,
                framing: Framing::V3,
                strict: false,
                allow_missing: false,
            },
            other => {
                let reason = format!("'{other}' is neither cuszp nor aatrox");
                return Err(Failure::argument("format", reason));
            }
        };
        let value_type = value_type(r#type)?;
        let dtype = (Dtype::ALL.into_iter())
            .find(|dtype| dtype.value_type() == value_type)
            .ok_or_else(|| {
                let reason = format!("these streams hold f32 or f64, not {value_type}");
                Failure::argument("type", reason)
            })?;
        // SAFETY: by the contract of the crate.
        let extents = unsafe { arguments::slice("extents", extents, dimensions)? };
        let bare = Bare {
            dtype,
            extents: extents.to_vec(),
            format,
            device: Device::default(),
            error: None,
        };
        if let BareFormat::Cuszp { framing, mode, .. } = format {
            cuszp::Params::of_array(extents, framing, mode, 1.0f32)?;
        }
        Ok(bare)
    })
}

/// Frees parameters. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_free(bare: *mut Bare) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(bare) };
}

/// Changes parameters; leaves them as they are if the change fails.
fn change(
    bare: *mut Bare,
    error: *mut Error,
    change: impl FnOnce(&mut Bare) -> Result<(), Failure>,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        change(unsafe { arguments::object_mut("bare", bare)? })
    })
}

/// Changes the format of parameters, which must be that of cuSZp.
fn change_cuszp(
    bare: *mut Bare,
    setting: &str,
    error: *mut Error,
    set: impl FnOnce(&mut BareFormat) -> Result<(), Failure>,
) -> ferrosz_status {
    change(bare, error, |bare| match &mut bare.format {
        BareFormat::Aatrox => Err(Failure::argument(
            "bare",
            format!("aatrox has no {setting}"),
        )),
        format => set(format),
    })
}

/// Sets how cuSZp makes and stores differences: "fixed", "plain" or "outlier".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_mode(
    bare: *mut Bare,
    mode: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change_cuszp(bare, "modes", error, |format| {
        // SAFETY: by the contract of the crate.
        let name = unsafe { arguments::text("mode", mode)? };
        let found = Mode::from_name(name).ok_or_else(|| {
            Failure::argument("mode", format!("'{name}' is not fixed, plain or outlier"))
        })?;
        if let BareFormat::Cuszp { mode, .. } = format {
            *mode = found;
        }
        Ok(())
    })
}

/// Sets the dimensions of cuSZp's blocks, 1 to 3. Without it they are those of the array, and one with version 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_rank(
    bare: *mut Bare,
    rank: u32,
    error: *mut Error,
) -> ferrosz_status {
    change_cuszp(bare, "rank", error, |format| {
        let found = Shape::of_rank(u8::try_from(rank).unwrap_or(u8::MAX));
        let found =
            found.ok_or_else(|| Failure::argument("rank", format!("{rank} is not 1, 2 or 3")))?;
        if let BareFormat::Cuszp { rank, .. } = format {
            *rank = Some(found);
        }
        Ok(())
    })
}

/// Sets whether the streams have the framing of cuSZp 1, which has the mode "plain" in one dimension alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_v1(
    bare: *mut Bare,
    v1: bool,
    error: *mut Error,
) -> ferrosz_status {
    change_cuszp(bare, "version 1", error, |format| {
        if let BareFormat::Cuszp { framing, .. } = format {
            *framing = if v1 { Framing::V1 } else { Framing::V3 };
        }
        Ok(())
    })
}

/// Sets whether an array is refused that cuSZp would not decompress, or would decompress to values beyond the bound. The
/// strict encoder runs on the CPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_strict(
    bare: *mut Bare,
    strict: bool,
    error: *mut Error,
) -> ferrosz_status {
    change_cuszp(bare, "strict encoder", error, |format| {
        if let BareFormat::Cuszp { strict: is, .. } = format {
            *is = strict;
        }
        Ok(())
    })
}

/// Sets whether up to 3 missing last bytes are read as zero: the size that cuSZp returns leaves them out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_allow_missing(
    bare: *mut Bare,
    allow: bool,
    error: *mut Error,
) -> ferrosz_status {
    change_cuszp(bare, "missing bytes", error, |format| {
        if let BareFormat::Cuszp { allow_missing, .. } = format {
            *allow_missing = allow;
        }
        Ok(())
    })
}

/// Sets the device: "auto" (the default), "cpu", "cuda" or "cuda:1". Boxes and updates are computed on the CPU.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_device(
    bare: *mut Bare,
    device: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change(bare, error, |bare| {
        // SAFETY: by the contract of the crate.
        bare.device = self::device(unsafe { arguments::text("device", device)? })?;
        Ok(())
    })
}

/// Sets the error by a bound: FERROSZ_ABS, with which `field` may be null and `elements` 0, or FERROSZ_RANGE or FERROSZ_MAX of
/// the finite values of a field. Each operation rounds once, as in cuSZp's own command: in the type of the elements, or with
/// `float_bound` in `float`, as that command computes the error of doubles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_set_bound(
    bare: *mut Bare,
    bound_mode: ferrosz_bound_mode,
    bound: f64,
    float_bound: bool,
    field: *const c_void,
    elements: u64,
    error: *mut Error,
) -> ferrosz_status {
    change(bare, error, |bare| {
        let mode = self::bound_mode(bound_mode)?;
        let bound = Bound::new(mode, bound).map_err(|error| Failure::argument("bound", error))?;
        let arithmetic = match float_bound {
            true => Arithmetic::Floats,
            false => Arithmetic::Elements,
        };
        let found = with_element!(bare.dtype, E => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<E>("field", field.cast(), elements)? };
            absolute_error(bound, arithmetic, field).map(Element::to_f64)
        });
        bare.error = Some(found.map_err(|error| Failure::argument("bound", error))?);
        Ok(())
    })
}

/// The absolute error, all of whose bits a reader needs; NaN if none is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_bare_error(bare: *const Bare) -> f64 {
    // SAFETY: by the contract of the crate.
    let error = unsafe { bare.as_ref() }.and_then(|bare| bare.error);
    error.unwrap_or(f64::NAN)
}
