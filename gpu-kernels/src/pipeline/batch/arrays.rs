//! The lists of a batch, in device memory.

use ferrosz_simt::{Thread, View};

/// For each array of a batch the addresses of its input and output, and the size of each. All lists are of one length,
/// the number of blocks of the launch.
///
/// The launch promises for each array that so much memory at either address is valid, and that it may write the output.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arrays {
    /// Addresses of the inputs.
    pub inputs: View<u64>,
    /// The sizes of the inputs: elements of arrays, bytes of streams.
    pub input_sizes: View<u64>,
    /// Addresses of the outputs.
    pub outputs: View<u64>,
    /// The sizes of the outputs, likewise.
    pub output_sizes: View<u64>,
}

/// One array of a batch.
#[derive(Clone, Copy)]
pub struct OneArray {
    /// Address of the input.
    pub input: u64,
    /// Size of the input.
    pub input_size: u64,
    /// Address of the output.
    pub output: u64,
    /// Size of the output.
    pub output_size: u64,
}

impl Arrays {
    /// The array of this thread block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn own<T: Thread>(&self, t: T) -> OneArray {
        let index = u64::from(t.block_index());
        OneArray {
            input: t.load_u64(self.inputs, index),
            input_size: t.load_u64(self.input_sizes, index),
            output: t.load_u64(self.outputs, index),
            output_size: t.load_u64(self.output_sizes, index),
        }
    }
}

impl OneArray {
    /// Whether both addresses are those of 16-byte units.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(super) fn is_aligned(&self) -> bool {
        (self.input | self.output).is_multiple_of(16)
    }
}
