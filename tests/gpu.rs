//! The GPU against the CPU: the same bytes, in both directions. Ignored where there may be no GPU;
//! `docs/testing.md` says how to run this file on one, also on a machine without Rust.

#![cfg(feature = "cuda")]

mod common;
#[path = "gpu/graphs.rs"]
mod graphs;

use common::bare::{AATROX, CUSZP, aatrox_fault, cuszp_fault};
use common::fields::{FromBits, Kind, make, make_long};
use common::machine::Machine;
use common::{damage, layouts, matrix, parts, vectors};
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream};
use ferrosz::cuda::{Gpu, Workspace};
use ferrosz::stages::{Code, CodeOrder, Decomposition, DeviceParts, Interpolator, Preset, Tuning};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, Extents, Layout, Part, Shape,
};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use std::ops::Range;
use std::sync::Arc;

fn same_bits<T: FromBits>(a: &[T], b: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(a) == bytemuck::cast_slice::<T, u8>(b)
}

/// The first GPU, and a stream of its own.
fn first_gpu() -> Result<(Gpu, Arc<CudaStream>), Error> {
    let gpu = Gpu::new(0)?;
    let stream = gpu.context().new_stream().expect("a stream");
    Ok((gpu, stream))
}

fn line(codec: Codec, length: usize) -> Layout {
    Layout::new(codec, Shape::Line, Extents::line(length as u64))
}

/// What the matrix compares, of a field that is too large for it; the bytes of the stream.
fn check<T: FromBits>(layout: Layout, bound: Bound, field: &[T], context: &str) -> usize {
    matrix::check(&[Machine::Gpu], layout, bound, field, context).len()
}

