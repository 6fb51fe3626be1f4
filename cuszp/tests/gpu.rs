//! The GPU against the CPU: the same bytes, in both directions. Ignored where there may be no GPU;
//! `docs/testing.md` says how to run this file on one, also on a machine without Rust.

use crate::common::bare::{AATROX, CUSZP, aatrox_fault, cuszp_fault};
use crate::common::fields::{Kind, make, make_long};
use crate::common::graph::{self, capture, trample};
use crate::common::vectors;
use ferrosz_cuszp::cuda::Gpu;
use ferrosz_cuszp::cuszp::{self, Mode, Params};
use ferrosz_cuszp::{Bare, Device, Error, Shape, aatrox};

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    bytemuck::cast_slice::<f32, u8>(a) == bytemuck::cast_slice::<f32, u8>(b)
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn all_vectors_of_streams_without_header_agree() {
    let (cuszp, aatrox) = (vectors::parse(CUSZP), vectors::parse(AATROX));
    for case in &cuszp {
        assert_eq!(cuszp_fault(case, Device::Cuda(0)), None, "{case:?}");
    }
    for case in &aatrox {
        assert_eq!(aatrox_fault(case, Device::Cuda(0)), None, "{case:?}");
    }
    println!(
        "{} of cuSZp, {} of AATROX, no difference",
        cuszp.len(),
        aatrox.len()
    );
}

/// Streams of many tiles, from device memory to device memory.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn large_streams_without_header() -> Result<(), Error> {
    let gpu = Gpu::new(0)?;
    let stream = graph::new_stream(&gpu);
    let field = make_long::<f32>(Kind::Smooth, 128 * 300 * 333, 3);
    let input = stream.clone_htod(&field).expect("copied");
    let mut output = stream
        .clone_htod(&vec![f32::NAN; field.len()])
        .expect("copied");
    let mut check = |bare: Bare<f32>, expected: Vec<u8>, decoded: Vec<f32>| -> Result<(), Error> {
        let room = bare.max_len()? as usize;
        let mut bytes = stream.clone_htod(&vec![0xA5u8; room]).expect("copied");
        let mut workspace = bare.workspace(&stream)?;
        bare.compress(&gpu, &stream, &input, &mut bytes, &mut workspace)?;
        assert_eq!(workspace.stream_bytes(&stream)?, expected.len() as u64);
        let made = stream.clone_dtoh(&bytes).expect("copied");
        assert!(made[..expected.len()] == expected, "{bare:?}");
        assert!(made[expected.len()..].iter().all(|byte| *byte == 0xA5));
        bare.decompress(&gpu, &stream, &bytes, &mut output, &mut workspace)?;
        workspace.check(&stream)?;
        let found = stream.clone_dtoh(&output).expect("copied");
        assert!(same_bits(&found, &decoded), "{bare:?}");
        Ok(())
    };
    for shape in Shape::ALL {
        for mode in Mode::ALL {
            let params = Params::new(shape, mode, [128, 300, 333], 0.01f32);
            let expected = cuszp::compress(&params, &field)?;
            let decoded = cuszp::decompress(&params, &expected)?;
            check(params.into(), expected, decoded)?;
        }
    }
    let params = aatrox::Params {
        elements: field.len() as u64,
        error: 0.01f32,
    };
    let expected = aatrox::compress(&params, &field)?;
    let decoded = aatrox::decompress(&params, &expected)?;
    check(params.into(), expected, decoded)
}

/// Some blocks and layers, from device memory to device memory.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn units_of_streams_without_header() -> Result<(), Error> {
    let gpu = Gpu::new(0)?;
    let stream = graph::new_stream(&gpu);
    let field = make_long::<f32>(Kind::Smooth, 60 * 100 * 132, 3);
    let elements = field.len() as u64;
    let mut kinds: Vec<Bare<f32>> = Vec::new();
    for shape in Shape::ALL {
        for mode in Mode::ALL {
            kinds.push(Params::new(shape, mode, [60, 100, 132], 0.01).into());
        }
    }
    let error = 0.01;
    kinds.push(aatrox::Params { elements, error }.into());
    for bare in kinds {
        let made = bare.compress_on(Device::Cpu, &field)?;
        let bytes = stream.clone_htod(&made).expect("copied");
        let mut workspace = bare.workspace(&stream)?;
        for units in [0..1, 3..4, 5..5, 2..20] {
            let expected = bare.read_units_on(Device::Cpu, &made, units.clone())?;
            let mut output = stream
                .clone_htod(&vec![f32::NAN; expected.len().max(1)])
                .expect("copied");
            bare.read_units(
                &gpu,
                &stream,
                &bytes,
                units.clone(),
                &mut output,
                &mut workspace,
            )?;
            workspace.check(&stream)?;
            let found = stream.clone_dtoh(&output).expect("copied");
            assert!(
                same_bits(&found[..expected.len()], &expected),
                "{bare:?} {units:?}"
            );
            if expected.is_empty() {
                continue;
            }
            // Negated values fit, others hardly ever.
            let negated: Vec<f32> = expected.iter().map(|value| -value).collect();
            let longer: Vec<f32> = expected.iter().map(|value| 1e3 * value + 7.0).collect();
            for values in [negated, longer] {
                let mut on_host = made.clone();
                let fits = bare.replace_units_on(Device::Cpu, &mut on_host, units.clone(), &values);
                let mut memory = stream.clone_htod(&made).expect("copied");
                let given = stream.clone_htod(&values).expect("copied");
                bare.replace_units(
                    &gpu,
                    &stream,
                    &mut memory,
                    units.clone(),
                    &given,
                    &mut workspace,
                )?;
                assert_eq!(workspace.check(&stream).is_ok(), fits.is_ok(), "{bare:?}");
                let found = stream.clone_dtoh(&memory).expect("copied");
                assert!(found == on_host, "{bare:?} {units:?} {fits:?}");
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn streams_without_header_can_be_captured_and_replayed() -> Result<(), Error> {
    let dims = [3, 40, 52];
    let elements = dims.iter().product::<u64>() as usize;
    let (gpu, stream) = graph::gpu()?;
    let mut input = stream.alloc_zeros::<f32>(elements).expect("memory");
    let mut output = stream.alloc_zeros::<f32>(elements).expect("memory");
    for mode in Mode::ALL {
        for shape in Shape::ALL {
            let params = Params::new(shape, mode, dims, 0.01f32);
            let bare = Bare::from(params);
            let room = bare.max_len()? as usize;
            let mut bytes = stream.alloc_zeros::<u8>(room).expect("memory");
            let mut workspace = bare.workspace(&stream)?;
            // The first calls load the kernels, which cannot be captured.
            bare.compress(&gpu, &stream, &input, &mut bytes, &mut workspace)?;
            bare.decompress(&gpu, &stream, &bytes, &mut output, &mut workspace)?;
            stream.synchronize().expect("done");
            let graph = capture(&stream, || {
                bare.compress(&gpu, &stream, &input, &mut bytes, &mut workspace)?;
                bare.decompress(&gpu, &stream, &bytes, &mut output, &mut workspace)
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
    let bare = Bare::from(params);
    let room = bare.max_len()? as usize;
    let mut bytes = stream.alloc_zeros::<u8>(room).expect("memory");
    let mut workspace = bare.workspace(&stream)?;
    bare.compress(&gpu, &stream, &input, &mut bytes, &mut workspace)?;
    stream.synchronize().expect("done");
    let graph = capture(&stream, || {
        bare.compress(&gpu, &stream, &input, &mut bytes, &mut workspace)
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
