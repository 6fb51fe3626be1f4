//! Masks and orders of axes in device memory: the streams and values of the CPU, also from a captured graph.

use super::same_bits;
use crate::common::fields::{FromBits, Kind, make};
use crate::common::graph::{capture, gpu, trample};
use crate::common::{compressor_with_axes, layouts, tile_layouts};
use ferrosz::cuda::Workspace;
use ferrosz::cuda::cudarc::driver::DeviceRepr;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{
    Axes, Bound, Codec, Compressor, Decompressor, Device, Element, Error, Fill, Part, Preset, Shape,
};

/// A field of which a ball, or every fifth element, has fill values.
fn masked<T: FromBits>(extents: &[u64], is_random: bool, fills: &[u64], seed: u64) -> Vec<T> {
    let elements = extents.iter().product::<u64>() as usize;
    let mut field = make::<T>(Kind::Smooth, elements, seed);
    for (i, value) in field.iter_mut().enumerate() {
        let mut rest = i as u64;
        let mut distance = 0.0;
        for extent in extents.iter().rev() {
            let at = (rest % extent) as f64 / *extent as f64 - 0.5;
            distance += at * at;
            rest /= extent;
        }
        let is_missing = match is_random {
            true => (i as u64 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 == 0,
            false => distance < 0.1,
        };
        if is_missing && !fills.is_empty() {
            *value = T::from_bits64(fills[i / 7 % fills.len()]);
        }
    }
    field
}

/// Both directions of a compressor's streams, each in a graph that is launched on two fields.
fn replays<T: FromBits + DeviceRepr>(
    layout: Layout,
    axes: Option<Axes>,
    extents: &[u64],
    bound: Bound,
    fills: &[u64],
) -> Result<(), Error> {
    let context = format!(
        "{} {} {axes:?} {bound:?} {fills:?}",
        layout.codec, layout.shape
    );
    let (gpu, stream) = gpu()?;
    let mut compressor = compressor_with_axes(layout, axes, bound, Device::Cpu)?;
    for fill in fills {
        compressor = compressor.fill(Fill::Bits(*fill))?;
    }
    let elements = extents.iter().product::<u64>();
    let of_stream = compressor.stream_layout(elements, T::DTYPE)?;
    gpu.prepare(of_stream, T::DTYPE)?;
    let room = compressor.max_compressed_len(elements, T::DTYPE)? as usize;
    let mut input = stream
        .clone_htod(&vec![T::ZERO; elements as usize])
        .expect("memory");
    let mut bytes = stream.alloc_zeros::<u8>(room).expect("memory");
    let mut output = stream
        .clone_htod(&vec![T::ZERO; elements as usize])
        .expect("memory");
    let mut workspace = gpu.workspace_for(&stream, of_stream)?;
    stream.synchronize().expect("memory is clear");
    let compression = capture(&stream, || {
        gpu.compress(&stream, &compressor, &input, &mut bytes, &mut workspace)
    })?;
    let decompression = capture(&stream, || {
        gpu.decompress(
            &stream,
            &Decompressor::new(),
            of_stream,
            &bytes,
            &mut output,
            &mut workspace,
        )
    })?;
    trample();
    for (is_random, seed) in [(false, 1), (true, 2)] {
        let field = masked::<T>(extents, is_random, fills, seed);
        stream.memcpy_htod(&field, &mut input).expect("copied");
        stream.memset_zeros(&mut bytes).expect("cleared");
        compression.launch().expect("launched");
        let expected = compressor.compress(&field)?;
        let found = stream.clone_dtoh(&bytes).expect("copied");
        assert!(
            found[..expected.len()] == expected,
            "{context}: {is_random}"
        );
        decompression.launch().expect("launched");
        workspace.check(&stream)?;
        // The length outlives the decompression.
        let length = workspace.stream_bytes(&stream)?;
        assert_eq!(length, expected.len() as u64, "{context}");
        let decoded: Vec<T> = Decompressor::new()
            .device(Device::Cpu)
            .decompress(&expected)?;
        let found = stream.clone_dtoh(&output).expect("copied");
        assert!(same_bits(&found, &decoded), "{context}: {is_random}");
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn masks_in_device_memory_are_those_of_the_cpu() -> Result<(), Error> {
    let mut count = 0;
    for extents in [
        &[50_001u64][..],
        &[131, 157],
        &[70, 61, 90],
        &[3, 2, 33, 40, 35],
    ] {
        for layout in layouts(extents).into_iter().chain(tile_layouts(extents)) {
            let bound = [Bound::range(1e-3)?, Bound::abs(0.01)?][count % 2];
            let single = [1e20f32, f32::NAN, -9999.0].map(|fill| u64::from(fill.to_bits()));
            replays::<f32>(layout, None, extents, bound, &single[..1 + count % 3])?;
            let double = [1e20f64, f64::NAN, -9999.0].map(f64::to_bits);
            replays::<f64>(layout, None, extents, bound, &double[..1 + count % 3])?;
            count += 1;
        }
    }
    println!("{count} layouts, two types, two fields each");
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn orders_in_device_memory_are_those_of_the_cpu() -> Result<(), Error> {
    let fills = [u64::from(f32::NAN.to_bits())];
    for (extents, axes) in [
        (&[60u64, 400][..], "x,y"),
        (&[6, 50, 40, 30], "z,s,y,x"),
        (&[13, 14, 15, 16, 7], "x,s,z,z,y"),
    ] {
        let axes: Axes = axes.parse()?;
        let of_user = Extents::new(extents).expect("good extents");
        let coded = axes.coded_extents(&of_user).expect("as many axes");
        for codec in [
            Codec::PLAIN,
            Codec::LORENZO,
            Codec::LORENZO_RANS,
            Codec::INTERP,
        ] {
            for shape in Shape::ALL {
                let layout = Layout::new(codec, shape, coded);
                let bound = Bound::range(1e-3)?;
                replays::<f32>(layout, Some(axes), extents, bound, &[])?;
                replays::<f32>(layout, Some(axes), extents, bound, &fills)?;
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn parts_of_mapped_fields_in_device_memory_are_those_of_the_cpu() -> Result<(), Error> {
    let extents = [40u64, 50, 60];
    let (gpu, stream) = gpu()?;
    let fills = [u64::from(1e20f32.to_bits())];
    let field = masked::<f32>(&extents, false, &fills, 3);
    for axes in ["z,y,x", "y,x,z"] {
        for codec in Codec::BLOCKS
            .into_iter()
            .filter(|codec| codec.takes(Shape::Cube))
        {
            let compressor = Compressor::new(codec, Bound::range(1e-3)?)
                .device(Device::Cpu)
                .extents(&extents)?
                .axes(axes.parse()?)
                .fill(1e20)?;
            let of_stream = compressor.stream_layout(field.len() as u64, f32::DTYPE)?;
            let bytes = compressor.compress(&field)?;
            let on_device = stream.clone_htod(&bytes).expect("memory");
            let mut workspace: Workspace = gpu.workspace_for(&stream, of_stream)?;
            for part in [
                Part::Box(vec![7..30, 11..12, 0..60]),
                Part::Box(vec![0..40, 3..45, 25..47]),
            ] {
                let decompressor = Decompressor::new();
                let wanted = decompressor.decompress_part::<f32>(&bytes, &part)?;
                let mut output = stream.alloc_zeros::<f32>(wanted.len()).expect("memory");
                gpu.decompress_part(
                    &stream,
                    &decompressor,
                    of_stream,
                    &on_device,
                    &part,
                    &mut output,
                    &mut workspace,
                )?;
                workspace.check(&stream)?;
                let found = stream.clone_dtoh(&output).expect("copied");
                assert!(same_bits(&found, &wanted), "{codec} {axes} {part:?}");
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_choice_is_that_of_the_cpu() -> Result<(), Error> {
    let extents = [64u64, 80, 96];
    let (gpu, stream) = gpu()?;
    let field = masked::<f32>(&extents, false, &[u64::from(1e20f32.to_bits())], 3);
    let input = stream.clone_htod(&field).expect("memory");
    let mut workspace = gpu.workspace(&stream, field.len() as u64)?;
    for axes in ["z,y,x", "x,z,y"] {
        for preset in [Preset::Fast, Preset::Small] {
            let compressor = Compressor::new(preset, Bound::range(1e-3)?)
                .extents(&extents)?
                .axes(axes.parse()?)
                .fill(1e20)?;
            let found = gpu.choose::<f32>(&stream, &compressor, &input, &mut workspace)?;
            let wanted = compressor.choose(&field)?;
            let layout = |compressor: &Compressor| compressor.layout_for(field.len() as u64);
            assert_eq!(
                layout(found.compressor())?,
                layout(&wanted)?,
                "{preset:?} {axes}"
            );
        }
    }
    Ok(())
}
