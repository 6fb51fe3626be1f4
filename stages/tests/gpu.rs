//! The GPU against the CPU: the same parts and fields. Ignored where there may be no GPU; `docs/testing.md` says how to
//! run this file on one, also on a machine without Rust.

use crate::common::fields::{FromBits, Kind, make, make_long};
use crate::common::graph::{self, FIELDS, capture, trample};
use crate::common::parts;
use ferrosz_stages::cuda::{DeviceParts, Gpu, PartsWorkspace};
use ferrosz_stages::stage::own_stages;
use ferrosz_stages::{
    Bound, Code, CodeOrder, CodeWidth, Decomposition, Device, Error, Interpolator, Pipeline,
    Preference, Tuning,
};
use rand::SeedableRng;
use rand::rngs::SmallRng;

fn same_bits<T: FromBits>(a: &[T], b: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(a) == bytemuck::cast_slice::<T, u8>(b)
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
            for preference in [Preference::Ratio, Preference::Quality] {
                let interpolator = Interpolator::new(bound)
                    .extents(extents)
                    .and_then(|interpolator| interpolator.tuning(Tuning::preferring(preference)))
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
fn parts_in_device_memory() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new(0)?;
    let stream = gpu.context().default_stream();
    let extents = [60, 70, 80];
    let elements = 60 * 70 * 80;
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
        let input = stream.clone_htod(&field)?;
        let anchors = interpolator.anchors_for(elements as u64)? as usize;
        let mut on_device = DeviceParts {
            codes: stream.alloc_zeros::<u8>(elements)?,
            anchors: stream.alloc_zeros::<f32>(anchors)?,
            outlier_values: stream.alloc_zeros::<f32>(room)?,
            outlier_indices: stream.alloc_zeros::<u32>(room)?,
        };
        let workspace = match &mut workspace {
            Some(workspace) => workspace,
            none => none.insert(PartsWorkspace::new(
                &gpu,
                &stream,
                &interpolator,
                elements as u64,
            )?),
        };
        workspace.decompose(&interpolator, &input, &mut on_device)?;
        let count = match workspace.outliers() {
            Err(Error::Ferrosz(ferrosz::Error::OutputTooSmall { needed, .. })) if room == 1 => {
                assert_eq!(needed, wanted.outlier_values.len() as u64);
                continue;
            }
            count => count?,
        };
        let recipe = workspace.recipe::<f32>()?;
        assert_eq!(recipe, wanted.recipe);
        let codes = stream.clone_dtoh(&on_device.codes)?;
        assert!(codes == wanted.codes);
        let indices = stream.clone_dtoh(&on_device.outlier_indices)?;
        assert!(indices[..count as usize] == wanted.outlier_indices);
        let mut output = stream.alloc_zeros::<f32>(elements)?;
        workspace.compose(&recipe, &on_device, count, &mut output)?;
        workspace.check()?;
        let decoded = stream.clone_dtoh(&output)?;
        assert!(same_bits(&decoded, &wanted.compose_on(Device::Cpu)?));
        if count > 0 {
            workspace.compose(&recipe, &on_device, count - 1, &mut output)?;
            assert!(matches!(workspace.check(), Err(Error::BadDecomposition(_))));
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn pipelines_in_device_memory() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new(0)?;
    let stream = gpu.context().new_stream()?;
    let extents = [60, 70, 80];
    for (number, kind) in [Kind::Smooth, Kind::NotFinite, Kind::Random, Kind::Sparse]
        .into_iter()
        .enumerate()
    {
        let field = make::<f32>(kind, 60 * 70 * 80, 3);
        let input = stream.clone_htod(&field)?;
        for order in CodeOrder::ALL {
            let interpolator = Interpolator::new(Bound::range(1e-3)?)
                .extents(&extents)?
                .order(order)
                .device(Device::Cpu);
            for stage in own_stages() {
                let pipeline = Pipeline::of(interpolator, stage.clone())
                    .width(CodeWidth::ALL[number % CodeWidth::ALL.len()]);
                let wanted = pipeline.compress(&field)?;
                let bytes = pipeline.compress_device(&gpu, &stream, &input)?;
                assert!(bytes == wanted, "{} {kind:?} {order:?}", stage.name());
                let mut output = stream.alloc_zeros::<f32>(field.len())?;
                pipeline.decompress_device(&gpu, &stream, &bytes, &mut output)?;
                let decoded = stream.clone_dtoh(&output)?;
                assert!(same_bits(&decoded, &pipeline.decompress::<f32>(&wanted)?));
                let mut short = stream.alloc_zeros::<f32>(9)?;
                let refused = pipeline.decompress_device(&gpu, &stream, &bytes, &mut short);
                assert!(refused.is_err());
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_interpolation_predictor_alone_can_be_captured_and_replayed()
-> Result<(), Box<dyn std::error::Error>> {
    let (gpu, stream) = graph::gpu()?;
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
        let mut workspace = PartsWorkspace::new(&gpu, &stream, &interpolator, elements as u64)?;
        let field = make::<f32>(Kind::Smooth, elements, 1);
        stream.memcpy_htod(&field, &mut input).expect("copied");
        workspace.decompose(&interpolator, &input, &mut parts)?;
        let count = workspace.outliers()?;
        let recipe = workspace.recipe::<f32>()?;
        workspace.compose(&recipe, &parts, count, &mut output)?;
        workspace.check()?;
        let decompose = capture(&stream, || {
            workspace.decompose(&interpolator, &input, &mut parts)
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
                workspace.compose(&wanted.recipe, &parts, count, &mut output)
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
