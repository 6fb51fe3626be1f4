//! Throughput of the GPU backend on device memory.
//!
//! ```text
//! gpu [--json FILE] [--repeat N] [--f64 | --bare] [--codec NAME]... FIELD.f32[:Z,Y,X] ...
//! ```
//!
//! Fields are raw `f32` files; `--f64` widens them, `--bare` measures cuSZp's own streams and AATROX's
//! instead of the container. For each field, codec, rank of blocks and range
//! bound it prints the ratio and GB/s of original data: of the compression kernel with the bound known
//! beforehand, of the whole call with the range scan, and of decompression, checksums included; and
//! the time in microseconds to decode a box of 64 elements in each dimension. Times are medians of
//! CUDA events after warm-up. In the same run a device-to-device copy, for the ceiling. Outputs are
//! poisoned before; the stream is compared with the CPU's, the decoded field with the CPU's.

use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaStream, DevicePtr, DeviceRepr, DriverError, sys};
use ferrosz::cuszp::{self, Mode};
use ferrosz::{
    Bare, Bound, Codec, Compressor, Decompressor, Device, Element, Extents, Layout, Part, Shape,
    aatrox, info,
};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::{env, fs};

const WARM_UP: usize = 3;
const RELATIVE: [f64; 3] = [1e-2, 1e-3, 1e-4];

