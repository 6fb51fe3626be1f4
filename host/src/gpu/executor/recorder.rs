//! An executor that runs no kernels, but records which ones a plan launches, so that they can be loaded in advance.
//! This makes a separate list of kernels unnecessary.

use crate::error::Error;
use crate::gpu::batch::{
    CompressBatchJob, DecompressBatchJob, enqueue_compress_batch, enqueue_decompress_batch,
};
use crate::gpu::executor::cuda::Loads;
use crate::gpu::executor::{Blocks, Executor, Task};
use crate::gpu::mapping::compress::{Compression, enqueue_compress};
use crate::gpu::mapping::decompress::{Decompression, Wanted, enqueue_decompress};
use crate::stream_layout::StreamLayout;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::{Bound, Dtype, Preference, with_element};
use ferrosz_gpu_kernels::pipeline::batch::arrays::Arrays;
use ferrosz_simt::{Kernel, View};
use std::cell::RefCell;

/// Records the kernels that are launched.
#[derive(Default)]
struct Recorder {
    loads: RefCell<Loads>,
}

/// The kernels that compression to a layout launches, with any bound.
///
/// # Errors
///
/// [`Error::TooLarge`].
pub(crate) fn to_compress(layout: &StreamLayout) -> Result<Loads, Error> {
    let recorder = Recorder::default();
    for bound in [Bound::range(1e-3)?, Bound::abs(1e-3)?] {
        // No kernel runs, so no memory is read or written.
        let call = Compression {
            layout,
            bound,
            // Another choice launches no other kernels.
            tightening: Preference::Ratio.tightening(),
            extremes: None,
            mapping: &ValueMapping::default(),
            fills: u32::from(layout.layout.classes.fills),
            field: View::empty(),
            stream: View::empty(),
            cells: View::empty(),
        };
        with_element!(layout.dtype(), T => enqueue_compress::<T, _>(&recorder, &call)?);
    }
    Ok(recorder.loads.into_inner())
}

/// The kernels that decompression of a whole field launches.
///
/// # Errors
///
/// [`Error::TooLarge`].
pub(crate) fn to_decompress(layout: &StreamLayout) -> Result<Loads, Error> {
    let recorder = Recorder::default();
    let call = Decompression {
        layout,
        wanted: &Wanted::whole(layout)?,
        verify: true,
        stream: View::empty(),
        output: View::empty(),
        cells: View::empty(),
    };
    with_element!(layout.dtype(), T => enqueue_decompress::<T, _>(&recorder, &call)?);
    Ok(recorder.loads.into_inner())
}

/// The kernels that compress batches with a codec, with any bound, and decompress batches.
///
/// # Errors
///
/// None that the recorder makes.
pub(crate) fn to_batch(codec: BlockCodec, dtype: Dtype) -> Result<Loads, Error> {
    let recorder = Recorder::default();
    // One array, as an empty batch needs no kernel. No kernel runs, so no list is read.
    // SAFETY: as above.
    let list: View<u64> = unsafe { View::at(0, 1) };
    let arrays = Arrays {
        inputs: list,
        input_sizes: list,
        outputs: list,
        output_sizes: list,
    };
    let compression = CompressBatchJob {
        codec,
        bound: Bound::default(),
        arrays,
        sizes: list,
    };
    let decompression = DecompressBatchJob {
        arrays,
        faults: list,
        verify: true,
    };
    with_element!(dtype, T => {
        enqueue_compress_batch::<T, _>(&recorder, &compression)?;
        enqueue_decompress_batch::<T, _>(&recorder, &decompression)?;
    });
    Ok(recorder.loads.into_inner())
}

impl Executor for Recorder {
    type Memory = ();

    fn allocate(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn view<W>(&self, (): &()) -> View<W> {
        View::empty()
    }

    fn clear(&self, _: View<u64>) -> Result<(), Error> {
        Ok(())
    }

    fn upload(&self, _: &[u8], _: View<u32>) -> Result<(), Error> {
        Ok(())
    }

    fn download<W>(&self, _: View<W>, _: u64, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }

    fn blocks_at_once<K: Kernel>(&self) -> Result<u32, Error> {
        Ok(1)
    }

    fn run(&self, task: &Task<'_>, _: Blocks) -> Result<(), Error> {
        let kernel = task.kernel;
        self.loads.borrow_mut().insert(kernel.launch.name, kernel);
        Ok(())
    }
}
