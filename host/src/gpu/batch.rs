//! Batches on machines that run kernels: the launches, and whole calls on host slices.

mod memory;
#[cfg(all(test, feature = "emulator"))]
mod tests;

use crate::error::Error;
use crate::gpu::blocks::fault_in;
use crate::gpu::executor::Executor;
use crate::gpu::job::layout_words;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::header::max_line_bytes;
use ferrosz_codec::container::header_words::LineDraft;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::{Bound, Codec, Element, Shape, with_block_codec};
use ferrosz_gpu_kernels::pipeline::batch::arrays::Arrays;
use ferrosz_gpu_kernels::pipeline::batch::compress::{CompressBatch, CompressBatchParams};
use ferrosz_gpu_kernels::pipeline::batch::decompress::{DecompressBatch, DecompressBatchParams};
use ferrosz_simt::View;
use memory::{BatchMemory, Sizes};

/// A compression of a batch on the machine.
pub(crate) struct CompressBatchJob {
    pub(crate) codec: BlockCodec,
    pub(crate) bound: Bound,
    /// The arrays: elements of each input, bytes of each output.
    pub(crate) arrays: Arrays,
    /// The lengths of the streams, to be written.
    pub(crate) sizes: View<u64>,
}

/// A decompression of a batch on the machine.
pub(crate) struct DecompressBatchJob {
    /// The arrays: bytes of each stream, elements of each output.
    pub(crate) arrays: Arrays,
    /// The fault of each stream, to be written.
    pub(crate) faults: View<u64>,
    pub(crate) verify: bool,
}

/// The layout of streams of lines without elements.
fn empty_line(codec: Codec) -> Layout {
    Layout::new(codec, Shape::Line, Extents::line(0))
}

/// The blocks of a launch, one for each array; none for an empty batch.
///
/// # Errors
///
/// [`Error::TooManyArrays`].
fn blocks_of(arrays: &Arrays) -> Result<Option<u32>, Error> {
    let count = arrays.inputs.len();
    let blocks = i32::try_from(count).map_err(|_| Error::TooManyArrays(count))?;
    Ok((blocks > 0).then_some(blocks.cast_unsigned()))
}

/// Enqueues a compression. Does not allocate and does not wait.
///
/// # Errors
///
/// [`Error::TooManyArrays`]; the machine's own.
pub(crate) fn enqueue_compress_batch<T: Element, E: Executor>(
    executor: &E,
    job: &CompressBatchJob,
) -> Result<(), Error> {
    let Some(blocks) = blocks_of(&job.arrays)? else {
        return Ok(());
    };
    let resolved: Quantizer<T> = job.bound.resolve(&Extremes::default());
    let header = empty_line(Codec::Blocks(job.codec)).header(T::DTYPE, job.bound, 0);
    let params = CompressBatchParams {
        arrays: job.arrays,
        sizes: job.sizes,
        header: LineDraft::new(&header),
        quantizer: resolved.to_bits(),
        bound: job.bound.value(),
        mode: u32::from(job.bound.mode().id()),
        needs_extremes: u32::from(job.bound.needs_extremes()),
    };
    with_block_codec!(job.codec.in_shape(Shape::Line), C => {
        executor.launch::<CompressBatch<T, C>>(blocks, &params)
    })
}

/// Enqueues a decompression. Does not allocate and does not wait.
///
/// # Errors
///
/// [`Error::TooManyArrays`]; the machine's own.
pub(crate) fn enqueue_decompress_batch<T: Element, E: Executor>(
    executor: &E,
    job: &DecompressBatchJob,
) -> Result<(), Error> {
    let Some(blocks) = blocks_of(&job.arrays)? else {
        return Ok(());
    };
    let params = DecompressBatchParams {
        arrays: job.arrays,
        faults: job.faults,
        // The kernel takes the codec from each stream.
        layout: layout_words(empty_line(Codec::PLAIN), T::TYPE, [0; 2]),
        verify: u32::from(job.verify),
    };
    executor.launch::<DecompressBatch<T>>(blocks, &params)
}

/// Compresses fields in the memory of the host.
///
/// # Errors
///
/// [`Error::TooLarge`], [`Error::TooManyArrays`], [`Error::OutOfMemory`]; the machine's own.
pub(crate) fn compress_host<T: Element, E: Executor>(
    executor: &E,
    codec: BlockCodec,
    bound: Bound,
    fields: &[&[T]],
) -> Result<Vec<Vec<u8>>, Error> {
    let inputs: Vec<&[u8]> = (fields.iter())
        .map(|field| bytemuck::cast_slice(field))
        .collect();
    let room = |field: &&[T]| {
        let elements = field.len() as u64;
        max_line_bytes(elements, T::BYTES as u64).ok_or(Error::TooLarge {
            elements,
            dtype: T::TYPE,
        })
    };
    let rooms: Vec<u64> = fields.iter().map(room).collect::<Result<_, _>>()?;
    let elements: Vec<u64> = fields.iter().map(|field| field.len() as u64).collect();
    let sizes = Sizes {
        inputs: &elements,
        outputs: &rooms,
        output_bytes: &rooms,
    };
    let memory = BatchMemory::new(executor, &inputs, &sizes)?;
    let job = CompressBatchJob {
        codec,
        bound,
        arrays: memory.arrays(),
        sizes: memory.results(),
    };
    enqueue_compress_batch::<T, E>(executor, &job)?;
    let (lengths, streams) = memory.download()?;
    Ok((lengths.iter().zip(streams))
        .map(|(length, mut stream)| {
            stream.truncate(usize::try_from(*length).unwrap_or(usize::MAX));
            stream
        })
        .collect())
}

/// Decompresses streams in the memory of the host, each with the number of its elements.
///
/// # Errors
///
/// [`Error::TooLarge`], [`Error::TooManyArrays`], [`Error::OutOfMemory`]; the machine's own. A damaged stream is an
/// error of its own alone.
pub(crate) fn decompress_host<T: Element, E: Executor>(
    executor: &E,
    streams: &[(&[u8], u64)],
    verify: bool,
) -> Result<Vec<Result<Vec<T>, Error>>, Error> {
    let inputs: Vec<&[u8]> = streams.iter().map(|(stream, _)| *stream).collect();
    let lengths: Vec<u64> = inputs.iter().map(|stream| stream.len() as u64).collect();
    let elements: Vec<u64> = streams.iter().map(|(_, elements)| *elements).collect();
    let bytes = |elements: &u64| {
        let bytes = elements.checked_mul(T::BYTES as u64);
        bytes.ok_or(Error::TooLarge {
            elements: *elements,
            dtype: T::TYPE,
        })
    };
    let output_bytes: Vec<u64> = elements.iter().map(bytes).collect::<Result<_, _>>()?;
    let sizes = Sizes {
        inputs: &lengths,
        outputs: &elements,
        output_bytes: &output_bytes,
    };
    let memory = BatchMemory::new(executor, &inputs, &sizes)?;
    let job = DecompressBatchJob {
        arrays: memory.arrays(),
        faults: memory.results(),
        verify,
    };
    enqueue_decompress_batch::<T, E>(executor, &job)?;
    let (faults, outputs) = memory.download()?;
    Ok((faults.iter().zip(outputs))
        .map(|(fault, bytes)| {
            fault_in(*fault)?;
            Ok(bytemuck::pod_collect_to_vec(&bytes))
        })
        .collect())
}
