//! The device that compresses.

use crate::backend::Backend;
use crate::choice::Choice;
use crate::compress::{Compressor, workload};
use crate::device::{Device, Start};
use crate::error::Error;
use crate::{parallel, slabs};
use ferrosz_codec::{Codec, ValueType};

impl Compressor {
    /// Sets the device to run on.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The device that compresses a field of this many elements in host memory: the device that was set, or the choice
    /// of [`Device::Auto`], which is started if it is a GPU.
    ///
    /// # Errors
    ///
    /// [`Error::NotChosen`] if the codec is not yet chosen; [`Error::NoDevice`] and [`Error::OldGpu`].
    pub fn device_for(
        &self,
        elements: u64,
        value_type: impl Into<ValueType>,
    ) -> Result<Device, Error> {
        let codec = self.codec().ok_or(Error::NotChosen)?;
        let value_type = value_type.into();
        let layout = self.stream_layout(elements, value_type)?;
        if slabs::divided(self.device, &layout, self.bound)?.is_some() {
            return Ok(self.device);
        }
        let workload = workload(codec, elements, value_type.coded());
        Backend::device_for(self.device, workload)
    }

    /// The device of a batch in host memory, which is never [`Device::Auto`].
    pub(crate) fn batch_device(&self) -> Device {
        self.device.or_cpu()
    }

    /// Begins to start a GPU, as [`Device::start`] does, if the device is [`Device::Auto`] and the GPU would be faster with one
    /// of the codecs that may be chosen for so many elements in host memory: it starts while the array is read.
    pub fn start_auto(&self, elements: u64, value_type: impl Into<ValueType>) -> Start {
        let dtype = value_type.into().coded();
        let gains = |codec: &Codec| {
            workload(*codec, elements, dtype).is_faster_on_a_gpu(parallel::thread_count())
        };
        let gains = match self.choice {
            Choice::Codec(codec) => gains(&codec),
            Choice::Preset(preset) => preset.codecs().iter().any(gains),
        };
        match self.device == Device::Auto && gains {
            true => Device::Cuda(0).start(),
            false => Device::Cpu.start(),
        }
    }

    /// The device that was set.
    pub(crate) fn device_set(&self) -> Device {
        self.device
    }
}
