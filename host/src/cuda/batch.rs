//! Many arrays in device memory in one launch.

use crate::compress::Compressor;
use crate::cuda::Gpu;
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::gpu::batch::{
    CompressBatchJob, DecompressBatchJob, enqueue_compress_batch, enqueue_decompress_batch,
};
use crate::gpu::blocks::fault_in;
use crate::gpu::executor::recorder;
use ::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::{Codec, Dtype, Element};
use ferrosz_gpu_kernels::pipeline::batch::arrays::Arrays;
use ferrosz_simt::View;
use std::sync::Arc;

/// The arrays of [`Gpu::compress_batch`]: four lists in device memory, of one length.
#[derive(Debug)]
pub struct BatchCompression<'a, L> {
    /// The device addresses of the arrays, multiples of 16.
    pub arrays: &'a L,
    /// The elements of each array.
    pub lengths: &'a L,
    /// The device addresses of the streams, multiples of 16.
    pub streams: &'a L,
    /// The bytes of memory for each stream, at least [`max_compressed_len`](crate::max_compressed_len) of the array's
    /// length.
    pub rooms: &'a L,
}

/// The streams of [`Gpu::decompress_batch`]: four lists in device memory, of one length.
#[derive(Debug)]
pub struct BatchDecompression<'a, L> {
    /// The device addresses of the streams, multiples of 16.
    pub streams: &'a L,
    /// The bytes of each stream, or of the memory that it is in; nothing behind them is read. [`Gpu::compress_batch`]
    /// writes this list.
    pub sizes: &'a L,
    /// The device addresses of the arrays, multiples of 16.
    pub arrays: &'a L,
    /// The elements of each array, which must be those of its stream.
    pub lengths: &'a L,
}

impl Gpu {
    /// Enqueues the compression of many arrays in one launch. Each stream has the bytes of [`Gpu::compress`] for its array
    /// alone, as a line; with a relative bound each array has its own range. `sizes` gets the length of each stream in
    /// bytes; or 0 if an address is not a multiple of 16, or the room is too small, and then nothing else is written
    /// for this array.
    ///
    /// Does not allocate, does not wait, and reads no list on the host. So a captured graph can be launched again with
    /// other lists in the same memory. It needs no workspace. The first call of a kind loads its kernel, which cannot be
    /// captured: see [`Gpu::prepare_batch`].
    ///
    /// Each array is compressed by one thread block. This is fast for hundreds of arrays or more, of up to some MiB. A few
    /// long arrays do not fill the GPU; [`Gpu::compress`] does for each of them.
    ///
    /// # Errors
    ///
    /// [`Error::BatchLists`] if the lists have different lengths; [`Error::Refused`] with settings that batches
    /// [cannot have](crate::ways); [`Error::TooManyArrays`] and [`Error::Cuda`].
    ///
    /// # Safety
    ///
    /// Until the work on `stream` is done, each array and the room of each stream must be valid memory of this GPU's
    /// context, as the lists say. No room may overlap another one, an array or a list.
    pub unsafe fn compress_batch<T: Element, L: DevicePtr<u64>>(
        &self,
        stream: &Arc<CudaStream>,
        compressor: &Compressor,
        batch: &BatchCompression<'_, L>,
        sizes: &mut impl DevicePtrMut<u64>,
    ) -> Result<(), Error> {
        let codec = compressor.batch_codec::<T>()?;
        let lists = Lists {
            inputs: ("arrays", batch.arrays),
            input_sizes: ("lengths", batch.lengths),
            outputs: ("streams", batch.streams),
            output_sizes: ("rooms", batch.rooms),
        };
        lists.with(stream, ("sizes", sizes), |arrays, sizes| {
            let bound = compressor.bound();
            let job = CompressBatchJob {
                codec,
                bound,
                arrays,
                sizes,
            };
            self.run(stream, |executor| {
                enqueue_compress_batch::<T, _>(executor, &job)
            })
        })
    }

