//! Calls captured in a graph, and the graph launched again on new data: what a call has left on the host's stack would be
//! gone by then.

use super::{line, same_bits};
use crate::common::fields::{Kind, make};
use crate::common::{compressor, layouts, tile_layouts};
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaContext, CudaGraph, CudaStream, sys};
use ferrosz::stages::{CodeOrder, Decomposition, DeviceParts, Interpolator};
use ferrosz::{
    Bound, Codec, Decompressor, Device, Dtype, Error, Layout, Part, Shape, aatrox, cuszp,
};
use std::sync::Arc;

/// Data that a graph is launched on.
const FIELDS: [(Kind, u64); 3] = [(Kind::Smooth, 1), (Kind::NotFinite, 2), (Kind::Steps, 3)];

/// A GPU whose buffers do not keep track of the streams that use them, which cannot be captured: here there is one stream.
fn gpu() -> Result<(Gpu, Arc<CudaStream>), Error> {
    let context = CudaContext::new(0).expect("a GPU");
    // SAFETY: all buffers of the tests are used on one stream, and outlive its work.
    unsafe { context.disable_event_tracking() };
    let gpu = Gpu::with_context(context);
    let stream = gpu.context().new_stream().expect("a stream");
    Ok((gpu, stream))
}

/// What these calls ask for, as a graph.
fn capture(
    stream: &Arc<CudaStream>,
    calls: impl FnOnce() -> Result<(), Error>,
) -> Result<CudaGraph, Error> {
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    stream.begin_capture(mode).expect("capture");
    let result = calls();
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags);
    result?;
    Ok(graph.expect("captured").expect("a graph"))
}

/// Overwrites the part of the host's stack that calls have used.
#[inline(never)]
fn trample() -> u8 {
    let stack = std::hint::black_box([0xEEu8; 1 << 16]);
    stack[stack.len() / 2]
}

