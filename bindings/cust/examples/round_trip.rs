//! Compresses and decompresses a field in buffers of cust, on a GPU.

use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use ferrosz_cust::OnStream;
use ferrosz_cust::ferrosz::{Bound, Codec, Compressor, Decompressor, Dtype, max_compressed_len};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    // The primary context, which ferrosz uses, too.
    let _context = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut on_stream = OnStream::new(0, &stream)?;

    let values: Vec<f32> = (0..1 << 20).map(|i| (i as f32 * 0.001).sin()).collect();
    let field = DeviceBuffer::from_slice(&values)?;
    let room = max_compressed_len(1 << 20, Dtype::F32) as usize;
    let mut bytes = DeviceBuffer::<u8>::zeroed(room)?;
    let mut back = DeviceBuffer::<f32>::zeroed(values.len())?;

    let compressor = Compressor::new(Codec::LORENZO, Bound::abs(1e-3)?);
    let length = on_stream.compress(&compressor, &field, &mut bytes)?;
    let layout = compressor.stream_layout(1 << 20, Dtype::F32)?;
    on_stream.decompress(&Decompressor::new(), layout, &bytes, &mut back)?;

    let mut decoded = vec![0.0f32; values.len()];
    back.copy_to(&mut decoded)?;
    let errors = values.iter().zip(&decoded).map(|(x, y)| (x - y).abs());
    assert!(errors.fold(0.0, f32::max) <= 1e-3);
    println!("{} bytes became {length}", 4 * values.len());
    Ok(())
}
