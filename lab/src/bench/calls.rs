//! `ferrosz-lab calls`: whole calls with a preset, beside the same calls with the codec, rank, axes and chunks that it chose.

use super::gpu::{OnDevice, OneGpu};
use super::times::{Times, by_clock};
use super::{field::load_whole, flags::Fields, markdown};
use clap::Args;
use ferrosz::{Bound, Compressor, Device, Preset, Value};
use ferrosz_cli::{
    array::Array, bounds::Bounds, common::Common, failure::Failure, output, report,
    with_element_field,
};

/// Calls before those that are timed.
const WARM_UP: u32 = 2;

/// `ferrosz-lab calls`.
#[derive(Debug, Args)]
pub struct Calls {
    /// The fields.
    #[command(flatten)]
    pub fields: Fields,
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
pub fn run(flags: &Calls, common: &Common) -> Result<(), Failure> {
    output::print(
        "us: medians; times: of the call with the preset, as many times as long as with what it chose\n",
    )?;
    markdown::heading(
        "field | bytes | bound | preset | chosen | ratio | call, us | chosen, us | times | GB/s",
    )?;
    for source in flags.fields.sources() {
        let (name, field) = load_whole(&source, &flags.fields.shape)?;
        for bound in flags.bounds.all_or(&[1e-3])? {
            with_element_field!(&field, array => flags.measure(common.device, &name, array, bound))?;
        }
    }
    Ok(())
}

/// Bytes of the stream, what was chosen, and the times of the call and of the call with that.
type Called = (u64, Compressor, [Times; 2]);

impl Calls {
    /// Prints the rows of a field and a bound.
    fn measure<V: OnDevice>(
        &self,
        device: Device,
        name: &str,
        array: &Array<V>,
        bound: Bound,
    ) -> Result<(), Failure> {
        let presets = match &self.preset[..] {
            [] => &Preset::ALL[..],
            asked => asked,
        };
        let values = array.values.to_vec();
        for preset in presets {
            let whole = Compressor::new(*preset, bound).extents(&array.extents)?;
            let (stream_bytes, chosen, [call, alone]) = match device {
                Device::Cpu => self.on_cpu(&whole.device(Device::Cpu), &values)?,
                _ => self.on_gpu(device, &whole, &values)?,
            };
            let bytes = size_of_val(&values[..]) as u64;
            let [call_us, alone_us] = [call, alone].map(|times| times.microseconds()[1]);
            markdown::row(format_args!(
                "{name} | {bytes} | {} | {preset} | {} {} | {:.2} | {call_us:.0} | {alone_us:.0} | {:.2} | {:.2}",
                report::bound(bound),
                chosen.codec().map_or("-", |codec| codec.name()),
                chosen.rank().unwrap_or_default(),
                bytes as f64 / stream_bytes as f64,
                call_us / alone_us,
                call.rate(bytes),
            ))?;
        }
        Ok(())
    }

    fn on_cpu<V: Value>(&self, preset: &Compressor, values: &[V]) -> Result<Called, Failure> {
        let chosen = preset.choose(values)?;
        let time = |compressor: &Compressor| {
            by_clock(WARM_UP, self.repeat, || {
                compressor.compress(values)?;
                Ok(())
            })
        };
        let times = [time(preset)?, time(&chosen)?];
        let stream = preset.compress(values)?;
        Ok((stream.len() as u64, chosen, times))
    }

    fn on_gpu<V: OnDevice>(
        &self,
        device: Device,
        preset: &Compressor,
        values: &[V],
    ) -> Result<Called, Failure> {
        let at = OneGpu::of(device)?;
        let (gpu, stream) = (&at.gpu, &at.stream);
        let elements = values.len() as u64;
        let input = at.upload(values)?;
        let mut of_choice = gpu.workspace(stream, elements)?;
        let chosen = gpu.choose(stream, preset, &input, &mut of_choice)?;
        let chosen = *chosen.compressor();
        let mut output = at.allocate(chosen.max_compressed_len(elements, V::TYPE)?)?;
        let layout = chosen.stream_layout(elements, V::TYPE)?;
        let mut workspace = gpu.workspace_for(stream, layout)?;
        let mut call = |compressor: &Compressor| {
            let choice = gpu.choose(stream, compressor, &input, &mut of_choice)?;
            gpu.compress(stream, choice, &input, &mut output, &mut workspace)?;
            workspace.stream_bytes(stream)
        };
        let length = call(preset)?;
        let mut time = |compressor: &Compressor| {
            by_clock(WARM_UP, self.repeat, || {
                call(compressor)?;
                Ok(())
            })
        };
        let times = [time(preset)?, time(&chosen)?];
        Ok((length, chosen, times))
    }
}
