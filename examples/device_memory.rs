//! Compression and decompression of device memory, on the caller's own CUDA stream.
//!
//! ```text
//! cargo run --release --example device_memory
//! ```

use ferrosz::cuda::Gpu;
use ferrosz::{Bound, Compressor, Decompressor, Dtype, Preset, max_compressed_len};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Gpu::new(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("nothing to show here: {error}");
            return Ok(());
        }
    };
    let stream = gpu.context().new_stream()?;
    let host: Vec<f32> = (0..1 << 22).map(|i| (i as f32 * 0.003).sin()).collect();
    let elements = host.len() as u64;

    // The caller's memory: the field, a buffer for the longest stream, a buffer for the result, and a workspace for any
    // number of calls.
    let field = stream.clone_htod(&host)?;
    let room = max_compressed_len(elements, Dtype::F32) as usize;
    let mut bytes = stream.alloc_zeros::<u8>(room)?;
    let mut back = stream.alloc_zeros::<f32>(host.len())?;
    let mut workspace = gpu.workspace(&stream, elements)?;

    // A preset chooses the codec for this field and similar ones, by a sample of it. This call waits.
    let preset = Compressor::new(Preset::Fast, Bound::range(1e-3)?);
    let choice = gpu.choose(&stream, &preset, &field, &mut workspace)?;
    let compressor = *choice.compressor();

    // These calls neither allocate nor wait. The choice knows the range of the field; with `&compressor` it would be computed
    // on the device, as for other fields.
    gpu.compress(&stream, choice, &field, &mut bytes, &mut workspace)?;
    let length = workspace.stream_bytes(&stream)?;
    let decompressor = Decompressor::new();
    gpu.decompress(
        &stream,
        &decompressor,
        compressor.layout_for(elements)?,
        &bytes,
        &mut back,
        &mut workspace,
    )?;

    // This call waits, and returns an error if the stream was damaged.
    workspace.check(&stream)?;
    let back = stream.clone_dtoh(&back)?;
    let errors = host.iter().zip(&back).map(|(x, y)| (x - y).abs());
    println!(
        "{} bytes became {length}, largest error {:.3e}",
        4 * elements,
        errors.fold(0.0, f32::max)
    );
    Ok(())
}
