//! `ferrosz-lab calls`: whole calls with a preset, beside the same calls with the codec, rank, axes and chunks that it chose.

use super::device_call::{OnDevice, open};
use super::field::load_whole;
use super::flags::{File, Source, Synthetic};
use super::times::{Times, sample};
use clap::Args;
use ferrosz::{Bound, Compressor, Device, Error, Preset, Value};
use ferrosz_cli::args::ShapeFlags;
use ferrosz_cli::array::{Array, Field};
use ferrosz_cli::bounds::Bounds;
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::{output, report};
use std::time::Instant;

/// Calls before those that are timed.
const WARM_UP: u32 = 2;

/// `ferrosz-lab calls`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Arrays to measure: .npy, or raw values with their own dimensions
    #[arg(value_name = "FIELD[:Z,Y,X]", value_parser = super::flags::file())]
    pub files: Vec<File>,
    /// Element type and dimensions of raw arrays.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// A synthetic field: waves (with noise), sparse (mostly zero) or walk (random); a cube of EDGE, by default 256
    #[arg(long, value_name = "NAME[:EDGE]")]
    pub synthetic: Vec<Synthetic>,
    /// The error bounds.
    #[command(flatten)]
    pub bounds: Bounds,
    /// The presets, all by default
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub preset: Vec<Preset>,
    /// Timed calls, after two that are not timed
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// Measures all presets on all fields, and prints a table. On a GPU the fields and the streams are in its memory, and a call
/// ends when the length of the stream is known.
///
/// # Errors
///
/// If there is no GPU, or a call fails.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    output::print(&format!("{HEADING}\n"))?;
    let files = flags.files.iter().cloned().map(Source::File);
    let made = flags.synthetic.iter().copied().map(Source::Synthetic);
    for source in files.chain(made) {
        let (name, field) = load_whole(&source, &flags.shape)?;
        for bound in flags.bounds.all_or(&[1e-3])? {
            let case = Case {
                name: &name,
                bound,
                repeat: flags.repeat,
                device: common.device,
                presets: if flags.preset.is_empty() {
                    &Preset::ALL
                } else {
                    &flags.preset
                },
            };
            match &field {
                Field::F32(array) => case.measure(array)?,
                Field::F64(array) => case.measure(array)?,
                other => return Err(other.is_not_of_elements()),
            }
        }
    }
    Ok(())
}

const HEADING: &str = "\
us: medians; times: of the call with the preset, as many times as long as with what it chose
| field | bytes | bound | preset | chosen | ratio | call, us | chosen, us | times | GB/s |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

struct Case<'a> {
    name: &'a str,
    bound: Bound,
    repeat: u32,
    device: Device,
    presets: &'a [Preset],
}

impl Case<'_> {
    fn measure<V: OnDevice>(&self, array: &Array<V>) -> Result<(), Failure> {
        let values = array.values.to_vec();
        for preset in self.presets.iter().copied() {
            let whole = Compressor::new(preset, self.bound).extents(&array.extents)?;
            let (stream_bytes, chosen, [call, alone]) = match self.device {
                Device::Cpu => self.on_cpu(&whole.device(Device::Cpu), &values)?,
                _ => self.on_gpu(&whole, &values)?,
            };
            let bytes = size_of_val(&values[..]) as u64;
            let [call_us, alone_us] = [call, alone].map(|times| times.microseconds()[1]);
            output::print(&format!(
                "| {} | {bytes} | {} | {preset} | {} {} | {:.2} | {call_us:.0} | {alone_us:.0} | {:.2} | {:.2} |\n",
                self.name,
                report::bound(self.bound),
                chosen.codec().map_or("-", |codec| codec.name()),
                chosen.rank().unwrap_or_default(),
                bytes as f64 / stream_bytes as f64,
                call_us / alone_us,
                call.rate(bytes),
            ))?;
        }
        Ok(())
    }

    fn on_cpu<V: Value>(&self, preset: &Compressor, values: &[V]) -> Result<Measured, Failure> {
        let chosen = preset.choose(values)?;
        let time = |compressor: &Compressor| {
            sample(WARM_UP, self.repeat, || {
                let start = Instant::now();
                compressor.compress(values)?;
                Ok::<f64, Error>(start.elapsed().as_secs_f64())
            })
        };
        let times = [time(preset)?, time(&chosen)?];
        let stream = preset.compress(values)?;
        Ok((stream.len() as u64, chosen, times))
    }

    fn on_gpu<V: OnDevice>(&self, preset: &Compressor, values: &[V]) -> Result<Measured, Failure> {
        let (gpu, stream) = open(self.device)?;
        let elements = values.len() as u64;
        let no_memory = |bytes| move |_| Error::OutOfMemory { bytes };
        let input = stream.clone_htod(values);
        let input = input.map_err(no_memory(size_of_val(values) as u64))?;
        let mut of_choice = gpu.workspace(&stream, elements)?;
        let chosen = *gpu
            .choose(&stream, preset, &input, &mut of_choice)?
            .compressor();
        let room = chosen.max_compressed_len(elements, V::TYPE)?;
        let output = stream.alloc_zeros::<u8>(room as usize);
        let mut output = output.map_err(no_memory(room))?;
        let layout = chosen.stream_layout(elements, V::TYPE)?;
        let mut workspace = gpu.workspace_for(&stream, layout)?;
        let mut call = |compressor: &Compressor| {
            let start = Instant::now();
            let choice = gpu.choose(&stream, compressor, &input, &mut of_choice)?;
            gpu.compress(&stream, choice, &input, &mut output, &mut workspace)?;
            let length = workspace.stream_bytes(&stream)?;
            Ok::<_, Error>((start.elapsed().as_secs_f64(), length))
        };
        let (_, length) = call(preset)?;
        let mut time = |compressor: &Compressor| {
            sample(WARM_UP, self.repeat, || {
                call(compressor).map(|(seconds, _)| seconds)
            })
        };
        let times = [time(preset)?, time(&chosen)?];
        Ok((length, chosen, times))
    }
}

/// Bytes of the stream, what was chosen, and the times of the call and of the call with that.
type Measured = (u64, Compressor, [Times; 2]);
