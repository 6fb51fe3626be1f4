//! The NVIDIA driver: whether it is present, and whether one of its GPUs can run the kernels.

use crate::device::Gpus;
use crate::error::Error;
use cudarc::driver::sys::CUdevice_attribute;
use cudarc::driver::{CudaContext, DriverError, result, sys};
use std::sync::{Arc, OnceLock};

/// An error of the driver that failed in this action.
pub(crate) fn failed(action: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| {
        let name = error
            .error_string()
            .map(|text| text.to_string_lossy().into_owned());
        Error::Cuda {
            action,
            reason: name.unwrap_or_else(|_| format!("error {:?}", error.0)),
        }
    }
}

/// The compute capability that the kernels are compiled for: the PTX says `.target sm_80`.
const NEEDED: (i32, i32) = (8, 0);

/// The primary context of a GPU that can run the kernels.
///
/// # Errors
///
/// [`Error::NoDevice`] if there is no driver or no such GPU; [`Error::OldGpu`].
pub(crate) fn open(ordinal: usize) -> Result<Arc<CudaContext>, Error> {
    let count = device_count()?;
    if ordinal >= count {
        return Err(no_gpu(ordinal, count));
    }
    // Checked before a context is made, which takes a third of a second.
    let (name, capability) =
        describe(ordinal).map_err(|error| no_device(failed("query the GPU")(error).to_string()))?;
    check(name, capability)?;
    CudaContext::new(ordinal).map_err(|error| no_device(failed("open the GPU")(error).to_string()))
}

/// The error that there is no GPU of this number.
fn no_gpu(ordinal: usize, count: usize) -> Error {
    no_device(format!(
        "there is no GPU {ordinal}: the number of NVIDIA GPUs is {count}"
    ))
}

/// The numbers of several GPUs, of which there is at least one.
///
/// # Errors
///
/// [`Error::NoDevice`] if there is no driver, or if one of the GPUs does not exist.
pub(crate) fn ordinals(listed: Option<u64>) -> Result<Vec<usize>, Error> {
    let count = device_count()?;
    let Some(set) = listed else {
        return match count {
            0 => Err(no_gpu(0, count)),
            _ => Ok((0..count).collect()),
        };
    };
    let found: Vec<usize> = Gpus::listed(set).collect();
    match found.iter().find(|ordinal| **ordinal >= count) {
        Some(ordinal) => Err(no_gpu(*ordinal, count)),
        None => Ok(found),
    }
}

/// The number of GPUs. The search for the driver tries some thirty names of its library, so it runs once in a process.
fn device_count() -> Result<usize, Error> {
    static COUNT: OnceLock<Result<usize, Error>> = OnceLock::new();
    COUNT.get_or_init(ask_driver).clone()
}

fn ask_driver() -> Result<usize, Error> {
    #[cfg(test)]
    tests::ASKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    // SAFETY: looks for the driver's library, whose initialisers are NVIDIA's.
    if !unsafe { sys::is_culib_present() } {
        return Err(no_device("the NVIDIA driver (libcuda) is not installed"));
    }
    match result::init().and_then(|()| CudaContext::device_count()) {
        Ok(count) => Ok(usize::try_from(count).unwrap_or(0)),
        Err(error) => Err(no_device(failed("start")(error).to_string())),
    }
}

/// A GPU's name and compute capability.
fn describe(ordinal: usize) -> Result<(String, (i32, i32)), result::DriverError> {
    use CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    let device = result::device::get(i32::try_from(ordinal).unwrap_or(i32::MAX))?;
    // SAFETY: the device number is from the driver.
    let attribute = |attribute| unsafe { result::device::get_attribute(device, attribute) };
    let capability = (attribute(MAJOR)?, attribute(MINOR)?);
    Ok((result::device::get_name(device)?, capability))
}

/// Whether a GPU is new enough.
fn check(name: String, capability: (i32, i32)) -> Result<(), Error> {
    match capability >= NEEDED {
        true => Ok(()),
        false => Err(Error::OldGpu {
            name,
            capability,
            needed: NEEDED,
        }),
    }
}

fn no_device(reason: impl Into<String>) -> Error {
    Error::NoDevice {
        device: "cuda",
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    pub(super) static ASKED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn the_driver_is_looked_for_once() {
        let first = device_count();
        for ordinal in 0..50 {
            assert_eq!(device_count(), first);
            if first.is_err() {
                assert_eq!(open(ordinal).err(), first.clone().err());
            }
        }
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn gpus_before_the_kernels_are_refused_by_name() {
        for old in [(3, 5), (6, 1), (7, 5), (7, 9)] {
            let error = check("Tesla V100-SXM2-16GB".to_owned(), old).unwrap_err();
            let said = error.to_string();
            let capability = format!("{}.{}", old.0, old.1);
            for words in ["Tesla V100-SXM2-16GB", &capability, "8.0"] {
                assert!(said.contains(words), "{said}");
            }
        }
        for new in [(8, 0), (8, 6), (9, 0), (10, 0), (12, 0)] {
            assert_eq!(check(String::new(), new), Ok(()));
        }
    }
}
