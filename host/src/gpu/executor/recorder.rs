//! An executor that runs no kernels, but records which ones a plan launches, so that they can be loaded in advance.
//! This makes a separate list of kernels unnecessary.

use crate::error::Error;
use crate::gpu::blocks::{enqueue_compress, enqueue_decompress};
use crate::gpu::executor::Executor;
use crate::gpu::executor::cuda::{Kernels, Loads};
use crate::gpu::job::{CompressJob, DecompressJob};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::{Bound, Dtype, with_element};
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
pub(crate) fn to_compress(layout: Layout, dtype: Dtype) -> Result<Loads, Error> {
    let recorder = Recorder::default();
    for bound in [Bound::range(1e-3)?, Bound::abs(1e-3)?] {
        // No kernel runs, so no memory is read or written.
        let job = CompressJob {
            layout,
            bound,
            input: View::empty(),
            stream: View::empty(),
            cells: View::empty(),
        };
        with_element!(dtype, T => enqueue_compress::<T, _>(&recorder, &job)?);
    }
    Ok(recorder.loads.into_inner())
}

/// The kernels that decompression of a whole field launches.
///
/// # Errors
///
/// [`Error::TooLarge`].
pub(crate) fn to_decompress(layout: Layout, dtype: Dtype) -> Result<Loads, Error> {
    let recorder = Recorder::default();
    let job = DecompressJob {
        layout,
        regions: &[Region::whole(&layout.grid())],
        verify: true,
        stream: View::empty(),
        output: View::empty(),
        cells: View::empty(),
    };
    with_element!(dtype, T => enqueue_decompress::<T, _>(&recorder, &job)?);
    Ok(recorder.loads.into_inner())
}

impl Recorder {
    fn note<K: Kernel>(&self) -> Result<(), Error> {
        self.loads.borrow_mut().insert(K::NAME, Kernels::load::<K>);
        Ok(())
    }
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

    fn launch<K: Kernel>(&self, _: u32, _: &K::Params) -> Result<(), Error> {
        self.note::<K>()
    }

    fn launch_over<K: Kernel>(&self, _: u32, _: &K::Params) -> Result<(), Error> {
        self.note::<K>()
    }
}
