//! `ferrosz-lab gpus`: one field in the memory of several GPUs, beside one GPU.

use super::flags::{Cube, Sweep};
use super::times::{Times, by_clock};
use super::{
    agree, coding::Coding, container::Container, device_memory::DeviceMemory, gpu::OneGpu,
    markdown, synthetic::Kind,
};
use clap::Args;
use ferrosz::cuda::Slabs;
use ferrosz::cuda::cudarc::driver::CudaSlice;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype};
use ferrosz_cli::{failure::Failure, output};

/// Calls before those that are timed.
const WARM_UP: u32 = 5;

/// `ferrosz-lab gpus`.
#[derive(Debug, Args)]
#[command(
    mut_arg("codec", |codec| codec.default_value("plain,outlier,lorenzo")),
    mut_arg("range", |range| range
        .default_value("1e-3")
        .help("Bounds relative to the range; `abs` is the absolute bound that follows from the first one")),
    mut_arg("edge", |edge| edge.value_parser(clap::value_parser!(u64).range(16..=2048))),
    mut_arg("repeat", |repeat| repeat.default_value("50"))
)]
pub struct Gpus {
    /// Numbers of GPUs; those that the machine does not have are left out
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8")]
    pub gpus: Vec<usize>,
    /// The cube that fields consist of.
    #[command(flatten)]
    pub cube: Cube,
    /// Cubes behind each other that a GPU has
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    pub cubes: Vec<u64>,
    /// Codecs and bounds.
    #[command(flatten)]
    pub sweep: Sweep,
}

/// Measures and prints a table: each GPU has a field of the same extents, and they are one field. Times are medians by the
/// host's clock around calls that wait for all GPUs. Streams and values are compared with those of one GPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Gpus) -> Result<(), Failure> {
    let mut all = vec![OneGpu::new(0)?];
    while let Ok(gpu) = OneGpu::new(all.len()) {
        all.push(gpu);
    }
    let name = all[0].name()?;
    output::print(&format!("{} x {name}\n", all.len()))?;
    markdown::heading(
        "codec | bound | field | GPUs | compress GB/s | times one | decompress GB/s | times one | ratio | stream and values",
    )?;
    let cube = Kind::Waves.cube(flags.cube.edge as usize);
    for cubes in &flags.cubes {
        let slabs = OfCubes {
            flags,
            all: &all,
            cube: &cube,
            cubes: *cubes,
        };
        slabs.tables()?;
    }
    if flags.sweep.host {
        output::print("\n")?;
        markdown::heading("slices of the host | field | GPUs | compress GB/s | decompress GB/s")?;
        host_slices(flags, all.len(), &cube)?;
    }
    Ok(())
}

/// Fields of so many cubes for each GPU.
struct OfCubes<'a> {
    flags: &'a Gpus,
    all: &'a [OneGpu],
    cube: &'a [f32],
    cubes: u64,
}

