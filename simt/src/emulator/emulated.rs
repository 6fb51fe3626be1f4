//! A kernel as code for the emulator, as a value.

use core::any::Any;

use super::{Emulator, Fault};
use crate::Kernel;

/// Runs a kernel on an emulator, with this many blocks and its parameters.
///
/// Where a program calls [`Emulator::launch`], the kernel is compiled; where it calls such a function, it is compiled
/// already.
pub type Emulated = fn(&Emulator, u32, &dyn Any) -> Result<(), Fault>;

/// The code of a kernel, which expects [`Kernel::Params`]; it panics at other parameters.
pub const fn emulated<K: Kernel>() -> Emulated {
    |emulator, blocks, params| {
        let params = params.downcast_ref();
        emulator.launch::<K>(blocks, params.expect("the kernel's parameters"))
    }
}
