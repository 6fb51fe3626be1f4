//! Compression and decompression of device memory, on a stream of the caller's.
//!
//! ```no_run
//! use ferrosz_cuszp::cuda::Gpu;
//! use ferrosz_cuszp::cuszp::{Mode, Params};
//! use ferrosz_cuszp::{Bare, Shape};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let gpu = Gpu::new(0)?;
//! let stream = gpu.context().default_stream();
//! let field = stream.alloc_zeros::<f32>(64 * 64 * 64)?;
//! let mut decoded = stream.alloc_zeros::<f32>(64 * 64 * 64)?;
//! let bare = Bare::from(Params::new(Shape::Cube, Mode::Plain, [64, 64, 64], 1e-3));
//! let mut bytes = stream.alloc_zeros::<u8>(bare.max_len()? as usize)?;
//!
//! let mut workspace = bare.workspace(&stream)?;
//! // Nothing here allocates or waits.
//! bare.compress(&gpu, &stream, &field, &mut bytes, &mut workspace)?;
//! bare.decompress(&gpu, &stream, &bytes, &mut decoded, &mut workspace)?;
//! // This waits.
//! workspace.check(&stream)?;
//! # Ok(())
//! # }
//! ```

use crate::bare::Bare;
use crate::error::Error;
use crate::stream::BareStream;
use ferrosz_codec::Element;
use ferrosz_host::Error as HostError;
use ferrosz_host::cuda::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};
use ferrosz_host::cuda::{Gpu, Workspace};
use ferrosz_host::internals::words;
use std::ops::Range;
use std::sync::Arc;

impl<T: Element> Bare<T> {
    /// A strict upper bound on the bytes of the stream, whatever the values.
    ///
    /// # Errors
    ///
    /// [`Error::Cuszp`] or [`Error::Ferrosz`] if the parameters do not fit each other.
    pub fn max_len(self) -> Result<u64, Error> {
        Ok(BareStream::of(self)?.max_bytes())
    }

    /// A workspace for such streams, and all that have no more blocks. It may be used again and again, by calls on this
    /// stream.
    ///
    /// # Errors
    ///
    /// As [`Bare::max_len`]; [`Error::Ferrosz`] if there is no memory.
    pub fn workspace(self, stream: &Arc<CudaStream>) -> Result<Workspace, Error> {
        let states = BareStream::of(self)?.states();
        Ok(Workspace::with_states(stream, states)?)
    }

    /// Asks for the compression of the array in `input` to a stream at the start of `output`, which must have room for
    /// [`Bare::max_len`] bytes. Does not allocate and does not wait (but that the first call of a kind loads its
    /// kernel). [`Workspace::stream_bytes`] gives the stream's length. Both buffers must be aligned to 16 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Cuszp`] or [`Error::Aatrox`] if the parameters do not fit each other or the array;
    /// [`Error::StrictOnDevice`]; [`Error::Ferrosz`] as for [`Gpu::compress`].
    pub fn compress(
        self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        input: &impl DevicePtr<T>,
        output: &mut impl DevicePtrMut<u8>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        self.check_kernels()?;
        let what = BareStream::of(self)?;
        what.check_elements(input.len() as u64)?;
        let (needed, found) = (what.max_bytes(), output.len() as u64);
        if found < needed {
            let unit = "bytes";
            return Err(HostError::OutputTooSmall {
                needed,
                found,
                unit,
            }
            .into());
        }
        let bytes = size_of::<T>() as u64 * input.len() as u64;
        let (input, _input_use) = input.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid and in order with other streams.
        let input = unsafe { words("input", input, bytes)? };
        // SAFETY: as above.
        let output = unsafe { words("output", output, found)? };
        let cells = workspace.cells_for(stream, what.states())?;
        Ok(gpu.run(stream, |executor| {
            what.enqueue_compress(executor, input, output, cells)
        })?)
    }

