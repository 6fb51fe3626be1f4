//! Workspaces in memory of the caller.

use crate::common::compressor_with_axes;
use crate::common::graph::gpu;
use crate::common::{layouts, tile_layouts};
use ferrosz::cuda::cudarc::driver::DevicePtrMut;
use ferrosz::stream::{Layout, StreamLayout};
use ferrosz::{Bound, Decompressor, Device, Error};

/// Both directions with a workspace of exactly as many bytes as are said to suffice, in memory that is not clear; the bytes
/// behind it stay as they are.
fn check(layout: Layout) -> Result<(), Error> {
    /// Bytes behind the workspace.
    const BEHIND: usize = 4096;

    let (gpu, stream) = gpu()?;
    let elements = layout.extents.elements() as usize;
    let field: Vec<f32> = (0..elements).map(|i| (i as f32 * 0.01).sin()).collect();
    let compressor = compressor_with_axes(layout, None, Bound::abs(1e-3)?, Device::Cpu)?;
    let expected = compressor.compress(&field)?;
    let of_stream: StreamLayout = layout.into();
    let needed = of_stream.workspace_bytes();
    let poison = vec![0xA5u8; needed as usize + BEHIND];
    let mut memory = stream.clone_htod(&poison).expect("memory");
    let address = memory.device_ptr_mut(&stream).0;
    // SAFETY: the memory is this function's, and outlives the workspaces.
    let short = unsafe { gpu.workspace_in(&stream, of_stream, address, needed - 8) };
    assert!(matches!(short, Err(Error::WorkspaceTooSmall { .. })));
    // SAFETY: as above.
    let odd = unsafe { gpu.workspace_in(&stream, of_stream, address + 8, needed) };
    assert!(matches!(
        odd,
        Err(Error::Misaligned {
            argument: "workspace",
            ..
        })
    ));
    // SAFETY: as above.
    let mut workspace = unsafe { gpu.workspace_in(&stream, of_stream, address, needed) }?;
    let input = stream.clone_htod(&field).expect("memory");
    let room = of_stream.max_stream_bytes().expect("a length") as usize;
    let mut bytes = stream.clone_htod(&vec![0xA5u8; room]).expect("memory");
    let mut output = stream
        .clone_htod(&vec![f32::NAN; elements])
        .expect("memory");
    gpu.compress(&stream, &compressor, &input, &mut bytes, &mut workspace)?;
    assert_eq!(workspace.stream_bytes(&stream)?, expected.len() as u64);
    let found = stream.clone_dtoh(&bytes).expect("copied");
    assert!(found[..expected.len()] == expected, "{}", layout.codec);
    gpu.decompress(
        &stream,
        &Decompressor::new(),
        of_stream,
        &bytes,
        &mut output,
        &mut workspace,
    )?;
    workspace.check(&stream)?;
    drop(workspace);
    let decoded: Vec<f32> = Decompressor::new()
        .device(Device::Cpu)
        .decompress(&expected)?;
    assert!(stream.clone_dtoh(&output).expect("copied") == decoded);
    let after = stream.clone_dtoh(&memory).expect("copied");
    assert!(after[needed as usize..].iter().all(|byte| *byte == 0xA5));
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn memory_of_the_caller_is_used_and_kept() {
    let lengths = [20, 50, 60];
    for layout in layouts(&lengths).into_iter().chain(tile_layouts(&lengths)) {
        check(layout).expect("a GPU");
    }
}
