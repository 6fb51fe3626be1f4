//! `ferrosz-lab gpus`: one field in the memory of several GPUs, beside one GPU.

use super::synthetic::Kind;
use super::times::{Times, sample};
use clap::Args;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream, DriverError};
use ferrosz::cuda::{Gpu, Slabs};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype, Error};
use ferrosz_cli::codec_choice::named;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::output;
use std::sync::Arc;
use std::time::Instant;

/// `ferrosz-lab gpus`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Numbers of GPUs; those that the machine does not have are left out
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "1,2,4,8"
    )]
    pub gpus: Vec<usize>,
    /// Elements along each of the three edges of a cube of f32
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(16..=2048))]
    pub edge: u64,
    /// Cubes behind each other that a GPU has
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "1,4"
    )]
    pub cubes: Vec<u64>,
    /// Codecs
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = named, default_value = "plain,outlier,lorenzo")]
    pub codec: Vec<Codec>,
    /// Bounds relative to the range; `abs` is the absolute bound that follows from the first one
    #[arg(
        long,
        value_name = "E,...",
        value_delimiter = ',',
        default_value = "1e-3"
    )]
    pub range: Vec<f64>,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Also calls on slices of the host
    #[arg(long)]
    pub host: bool,
}

const WARM_UP: u32 = 5;

const HEADING: &str = "\
| codec | bound | field | GPUs | compress GB/s | times one | decompress GB/s | times one | ratio | stream and values |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

const HOST_HEADING: &str = "\
| slices of the host | field | GPUs | compress GB/s | decompress GB/s |
| --- | --- | --- | --- | --- |";

/// Measures and prints a table: each GPU has a field of the same extents, and they are one field. Times are medians by the
/// host's clock around calls that wait for all GPUs. Streams and values are compared with those of one GPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let mut all = Vec::new();
    while let Ok(gpu) = Gpu::new(all.len()) {
        // SAFETY: this process uses a single stream of each GPU, so that no buffer is used on two.
        unsafe { gpu.context().disable_event_tracking() };
        let stream = gpu
            .context()
            .new_stream()
            .map_err(failed("make a stream"))?;
        all.push((gpu, stream));
    }
    let Some((first, _)) = all.first() else {
        return Err(Gpu::new(0)
            .err()
            .map_or_else(|| Failure::failed("no GPU"), Failure::from));
    };
    let name = first.context().name().map_err(failed("name the GPU"))?;
    output::print(&format!("{} x {name}\n{HEADING}\n", all.len()))?;
    let cube = Kind::Waves.cube(flags.edge as usize);
    for cubes in &flags.cubes {
        let bench = Bench {
            flags,
            all: &all,
            cube: &cube,
            cubes: *cubes,
        };
        bench.tables()?;
    }
    if flags.host {
        output::print(&format!("\n{HOST_HEADING}\n"))?;
        host_slices(flags, all.len(), &cube)?;
    }
    Ok(())
}

/// The error of a failed call of the driver.
fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let reason = error.to_string();
        Error::Cuda { action, reason }.into()
    }
}

/// A GPU and its stream.
type OnGpu = (Gpu, Arc<CudaStream>);

/// Fields of so many cubes for each GPU.
struct Bench<'a> {
    flags: &'a Flags,
    all: &'a [OnGpu],
    cube: &'a [f32],
    cubes: u64,
}

/// The times of both directions, and the bytes of the stream.
struct Measured {
    compress: Times,
    decompress: Times,
    stream_bytes: u64,
}