    /// Asks for the decompression of a stream. Its rate bytes are not checked beforehand: [`Workspace::check`] reports
    /// their faults, and the chunk of such a report is a block. Bytes missing at the end of `input` count as zeros.
    ///
    /// # Errors
    ///
    /// As [`Bare::compress`].
    pub fn decompress(
        self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        input: &impl DevicePtr<u8>,
        output: &mut impl DevicePtrMut<T>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let what = BareStream::of(self)?;
        what.check_elements(output.len() as u64)?;
        let room = input.len() as u64;
        let bytes = size_of::<T>() as u64 * output.len() as u64;
        let (input, _input_use) = input.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid and in order with other streams.
        let input = unsafe { words("input", input, room)? };
        // SAFETY: as above.
        let output = unsafe { words("output", output, bytes)? };
        let cells = workspace.cells_for(stream, what.states())?;
        Ok(gpu.run(stream, |executor| {
            what.enqueue_decompress(executor, input, output, cells)
        })?)
    }

    /// Asks for the decompression of some units of a stream, as [`Bare::read_units_on`] gives them: blocks of cuSZp's,
    /// layers of AATROX's. `output` must have room for the values of all their positions. Rate bytes are read up to the
    /// last of these units, bodies only of them.
    ///
    /// # Errors
    ///
    /// As [`Bare::decompress`]; [`Error::NoUnits`].
    pub fn read_units(
        self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        input: &impl DevicePtr<u8>,
        units: Range<u32>,
        output: &mut impl DevicePtrMut<T>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let what = BareStream::of(self)?;
        let blocks = what.blocks_of_units(&units)?;
        let (needed, found) = (what.unit_elements(&units), output.len() as u64);
        if found < needed {
            let unit = "elements";
            return Err(HostError::OutputTooSmall {
                needed,
                found,
                unit,
            }
            .into());
        }
        let room = input.len() as u64;
        let (input, _input_use) = input.device_ptr(stream);
        let (output, _output_use) = output.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid and in order with other streams.
        let input = unsafe { words("input", input, room)? };
        // SAFETY: as above.
        let output = unsafe { words("output", output, size_of::<T>() as u64 * found)? };
        let cells = workspace.cells_for(stream, what.states())?;
        Ok(gpu.run(stream, |executor| {
            what.enqueue_read(executor, input, output, cells, &blocks)
        })?)
    }

    /// Asks for the replacement of some units of the stream in `compressed`, in place, as [`Bare::replace_units_on`] makes it:
    /// `values` has a value for each of their positions. [`Workspace::check`] reports the first block or layer that has
    /// another length than the old one; the stream is then unchanged.
    ///
    /// # Errors
    ///
    /// As [`Bare::read_units`]; [`Error::ElementCount`]; [`Error::StrictOnDevice`].
    pub fn replace_units(
        self,
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        compressed: &mut impl DevicePtrMut<u8>,
        units: Range<u32>,
        values: &impl DevicePtr<T>,
        workspace: &mut Workspace,
    ) -> Result<(), Error> {
        self.check_kernels()?;
        let what = BareStream::of(self)?;
        let blocks = what.blocks_of_units(&units)?;
        what.check_unit_elements(&units, values.len() as u64)?;
        let room = compressed.len() as u64;
        let bytes = size_of::<T>() as u64 * values.len() as u64;
        let (values, _values_use) = values.device_ptr(stream);
        let (compressed, _compressed_use) = compressed.device_ptr_mut(stream);
        // SAFETY: the guard keeps the buffer valid and in order with other streams.
        let values = unsafe { words("values", values, bytes)? };
        // SAFETY: as above.
        let compressed = unsafe { words("compressed", compressed, room)? };
        let cells = workspace.cells_for(stream, what.states())?;
        Ok(gpu.run(stream, |executor| {
            what.enqueue_write(executor, values, compressed, cells, &blocks)
        })?)
    }

    /// Kernels do not make the checks of a strict encoder.
    fn check_kernels(&self) -> Result<(), Error> {
        match self {
            Self::Cuszp(params) if params.strict => Err(Error::StrictOnDevice),
            _ => Ok(()),
        }
    }
}
