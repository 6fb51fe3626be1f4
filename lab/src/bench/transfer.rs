//! `ferrosz-lab transfer`: fields that travel over the bus of a GPU, compressed, beside a copy of their values.

use super::device_call::open;
use super::times::{Times, sample};
use clap::Args;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream, result};
use ferrosz::cuda::{Gpu, Packed, PinnedMemory, Transfer, Workspace};
use ferrosz::internals::try_zeroed;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Error, Windows};
use ferrosz_cli::args::{Dims, ShapeFlags};
use ferrosz_cli::array::Field;
use ferrosz_cli::codec_choice::named;
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::location::Location;
use ferrosz_cli::{field_file, output};
use std::sync::Arc;
use std::time::Instant;

/// `ferrosz-lab transfer`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Arrays of f32
    #[arg(value_name = "FIELD", required = true)]
    pub fields: Vec<std::ffi::OsString>,
    /// Dimensions of raw values
    #[arg(long, value_name = "Z,Y,X")]
    pub dims: Option<Dims>,
    /// Codecs
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = named, default_value = "plain,lorenzo,lorenzo+rans")]
    pub codec: Vec<Codec>,
    /// Bounds relative to the range
    #[arg(
        long,
        value_name = "E,...",
        value_delimiter = ',',
        default_value = "1e-2,1e-3,1e-4"
    )]
    pub range: Vec<f64>,
    /// MiB of the values of a window
    #[arg(
        long,
        value_name = "MIB,...",
        value_delimiter = ',',
        default_value = "64"
    )]
    pub window: Vec<u64>,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Also transfers whose host side is the CPU, and calls on slices of the host
    #[arg(long)]
    pub host: bool,
}

const WARM_UP: u32 = 2;

const HEADING: &str = "\
| field | codec | bound | MiB | ratio | to the host | kernels | limit | of the limit | back | kernels | limit | of the limit | moved |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Measures transfers, and prints a table. Every stream and every value is compared with those of the CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    let (gpu, stream) = open(common.device)?;
    for name in &flags.fields {
        let location = Location::from(name.clone());
        let shape = ShapeFlags {
            dtype: Some(ferrosz::ValueType::F32),
            dims: flags.dims.clone(),
            packed: false,
        };
        let Field::F32(array) = field_file::read(&location, &shape, None)? else {
            return Err(Failure::usage("the fields are of f32"));
        };
        let run = Run {
            flags,
            gpu: &gpu,
            stream: &stream,
            name: location
                .to_string()
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned(),
            extents: &array.extents,
            field: &array.values,
        };
        run.bus(common.device)?;
    }
    Ok(())
}

/// A field, and the GPU.
struct Run<'a> {
    flags: &'a Flags,
    gpu: &'a Gpu,
    stream: &'a Arc<CudaStream>,
    name: String,
    extents: &'a [u64],
    field: &'a [f32],
}

/// The error of a failed call of the driver.
fn failed(error: impl std::fmt::Debug) -> Failure {
    Failure::failed(format_args!("the driver failed: {error:?}"))
}

