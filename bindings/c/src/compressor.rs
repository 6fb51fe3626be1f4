//! The settings of compression.

use crate::arguments;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{bound_mode, ferrosz_bound_mode, ferrosz_type, value_type};
use ferrosz::codec::with_value;
use ferrosz::{AxesSetting, Bound, Choice, Codec, Device, Fill, Preference, Preset, Safeguard};
use std::ffi::c_char;

/// Settings with which any number of fields are compressed. Several threads may compress with one compressor at the same
/// time, as long as none changes it.
pub struct Compressor(pub(crate) ferrosz::Compressor);

/// Makes a compressor. `codec` is the name of a preset ("fast", "balanced" or "small") or of a codec ("plain",
/// "lorenzo+rans", "interp" ...). `bound_mode` is FERROSZ_ABS, FERROSZ_RANGE, FERROSZ_MAX or FERROSZ_PWREL, and `bound`
/// the error bound in this mode; 0 is lossless. Null if it fails. Free it with ferrosz_compressor_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_new(
    codec: *const c_char,
    bound_mode: ferrosz_bound_mode,
    bound: f64,
    error: *mut Error,
) -> *mut Compressor {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let choice = choice(unsafe { arguments::text("codec", codec)? })?;
        let mode = self::bound_mode(bound_mode)?;
        let bound = Bound::new(mode, bound).map_err(|error| Failure::argument("bound", error))?;
        Ok(Compressor(ferrosz::Compressor::new(choice, bound)))
    })
}

/// A preset or a codec by its name.
fn choice(name: &str) -> Result<Choice, Failure> {
    if let Ok(preset) = name.parse::<Preset>() {
        return Ok(preset.into());
    }
    name.parse::<Codec>().map(Choice::from).map_err(|codecs| {
        let presets = Preset::ALL.map(Preset::name).join(", ");
        let reason = format!("'{name}' is neither a preset ({presets}) nor a codec: {codecs}");
        Failure::argument("codec", reason)
    })
}

/// Frees a compressor. Does nothing with a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_free(compressor: *mut Compressor) {
    // SAFETY: by the contract of the crate.
    unsafe { guard::free(compressor) };
}

/// Makes a second compressor with the same settings. Null if it fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_copy(
    compressor: *const Compressor,
    error: *mut Error,
) -> *mut Compressor {
    guard::object(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object("compressor", compressor)? };
        Ok(Compressor(compressor.0))
    })
}

/// Changes a compressor; leaves it as it is if the change fails.
fn change(
    compressor: *mut Compressor,
    error: *mut Error,
    change: impl FnOnce(ferrosz::Compressor) -> Result<ferrosz::Compressor, Failure>,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let compressor = unsafe { arguments::object_mut("compressor", compressor)? };
        compressor.0 = change(compressor.0)?;
        Ok(())
    })
}

/// Sets the extents of the fields: `dimensions` lengths, 1 to 8, slowest dimension first. Without extents a field is a
/// line.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_extents(
    compressor: *mut Compressor,
    dimensions: u64,
    extents: *const u64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        // SAFETY: by the contract of the crate.
        let extents = unsafe { arguments::slice("extents", extents, dimensions)? };
        Ok(compressor.extents(extents)?)
    })
}

/// Says that the values are the parts of complex numbers: float or double, and along the last axis, of length 2, the real and
/// the imaginary part, as float complex and double complex have them. The type and the elements of calls are those of the
/// parts, and the extents have their axis; without extents a field is a line of pairs. Each part keeps the bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_complex(
    compressor: *mut Compressor,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| Ok(compressor.complex()))
}

/// Names a value that stands for missing elements; up to four times. It comes back bit for bit, and counts neither in
/// the range of the field nor in the bound. NaN means the NaNs that processors make.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_add_fill(
    compressor: *mut Compressor,
    fill: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| Ok(compressor.fill(fill)?))
}

/// As ferrosz_compressor_add_fill, with the bits of the value: the low ones, in types of fewer than 64 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_add_fill_bits(
    compressor: *mut Compressor,
    bits: u64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.fill(Fill::Bits(bits))?)
    })
}

/// Keeps values on their side of a number: those that are at least this number, and those below it. Up to eight
/// numbers. Like all safeguards it is exact, and leaves fill values and values that are not finite alone. Compression for a
/// group or from device memory refuses safeguards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_keep_above(
    compressor: *mut Compressor,
    number: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.safeguard(Safeguard::KeepAbove(number))?)
    })
}

/// Keeps decoded values within limits. A value of a field that lies outside of them, such as an infinity, is an error. See
/// ferrosz_compressor_keep_above for what holds of all safeguards; each other one is set once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_limits(
    compressor: *mut Compressor,
    low: f64,
    high: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.safeguard(Safeguard::Limits(low, high))?)
    })
}

/// Bounds the error of the natural logarithm of each value. Zeros stay zeros, negative values negative.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_bound_log(
    compressor: *mut Compressor,
    bound: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.safeguard(Safeguard::AbsLog(bound))?)
    })
}

/// Bounds the error of the exponential of each value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_bound_exp(
    compressor: *mut Compressor,
    bound: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.safeguard(Safeguard::AbsExp(bound))?)
    })
}

