//! Which device does the work.

use ferrosz::{Decompressor, Device};

/// The device that decompresses so many elements of a stream, when `device` is asked for.
pub fn of_stream(device: Device, stream: &[u8], elements: usize) -> Device {
    let decompressor = Decompressor::new().device(device);
    decompressor.device_for(stream, elements).unwrap_or(device)
}
