//! The GPU against the CPU: the same bytes, in both directions. Ignored where there may be no GPU;
//! `docs/testing.md` says how to run this file on one, also on a machine without Rust.

mod batches;
mod graphs;
mod mappings;
mod transfers;
mod updates;
mod values;
mod workspaces;

use crate::common::fields::{FromBits, Kind, make, make_long};
use crate::common::machine::Machine;
use crate::common::{damage, graph, layouts, matrix};
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream};
use ferrosz::cuda::{FieldChoice, Gpu, Workspace};
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, Part, Shape};
use std::ops::Range;
use std::sync::Arc;

fn same_bits<T: FromBits>(a: &[T], b: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(a) == bytemuck::cast_slice::<T, u8>(b)
}

/// The first GPU, and a stream of its own.
fn first_gpu() -> Result<(Gpu, Arc<CudaStream>), Error> {
    let gpu = Gpu::new(0)?;
    let stream = graph::new_stream(&gpu);
    Ok((gpu, stream))
}

fn line(codec: Codec, length: usize) -> Layout {
    Layout::new(codec, Shape::Line, Extents::line(length as u64))
}

/// What the matrix compares, of a field that is too large for it; the bytes of the stream.
fn check<T: FromBits>(layout: Layout, bound: Bound, field: &[T], context: &str) -> usize {
    matrix::check(&[Machine::Gpu], layout, bound, field, context).len()
}

/// The matrix of `tests/matrix.rs` on the GPU, and 6,400 random cases.
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
        let room = compressor.max_compressed_len(length, Dtype::F64)? as usize;
        let mut bytes = stream.clone_htod(&vec![0xA5u8; room]).expect("copied");
        gpu.compress(stream, compressor, &input, &mut bytes, workspace)?;
        assert_eq!(workspace.stream_bytes(stream)?, expected.len() as u64);
        let on_host = stream.clone_dtoh(&bytes).expect("copied");
        let (found, rest) = on_host.split_at(expected.len());
        assert!(found == expected);
        assert!(rest.iter().all(|byte| *byte == 0xA5), "written past it");
        let layout = compressor.layout_for(length)?;
        assert_eq!(gpu.layout_of(stream, &bytes)?.layout, layout);
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
    for (kind, codec, levels, other_codec) in [
        (Kind::Smooth, Codec::PLAIN, 0, Codec::FIXED),
        (Kind::NotFinite, Codec::OUTLIER, 0, Codec::PLAIN),
        (Kind::Smooth, Codec::INTERP, 3, Codec::STENCIL),
        (Kind::Sparse, Codec::STENCIL_BITPLANE, 9, Codec::STENCIL),
    ] {
        let field = make::<f64>(kind, length as usize, 9);
        let compressor = Compressor::new(codec, Bound::max(1e-4)?).levels_apart(levels)?;
        let largest = Part::Elements(77_777..500_001);
        let layout = compressor.layout_for(length)?;
        let mut workspace = gpu.workspace_for_part(&stream, layout, &largest)?;
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
    let other = graph::new_stream(&gpu);
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
fn the_automatic_choice_is_that_of_the_cpu() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    let mut workspace = gpu.workspace(&stream, 0)?;
    for lengths in [&[3_000_000][..], &[1500, 1999], &[150, 160, 170]] {
        for kind in Kind::ALL {
            let length = lengths.iter().product::<u64>() as usize;
            let field = make::<f32>(kind, length, 21);
            // Without negative values, and with many zeros.
            let rain = field.iter().map(|value| value.max(0.0)).collect();
            for field in [field, rain] {
                let input = stream.clone_htod(&field).expect("copied");
                for bound in [Bound::range(1e-3)?, Bound::abs(0.01)?] {
                    for preset in ferrosz::Preset::ALL {
                        let preset = Compressor::new(preset, bound).extents(lengths)?;
                        let choice = gpu.choose(&stream, &preset, &input, &mut workspace)?;
                        let chosen = *choice.compressor();
                        assert_eq!(chosen, preset.choose(&field)?, "{kind:?} {lengths:?}");
                        // With the range that the choice has found, and with that of the compression.
                        let layout = chosen.stream_layout(length as u64, Dtype::F32)?;
                        let mut workspace = gpu.workspace_for(&stream, layout)?;
                        let room = chosen.max_compressed_len(length as u64, Dtype::F32)?;
                        let mut bytes = stream.alloc_zeros::<u8>(room as usize).expect("memory");
                        let mut stream_of = |choice: FieldChoice| -> Result<Vec<u8>, Error> {
                            gpu.compress(&stream, choice, &input, &mut bytes, &mut workspace)?;
                            let length = workspace.stream_bytes(&stream)? as usize;
                            let made = stream.clone_dtoh(&bytes.slice(..length));
                            Ok(made.expect("copied"))
                        };
                        let (known, searched) = (stream_of(choice)?, stream_of((&chosen).into())?);
                        assert!(known == searched, "{kind:?} {lengths:?}");
                    }
                }
            }
        }
    }
    Ok(())
}
