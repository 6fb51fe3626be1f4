//! Updates of streams in device memory, and the decoding of such streams.

use crate::common::graph::gpu;
use crate::common::{compressor_with_axes, layouts};
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream};
use ferrosz::stream::{Layout, StreamLayout, Update, compact};
use ferrosz::{Bound, Decompressor, Device, Error, Part};
use std::sync::Arc;

/// Replaces two ranges of a field on the device. The streams are those of the host, also without the chunks that were
/// replaced, and the device decodes both as the host does.
fn check(layout: Layout) -> Result<(), Error> {
    let (gpu, stream) = gpu()?;
    let elements = layout.extents.elements();
    let field: Vec<f32> = (0..elements).map(|i| (i as f32 * 0.01).sin()).collect();
    let compressor = compressor_with_axes(layout, None, Bound::range(1e-3)?, Device::Cpu)?;
    let mut expected = compressor.compress(&field)?;
    let room = 2 * expected.len() + 16 * elements as usize + 4096;
    let mut poisoned = vec![0xA5u8; room];
    let mut compacted = stream.clone_htod(&poisoned).expect("memory");
    poisoned[..expected.len()].copy_from_slice(&expected);
    let mut memory = stream.clone_htod(&poisoned).expect("memory");
    for from in [0, elements / 2] {
        let part = Part::Elements(from..elements.min(from + 9000));
        let count: u64 = part.extents().iter().product();
        let values: Vec<f32> = (0..count).map(|i| (i as f32).sqrt()).collect();
        Update::new(&expected, &part, &values)?.apply(&mut expected);
        let length = gpu.update(&stream, &mut memory, &part, &values)? as usize;
        let found = stream.clone_dtoh(&memory).expect("copied");
        assert!(found[..length] == expected, "{} {part:?}", layout.codec);
    }
    let length = gpu.compact(&stream, &memory, &mut compacted)? as usize;
    let found = stream.clone_dtoh(&compacted).expect("copied");
    assert!(found[..length] == compact(&expected)?, "{}", layout.codec);

    for (memory, bytes) in [(&memory, &expected), (&compacted, &compact(&expected)?)] {
        let part = Part::Elements(elements / 3..elements);
        for part in [Part::Elements(0..elements), part] {
            let on_host: Vec<f32> = Decompressor::new()
                .device(Device::Cpu)
                .decompress_part(bytes, &part)?;
            let of_stream = gpu.layout_of(&stream, memory)?;
            assert_eq!(of_stream, StreamLayout::of_start(bytes)?);
            let decoded = decode(&gpu, &stream, memory, of_stream, &part)?;
            assert!(decoded == on_host, "{} {part:?}", layout.codec);
        }
    }
    Ok(())
}

/// Decodes a part of the field of a stream on the device.
fn decode(
    gpu: &Gpu,
    stream: &Arc<CudaStream>,
    memory: &CudaSlice<u8>,
    layout: StreamLayout,
    part: &Part,
) -> Result<Vec<f32>, Error> {
    let mut workspace = gpu.workspace_for(stream, layout)?;
    let count: u64 = part.extents().iter().product();
    let nans = vec![f32::NAN; count as usize];
    let mut output = stream.clone_htod(&nans).expect("memory");
    gpu.decompress_part(
        stream,
        &Decompressor::new(),
        layout,
        memory,
        part,
        &mut output,
        &mut workspace,
    )?;
    workspace.check(stream)?;
    Ok(stream.clone_dtoh(&output).expect("copied"))
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn updates_in_device_memory_are_those_of_the_host() {
    for extents in [&[70_001][..], &[150, 333], &[50, 41, 83]] {
        for layout in layouts(extents) {
            check(layout).unwrap_or_else(|error| panic!("{layout:?}: {error}"));
        }
    }
}
