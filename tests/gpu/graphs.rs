//! Calls captured in a graph, and the graph launched again on new data: what a call has left on the host's stack would be
//! gone by then.

use super::{line, same_bits};
use crate::common::fields::make;
use crate::common::graph::{FIELDS, capture, gpu, trample};
use crate::common::{compressor, layouts, tile_layouts};
use ferrosz::stream::Layout;
use ferrosz::{Bound, Codec, Decompressor, Device, Dtype, Error, Part};

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
    let decompressor = Decompressor::new();
    let range = elements as u64 / 3..elements as u64 / 2;
    let part = Part::Elements(range.clone());
    let mut workspace = gpu.workspace_for_part(&stream, layout, &part)?;
    let mut piece = stream
        .alloc_zeros::<f32>(((range.end - range.start) as usize).max(1))
        .expect("memory");
    let has_parts = elements > 0;
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
        Ok::<(), Error>(())
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
