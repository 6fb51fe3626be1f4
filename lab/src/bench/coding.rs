//! Kinds of streams, and their calls on both machines.

use super::{device_memory::DeviceMemory, gpu::OneGpu};
use ferrosz::cuda::Workspace;
use ferrosz_cli::failure::Failure;

/// The direction of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the field to the stream.
    Compress,
    /// From the stream to the decoded field, or a part of it.
    Decompress,
}

/// A kind of streams: the calls that make and decode them on host memory and on a GPU's. Those on host memory also give
/// the results that are expected of a GPU.
pub trait Coding<V> {
    /// The stream of a field.
    ///
    /// # Errors
    ///
    /// The library's errors, here and below.
    fn compress(&self, field: &[V]) -> Result<Vec<u8>, Failure>;

    /// Decodes a stream to `values`, whose memory is used again.
    fn decompress(&self, stream: &[u8], values: &mut Vec<V>) -> Result<(), Failure>;

    /// The most bytes of a stream.
    fn room(&self) -> Result<u64, Failure>;

    /// The workspace of the calls on a GPU.
    fn workspace(&self, at: &OneGpu) -> Result<Workspace, Failure>;

    /// Enqueues the compression of `memory.input`.
    fn enqueue_compress(&self, at: &OneGpu, memory: &mut DeviceMemory<V>) -> Result<(), Failure>;

    /// Enqueues the decompression to `memory.output`.
    fn enqueue_decompress(&self, at: &OneGpu, memory: &mut DeviceMemory<V>) -> Result<(), Failure>;
}
