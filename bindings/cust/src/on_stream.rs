//! Calls on a stream of cust.

use crate::Error;
use bytemuck::Pod;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::stream::Stream;
use ferrosz::cuda::cudarc::driver::{CudaStream, sys};
use ferrosz::cuda::{AtAddress, Gpu, Workspace};
use ferrosz::stream::StreamLayout;
use ferrosz::{Compressor, Decompressor, Part, Value};
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

/// ferrosz on one stream of cust. It keeps the device memory that its calls need, and uses it again.
///
/// The calls wait until their work is done, so that cust may free or change the buffers afterwards. Work that was enqueued
/// before on the same stream is done first. Nothing orders work on other streams: [`Stream::synchronize`] them before.
pub struct OnStream<'s> {
    gpu: Gpu,
    stream: Arc<CudaStream>,
    workspace: Option<Kept>,
    /// The stream of cust, which is destroyed when it is dropped.
    owner: PhantomData<&'s Stream>,
}

/// A workspace, and its length in bytes.
struct Kept {
    workspace: Workspace,
    bytes: u64,
}

impl<'s> OnStream<'s> {
    /// ferrosz on a stream of the GPU with this number.
    ///
    /// # Errors
    ///
    /// [`Error::Ferrosz`] if there is no such GPU, or if it is too old; [`Error::OtherContext`].
    pub fn new(ordinal: usize, stream: &'s Stream) -> Result<Self, Error> {
        let gpu = Gpu::new(ordinal)?;
        if context_of(stream)? != gpu.context().cu_ctx() {
            return Err(Error::OtherContext { ordinal });
        }
        // SAFETY: the stream is of this context, and lives as long as this object. Each call waits for its work.
        let stream = unsafe { (gpu.context()).wrap_borrowed_stream(stream.as_inner().cast()) };
        Ok(Self {
            gpu,
            stream,
            workspace: None,
            owner: PhantomData,
        })
    }

    /// Compresses the values of a buffer to the start of another, which must have
    /// [`Compressor::max_compressed_len`](ferrosz::Compressor::max_compressed_len) bytes. Returns the length of the stream.
    ///
    /// # Errors
    ///
    /// Those of [`Gpu::compress`](ferrosz::cuda::Gpu::compress).
    pub fn compress<V: Value + DeviceCopy>(
        &mut self,
        compressor: &Compressor,
        input: &DeviceBuffer<V>,
        output: &mut DeviceBuffer<u8>,
    ) -> Result<u64, Error> {
        let layout = compressor.stream_layout(input.len() as u64, V::TYPE)?;
        let (input, mut output) = (self.view(input), self.view(output));
        self.call(layout, |on, workspace| {
            on.gpu
                .compress(&on.stream, compressor, &input, &mut output, workspace)?;
            workspace.stream_bytes(&on.stream)
        })
    }

    /// Decompresses the stream of this layout at the start of a buffer into another, which must have as many values as the
    /// field. [`Compressor::stream_layout`](ferrosz::Compressor::stream_layout) gives the layout.
    ///
    /// # Errors
    ///
    /// Those of [`Gpu::decompress`](ferrosz::cuda::Gpu::decompress); [`ferrosz::Error::Format`] if the stream is damaged or
    /// has another layout.
    pub fn decompress<V: Value + DeviceCopy>(
        &mut self,
        decompressor: &Decompressor,
        layout: StreamLayout,
        input: &DeviceBuffer<u8>,
        output: &mut DeviceBuffer<V>,
    ) -> Result<(), Error> {
        let (input, mut output) = (self.view(input), self.view(output));
        self.call(layout, |on, workspace| {
            (on.gpu).decompress(
                &on.stream,
                decompressor,
                layout,
                &input,
                &mut output,
                workspace,
            )?;
            workspace.check(&on.stream)
        })
    }

    /// Replaces a part of the field of the stream at the start of a buffer by `values`, in host memory. Returns the length of
    /// the stream from then on, for which the buffer must have room.
    ///
    /// # Errors
    ///
    /// Those of [`Gpu::update`](ferrosz::cuda::Gpu::update).
    pub fn update<V: Value>(
        &self,
        compressed: &mut DeviceBuffer<u8>,
        part: &Part,
        values: &[V],
    ) -> Result<u64, Error> {
        let mut compressed = self.view(compressed);
        self.waited((self.gpu).update(&self.stream, &mut compressed, part, values))
    }

    /// Copies the stream at the start of a buffer to the start of another, without the chunks that updates replaced. Returns the
    /// length of the copy, which is not longer than the stream.
    ///
    /// # Errors
    ///
    /// Those of [`Gpu::compact`](ferrosz::cuda::Gpu::compact).
    pub fn compact(
        &self,
        input: &DeviceBuffer<u8>,
        output: &mut DeviceBuffer<u8>,
    ) -> Result<u64, Error> {
        let (input, mut output) = (self.view(input), self.view(output));
        self.waited(self.gpu.compact(&self.stream, &input, &mut output))
    }

    /// The result of a call. Work of one that failed is waited for, too.
    fn waited<R>(&self, result: Result<R, ferrosz::Error>) -> Result<R, Error> {
        if result.is_err() {
            let _ = self.stream.synchronize();
        }
        Ok(result?)
    }

    /// A buffer as ferrosz takes it, for calls that wait.
    fn view<T: Pod + DeviceCopy>(&self, buffer: &DeviceBuffer<T>) -> AtAddress<T> {
        let address = buffer.as_device_ptr().as_raw();
        // SAFETY: the buffer is an allocation of so many values, whose end the driver rounds up to more than a word. Calls
        // wait for their work while it is borrowed, mutably if they write it.
        unsafe { AtAddress::new(&self.stream, address, buffer.len() as u64) }
    }

    /// Makes a call with a workspace for streams of this layout.
    fn call<R>(
        &mut self,
        layout: StreamLayout,
        call: impl FnOnce(&Self, &mut Workspace) -> Result<R, ferrosz::Error>,
    ) -> Result<R, Error> {
        let bytes = layout.workspace_bytes();
        let kept = self.workspace.take().filter(|kept| kept.bytes >= bytes);
        let mut kept = match kept {
            Some(kept) => kept,
            None => Kept {
                workspace: self.gpu.workspace_for(&self.stream, layout)?,
                bytes,
            },
        };
        let result = self.waited(call(self, &mut kept.workspace));
        self.workspace = Some(kept);
        result
    }
}

/// The context of a stream.
fn context_of(stream: &Stream) -> Result<sys::CUcontext, Error> {
    let mut context = ptr::null_mut();
    // SAFETY: the stream lives, and the driver writes the context.
    unsafe { sys::cuStreamGetCtx(stream.as_inner().cast(), &mut context) }.result()?;
    Ok(context)
}