impl Bench<'_> {
    fn tables(&self) -> Result<(), Failure> {
        for codec in &self.flags.codec {
            for range in &self.flags.range {
                let bound = Bound::range(*range).map_err(Failure::failed)?;
                self.table(*codec, bound)?;
            }
            // The same without the search for the extremes.
            let range = self.flags.range.first().copied().unwrap_or(1e-3);
            self.table(*codec, Bound::abs(4.0 * range).map_err(Failure::failed)?)?;
        }
        Ok(())
    }

    /// The rows of a codec and a bound.
    fn table(&self, codec: Codec, bound: Bound) -> Result<(), Failure> {
        let mut of_one: Option<[f64; 2]> = None;
        let counts = self.flags.gpus.iter().copied();
        for count in counts.filter(|count| *count <= self.all.len()) {
            let edge = self.flags.edge;
            let extents = [count as u64 * self.cubes * edge, edge, edge];
            let compressor = Compressor::new(codec, bound).extents(&extents)?;
            let found = self.measure(count, &compressor)?;
            let bytes = 4 * extents.iter().product::<u64>();
            let rates = [found.compress, found.decompress].map(|times| times.rate(bytes));
            let of_one = of_one.get_or_insert(rates.map(|rate| rate / count as f64));
            let [compress, decompress] = rates;
            let mode = bound.mode();
            output::print(&format!(
                "| `{codec}` | {mode} {:e} | {} x {edge} x {edge} | {count} | {compress:.1} | {:.2} | {decompress:.1} | {:.2} | {:.2} | equal |\n",
                bound.value(),
                extents[0],
                compress / of_one[0],
                decompress / of_one[1],
                bytes as f64 / found.stream_bytes as f64,
            ))?;
        }
        Ok(())
    }

    /// The values of a slab, each cube of which is on a level of its own.
    fn slab(&self, number: usize) -> Vec<f32> {
        let cubes = (0..self.cubes).map(|cube| number as u64 * self.cubes + cube);
        let mut values = Vec::with_capacity(self.cube.len() * self.cubes as usize);
        for cube in cubes {
            let level = 0.125 * cube as f32;
            values.extend(self.cube.iter().map(|value| value + level));
        }
        values
    }

    fn measure(&self, count: usize, compressor: &Compressor) -> Result<Measured, Failure> {
        let gpus = &self.all[..count];
        let mut slabs = Slabs::new::<f32>(gpus, compressor)?;
        let values: Vec<Vec<f32>> = (0..count).map(|number| self.slab(number)).collect();
        let (mut fields, mut outputs) = (Vec::new(), Vec::new());
        for (number, (_, stream)) in gpus.iter().enumerate() {
            let behind = slabs.elements_behind(number) as usize;
            let next = values
                .get(number + 1)
                .map_or(&[][..], |next| &next[..behind]);
            let field = stream.clone_htod(&[&values[number], next].concat());
            fields.push(field.map_err(failed("copy to the GPU"))?);
            let output = stream.alloc_zeros::<f32>(values[number].len() + behind);
            outputs.push(output.map_err(failed("allocate memory"))?);
        }
        let decompressor = Decompressor::new();
        let repeat = self.flags.repeat;
        let compress = sample(WARM_UP, repeat, || {
            let start = Instant::now();
            slabs.compress(&fields)?;
            Ok::<_, Failure>(start.elapsed().as_secs_f64())
        })?;
        let decompress = sample(WARM_UP, repeat, || {
            let start = Instant::now();
            slabs.decompress(&decompressor, &mut outputs)?;
            Ok::<_, Failure>(start.elapsed().as_secs_f64())
        })?;
        let stream = slabs.to_host()?;
        drop((slabs, fields));
        self.check(compressor, &values, &stream, &outputs)?;
        Ok(Measured {
            compress,
            decompress,
            stream_bytes: stream.len() as u64,
        })
    }

    /// Compares a stream, and the values that several GPUs have decoded, with those of the first GPU alone.
    fn check(
        &self,
        compressor: &Compressor,
        values: &[Vec<f32>],
        stream: &[u8],
        outputs: &[CudaSlice<f32>],
    ) -> Result<(), Failure> {
        let Some((gpu, own)) = self.all.first() else {
            return Ok(());
        };
        let elements = values.iter().map(|values| values.len()).sum::<usize>();
        let allocate = failed("allocate memory");
        let mut field = own.alloc_zeros::<f32>(elements).map_err(&allocate)?;
        let mut at = 0;
        for values in values {
            let mut place = field.slice_mut(at..at + values.len());
            own.memcpy_htod(values, &mut place)
                .map_err(failed("copy to the GPU"))?;
            at += values.len();
        }
        let layout = compressor.stream_layout(elements as u64, Dtype::F32)?;
        let room = compressor.max_compressed_len(elements as u64, Dtype::F32)?;
        let mut bytes = own.alloc_zeros::<u8>(room as usize).map_err(&allocate)?;
        let mut workspace = gpu.workspace_for(own, layout)?;
        gpu.compress(own, compressor, &field, &mut bytes, &mut workspace)?;
        let length = workspace.stream_bytes(own)? as usize;
        let wanted = own
            .clone_dtoh(&bytes.slice(..length))
            .map_err(failed("copy from the GPU"))?;
        if wanted != stream {
            return Err(Failure::failed("the stream is not that of one GPU"));
        }
        gpu.decompress(
            own,
            &Decompressor::new(),
            layout,
            &bytes,
            &mut field,
            &mut workspace,
        )?;
        workspace.check(own)?;
        drop(bytes);
        let mut at = 0;
        for (((_, stream), output), values) in self.all.iter().zip(outputs).zip(values) {
            let place = field.slice(at..at + values.len());
            at += values.len();
            let [found, wanted] = [
                stream
                    .clone_dtoh(&output.slice(..values.len()))
                    .map_err(failed("copy from the GPU"))?,
                own.clone_dtoh(&place)
                    .map_err(failed("copy from the GPU"))?,
            ];
            let same = found
                .iter()
                .zip(&wanted)
                .all(|(a, b)| a.to_bits() == b.to_bits());
            if !same || found.len() != wanted.len() {
                return Err(Failure::failed("the values are not those of one GPU"));
            }
        }
        Ok(())
    }
}

