//! `ferrosz-lab transfer`: fields that travel over the bus of a GPU, compressed, beside a copy of their values.

use super::flags::{Fields, Sweep};
use super::gpu::{OneGpu, failed};
use super::{agree, field::load_whole, machine, markdown, times::by_clock};
use clap::Args;
use ferrosz::cuda::cudarc::driver::{CudaSlice, result};
use ferrosz::cuda::{AtAddress, Packed, PinnedMemory, Transfer, Workspace};
use ferrosz::internals::try_zeroed;
use ferrosz::windows::Windows;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, ValueType};
use ferrosz_cli::{
    args::ShapeFlags,
    array::{ArrayType, Field},
    common::Common,
    failure::Failure,
    output,
};

/// Calls before those that are timed.
const WARM_UP: u32 = 2;

/// `ferrosz-lab transfer`.
#[derive(Debug, Args)]
#[command(
    mut_arg("codec", |codec| codec.default_value("plain,lorenzo,lorenzo+rans")),
    mut_arg("range", |range| range.default_value("1e-2,1e-3,1e-4"))
)]
pub struct Transfers {
    /// The fields, of f32.
    #[command(flatten)]
    pub fields: Fields,
    /// Codecs and bounds.
    #[command(flatten)]
    pub sweep: Sweep,
    /// MiB of the values of a window
    #[arg(long, value_delimiter = ',', default_value = "64")]
    pub window: Vec<u64>,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// Measures transfers, and prints a table. Every stream and every value is compared with those of the CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Transfers, common: &Common) -> Result<(), Failure> {
    let at = OneGpu::of(common.device)?;
    let shape = ShapeFlags {
        dtype: Some(ArrayType::real(ValueType::F32)),
        ..flags.fields.shape.clone()
    };
    for source in flags.fields.sources() {
        let (name, Field::F32(array)) = load_whole(&source, &shape)? else {
            return Err(Failure::usage("the fields are of f32"));
        };
        let bus = Bus {
            flags,
            at: &at,
            name,
            extents: &array.extents,
            field: &array.values,
        };
        bus.measure(common.device)?;
    }
    Ok(())
}

/// A field, and the GPU that it travels from and to.
struct Bus<'a> {
    flags: &'a Transfers,
    at: &'a OneGpu,
    name: String,
    extents: &'a [u64],
    field: &'a [f32],
}

/// A field in the memory of the GPU, memory for the decoded one, and GB/s of a copy to the host and back.
struct There {
    input: CudaSlice<f32>,
    output: CudaSlice<f32>,
    copies: [f64; 2],
}