    /// Enqueues the decompression of many streams in one launch: streams of lines with one extent, without updates, by
    /// codecs of blocks, which may differ from stream to stream. `faults` gets a number for each stream: 0, or the fault
    /// that [`batch_fault`] names. A damaged stream spoils no other one. Nothing is written to an array whose stream has
    /// another header than expected, or for which an address is not a multiple of 16; both are a fault of the header.
    ///
    /// As [`Gpu::compress_batch`], it does not allocate, wait, or read a list on the host, and can be captured.
    ///
    /// # Errors
    ///
    /// [`Error::BatchLists`], [`Error::TooManyArrays`] and [`Error::Cuda`].
    ///
    /// # Safety
    ///
    /// Until the work on `stream` is done, each stream and each array must be valid memory of this GPU's context, as the
    /// lists say. No array may overlap another one, a stream or a list.
    pub unsafe fn decompress_batch<T: Element, L: DevicePtr<u64>>(
        &self,
        stream: &Arc<CudaStream>,
        decompressor: &Decompressor,
        batch: &BatchDecompression<'_, L>,
        faults: &mut impl DevicePtrMut<u64>,
    ) -> Result<(), Error> {
        let lists = Lists {
            inputs: ("streams", batch.streams),
            input_sizes: ("sizes", batch.sizes),
            outputs: ("arrays", batch.arrays),
            output_sizes: ("lengths", batch.lengths),
        };
        lists.with(stream, ("faults", faults), |arrays, faults| {
            let verify = decompressor.verifies_checksums();
            let job = DecompressBatchJob {
                arrays,
                faults,
                verify,
            };
            self.run(stream, |executor| {
                enqueue_decompress_batch::<T, _>(executor, &job)
            })
        })
    }

    /// As [`Gpu::prepare`], for batches of arrays of this type that are compressed with this codec, and for the
    /// decompression of streams of this type.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the codec is not one of blocks; [`Error::Cuda`] if the driver refuses a kernel.
    pub fn prepare_batch(&self, codec: Codec, dtype: Dtype) -> Result<(), Error> {
        let codec: BlockCodec =
            Compressor::new(codec, ferrosz_codec::Bound::default()).batch_codec::<f32>()?;
        self.kernels.load_all(recorder::to_batch(codec, dtype)?)
    }
}

/// The fault of a stream of [`Gpu::decompress_batch`], from its number in the list of faults.
///
/// # Errors
///
/// [`Error::Format`], unless the number is 0.
pub fn batch_fault(fault: u64) -> Result<(), Error> {
    Ok(fault_in(fault)?)
}

/// The lists of a batch, each with the name of its argument.
struct Lists<'a, L> {
    inputs: (&'static str, &'a L),
    input_sizes: (&'static str, &'a L),
    outputs: (&'static str, &'a L),
    output_sizes: (&'static str, &'a L),
}

impl<L: DevicePtr<u64>> Lists<'_, L> {
    /// Checks that all lists, and the one of results, have one length, and runs a call with them.
    fn with<R: DevicePtrMut<u64>>(
        &self,
        stream: &CudaStream,
        (name, results): (&'static str, &mut R),
        call: impl FnOnce(Arrays, View<u64>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let arrays = self.inputs.1.len() as u64;
        let check = |(argument, found): (&'static str, usize)| match found as u64 {
            found if found == arrays => Ok(()),
            found => Err(Error::BatchLists {
                argument,
                found,
                arrays,
            }),
        };
        [self.input_sizes, self.outputs, self.output_sizes]
            .map(|(name, list)| (name, list.len()))
            .into_iter()
            .chain([(name, results.len())])
            .try_for_each(check)?;
        let (inputs, _inputs_use) = self.inputs.1.device_ptr(stream);
        let (input_sizes, _input_sizes_use) = self.input_sizes.1.device_ptr(stream);
        let (outputs, _outputs_use) = self.outputs.1.device_ptr(stream);
        let (output_sizes, _output_sizes_use) = self.output_sizes.1.device_ptr(stream);
        let (results, _results_use) = results.device_ptr_mut(stream);
        // SAFETY: the guards keep the lists valid, and ordered with other streams; each has so many items.
        let view = |address: u64| unsafe { View::new(address as *mut u64, arrays) };
        let lists = Arrays {
            inputs: view(inputs),
            input_sizes: view(input_sizes),
            outputs: view(outputs),
            output_sizes: view(output_sizes),
        };
        call(lists, view(results))
    }
}
