//! An executor that runs nothing: it tells which kernels a plan asks for, so that they can be loaded before they are
//! needed. There is no second list of them.

use crate::error::Error;
use crate::executor::Executor;
use crate::executor::cuda::Kernels;
use ferrosz_gpu_kernels::simt::{Kernel, View};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Loads a kernel.
pub(crate) type Load = fn(&Kernels) -> Result<(), Error>;

/// Notes the kernels that are asked for.
#[derive(Default)]
pub(crate) struct Recorder {
    loads: RefCell<BTreeMap<&'static str, Load>>,
}

impl Recorder {
    /// How to load each kernel that was asked for, by name.
    pub(crate) fn into_loads(self) -> BTreeMap<&'static str, Load> {
        self.loads.into_inner()
    }

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
