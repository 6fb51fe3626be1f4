//! The memory of a GPU for one field.

use super::coding::Coding;
use super::gpu::{OnDevice, OneGpu};
use ferrosz::cuda::Workspace;
use ferrosz::cuda::cudarc::driver::CudaSlice;
use ferrosz_cli::failure::Failure;

/// A field, its stream, and the decoded field.
pub struct DeviceMemory<V> {
    /// The field.
    pub input: CudaSlice<V>,
    /// Its stream.
    pub bytes: CudaSlice<u8>,
    /// The decoded field.
    pub output: CudaSlice<V>,
    /// The workspace of calls.
    pub workspace: Workspace,
}

impl<V: OnDevice> DeviceMemory<V> {
    /// Copies a field to the GPU, and makes room for its stream and for the decoded field.
    ///
    /// # Errors
    ///
    /// If there is too little memory.
    pub fn new(at: &OneGpu, field: &[V], coding: &dyn Coding<V>) -> Result<Self, Failure> {
        Ok(Self {
            workspace: coding.workspace(at)?,
            bytes: at.allocate(coding.room()?)?,
            input: at.upload(field)?,
            output: at.allocate(field.len() as u64)?,
        })
    }

    /// The last stream.
    ///
    /// # Errors
    ///
    /// The errors of the last call, here and below.
    pub fn stream(&self, at: &OneGpu) -> Result<Vec<u8>, Failure> {
        let length = self.workspace.stream_bytes(&at.stream)?;
        let length = (self.bytes.len() as u64).min(length) as usize;
        at.download(&self.bytes.slice(..length))
    }

    /// The first values of the last decompression.
    pub fn values(&self, at: &OneGpu, count: usize) -> Result<Vec<V>, Failure> {
        self.workspace.check(&at.stream)?;
        at.download(&self.output.slice(..count.min(self.output.len())))
    }
}