impl OfCubes<'_> {
    fn tables(&self) -> Result<(), Failure> {
        let ranges = &self.flags.sweep.range;
        for codec in &self.flags.sweep.codec {
            for range in ranges {
                self.table(*codec, Bound::range(*range).map_err(Failure::failed)?)?;
            }
            // The same without the search for the extremes.
            let range = ranges.first().copied().unwrap_or(1e-3);
            self.table(*codec, Bound::abs(4.0 * range).map_err(Failure::failed)?)?;
        }
        Ok(())
    }

    /// The rows of a codec and a bound.
    fn table(&self, codec: Codec, bound: Bound) -> Result<(), Failure> {
        let mut of_one: Option<[f64; 2]> = None;
        let counts = self.flags.gpus.iter().copied();
        for count in counts.filter(|count| *count <= self.all.len()) {
            let edge = self.flags.cube.edge;
            let extents = [count as u64 * self.cubes * edge, edge, edge];
            let compressor = Compressor::new(codec, bound).extents(&extents)?;
            let (stream_bytes, times) = self.measure(count, &compressor)?;
            let bytes = 4 * extents.iter().product::<u64>();
            let rates = times.map(|times| times.rate(bytes));
            let of_one = of_one.get_or_insert(rates.map(|rate| rate / count as f64));
            let [compress, decompress] = rates;
            markdown::row(format_args!(
                "`{codec}` | {} {:e} | {} x {edge} x {edge} | {count} | {compress:.1} | {:.2} | {decompress:.1} | {:.2} | {:.2} | equal",
                bound.mode(),
                bound.value(),
                extents[0],
                compress / of_one[0],
                decompress / of_one[1],
                bytes as f64 / stream_bytes as f64,
            ))?;
        }
        Ok(())
    }

    /// The field of so many GPUs, each cube of which is on a level of its own.
    fn field(&self, count: usize) -> Vec<f32> {
        let cubes = count * self.cubes as usize;
        let mut values = Vec::with_capacity(self.cube.len() * cubes);
        for cube in 0..cubes {
            let level = 0.125 * cube as f32;
            values.extend(self.cube.iter().map(|value| value + level));
        }
        values
    }

    /// The bytes of the stream, and the times of both directions.
    fn measure(&self, count: usize, compressor: &Compressor) -> Result<(u64, [Times; 2]), Failure> {
        let gpus = &self.all[..count];
        let pairs: Vec<_> = (gpus.iter())
            .map(|at| (at.gpu.clone(), at.stream.clone()))
            .collect();
        let mut slabs = Slabs::new::<f32>(&pairs, compressor)?;
        let values = self.field(count);
        let own = values.len() / count;
        let (mut fields, mut outputs) = (Vec::new(), Vec::new());
        for (number, at) in gpus.iter().enumerate() {
            let length = own + slabs.elements_behind(number) as usize;
            fields.push(at.upload(&values[number * own..][..length])?);
            outputs.push(at.allocate::<f32>(length as u64)?);
        }
        let decompressor = Decompressor::new();
        let repeat = self.flags.cube.repeat;
        let compress = by_clock(WARM_UP, repeat, || Ok(slabs.compress(&fields)?))?;
        let decompress = by_clock(WARM_UP, repeat, || {
            Ok(slabs.decompress(&decompressor, &mut outputs)?)
        })?;
        let stream = slabs.to_host()?;
        drop((slabs, fields));
        self.check(compressor, &values, &stream, &outputs)?;
        Ok((stream.len() as u64, [compress, decompress]))
    }

    /// Compares a stream, and the values that several GPUs have decoded, with those of the first GPU alone.
    fn check(
        &self,
        compressor: &Compressor,
        values: &[f32],
        stream: &[u8],
        outputs: &[CudaSlice<f32>],
    ) -> Result<(), Failure> {
        let coding = Container::new(compressor, values)?;
        let first = &self.all[0];
        let mut memory = DeviceMemory::new(first, values, &coding)?;
        coding.enqueue_compress(first, &mut memory)?;
        agree::streams(stream, &memory.stream(first)?)?;
        coding.enqueue_decompress(first, &mut memory)?;
        let expected = memory.values(first, values.len())?;
        let slabs = expected.chunks(values.len() / outputs.len());
        for ((at, output), expected) in self.all.iter().zip(outputs).zip(slabs) {
            agree::fields(&at.download(&output.slice(..expected.len()))?, expected)?;
        }
        Ok(())
    }
}

/// Calls on slices of the host, one cube for each GPU.
fn host_slices(flags: &Gpus, all: usize, cube: &[f32]) -> Result<(), Failure> {
    let counts = || flags.gpus.iter().copied().filter(|count| *count <= all);
    let field = cube.repeat(counts().max().unwrap_or(1));
    let edge = flags.cube.edge;
    let length = field.len() as u64 / (edge * edge);
    let bytes = size_of_val(&field[..]) as u64;
    let bound = Bound::range(1e-3).map_err(Failure::failed)?;
    let mut values = vec![0f32; field.len()];
    let mut expected: Option<Vec<u8>> = None;
    for count in counts() {
        let ordinals: Vec<String> = (0..count).map(|ordinal| ordinal.to_string()).collect();
        let device = format!("cuda:{}", ordinals.join(","));
        let device: Device = device.parse().map_err(Failure::failed)?;
        let compressor = Compressor::new(Codec::PLAIN, bound).extents(&[length, edge, edge])?;
        let compressor = compressor.device(device);
        let decompressor = Decompressor::new().device(device);
        let room = compressor.max_compressed_len(field.len() as u64, Dtype::F32)?;
        let mut stream = vec![0; room as usize];
        let mut length_of_stream = 0;
        let compress = by_clock(1, 5, || {
            length_of_stream = compressor.compress_into(&field, &mut stream)?;
            Ok(())
        })?;
        stream.truncate(length_of_stream);
        let decompress = by_clock(1, 5, || {
            decompressor.decompress_into(&stream, &mut values)?;
            Ok(())
        })?;
        agree::streams(&stream, expected.get_or_insert_with(|| stream.clone()))?;
        markdown::row(format_args!(
            "`plain`, range 1e-3 | {length} x {edge} x {edge} | {count} | {:.1} | {:.1}",
            compress.rate(bytes),
            decompress.rate(bytes),
        ))?;
    }
    Ok(())
}