impl Run<'_> {
    fn bytes(&self) -> u64 {
        size_of_val(self.field) as u64
    }

    fn time(&self, mut work: impl FnMut() -> Result<(), Failure>) -> Result<Times, Failure> {
        sample(WARM_UP, self.flags.repeat, || {
            let start = Instant::now();
            work()?;
            Ok(start.elapsed().as_secs_f64())
        })
    }

    fn bus(&self, device: Device) -> Result<(), Failure> {
        let input = self.stream.clone_htod(self.field).map_err(failed)?;
        let mut output = self
            .stream
            .alloc_zeros::<f32>(self.field.len())
            .map_err(failed)?;
        let [down, up] = self.copies(&input, &mut output)?;
        output::print(&format!(
            "{}: {:.2} GiB; a pinned copy: {down:.1} GB/s to the host, {up:.1} GB/s back\n{HEADING}\n",
            self.name,
            self.bytes() as f64 / (1u64 << 30) as f64
        ))?;
        for mib in &self.flags.window {
            for range in &self.flags.range {
                for codec in &self.flags.codec {
                    self.row(*codec, *range, *mib, [down, up], &input, &mut output)?;
                }
            }
        }
        if self.flags.host {
            self.slices(device)?;
        }
        Ok(())
    }

    /// GB/s of copies to page-locked memory, and back.
    fn copies(
        &self,
        input: &CudaSlice<f32>,
        output: &mut CudaSlice<f32>,
    ) -> Result<[f64; 2], Failure> {
        let bytes = self.bytes();
        let mut pinned = PinnedMemory::new(self.gpu.context(), bytes)?;
        pinned.fill(1);
        let raw = self.stream.cu_stream();
        let from = address(self.stream, input);
        let down = self.time(|| {
            // SAFETY: both have so many bytes, and the copy is waited for.
            unsafe { result::memcpy_dtoh_async(&mut pinned[..], from, raw) }.map_err(failed)?;
            self.stream.synchronize().map_err(failed)
        })?;
        let to = address(self.stream, output);
        let up = self.time(|| {
            // SAFETY: as above.
            unsafe { result::memcpy_htod_async(to, &pinned[..], raw) }.map_err(failed)?;
            self.stream.synchronize().map_err(failed)
        })?;
        Ok([down, up].map(|times| times.rate(bytes)))
    }

    fn row(
        &self,
        codec: Codec,
        range: f64,
        mib: u64,
        [down, up]: [f64; 2],
        input: &CudaSlice<f32>,
        output: &mut CudaSlice<f32>,
    ) -> Result<(), Failure> {
        let windows = Windows::new(self.extents, (mib << 20) / 4)?;
        let bound = Bound::range(range).map_err(Failure::failed)?;
        let compressor = Compressor::new(codec, bound).absolute_for(self.field)?;
        let mut transfer = Transfer::new::<f32>(self.gpu, &compressor, &windows)?;
        let mut packed = Packed::new();
        let to_host = self.time(|| {
            packed.clear();
            Ok(transfer.pack(input, &mut packed)?)
        })?;
        let back = self.time(|| Ok(transfer.unpack(&packed, output)?))?;
        self.check(&compressor, &windows, &packed, output)?;
        let mut other = Transfer::new::<f32>(self.gpu, &compressor, &windows)?;
        let moved = self.time(|| Ok(transfer.move_to(input, &mut other, output)?))?;
        let [compress, decompress] = self.kernels(&compressor, &windows, input, output)?;
        let ratio = self.bytes() as f64 / packed.bytes() as f64;
        let rate = |times: Times| times.rate(self.bytes());
        let limits = [
            (ratio * down).min(rate(compress)),
            (ratio * up).min(rate(decompress)),
        ];
        output::print(&format!(
            "| {} | {codec} | {range:e} | {mib} | {ratio:.2} | {:.1} | {:.1} | {:.1} | {:.2} | {:.1} | {:.1} | {:.1} | {:.2} | {:.1} |\n",
            self.name,
            rate(to_host),
            rate(compress),
            limits[0],
            rate(to_host) / limits[0],
            rate(back),
            rate(decompress),
            limits[1],
            rate(back) / limits[1],
            rate(moved),
        ))?;
        if self.flags.host && codec == Codec::PLAIN {
            let mut values = self.field.to_vec();
            let download = self.time(|| Ok(transfer.download(input, &mut values)?))?;
            let upload = self.time(|| Ok(transfer.upload(self.field, output)?))?;
            output::print(&format!(
                "values, the CPU at one end: {:.1} GB/s to the host, {:.1} GB/s back\n",
                rate(download),
                rate(upload)
            ))?;
        }
        Ok(())
    }

    /// Compares the streams of some windows and all values with the CPU's.
    fn check(
        &self,
        compressor: &Compressor,
        windows: &Windows,
        packed: &Packed,
        output: &CudaSlice<f32>,
    ) -> Result<(), Failure> {
        let found = self.stream.clone_dtoh(output).map_err(failed)?;
        for window in windows.iter() {
            let stream = packed.stream(window.number as usize).unwrap_or_default();
            let decoded: Vec<f32> = Decompressor::new().device(Device::Cpu).decompress(stream)?;
            let is_first = window.number == 0;
            let own = compressor.for_window(&window)?.device(Device::Cpu);
            if is_first && own.compress(window.of(self.field)?)? != stream {
                return Err(Failure::failed("a stream is not the CPU's"));
            }
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
            if bits(window.of(&found)?) != bits(&decoded) {
                return Err(Failure::failed("values are not the CPU's"));
            }
        }
        Ok(())
    }

    /// Times of the kernels of all windows alone, in both directions.
    fn kernels(
        &self,
        compressor: &Compressor,
        windows: &Windows,
        input: &CudaSlice<f32>,
        output: &mut CudaSlice<f32>,
    ) -> Result<[Times; 2], Failure> {
        let stream = self.stream;
        let mut room = 0;
        let mut workspace: Option<Workspace> = None;
        let mut calls = Vec::new();
        for window in windows.iter() {
            let own = compressor.for_window(&window)?;
            let layout = own.stream_layout(window.count(), ferrosz::Dtype::F32)?;
            room = room.max(own.max_compressed_len(window.count(), ferrosz::Dtype::F32)?);
            if workspace.is_none() {
                workspace = Some(self.gpu.workspace_for(stream, layout)?);
            }
            let start = window.elements.start * 4;
            calls.push((own, layout, start, window.count()));
        }
        let mut workspace = workspace.ok_or(Error::NotChosen)?;
        let (from, to) = (address(stream, input), address(stream, output));
        let streams: Vec<CudaSlice<u8>> = (calls.iter())
            .map(|_| stream.alloc_zeros::<u8>(room as usize).map_err(failed))
            .collect::<Result<_, _>>()?;
        let compress = self.time(|| {
            for ((own, _, start, count), bytes) in calls.iter().zip(&streams) {
                let place = address(stream, bytes);
                // SAFETY: the window is within the field, and each stream has room.
                unsafe {
                    self.gpu.compress_raw::<f32>(
                        stream,
                        own,
                        from + start,
                        *count,
                        place,
                        room,
                        &mut workspace,
                    )?;
                }
            }
            stream.synchronize().map_err(failed)
        })?;
        let decompress = self.time(|| {
            for ((_, layout, start, count), bytes) in calls.iter().zip(&streams) {
                let place = address(stream, bytes);
                let whole = ferrosz::Part::Elements(0..*count);
                // SAFETY: as above.
                unsafe {
                    self.gpu.decompress_raw::<f32>(
                        stream,
                        &Decompressor::new(),
                        *layout,
                        (place, room),
                        &whole,
                        (to + start, *count),
                        &mut workspace,
                    )?;
                }
            }
            stream.synchronize().map_err(failed)
        })?;
        Ok([compress, decompress])
    }

    /// Calls on slices of the host that run on the GPU.
    fn slices(&self, device: Device) -> Result<(), Failure> {
        let mut copied = try_zeroed::<f32>(self.field.len() as u64)?;
        let memory = self.time(|| {
            use rayon::prelude::*;
            let parts = copied
                .par_chunks_mut(1 << 18)
                .zip(self.field.par_chunks(1 << 18));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        })?;
        output::print(&format!(
            "slices of the host: a copy with all threads: {:.1} GB/s\n| codec | compress | decompress to used memory | to new memory |\n| --- | --- | --- | --- |\n",
            memory.rate(self.bytes())
        ))?;
        for codec in &self.flags.codec {
            let bound = Bound::range(1e-3).map_err(Failure::failed)?;
            let compressor = Compressor::new(*codec, bound)
                .extents(self.extents)?
                .device(device);
            let decompressor = Decompressor::new().device(device);
            let stream = compressor.compress(self.field)?;
            let compress = self.time(|| {
                compressor.compress(self.field)?;
                Ok(())
            })?;
            let used = self.time(|| {
                decompressor.decompress_into(&stream, &mut copied)?;
                Ok(())
            })?;
            let new = self.time(|| {
                decompressor.decompress::<f32>(&stream)?;
                Ok(())
            })?;
            output::print(&format!(
                "| {codec} | {:.1} | {:.1} | {:.1} |\n",
                compress.rate(self.bytes()),
                used.rate(self.bytes()),
                new.rate(self.bytes())
            ))?;
        }
        Ok(())
    }
}

/// The address of a buffer.
fn address<T>(stream: &Arc<CudaStream>, buffer: &CudaSlice<T>) -> u64 {
    use ferrosz::cuda::cudarc::driver::DevicePtr;
    let (address, _use) = buffer.device_ptr(stream);
    address
}