struct Row {
    field: String,
    dtype: &'static str,
    codec: Codec,
    rank: u8,
    relative: f64,
    ratio: f64,
    kernel: f64,
    call: f64,
    decompress: f64,
    box_microseconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    let mut json = None;
    let mut repeat = 20;
    let (mut wide, mut bare) = (false, false);
    let mut codecs = Vec::new();
    // `cargo bench` adds `--bench`.
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = arguments.next(),
            "--repeat" => repeat = arguments.next().ok_or("--repeat N")?.parse()?,
            "--f64" => wide = true,
            "--bare" => bare = true,
            "--codec" => {
                let name = arguments.next().unwrap_or_default();
                codecs.push(Codec::from_name(&name).ok_or("--codec NAME")?);
            }
            _ => files.push(argument),
        }
    }
    if codecs.is_empty() {
        codecs = Codec::ALL.to_vec();
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
    let bench = Bench {
        gpu,
        stream,
        repeat,
    };
    for file in &files {
        let (file, dims) = file.split_once(':').unwrap_or((file, ""));
        let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        let field: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        drop(bytes);
        let mut lengths = vec![field.len() as u64];
        if !dims.is_empty() {
            lengths = dims.split(',').map(str::parse).collect::<Result<_, _>>()?;
        }
        let extents = Extents::new(&lengths).ok_or("dimensions")?;
        if bare {
            bench.bare(file, &field, extents)?;
        } else if wide {
            let field: Vec<f64> = field.into_iter().map(f64::from).collect();
            bench.field(file, &field, extents, &codecs, &mut rows)?;
        } else {
            bench.field(file, &field, extents, &codecs, &mut rows)?;
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

/// What all measurements are made with.
struct Bench {
    gpu: Gpu,
    stream: Arc<CudaStream>,
    repeat: usize,
}

impl Bench {
    /// All codecs and ranks on one field.
    fn field<T: Element + DeviceRepr>(
        &self,
        file: &str,
        field: &[T],
        extents: Extents,
        codecs: &[Codec],
        rows: &mut Vec<Row>,
    ) -> Result<(), Box<dyn Error>> {
        let ceiling = copy(&self.stream, size_of_val(field) / 4, self.repeat)?;
        println!(
            "{file}: {:?} {}, copy {ceiling:.0} GB/s read + write",
            extents.lengths(),
            T::DTYPE
        );
        println!(
            "{:<8}{:<9}{:>5}{:>7}{:>9}{:>9}{:>9}{:>12}{:>10}",
            "field", "codec", "rank", "range", "ratio", "kernel", "call", "decompress", "box us"
        );
        for codec in codecs {
            for shape in Shape::ALL {
                let layout = Layout::new(*codec, shape, extents);
                if layout.shape != shape {
                    continue;
                }
                for relative in RELATIVE {
                    let row = self.measure(file, field, layout, relative)?;
                    println!(
                        "{:<8}{:<9}{:>5}{:>7.0e}{:>9.2}{:>9.0}{:>9.0}{:>12.0}{:>10.1}",
                        row.field,
                        row.codec.name(),
                        row.rank,
                        row.relative,
                        row.ratio,
                        row.kernel,
                        row.call,
                        row.decompress,
                        row.box_microseconds,
                    );
                    rows.push(row);
                }
            }
        }
        Ok(())
    }

    fn measure<T: Element + DeviceRepr>(
        &self,
        file: &str,
        field: &[T],
        layout: Layout,
        relative: f64,
    ) -> Result<Row, Box<dyn Error>> {
        let Self {
            gpu,
            stream,
            repeat,
        } = self;
        let elements = field.len() as u64;
        let input = stream.clone_htod(field)?;
        let compressor = |bound| {
            Compressor::new(layout.codec, bound)
                .with_rank(layout.shape.rank())?
                .extents(layout.extents.lengths())
        };
        let by_range = compressor(Bound::range(relative)?)?;
        let room = by_range.max_compressed_len(elements, T::DTYPE)? as usize;
        let mut bytes = stream.clone_htod(&vec![0xA5u8; room])?;
        let mut output = stream.clone_htod(field)?;
        poison(stream, &output)?;
        let mut workspace = gpu.workspace_for(stream, layout)?;
        let decoder = Decompressor::new();

        gpu.compress(stream, &by_range, &input, &mut bytes, &mut workspace)?;
        let length = workspace.stream_bytes(stream)? as usize;
        let made = stream.clone_dtoh(&bytes.slice(..length))?;
        if made != by_range.device(Device::Cpu).compress(field)? {
            return Err(format!("{file}, {layout:?}, {relative}: not the CPU's stream").into());
        }
        gpu.decompress(
            stream,
            &decoder,
            layout,
            &bytes,
            &mut output,
            &mut workspace,
        )?;
        workspace.check(stream)?;
        let on_cpu = decoder.device(Device::Cpu);
        let decoded: Vec<T> = on_cpu.decompress(&made)?;
        let same =
            |a: &[T], b: &[T]| bytemuck::cast_slice::<T, u8>(a) == bytemuck::cast_slice::<T, u8>(b);
        if !same(&stream.clone_dtoh(&output)?, &decoded) {
            return Err(format!("{file}, {layout:?}, {relative}: not the CPU's field").into());
        }

        let info = info(&made)?;
        let by_error = compressor(Bound::abs(info.absolute_error)?)?;
        let rate = |seconds: f64| 1e-9 * size_of_val(field) as f64 / seconds;
        let decompress = time(stream, *repeat, || {
            Ok(gpu.decompress(
                stream,
                &decoder,
                layout,
                &bytes,
                &mut output,
                &mut workspace,
            )?)
        })?;
        let part = middle(layout.extents);
        let box_seconds = time(stream, *repeat, || {
            Ok(gpu.decompress_part(
                stream,
                &decoder,
                layout,
                &bytes,
                &part,
                &mut output,
                &mut workspace,
            )?)
        })?;
        workspace.check(stream)?;
        let expected: Vec<T> = on_cpu.decompress_part(&made, &part)?;
        if !same(&stream.clone_dtoh(&output)?[..expected.len()], &expected) {
            return Err(format!("{file}, {layout:?}, {part:?}: not the CPU's part").into());
        }
        let call = time(stream, *repeat, || {
            Ok(gpu.compress(stream, &by_range, &input, &mut bytes, &mut workspace)?)
        })?;
        let kernel = time(stream, *repeat, || {
            Ok(gpu.compress(stream, &by_error, &input, &mut bytes, &mut workspace)?)
        })?;
        let stem = std::path::Path::new(file).file_stem().unwrap_or_default();
        Ok(Row {
            field: stem.to_string_lossy().into_owned(),
            dtype: T::DTYPE.name(),
            codec: layout.codec,
            rank: layout.shape.rank(),
            relative,
            ratio: info.ratio(),
            kernel: rate(kernel),
            call: rate(call),
            decompress: rate(decompress),
            box_microseconds: 1e6 * box_seconds,
        })
    }
}

impl Bench {
    /// Streams without header at the bounds of cuSZp's relative mode.
    fn bare(&self, file: &str, field: &[f32], extents: Extents) -> Result<(), Box<dyn Error>> {
        let ceiling = copy(&self.stream, field.len(), self.repeat)?;
        println!(
            "{file}: {:?}, copy {ceiling:.0} GB/s read + write",
            extents.lengths()
        );
        println!(
            "{:<24}{:>7}{:>9}{:>10}{:>12}",
            "stream", "range", "ratio", "compress", "decompress"
        );
        let extremes = (f32::MAX, f32::MIN);
        let (min, max) = (field.iter()).fold(extremes, |(a, b), x| (a.min(*x), b.max(*x)));
        let mut dims = [1; 3];
        dims[3 - extents.lengths().len()..].copy_from_slice(extents.lengths());
        for relative in [1e-2f32, 1e-3, 1e-4] {
            let error = relative * (max - min);
            for shape in Shape::ALL {
                for mode in Mode::ALL {
                    let params = cuszp::Params::new(shape, mode, dims, error);
                    let expected = cuszp::compress(&params, field)?;
                    let decoded = cuszp::decompress(&params, &expected)?;
                    let times = self.both_ways(params.into(), field, &expected, &decoded)?;
                    let name = format!("cuSZp {shape} {}", mode.name());
                    print_bare(&name, relative, field, expected.len(), times);
                }
            }
            let elements = field.len() as u64;
            let params = aatrox::Params { elements, error };
            let expected = aatrox::compress(&params, field)?;
            let decoded = aatrox::decompress(&params, &expected)?;
            let times = self.both_ways(params.into(), field, &expected, &decoded)?;
            print_bare("AATROX", relative, field, expected.len(), times);
        }
        Ok(())
    }

    /// Seconds of compression and of decompression, the result of each compared with the CPU's.
    fn both_ways(
        &self,
        bare: Bare<f32>,
        field: &[f32],
        expected: &[u8],
        decoded: &[f32],
    ) -> Result<[f64; 2], Box<dyn Error>> {
        let Self {
            gpu,
            stream,
            repeat,
        } = self;
        let mut workspace = gpu.workspace_for_bare(stream, bare)?;
        let input = stream.clone_htod(field)?;
        let mut bytes = stream.alloc_zeros::<u8>(gpu.max_bare_len(bare)? as usize)?;
        let mut output = stream.alloc_zeros::<f32>(field.len())?;
        poison(stream, &bytes)?;
        poison(stream, &output)?;
        let compress = time(stream, *repeat, || {
            Ok(gpu.compress_bare(stream, bare, &input, &mut bytes, &mut workspace)?)
        })?;
        if stream.clone_dtoh(&bytes.slice(..expected.len()))? != expected {
            return Err(format!("{bare:?}: not the CPU's stream").into());
        }
        let decompress = time(stream, *repeat, || {
            Ok(gpu.decompress_bare(stream, bare, &bytes, &mut output, &mut workspace)?)
        })?;
        let found = stream.clone_dtoh(&output)?;
        if bytemuck::cast_slice::<f32, u8>(&found) != bytemuck::cast_slice::<f32, u8>(decoded) {
            return Err(format!("{bare:?}: not the CPU's array").into());
        }
        Ok([compress, decompress])
    }
}

fn print_bare(name: &str, relative: f32, field: &[f32], bytes: usize, seconds: [f64; 2]) {
    let field_bytes = size_of_val(field) as f64;
    let [compress, decompress] = seconds.map(|seconds| 1e-9 * field_bytes / seconds);
    let ratio = field_bytes / bytes as f64;
    println!("{name:<24}{relative:>7.0e}{ratio:>9.2}{compress:>10.0}{decompress:>12.0}");
}

/// A box of up to 64 elements in each dimension in the middle of a field, on no edge of a chunk.
fn middle(extents: Extents) -> Part {
    let range = |length: &u64| {
        let from = (length / 2).saturating_sub(27);
        from..(from + 64).min(*length)
    };
    Part::Box(extents.lengths().iter().map(range).collect())
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
            "{{\"field\": \"{}\", \"dtype\": \"{}\", \"codec\": \"{}\", \"rank\": {}, \"range\": {:e}, \"ratio\": {:.4}, \"kernel\": {:.1}, \"call\": {:.1}, \"decompress\": {:.1}, \"box_us\": {:.1}}}{comma}",
            row.field,
            row.dtype,
            row.codec,
            row.rank,
            row.relative,
            row.ratio,
            row.kernel,
            row.call,
            row.decompress,
            row.box_microseconds
        )?;
    }
    text.push_str("]}\n");
    Ok(text)
}
