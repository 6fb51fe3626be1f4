//! Updates of streams in device memory.

use crate::common::graph::gpu;
use crate::common::{compressor_with_axes, layouts};
use ferrosz::stream::{Layout, StreamLayout, Update, compact};
use ferrosz::{Bound, Decompressor, Device, Error, Part};

/// Replaces two ranges of a field on the device. The streams are those of the host, also without the chunks that were
/// replaced, and the device decodes the latter.
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
    let expected = compact(&expected)?;
    assert!(found[..length] == expected, "{}", layout.codec);

    let of_stream = gpu.layout_of(&stream, &compacted)?;
    assert_eq!(of_stream, StreamLayout::of_start(&expected)?);
    let mut workspace = gpu.workspace_for(&stream, of_stream)?;
    let nans = vec![f32::NAN; elements as usize];
    let mut output = stream.clone_htod(&nans).expect("memory");
    let decompressor = Decompressor::new();
    gpu.decompress(
        &stream,
        &decompressor,
        of_stream,
        &compacted,
        &mut output,
        &mut workspace,
    )?;
    workspace.check(&stream)?;
    let on_host: Vec<f32> = decompressor.device(Device::Cpu).decompress(&expected)?;
    let decoded = stream.clone_dtoh(&output).expect("copied");
    assert!(decoded == on_host, "{}", layout.codec);
    Ok(())
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
