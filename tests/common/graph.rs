//! Calls captured in a graph.

use super::fields::Kind;
use ferrosz::Error;
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaContext, CudaGraph, CudaStream, sys};
use std::sync::{Arc, PoisonError, RwLock};

/// Written to while a thread captures calls. The first stream of a context waits for all of the GPU's work, which it cannot
/// while another thread captures some, and breaks that capture.
static CAPTURE: RwLock<()> = RwLock::new(());

/// A stream, made while no thread captures calls.
pub fn new_stream(gpu: &Gpu) -> Arc<CudaStream> {
    let _none = CAPTURE.read().unwrap_or_else(PoisonError::into_inner);
    gpu.context().new_stream().expect("a stream")
}

/// Data that a graph is launched on.
pub const FIELDS: [(Kind, u64); 3] = [(Kind::Smooth, 1), (Kind::NotFinite, 2), (Kind::Steps, 3)];

/// A GPU whose buffers do not keep track of the streams that use them, which cannot be captured: here there is one stream.
pub fn gpu() -> Result<(Gpu, Arc<CudaStream>), Error> {
    let context = CudaContext::new(0).expect("a GPU");
    // SAFETY: all buffers of the tests are used on one stream, and outlive its work.
    unsafe { context.disable_event_tracking() };
    let gpu = Gpu::with_context(context);
    let stream = new_stream(&gpu);
    Ok((gpu, stream))
}

/// What these calls ask for, as a graph.
pub fn capture<E>(
    stream: &Arc<CudaStream>,
    calls: impl FnOnce() -> Result<(), E>,
) -> Result<CudaGraph, E> {
    let _alone = CAPTURE.write().unwrap_or_else(PoisonError::into_inner);
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("capture");
    let result = calls();
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags);
    result?;
    Ok(graph.expect("captured").expect("a graph"))
}

/// Overwrites the part of the host's stack that calls have used.
#[inline(never)]
pub fn trample() -> u8 {
    let stack = std::hint::black_box([0xEEu8; 1 << 16]);
    stack[stack.len() / 2]
}
