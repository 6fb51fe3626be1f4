//! Throughput of the GPU backend on device memory.
//!
//! ```text
//! gpu [--json FILE] [--repeat N] FIELD.f32 ...
//! ```
//!
//! Fields are raw `f32` files. For each field, codec and range bound it prints the ratio and GB/s
//! of original data: of the compression kernel with the bound known beforehand, of the whole call
//! with the range scan, and of decompression, checksums included. Times are medians of CUDA events
//! after warm-up. In the same run a device-to-device copy, for the ceiling. Outputs are poisoned
//! before; the stream is compared with the CPU's, the decoded field with the CPU's.

use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaStream, DevicePtr, DriverError, sys};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype, info, max_compressed_len};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::{env, fs};

const WARM_UP: usize = 3;
const RELATIVE: [f64; 3] = [1e-2, 1e-3, 1e-4];

struct Row {
    field: String,
    codec: Codec,
    relative: f64,
    ratio: f64,
    kernel: f64,
    call: f64,
    decompress: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    let mut json = None;
    let mut repeat = 20;
    // `cargo bench` adds `--bench`.
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = arguments.next(),
            "--repeat" => repeat = arguments.next().ok_or("--repeat N")?.parse()?,
            _ => files.push(argument),
        }
    }
    let gpu = match Gpu::new(0) {
        Ok(gpu) if !files.is_empty() => gpu,
        Ok(_) => return Err("name at least one field".into()),
        Err(error) => {
            println!("not measured: {error}");
            return Ok(());
        }
    };
    let stream = gpu.context().new_stream()?;
    let name = gpu.context().name()?;
    println!("{name}, median of {repeat} after {WARM_UP}; GB/s of original data");
    let mut rows = Vec::new();
    for file in &files {
        let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        let field: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        drop(bytes);
        println!(
            "{file}: {} elements, copy {:.0} GB/s read + write",
            field.len(),
            copy(&stream, field.len(), repeat)?
        );
        println!(
            "{:<8}{:<9}{:>7}{:>9}{:>9}{:>9}{:>12}",
            "field", "codec", "range", "ratio", "kernel", "call", "decompress"
        );
        for codec in Codec::ALL {
            for relative in RELATIVE {
                let row = measure(&gpu, &stream, file, &field, codec, relative, repeat)?;
                println!(
                    "{:<8}{:<9}{:>7.0e}{:>9.2}{:>9.0}{:>9.0}{:>12.0}",
                    row.field,
                    row.codec.name(),
                    row.relative,
                    row.ratio,
                    row.kernel,
                    row.call,
                    row.decompress
                );
                rows.push(row);
            }
        }
    }
    if let Some(path) = json {
        fs::write(path, to_json(&name, &rows)?)?;
    }
    Ok(())
}

/// The median time of some work on the stream, in seconds.
fn time(
    stream: &Arc<CudaStream>,
    repeat: usize,
    mut work: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
    let mut times = Vec::new();
    for round in 0..WARM_UP + repeat {
        let start = stream.record_event(flags)?;
        work()?;
        let end = stream.record_event(flags)?;
        end.synchronize()?;
        if round >= WARM_UP {
            times.push(f64::from(start.elapsed_ms(&end)?) / 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// GB/s of a device-to-device copy, read and written bytes counted.
fn copy(stream: &Arc<CudaStream>, elements: usize, repeat: usize) -> Result<f64, Box<dyn Error>> {
    let from = stream.clone_htod(&vec![1.5f32; elements])?;
    let mut to = stream.alloc_zeros::<f32>(elements)?;
    let seconds = time(stream, repeat, || Ok(stream.memcpy_dtod(&from, &mut to)?))?;
    Ok(8e-9 * elements as f64 / seconds)
}

fn measure(
    gpu: &Gpu,
    stream: &Arc<CudaStream>,
    file: &str,
    field: &[f32],
    codec: Codec,
    relative: f64,
    repeat: usize,
) -> Result<Row, Box<dyn Error>> {
    let elements = field.len() as u64;
    let input = stream.clone_htod(field)?;
    let room = max_compressed_len(elements, Dtype::F32) as usize;
    let mut bytes = stream.alloc_zeros::<u8>(room)?;
    let mut output = stream.alloc_zeros::<f32>(field.len())?;
    poison(stream, &bytes)?;
    poison(stream, &output)?;
    let mut workspace = gpu.workspace(stream, elements)?;
    let by_range = Compressor::new(codec, Bound::range(relative)?);
    let decoder = Decompressor::new();

    gpu.compress(stream, &by_range, &input, &mut bytes, &mut workspace)?;
    let length = workspace.stream_bytes(stream)? as usize;
    let made = stream.clone_dtoh(&bytes.slice(..length))?;
    let expected = by_range.device(Device::Cpu).compress(field)?;
    if made != expected {
        return Err(format!("{file}, {codec}, {relative}: not the CPU's stream").into());
    }
    gpu.decompress(stream, &decoder, codec, &bytes, &mut output, &mut workspace)?;
    workspace.check(stream)?;
    let decoded: Vec<f32> = decoder.device(Device::Cpu).decompress(&made)?;
    if bytemuck::cast_slice::<f32, u8>(&stream.clone_dtoh(&output)?)
        != bytemuck::cast_slice::<f32, u8>(&decoded)
    {
        return Err(format!("{file}, {codec}, {relative}: not the CPU's field").into());
    }

    let info = info(&made)?;
    let by_error = Compressor::new(codec, Bound::abs(info.absolute_error)?);
    let rate = |seconds: f64| 4e-9 * elements as f64 / seconds;
    let decompress = time(stream, repeat, || {
        Ok(gpu.decompress(stream, &decoder, codec, &bytes, &mut output, &mut workspace)?)
    })?;
    let call = time(stream, repeat, || {
        Ok(gpu.compress(stream, &by_range, &input, &mut bytes, &mut workspace)?)
    })?;
    let kernel = time(stream, repeat, || {
        Ok(gpu.compress(stream, &by_error, &input, &mut bytes, &mut workspace)?)
    })?;
    let stem = std::path::Path::new(file).file_stem().unwrap_or_default();
    Ok(Row {
        field: stem.to_string_lossy().into_owned(),
        codec,
        relative,
        ratio: info.ratio(),
        kernel: rate(kernel),
        call: rate(call),
        decompress: rate(decompress),
    })
}

/// Fills a buffer with what no result consists of.
fn poison<T>(stream: &Arc<CudaStream>, buffer: &impl DevicePtr<T>) -> Result<(), DriverError> {
    let bytes = buffer.len() * size_of::<T>();
    let (address, _use) = buffer.device_ptr(stream);
    // SAFETY: the buffer is valid and so many bytes long; any bytes are floats.
    unsafe {
        ferrosz::cuda::cudarc::driver::result::memset_d8_async(
            address,
            0xA5,
            bytes,
            stream.cu_stream(),
        )
    }
}

fn to_json(gpu: &str, rows: &[Row]) -> Result<String, std::fmt::Error> {
    let mut text = format!("{{\"gpu\": \"{gpu}\", \"rows\": [\n");
    for (i, row) in rows.iter().enumerate() {
        let comma = if i + 1 < rows.len() { "," } else { "" };
        writeln!(
            text,
            "{{\"field\": \"{}\", \"codec\": \"{}\", \"range\": {:e}, \"ratio\": {:.4}, \"kernel\": {:.1}, \"call\": {:.1}, \"decompress\": {:.1}}}{comma}",
            row.field, row.codec, row.relative, row.ratio, row.kernel, row.call, row.decompress
        )?;
    }
    text.push_str("]}\n");
    Ok(text)
}
