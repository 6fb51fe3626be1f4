//! Arrays in the memory of NVIDIA GPUs: those of the caller, by DLPack or `__cuda_array_interface__`, and results.

mod array;
mod calls;
mod input;
mod memory;
mod stream;
mod update;

pub use array::DeviceArray;
pub use calls::{compress, decompress};
pub use input::{is_on_gpu, on_cpu};
pub use memory::release_memory;
pub use update::{compact, update};