/// Bounds the error of the square of each value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_bound_square(
    compressor: *mut Compressor,
    bound: f64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.safeguard(Safeguard::AbsSquare(bound))?)
    })
}

/// Keeps the order of neighbours along an axis. The first axis is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_keep_order(
    compressor: *mut Compressor,
    axis: u32,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        // An axis beyond the eighth is refused as it is.
        let axis = u8::try_from(axis).unwrap_or(u8::MAX);
        Ok(compressor.safeguard(Safeguard::Monotone(axis))?)
    })
}

/// Puts statistics of the field into its stream: smallest and largest value and mean of groups of chunks. They are a thousandth
/// of the stream at most, or one group. See ferrosz_statistics_new and ferrosz_matches_new. Compression for a group or from
/// device memory refuses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_add_statistics(
    compressor: *mut Compressor,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.statistics(true))
    })
}

/// As ferrosz_compressor_add_statistics, but only if they are a thousandth of the stream at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_add_small_statistics(
    compressor: *mut Compressor,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.small_statistics())
    })
}

/// Adds the fill values that are found in a field: NaN, if there are many, and repeated values far outside the others,
/// such as 1e20 or -9999.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_detect_fills(
    compressor: *mut Compressor,
    r#type: ferrosz_type,
    field: *const std::ffi::c_void,
    elements: u64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<V>("field", field.cast(), elements)? };
            compressor.fills_of(field, &[])
        }))
    })
}

/// Keeps the sign of every finite value, also with codecs that do not do so by themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_keep_signs(
    compressor: *mut Compressor,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| Ok(compressor.keep_signs()))
}

/// Keeps zeros: a zero comes back as a zero, also with codecs that do not do so by themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_keep_zeros(
    compressor: *mut Compressor,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| Ok(compressor.keep_zeros()))
}

/// Sets the role of each axis, as "s,z,y,x": z, y and x are coded together, s are slices that are coded apart. With "auto"
/// each field decides, also with a codec that is named; a preset does so without it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_axes(
    compressor: *mut Compressor,
    axes: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        // SAFETY: by the contract of the crate.
        let roles = unsafe { arguments::text("axes", axes)? };
        let axes: AxesSetting = (roles.parse())
            .map_err(|error| Failure::argument("axes", format!("'{roles}': {error}")))?;
        Ok(compressor.with_axes(axes))
    })
}

/// Sets the dimensions of blocks or tiles, 1 to 3. Without it they follow from codec and extents, or a preset chooses
/// them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_rank(
    compressor: *mut Compressor,
    rank: u32,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        let rank = u8::try_from(rank).unwrap_or(u8::MAX);
        Ok(compressor.with_rank(rank)?)
    })
}

/// Sets the tiles of a chunk of a codec of tiles: 4, 16 or 64. Without it a codec has 4, or a preset chooses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_chunk_tiles(
    compressor: *mut Compressor,
    tiles: u32,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        Ok(compressor.with_chunk_tiles(tiles)?)
    })
}

/// Codes the lowest so many levels apart, so that ferrosz_decompress_level decodes levels 1 to this one without the finer
/// ones. Cubes and planes have up to 4, lines 9. The codec is one with splines or stencils, or the preset small chooses
/// among these. The stream is mostly some percent longer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_levels(
    compressor: *mut Compressor,
    levels: u32,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        let levels = u8::try_from(levels).unwrap_or(u8::MAX);
        Ok(compressor.levels_apart(levels)?)
    })
}

/// Sets the preference: "ratio" (the default), or "quality": with codecs that have splines or stencils, a higher PSNR at the
/// same bound, and streams that are mostly longer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_preference(
    compressor: *mut Compressor,
    preference: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        // SAFETY: by the contract of the crate.
        let name = unsafe { arguments::text("preference", preference)? };
        let preference: Preference = (name.parse())
            .map_err(|error| Failure::argument("preference", format!("'{name}': {error}")))?;
        Ok(compressor.prefer(preference)?)
    })
}

/// Sets the device on which fields of host memory are compressed: "auto" (the default), "cpu", "cuda" or "cuda:1";
/// "cuda:all" or "cuda:0,1" for several GPUs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_set_device(
    compressor: *mut Compressor,
    device: *const c_char,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        // SAFETY: by the contract of the crate.
        Ok(compressor.device(self::device(unsafe { arguments::text("device", device)? })?))
    })
}

/// A device by its name.
pub(crate) fn device(name: &str) -> Result<Device, Failure> {
    name.parse()
        .map_err(|reason: String| Failure::argument("device", reason))
}

/// Chooses codec, rank and axes for a field, if the compressor has a preset. Later calls compress with this choice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compressor_choose(
    compressor: *mut Compressor,
    r#type: ferrosz_type,
    field: *const std::ffi::c_void,
    elements: u64,
    error: *mut Error,
) -> ferrosz_status {
    change(compressor, error, |compressor| {
        with_value!(value_type(r#type)?, V => {
            // SAFETY: by the contract of the crate.
            let field = unsafe { arguments::slice::<V>("field", field.cast(), elements)? };
            Ok(compressor.choose(field)?)
        })
    })
}