/// Calls on slices of the host, one cube for each GPU.
fn host_slices(flags: &Flags, all: usize, cube: &[f32]) -> Result<(), Failure> {
    let cubes = flags
        .gpus
        .iter()
        .copied()
        .filter(|count| *count <= all)
        .max();
    let cubes = cubes.unwrap_or(1);
    let field: Vec<f32> = (0..cubes).flat_map(|_| cube.iter().copied()).collect();
    let extents = [cubes as u64 * flags.edge, flags.edge, flags.edge];
    let bytes = size_of_val(&field[..]) as u64;
    let mut values = vec![0f32; field.len()];
    let mut wanted: Option<Vec<u8>> = None;
    for count in flags.gpus.iter().filter(|count| **count <= all) {
        let ordinals: Vec<String> = (0..*count).map(|ordinal| ordinal.to_string()).collect();
        let device: Device = format!("cuda:{}", ordinals.join(","))
            .parse()
            .map_err(Failure::failed)?;
        let bound = Bound::range(1e-3).map_err(Failure::failed)?;
        let compressor = Compressor::new(Codec::PLAIN, bound)
            .extents(&extents)?
            .device(device);
        let decompressor = Decompressor::new().device(device);
        let mut stream =
            vec![0; compressor.max_compressed_len(field.len() as u64, Dtype::F32)? as usize];
        let mut length = 0;
        let compress = sample(1, 5, || {
            let start = Instant::now();
            length = compressor.compress_into(&field, &mut stream)?;
            Ok::<_, Failure>(start.elapsed().as_secs_f64())
        })?;
        stream.truncate(length);
        let decompress = sample(1, 5, || {
            let start = Instant::now();
            decompressor.decompress_into(&stream, &mut values)?;
            Ok::<_, Failure>(start.elapsed().as_secs_f64())
        })?;
        if *wanted.get_or_insert_with(|| stream.clone()) != stream {
            return Err(Failure::failed("the stream is not that of one GPU"));
        }
        output::print(&format!(
            "| `plain`, range 1e-3 | {} x {} x {} | {count} | {:.1} | {:.1} |\n",
            extents[0],
            extents[1],
            extents[2],
            compress.rate(bytes),
            decompress.rate(bytes),
        ))?;
    }
    Ok(())
}
