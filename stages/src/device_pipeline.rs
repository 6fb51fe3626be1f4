//! Pipelines of fields in device memory.

use crate::code::Code;
use crate::container::{Container, EncodedParts, checked_name};
use crate::error::Error;
use crate::gpu::encoded::{Decode, encode};
use crate::pipeline::Pipeline;
use crate::recipe::CodeWidth;
use crate::stage::own_stage;
use ferrosz_codec::Element;
use ferrosz_host::Error as HostError;
use ferrosz_host::cuda::Gpu;
use ferrosz_host::cuda::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};
use ferrosz_host::internals::words;
use ferrosz_simt::View;
use std::sync::Arc;

impl Pipeline {
    /// As [`Pipeline::compress`], of a field in device memory, aligned to 16 bytes. Allocates there, and waits for the work on
    /// `stream`. Only the bytes of the container come to the host if [`Stage::on_machine`](crate::Stage::on_machine) says that
    /// the stage runs there, and all codes if not.
    ///
    /// ```no_run
    /// use ferrosz_stages::cuda::Gpu;
    /// use ferrosz_stages::stage::fixed_length::FixedLength;
    /// use ferrosz_stages::{Bound, Interpolator, Pipeline};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let gpu = Gpu::new(0)?;
    /// let stream = gpu.context().default_stream();
    /// let mut field = stream.alloc_zeros::<f32>(64 * 128 * 128)?;
    /// let interpolator = Interpolator::new(Bound::abs(1e-3)?).extents(&[64, 128, 128])?;
    /// let pipeline = Pipeline::new(interpolator, FixedLength);
    /// let container = pipeline.compress_device(&gpu, &stream, &field)?;
    /// pipeline.decompress_device(&gpu, &stream, &container, &mut field)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NeedsHostField`]; [`HostError::Misaligned`]; as [`Pipeline::compress`].
    pub fn compress_device<T: Element>(
        &self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        field: &impl DevicePtr<T>,
    ) -> Result<Vec<u8>, Error> {
        let elements = field.len() as u64;
        let (address, _use) = field.device_ptr(stream);
        // SAFETY: the guard keeps the buffer valid and in order with other streams.
        let field = unsafe { words("field", address, elements * T::BYTES as u64)? };
        let name = checked_name(self.stage.name())?;
        let encoded = match self.width {
            CodeWidth::U8 => self.encode_device::<T, u8>(gpu, stream, field, elements)?,
            CodeWidth::U16 => self.encode_device::<T, u16>(gpu, stream, field, elements)?,
            CodeWidth::U32 => self.encode_device::<T, u32>(gpu, stream, field, elements)?,
        };
        encoded.write(self.interpolator.extents_for(elements).lengths(), name)
    }

    /// The encoded parts of a field.
    fn encode_device<T: Element, C: Code>(
        &self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        field: View<u32>,
        elements: u64,
    ) -> Result<EncodedParts<T>, Error> {
        let interpolator = &self.interpolator;
        interpolator.check_radius::<C>()?;
        interpolator.check_rules_of_device_memory()?;
        let grid = &interpolator.grid_for::<T>(elements)?;
        gpu.run(stream, |executor| {
            Ok(encode::<T, C, _>(
                executor,
                interpolator,
                grid,
                field,
                &*self.stage,
            ))
        })?
    }

    /// The field in a container, as [`Pipeline::decompress`], in device memory, aligned to 16 bytes. Allocates there, and
    /// waits for the work on `stream`.
    ///
    /// # Errors
    ///
    /// [`HostError::ExtentsMismatch`] if `output` has not as many elements as the field; [`HostError::Misaligned`]; as
    /// [`Pipeline::decompress`].
    pub fn decompress_device<T: Element>(
        &self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        container: &[u8],
        output: &mut impl DevicePtrMut<T>,
    ) -> Result<(), Error> {
        let container = Container::read(container)?;
        let stage = match self.stage.name() == container.stage() {
            true => self.stage.clone(),
            false => own_stage(container.stage())?,
        };
        let (recipe, format) = &container.checked::<T>()?;
        let elements = output.len() as u64;
        if elements != format.count() {
            let extents = container.extents().to_vec();
            let product = format.count();
            return Err(HostError::ExtentsMismatch {
                extents,
                product,
                elements,
            }
            .into());
        }
        let (address, _use) = output.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid and in order with other streams.
        let output = unsafe { words("output", address, elements * T::BYTES as u64)? };
        let call = Decode {
            recipe,
            format,
            parts: container.encoded(),
            stage: &*stage,
        };
        gpu.run(stream, |executor| Ok(call.decode(executor, output)))?
    }
}