/// Both directions of a layout, and the decoding of a part if the device can.
fn replays(layout: Layout, bound: Bound) -> Result<(), Error> {
    let context = format!("{} {} {bound:?}", layout.codec, layout.shape);
    let (gpu, stream) = gpu()?;
    gpu.prepare(layout, Dtype::F32)?;
    let elements = layout.extents.elements() as usize;
    let compressor = compressor(layout, bound, Device::Cpu)?;
    let room = compressor.max_compressed_len(elements as u64, Dtype::F32)? as usize;
    let mut input = stream.alloc_zeros::<f32>(elements).expect("memory");
    let mut bytes = stream.alloc_zeros::<u8>(room).expect("memory");
    let mut output = stream.alloc_zeros::<f32>(elements).expect("memory");
    let mut workspace = gpu.workspace_for(&stream, layout)?;
    let decompressor = Decompressor::new();
    let range = elements as u64 / 3..elements as u64 / 2;
    let part = Part::Elements(range.clone());
    let mut piece = stream
        .alloc_zeros::<f32>(((range.end - range.start) as usize).max(1))
        .expect("memory");
    let has_parts = layout.codec.tiles().is_none() && elements > 0;
    stream.synchronize().expect("memory is clear");
    let graph = capture(&stream, || {
        gpu.compress(&stream, &compressor, &input, &mut bytes, &mut workspace)?;
        gpu.decompress(
            &stream,
            &decompressor,
            layout,
            &bytes,
            &mut output,
            &mut workspace,
        )?;
        if has_parts {
            gpu.decompress_part(
                &stream,
                &decompressor,
                layout,
                &bytes,
                &part,
                &mut piece,
                &mut workspace,
            )?;
        }
        Ok(())
    })?;
    trample();
    for (kind, seed) in FIELDS {
        let field = make::<f32>(kind, elements, seed);
        stream.memcpy_htod(&field, &mut input).expect("copied");
        stream.memset_zeros(&mut bytes).expect("cleared");
        graph.launch().expect("launched");
        workspace.check(&stream)?;
        let expected = compressor.compress(&field)?;
        let found = stream.clone_dtoh(&bytes).expect("copied");
        assert!(found[..expected.len()] == expected, "{context}, {kind:?}");
        let decoded: Vec<f32> = Decompressor::new()
            .device(Device::Cpu)
            .decompress(&expected)?;
        let found = stream.clone_dtoh(&output).expect("copied");
        assert!(same_bits(&found, &decoded), "{context}, {kind:?}");
        if has_parts {
            let found = stream.clone_dtoh(&piece).expect("copied");
            let wanted = &decoded[range.start as usize..range.end as usize];
            assert!(same_bits(&found, wanted), "{context}, {kind:?}: part");
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_layout_can_be_captured_and_replayed() -> Result<(), Error> {
    let mut count = 0;
    for lengths in [&[50_001][..], &[131, 157], &[19, 21, 70]] {
        for layout in layouts(lengths).into_iter().chain(tile_layouts(lengths)) {
            for bound in [Bound::range(1e-3)?, Bound::abs(0.01)?] {
                replays(layout, bound)?;
                count += 1;
            }
        }
    }
    replays(line(Codec::PLAIN, 0), Bound::abs(0.01)?)?;
    replays(line(Codec::INTERP, 0), Bound::range(0.01)?)?;
    println!("{count} layouts and bounds, three fields each, and two empty fields");
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn streams_without_header_can_be_captured_and_replayed() -> Result<(), Error> {
    let dims = [3, 40, 52];
    let elements = dims.iter().product::<u64>() as usize;
    let (gpu, stream) = gpu()?;
    let mut input = stream.alloc_zeros::<f32>(elements).expect("memory");
    let mut output = stream.alloc_zeros::<f32>(elements).expect("memory");
    for mode in cuszp::Mode::ALL {
        for shape in Shape::ALL {
            let params = cuszp::Params::new(shape, mode, dims, 0.01f32);
            let room = gpu.max_bare_len(params)? as usize;
            let mut bytes = stream.alloc_zeros::<u8>(room).expect("memory");
            let mut workspace = gpu.workspace_for_bare(&stream, params)?;
            // The first calls load the kernels, which cannot be captured.
            gpu.compress_bare(&stream, params, &input, &mut bytes, &mut workspace)?;
            gpu.decompress_bare(&stream, params, &bytes, &mut output, &mut workspace)?;
            stream.synchronize().expect("done");
            let graph = capture(&stream, || {
                gpu.compress_bare(&stream, params, &input, &mut bytes, &mut workspace)?;
                gpu.decompress_bare(&stream, params, &bytes, &mut output, &mut workspace)
            })?;
            trample();
            for (kind, seed) in [(Kind::Smooth, 1), (Kind::Steps, 3)] {
                let field = make::<f32>(kind, elements, seed);
                stream.memcpy_htod(&field, &mut input).expect("copied");
                graph.launch().expect("launched");
                workspace.check(&stream)?;
                let expected = cuszp::compress_on(Device::Cpu, &params, &field)?;
                let found = stream.clone_dtoh(&bytes).expect("copied");
                assert!(
                    found[..expected.len()] == expected,
                    "{mode:?} {shape} {kind:?}"
                );
                let decoded = cuszp::decompress_on(Device::Cpu, &params, &expected)?;
                let found = stream.clone_dtoh(&output).expect("copied");
                assert!(same_bits(&found, &decoded), "{mode:?} {shape} {kind:?}");
            }
        }
    }
    let params = aatrox::Params {
        elements: elements as u64,
        error: 0.01f32,
    };
    let room = gpu.max_bare_len(params)? as usize;
    let mut bytes = stream.alloc_zeros::<u8>(room).expect("memory");
    let mut workspace = gpu.workspace_for_bare(&stream, params)?;
    gpu.compress_bare(&stream, params, &input, &mut bytes, &mut workspace)?;
    stream.synchronize().expect("done");
    let graph = capture(&stream, || {
        gpu.compress_bare(&stream, params, &input, &mut bytes, &mut workspace)
    })?;
    trample();
    let field = make::<f32>(Kind::Smooth, elements, 9);
    stream.memcpy_htod(&field, &mut input).expect("copied");
    graph.launch().expect("launched");
    workspace.stream_bytes(&stream)?;
    let expected = aatrox::compress_on(Device::Cpu, &params, &field)?;
    let found = stream.clone_dtoh(&bytes).expect("copied");
    assert!(found[..expected.len()] == expected);
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_interpolation_predictor_alone_can_be_captured_and_replayed() -> Result<(), Error> {
    let (gpu, stream) = gpu()?;
    let elements = 60 * 70 * 80;
    // An absolute bound and one relative to the range: what the tuning must know of the range is found in two ways.
    for bound in [Bound::range(1e-3)?, Bound::abs(0.05)?] {
        let interpolator = Interpolator::new(bound)
            .extents(&[60, 70, 80])?
            .order(CodeOrder::Level)
            .device(Device::Cpu);
        let anchors = interpolator.anchors_for(elements as u64)? as usize;
        let mut input = stream.alloc_zeros::<f32>(elements).expect("memory");
        let mut output = stream.alloc_zeros::<f32>(elements).expect("memory");
        let mut parts = DeviceParts {
            codes: stream.alloc_zeros::<u16>(elements).expect("memory"),
            anchors: stream.alloc_zeros::<f32>(anchors).expect("memory"),
            outlier_values: stream.alloc_zeros::<f32>(elements).expect("memory"),
            outlier_indices: stream.alloc_zeros::<u32>(elements).expect("memory"),
        };
        let mut workspace = gpu.parts_workspace(&stream, &interpolator, elements as u64)?;
        let field = make::<f32>(Kind::Smooth, elements, 1);
        stream.memcpy_htod(&field, &mut input).expect("copied");
        gpu.decompose(&stream, &interpolator, &input, &mut parts, &mut workspace)?;
        let count = workspace.outliers()?;
        let recipe = workspace.recipe::<f32>()?;
        gpu.compose(&stream, &recipe, &parts, count, &mut output, &mut workspace)?;
        workspace.check()?;
        let decompose = capture(&stream, || {
            gpu.decompose(&stream, &interpolator, &input, &mut parts, &mut workspace)
        })?;
        trample();
        for (kind, seed) in FIELDS {
            let field = make::<f32>(kind, elements, seed);
            stream.memcpy_htod(&field, &mut input).expect("copied");
            decompose.launch().expect("launched");
            let wanted: Decomposition<f32, u16> = interpolator.decompose(&field)?;
            assert_eq!(
                workspace.recipe::<f32>()?,
                wanted.recipe,
                "{kind:?} {bound:?}"
            );
            let codes = stream.clone_dtoh(&parts.codes).expect("copied");
            assert!(codes == wanted.codes, "{kind:?} {bound:?}");
            // The recipe is one of the parameters, so a composition is captured for each.
            let count = workspace.outliers()?;
            let compose = capture(&stream, || {
                gpu.compose(
                    &stream,
                    &wanted.recipe,
                    &parts,
                    count,
                    &mut output,
                    &mut workspace,
                )
            })?;
            trample();
            stream.memset_zeros(&mut output).expect("cleared");
            compose.launch().expect("launched");
            workspace.check()?;
            let decoded = stream.clone_dtoh(&output).expect("copied");
            assert!(same_bits(&decoded, &wanted.compose_on(Device::Cpu)?));
        }
    }
    Ok(())
}
