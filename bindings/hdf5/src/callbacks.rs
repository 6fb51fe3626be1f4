//! What HDF5 calls when a dataset is created.

use crate::codec::compressor;
use crate::datatype::Stored;
use crate::failure::{Failure, guarded};
use crate::hdf5::Hdf5;
use crate::parameters::{Dataset, Parameters, REQUEST_WORDS, Request, axes};
use crate::running;
use crate::{FILTER_ID, Hid};
use ferrosz::codec::mapping::axes::PARTS;
use std::ffi::c_int;

/// Whether the filter can be applied to a dataset: 1, or 0 with the reason on HDF5's stack of errors. With an optional
/// filter HDF5 then leaves it away.
///
/// # Safety
///
/// The contract of `H5Z_can_apply_func_t`.
pub unsafe extern "C" fn can_apply(properties: Hid, datatype: Hid, space: Hid) -> c_int {
    let Some(hdf5) = Hdf5::of_caller() else {
        return 0;
    };
    let found = guarded(|| {
        let (_, words) = hdf5.filter(properties, FILTER_ID)?;
        parameters(&hdf5, &words, properties, datatype, space)
    });
    match found {
        Ok(_) => 1,
        Err(failure) => {
            hdf5.push(&failure);
            0
        }
    }
}

/// Adds the type, the fill value and the extents of chunks of a dataset to the filter's parameters. A second call changes
/// nothing.
///
/// # Safety
///
/// The contract of `H5Z_set_local_func_t`.
pub unsafe extern "C" fn set_local(properties: Hid, datatype: Hid, space: Hid) -> c_int {
    let Some(hdf5) = Hdf5::of_caller() else {
        return -1;
    };
    let changed = guarded(|| {
        let (flags, mut words) = hdf5.filter(properties, FILTER_ID)?;
        match parameters(&hdf5, &words, properties, datatype, space) {
            Ok(mut found) => {
                // Not in `can_apply`: HDF5 calls that also for the properties of a dataset that was opened, from which
                // H5Pget_fill_value follows a null pointer.
                let fill = hdf5.fill_value(properties, datatype)?;
                found.dataset.fill = bits(found.dataset.stored, &fill.unwrap_or_default());
                running::forget(&found);
                words = found.words();
            }
            // Only with an optional filter does HDF5 go on after a refusal. The words behind the request may describe another
            // dataset. Without them the filter fails, and HDF5 stores the chunks as they are.
            Err(_) => words.truncate(REQUEST_WORDS),
        }
        hdf5.modify_filter(properties, FILTER_ID, flags, &words)
    });
    match changed {
        Ok(()) => 1,
        Err(failure) => {
            hdf5.push(&failure);
            -1
        }
    }
}

/// The parameters for a dataset, without its fill value. The request is the start of `words`.
fn parameters(
    hdf5: &Hdf5,
    words: &[u32],
    properties: Hid,
    datatype: Hid,
    space: Hid,
) -> Result<Parameters, Failure> {
    if hdf5.first_filter(properties)? != FILTER_ID {
        return Err(Failure::new(
            "another filter comes before, such as shuffle, and the error bound would hold for its output; give ferrosz first",
        ));
    }
    let stored = Stored::of(hdf5, datatype)?;
    let mut extents = hdf5.extents(space)?;
    if stored.is_complex {
        extents.push(PARTS);
    }
    let parameters = Parameters {
        request: Request::read(words)?,
        dataset: Dataset {
            stored,
            fill: Vec::new(),
            extents: axes(&extents),
        },
    };
    compressor(&parameters)?;
    Ok(parameters)
}

/// The bits of values of a dataset as those of its streams, in the low ends of the results; without those that they do not
/// have.
fn bits(stored: Stored, values: &[u8]) -> Vec<u64> {
    let of_one = |value: &[u8]| {
        let (mut value, mut is_swapped) = (value.to_vec(), stored.is_swapped);
        if stored.is_of_other_width() {
            value = stored.to_stream(&value).ok()?;
            is_swapped = false;
        }
        let is_big = cfg!(target_endian = "big") != is_swapped;
        if !is_big {
            value.reverse();
        }
        let join = |bits, byte: &u8| bits << 8 | u64::from(*byte);
        Some(value.iter().fold(0, join))
    };
    values
        .chunks_exact(stored.size)
        .filter_map(of_one)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz::ValueType;

    #[test]
    fn bits_are_those_of_the_value_in_either_byte_order() {
        let stored = |is_swapped| Stored::new(ValueType::F32, 4, is_swapped).unwrap();
        let expected = [u64::from(1e20f32.to_bits())];
        assert_eq!(bits(stored(false), &1e20f32.to_ne_bytes()), expected);
        let mut swapped = 1e20f32.to_ne_bytes();
        swapped.reverse();
        assert_eq!(bits(stored(true), &swapped), expected);
    }
}