/// The matrix of `tests/matrix.rs` on the GPU, and as many random cases as FERROSZ_GPU_CASES says.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_makes_and_reads_the_same() {
    assert!(Machine::Gpu.is_here(), "there is no GPU");
    let rows = matrix::run(&[Machine::Gpu]);
    matrix::report(&rows, &[Machine::Gpu]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_damage_is_found() {
    damage::is_found_by_all(&[Machine::Gpu]);
    damage::in_the_entry_of_a_prologue_is_found_by_all(&[Machine::Gpu]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn large_fields() {
    let bound = Bound::range(1e-3).expect("a good bound");
    for (shift, extra) in [(20, 1), (22, -1), (24, 5), (26, 8191), (28, 0)] {
        let length = ((1i64 << shift) + extra) as usize;
        let (kind, codec) = match shift {
            20 => (Kind::Bits, Codec::OUTLIER),
            22 => (Kind::NotFinite, Codec::FIXED),
            24 => (Kind::Sparse, Codec::OUTLIER),
            _ => (Kind::Smooth, Codec::PLAIN),
        };
        let bytes = check(
            line(codec, length),
            bound,
            &make_long::<f32>(kind, length, 1),
            "large f32",
        );
        println!("f32, {codec}, {length} elements: {bytes} bytes, no difference");
        if shift <= 26 {
            let bytes = check(
                line(codec, length),
                bound,
                &make_long::<f64>(kind, length, 2),
                "large f64",
            );
            println!("f64, {codec}, {length} elements: {bytes} bytes, no difference");
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn large_planes_and_cubes() {
    let bound = Bound::range(1e-3).expect("a good bound");
    for lengths in [
        &[1500, 4099][..],
        &[2048, 4096],
        &[100, 333, 101],
        &[128, 256, 256],
    ] {
        let field = make_long::<f32>(Kind::Smooth, lengths.iter().product::<u64>() as usize, 3);
        for layout in layouts(lengths) {
            let bytes = check(layout, bound, &field, &format!("{lengths:?}"));
            println!(
                "f32, {} {}, {lengths:?}: {bytes} bytes, no difference",
                layout.codec, layout.shape
            );
        }
    }
}

/// A stream in device memory, and what it decodes to.
struct OnDevice<'a> {
    gpu: &'a Gpu,
    stream: &'a Arc<CudaStream>,
    layout: Layout,
    bytes: CudaSlice<u8>,
    decoded: Vec<f64>,
}

impl<'a> OnDevice<'a> {
    /// Compresses a line, which must give the CPU's bytes and touch no others.
    fn compress(
        gpu: &'a Gpu,
        stream: &'a Arc<CudaStream>,
        workspace: &mut Workspace,
        compressor: &Compressor,
        field: &[f64],
    ) -> Result<Self, Error> {
        let length = field.len() as u64;
        let expected = compressor.device(Device::Cpu).compress(field)?;
        let input = stream.clone_htod(field).expect("copied");
        let room = ferrosz::max_compressed_len(length, Dtype::F64) as usize;
        let mut bytes = stream.clone_htod(&vec![0xA5u8; room]).expect("copied");
        gpu.compress(stream, compressor, &input, &mut bytes, workspace)?;
        assert_eq!(workspace.stream_bytes(stream)?, expected.len() as u64);
        let on_host = stream.clone_dtoh(&bytes).expect("copied");
        let (found, rest) = on_host.split_at(expected.len());
        assert!(found == expected);
        assert!(rest.iter().all(|byte| *byte == 0xA5), "written past it");
        let layout = compressor.layout_for(length)?;
        assert_eq!(gpu.header(stream, &bytes)?.codec, layout.codec);
        Ok(Self {
            gpu,
            stream,
            layout,
            bytes,
            decoded: Decompressor::new()
                .device(Device::Cpu)
                .decompress(&expected)?,
        })
    }

    fn poisoned(&self, with: f64) -> CudaSlice<f64> {
        let values = vec![with; self.decoded.len()];
        self.stream.clone_htod(&values).expect("copied")
    }

    /// Decompresses it as a stream of this layout; an error is one that the device has found.
    fn decompress(&self, layout: Layout, workspace: &mut Workspace) -> Result<Vec<f64>, Error> {
        let mut output = self.poisoned(f64::NAN);
        let decoder = Decompressor::new();
        let Self { gpu, stream, .. } = self;
        let call = gpu.decompress(
            stream,
            &decoder,
            layout,
            &self.bytes,
            &mut output,
            workspace,
        );
        call.expect("the host sees no error");
        workspace.check(stream)?;
        Ok(stream.clone_dtoh(&output).expect("copied"))
    }

    fn check_range(&self, range: Range<u64>, workspace: &mut Workspace) -> Result<(), Error> {
        let mut part = self.poisoned(7.5);
        let wanted = &self.decoded[range.start as usize..range.end as usize];
        let Self { gpu, stream, .. } = self;
        gpu.decompress_part(
            stream,
            &Decompressor::new(),
            self.layout,
            &self.bytes,
            &Part::Elements(range),
            &mut part,
            workspace,
        )?;
        workspace.check(stream)?;
        let part = stream.clone_dtoh(&part).expect("copied");
        let (found, rest) = part.split_at(wanted.len());
        assert!(same_bits(found, wanted));
        assert!(rest.iter().all(|x| *x == 7.5), "written past the range");
        Ok(())
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn device_memory() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    let length = 1_000_003;
    let mut workspace = gpu.workspace(&stream, length)?;
    for (kind, codec, other_codec) in [
        (Kind::Smooth, Codec::PLAIN, Codec::FIXED),
        (Kind::NotFinite, Codec::OUTLIER, Codec::PLAIN),
    ] {
        let field = make::<f64>(kind, length as usize, 9);
        let compressor = Compressor::new(codec, Bound::max(1e-4)?);
        let held = OnDevice::compress(&gpu, &stream, &mut workspace, &compressor, &field)?;
        let found = held.decompress(held.layout, &mut workspace)?;
        assert!(same_bits(&found, &held.decoded));
        for range in [0..1, 8191..8193, 77_777..500_001, 999_990..length] {
            held.check_range(range, &mut workspace)?;
        }
        // Another codec than the stream's, other extents: seen by the GPU.
        let other_extents = Extents::new(&[1, length]).expect("good extents");
        for wrong in [
            line(other_codec, length as usize),
            Layout::new(codec, Shape::Line, other_extents),
        ] {
            assert!(held.decompress(wrong, &mut workspace).is_err());
        }
        // The workspace serves again after an error.
        let found = held.decompress(held.layout, &mut workspace)?;
        assert!(same_bits(&found, &held.decoded));
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_sum_of_all_words_is_that_of_the_cpu() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    for length in [1, 3, 4095, 4096, 1_000_003, 1 << 24] {
        let field = make_long::<f32>(Kind::Bits, length, 5);
        let words = bytemuck::cast_slice::<f32, u32>(&field);
        let expected = words.iter().copied().fold(0, u32::wrapping_add);
        let input = stream.clone_htod(&field).expect("copied");
        let mut sum = stream.alloc_zeros::<u64>(1).expect("memory");
        gpu.read_all(&stream, &input, &mut sum)?;
        let found = stream.clone_dtoh(&sum).expect("copied");
        assert_eq!(found[0] as u32, expected, "{length} words");
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn bad_arguments() -> Result<(), Error> {
    let gpu = Gpu::new(0)?;
    let stream = gpu.context().default_stream();
    let field = stream.alloc_zeros::<f32>(100_000).expect("memory");
    let mut small = stream.alloc_zeros::<u8>(1000).expect("memory");
    let mut large = stream.alloc_zeros::<u8>(500_000).expect("memory");
    let mut workspace = gpu.workspace(&stream, 8192)?;
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?);
    let too_small = gpu.compress(&stream, &compressor, &field, &mut small, &mut workspace);
    assert!(matches!(too_small, Err(Error::OutputTooSmall { .. })));
    let too_small = gpu.compress(&stream, &compressor, &field, &mut large, &mut workspace);
    assert!(matches!(too_small, Err(Error::WorkspaceTooSmall { .. })));
    let other = gpu.context().new_stream().expect("a stream");
    let elsewhere = gpu.compress(&other, &compressor, &field, &mut large, &mut workspace);
    assert_eq!(elsewhere, Err(Error::WorkspaceStream));
    let part = field.slice(1..100);
    let misaligned = gpu.compress(&stream, &compressor, &part, &mut large, &mut workspace);
    assert!(matches!(
        misaligned,
        Err(Error::Misaligned {
            argument: "input",
            ..
        })
    ));
    assert!(matches!(Gpu::new(99), Err(Error::NoDevice { .. })));
    Ok(())
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
    use ferrosz::cuszp::{self, Mode, Params};
    use ferrosz::{Bare, aatrox};
    let (gpu, stream) = first_gpu()?;
    let field = make_long::<f32>(Kind::Smooth, 128 * 300 * 333, 3);
    let input = stream.clone_htod(&field).expect("copied");
    let mut output = stream
        .clone_htod(&vec![f32::NAN; field.len()])
        .expect("copied");
    let mut check = |bare: Bare<f32>, expected: Vec<u8>, decoded: Vec<f32>| -> Result<(), Error> {
        let room = gpu.max_bare_len(bare)? as usize;
        let mut bytes = stream.clone_htod(&vec![0xA5u8; room]).expect("copied");
        let mut workspace = gpu.workspace_for_bare(&stream, bare)?;
        gpu.compress_bare(&stream, bare, &input, &mut bytes, &mut workspace)?;
        assert_eq!(workspace.stream_bytes(&stream)?, expected.len() as u64);
        let made = stream.clone_dtoh(&bytes).expect("copied");
        assert!(made[..expected.len()] == expected, "{bare:?}");
        assert!(made[expected.len()..].iter().all(|byte| *byte == 0xA5));
        gpu.decompress_bare(&stream, bare, &bytes, &mut output, &mut workspace)?;
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

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_automatic_choice_is_that_of_the_cpu() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    let mut workspace = gpu.workspace(&stream, 0)?;
    for lengths in [&[3_000_000][..], &[1500, 1999], &[150, 160, 170]] {
        for kind in Kind::ALL {
            let length = lengths.iter().product::<u64>() as usize;
            let field = make::<f32>(kind, length, 21);
            let input = stream.clone_htod(&field).expect("copied");
            for bound in [Bound::range(1e-3)?, Bound::abs(0.01)?] {
                for preset in ferrosz::Preset::ALL {
                    let preset = Compressor::new(preset, bound).extents(lengths)?;
                    let chosen = gpu.choose(&stream, &preset, &input, &mut workspace)?;
                    assert_eq!(chosen, preset.choose(&field)?, "{kind:?} {lengths:?}");
                }
            }
        }
    }
    Ok(())
}

/// Takes a field apart on both, and puts it together on both.
fn check_parts<T: FromBits, C: Code>(interpolator: &Interpolator, field: &[T], context: &str) {
    let decompose = |device| -> Decomposition<T, C> {
        let parts = interpolator.device(device).decompose(field);
        parts.unwrap_or_else(|error| panic!("{context}: {error}"))
    };
    let on_gpu = decompose(Device::Cuda(0));
    let on_cpu = decompose(Device::Cpu);
    assert_eq!(on_gpu.recipe, on_cpu.recipe, "{context}");
    assert!(
        parts::all_bits(&on_gpu) == parts::all_bits(&on_cpu),
        "{context}"
    );
    let compose = |device| on_cpu.compose_on(device).expect(context);
    let (by_gpu, by_cpu) = (compose(Device::Cuda(0)), compose(Device::Cpu));
    assert!(same_bits(&by_gpu, &by_cpu), "{context}");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_interpolation_predictor_alone() {
    let mut rng = SmallRng::seed_from_u64(40);
    for number in 0..350 {
        let (interpolator, field, context) = parts::case::<f32>(&mut rng, number);
        check_parts::<f32, u8>(&interpolator, &field, &context);
        check_parts::<f32, u32>(&interpolator.radius(300), &field, &context);
        let (interpolator, field, context) = parts::case::<f64>(&mut rng, number);
        check_parts::<f64, u16>(&interpolator, &field, &context);
    }
    let bound = Bound::range(1e-4).expect("a good bound");
    for (kind, extents) in [
        (Kind::Smooth, &[250, 260, 270][..]),
        (Kind::NotFinite, &[3000, 5000]),
        (Kind::Offset, &[12_345_678]),
    ] {
        let elements = extents.iter().product::<u64>() as usize;
        let field = make_long::<f32>(kind, elements, 7);
        for order in CodeOrder::ALL {
            for preset in [Preset::Ratio, Preset::Quality] {
                let interpolator = Interpolator::new(bound)
                    .extents(extents)
                    .and_then(|interpolator| interpolator.tuning(Tuning::preset(preset)))
                    .expect("a good interpolator")
                    .order(order);
                let context = format!("{kind:?} {interpolator:?}");
                check_parts::<f32, u16>(&interpolator, &field, &context);
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn parts_in_device_memory() -> Result<(), Error> {
    let gpu = Gpu::new(0)?;
    let stream = gpu.context().default_stream();
    let extents = [60, 70, 80];
    let elements = 60 * 70 * 80;
    let to_error = |_| Error::OutOfMemory { bytes: 0 };
    let mut workspace = None;
    for (kind, room) in [
        (Kind::Smooth, elements),
        (Kind::Random, elements),
        (Kind::Random, 1),
    ] {
        let field = make::<f32>(kind, elements, 3);
        let interpolator = Interpolator::new(Bound::range(1e-3)?)
            .extents(&extents)?
            .order(CodeOrder::Level)
            .device(Device::Cpu);
        let wanted: Decomposition<f32, u8> = interpolator.decompose(&field)?;
        let input = stream.clone_htod(&field).map_err(to_error)?;
        let anchors = interpolator.anchors_for(elements as u64)? as usize;
        let mut on_device = DeviceParts {
            codes: stream.alloc_zeros::<u8>(elements).map_err(to_error)?,
            anchors: stream.alloc_zeros::<f32>(anchors).map_err(to_error)?,
            outlier_values: stream.alloc_zeros::<f32>(room).map_err(to_error)?,
            outlier_indices: stream.alloc_zeros::<u32>(room).map_err(to_error)?,
        };
        let workspace = match &mut workspace {
            Some(workspace) => workspace,
            none => none.insert(gpu.parts_workspace(&stream, &interpolator, elements as u64)?),
        };
        gpu.decompose(&stream, &interpolator, &input, &mut on_device, workspace)?;
        let count = match workspace.outliers() {
            Err(Error::OutputTooSmall { needed, .. }) if room == 1 => {
                assert_eq!(needed, wanted.outlier_values.len() as u64);
                continue;
            }
            count => count?,
        };
        let recipe = workspace.recipe::<f32>()?;
        assert_eq!(recipe, wanted.recipe);
        let codes = stream.clone_dtoh(&on_device.codes).map_err(to_error)?;
        assert!(codes == wanted.codes);
        let indices = stream
            .clone_dtoh(&on_device.outlier_indices)
            .map_err(to_error)?;
        assert!(indices[..count as usize] == wanted.outlier_indices);
        let mut output = stream.alloc_zeros::<f32>(elements).map_err(to_error)?;
        gpu.compose(&stream, &recipe, &on_device, count, &mut output, workspace)?;
        workspace.check()?;
        let decoded = stream.clone_dtoh(&output).map_err(to_error)?;
        assert!(same_bits(&decoded, &wanted.compose_on(Device::Cpu)?));
        if count > 0 {
            gpu.compose(
                &stream,
                &recipe,
                &on_device,
                count - 1,
                &mut output,
                workspace,
            )?;
            assert!(matches!(workspace.check(), Err(Error::BadDecomposition(_))));
        }
    }
    Ok(())
}