impl Bus<'_> {
    fn bytes(&self) -> u64 {
        size_of_val(self.field) as u64
    }

    /// GB/s of the field by the host's clock.
    fn rate(&self, work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
        Ok(by_clock(WARM_UP, self.flags.repeat, work)?.rate(self.bytes()))
    }

    fn measure(&self, device: Device) -> Result<(), Failure> {
        let mut there = There {
            input: self.at.upload(self.field)?,
            output: self.at.allocate(self.field.len() as u64)?,
            copies: [0.0; 2],
        };
        there.copies = self.copies(&there)?;
        let [down, up] = there.copies;
        output::print(&format!(
            "{}: {:.2} GiB; a pinned copy: {down:.1} GB/s to the host, {up:.1} GB/s back\n",
            self.name,
            self.bytes() as f64 / (1u64 << 30) as f64
        ))?;
        markdown::heading(
            "field | codec | bound | MiB | ratio | to the host | kernels | limit | of the limit | back | kernels | limit | of the limit | moved",
        )?;
        for mib in &self.flags.window {
            for range in &self.flags.sweep.range {
                for codec in &self.flags.sweep.codec {
                    self.row(*codec, *range, *mib, &mut there)?;
                }
            }
        }
        match self.flags.sweep.host {
            true => self.slices(device),
            false => Ok(()),
        }
    }

    /// GB/s of copies to page-locked memory, and back.
    fn copies(&self, there: &There) -> Result<[f64; 2], Failure> {
        let mut pinned = PinnedMemory::new(self.at.gpu.context(), self.bytes())?;
        pinned.fill(1);
        let raw = self.at.stream.cu_stream();
        let from = self.at.address(&there.input);
        let down = self.rate(|| {
            // SAFETY: both have so many bytes, and the copy is waited for.
            unsafe { result::memcpy_dtoh_async(&mut pinned[..], from, raw) }
                .map_err(failed("copy from the GPU"))?;
            self.at.wait()
        })?;
        let to = self.at.address(&there.output);
        let up = self.rate(|| {
            // SAFETY: as above.
            unsafe { result::memcpy_htod_async(to, &pinned[..], raw) }
                .map_err(failed("copy to the GPU"))?;
            self.at.wait()
        })?;
        Ok([down, up])
    }

    fn row(&self, codec: Codec, range: f64, mib: u64, there: &mut There) -> Result<(), Failure> {
        let windows = Windows::new(self.extents, (mib << 20) / 4)?;
        let bound = Bound::range(range).map_err(Failure::failed)?;
        let compressor = Compressor::new(codec, bound).absolute_for(self.field)?;
        let new = || Transfer::new::<f32>(&self.at.gpu, &compressor, &windows);
        let (mut transfer, mut packed) = (new()?, Packed::new());
        let (input, output) = (&there.input, &mut there.output);
        let to_host = self.rate(|| {
            packed.clear();
            Ok(transfer.pack(input, &mut packed)?)
        })?;
        let back = self.rate(|| Ok(transfer.unpack(&packed, output)?))?;
        self.check(&compressor, &windows, &packed, output)?;
        let mut other = new()?;
        let moved = self.rate(|| Ok(transfer.move_to(input, &mut other, output)?))?;
        let [compress, decompress] = self.kernels(&compressor, &windows, input, output)?;
        let ratio = self.bytes() as f64 / packed.bytes() as f64;
        let [down, up] = there.copies.map(|rate| ratio * rate);
        let limits = [down.min(compress), up.min(decompress)];
        markdown::row(format_args!(
            "{} | {codec} | {range:e} | {mib} | {ratio:.2} | {to_host:.1} | {compress:.1} | {:.1} | {:.2} | {back:.1} | {decompress:.1} | {:.1} | {:.2} | {moved:.1}",
            self.name,
            limits[0],
            to_host / limits[0],
            limits[1],
            back / limits[1],
        ))?;
        if self.flags.sweep.host && codec == Codec::PLAIN {
            let mut values = self.field.to_vec();
            let download = self.rate(|| Ok(transfer.download(input, &mut values)?))?;
            let upload = self.rate(|| Ok(transfer.upload(self.field, output)?))?;
            output::print(&format!(
                "values, the CPU at one end: {download:.1} GB/s to the host, {upload:.1} GB/s back\n"
            ))?;
        }
        Ok(())
    }

    /// Compares the stream of the first window and all values with the CPU's.
    fn check(
        &self,
        compressor: &Compressor,
        windows: &Windows,
        packed: &Packed,
        output: &CudaSlice<f32>,
    ) -> Result<(), Failure> {
        let found = self.at.download(output)?;
        for window in windows.iter() {
            let stream = packed.stream(window.number as usize).unwrap_or_default();
            let decoded: Vec<f32> = Decompressor::new().device(Device::Cpu).decompress(stream)?;
            if window.number == 0 {
                let own = compressor.for_window(&window)?.device(Device::Cpu);
                agree::streams(stream, &own.compress(window.of(self.field)?)?)?;
            }
            agree::fields(window.of(&found)?, &decoded)?;
        }
        Ok(())
    }

    /// GB/s of the kernels of all windows alone, in both directions.
    fn kernels(
        &self,
        compressor: &Compressor,
        windows: &Windows,
        input: &CudaSlice<f32>,
        output: &CudaSlice<f32>,
    ) -> Result<[f64; 2], Failure> {
        let OneGpu { gpu, stream } = self.at;
        let mut room = 0;
        let mut workspace: Option<Workspace> = None;
        let mut calls = Vec::new();
        for window in windows.iter() {
            let own = compressor.for_window(&window)?;
            let layout = own.stream_layout(window.count(), Dtype::F32)?;
            room = room.max(own.max_compressed_len(window.count(), Dtype::F32)?);
            if workspace.is_none() {
                workspace = Some(gpu.workspace_for(stream, layout)?);
            }
            calls.push((own, layout, window.elements.start * 4, window.count()));
        }
        let mut workspace = workspace.ok_or(Error::NotChosen)?;
        let (from, to) = (self.at.address(input), self.at.address(output));
        let streams = calls.iter().map(|_| self.at.allocate(room));
        let streams: Vec<CudaSlice<u8>> = streams.collect::<Result<_, _>>()?;
        // SAFETY: each stream has room, which lives until the work is done.
        let room_of = |bytes| unsafe { AtAddress::<u8>::new(stream, self.at.address(bytes), room) };
        // SAFETY: windows are within the two fields, which live until the work is done.
        let window = |field, count| unsafe { AtAddress::<f32>::new(stream, field, count) };
        let compress = self.rate(|| {
            for ((own, _, start, count), bytes) in calls.iter().zip(&streams) {
                let (field, mut room) = (window(from + start, *count), room_of(bytes));
                gpu.compress(stream, own, &field, &mut room, &mut workspace)?;
            }
            self.at.wait()
        })?;
        let decompressor = Decompressor::new();
        let decompress = self.rate(|| {
            for ((_, layout, start, count), bytes) in calls.iter().zip(&streams) {
                let (bytes, mut field) = (room_of(bytes), window(to + start, *count));
                let work = &mut workspace;
                gpu.decompress(stream, &decompressor, *layout, &bytes, &mut field, work)?;
            }
            self.at.wait()
        })?;
        Ok([compress, decompress])
    }

    /// Calls on slices of the host that run on the GPU.
    fn slices(&self, device: Device) -> Result<(), Failure> {
        let mut copied = try_zeroed::<f32>(self.field.len() as u64)?;
        let memory = self.rate(|| {
            machine::copy(self.field, &mut copied);
            Ok(())
        })?;
        output::print(&format!(
            "slices of the host: a copy with all threads: {memory:.1} GB/s\n"
        ))?;
        markdown::heading("codec | compress | decompress to used memory | to new memory")?;
        for codec in &self.flags.sweep.codec {
            let bound = Bound::range(1e-3).map_err(Failure::failed)?;
            let compressor = Compressor::new(*codec, bound).extents(self.extents)?;
            let compressor = compressor.device(device);
            let decompressor = Decompressor::new().device(device);
            let stream = compressor.compress(self.field)?;
            let compress = self.rate(|| {
                compressor.compress(self.field)?;
                Ok(())
            })?;
            let used = self.rate(|| {
                decompressor.decompress_into(&stream, &mut copied)?;
                Ok(())
            })?;
            let new = self.rate(|| {
                decompressor.decompress::<f32>(&stream)?;
                Ok(())
            })?;
            markdown::row(format_args!(
                "{codec} | {compress:.1} | {used:.1} | {new:.1}"
            ))?;
        }
        Ok(())
    }
}
