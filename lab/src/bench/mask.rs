//! `ferrosz-lab mask`: the time of a mask on a GPU, beside the same field without one.

use super::synthetic::Kind;
use super::times::{Times, sample};
use clap::Args;
use ferrosz::cuda::Gpu;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream, DriverError, sys};
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Dtype, Error, Fill, Shape, StreamLayout,
};
use ferrosz_cli::common::Common;
use ferrosz_cli::failure::Failure;
use ferrosz_cli::output;
use std::sync::Arc;

/// Runs before the timed ones: the first loads kernels, the next raise the clocks.
const WARM_UP: u32 = 3;

/// The value of missing elements.
const FILL: f32 = 1e20;

/// The share of missing elements.
const SHARE: f64 = 0.3;

/// The bound, relative to the range of the elements that are not missing.
const BOUND: f64 = 1e-3;

/// The byte that fills the memory of streams and values before they are written.
const POISON: u8 = 0xA5;

/// The codecs that are measured.
const CODECS: [Codec; 3] = [Codec::PLAIN, Codec::LORENZO, Codec::INTERP];

/// `ferrosz-lab mask`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Elements along each of the three edges of the field
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub edge: u64,
}

/// Where elements are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// Nowhere, and there is no mask.
    None,
    /// In a ball in the middle.
    Ball,
    /// At random.
    Random,
}

impl Missing {
    const ALL: [Self; 3] = [Self::None, Self::Ball, Self::Random];

    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ball => "a ball",
            Self::Random => "random",
        }
    }

    /// Whether an element of a cube is missing.
    fn has(self, edge: usize, element: usize) -> bool {
        match self {
            Self::None => false,
            Self::Ball => {
                let at = [element / edge / edge, element / edge % edge, element % edge];
                let from_middle = at.map(|at| (at as f64 + 0.5) / edge as f64 - 0.5);
                let squares: f64 = from_middle.iter().map(|x| x * x).sum();
                // The volume of a ball is 4 / 3 pi times the third power of its radius.
                squares.powf(1.5) * 4.0 / 3.0 * std::f64::consts::PI < SHARE
            }
            Self::Random => {
                let mixed = (element as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                ((mixed >> 11) as f64) < SHARE * (1u64 << 53) as f64
            }
        }
    }
}

/// Measures codecs and masks on a GPU, and prints a table. Every stream and every value is compared with those of the
/// CPU.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    let ordinal = match common.device {
        Device::Auto => 0,
        Device::Cuda(ordinal) => ordinal,
        _ => return Err(Failure::usage("masks are measured on a GPU: --device cuda")),
    };
    let gpu = Gpu::new(ordinal)?;
    // SAFETY: this process uses a single stream, so that no buffer is used on two.
    unsafe { gpu.context().disable_event_tracking() };
    let context = gpu.context();
    let stream = context.new_stream().map_err(failed("make a stream"))?;
    let edge = flags.edge as usize;
    let smooth = Kind::Waves.cube(edge);
    let head = "GB/s of the field, medians; us: of a call";
    output::print(&format!("{head}\n{HEADING}\n"))?;
    for missing in Missing::ALL {
        let mut field = smooth.clone();
        for (element, value) in field.iter_mut().enumerate() {
            if missing.has(edge, element) {
                *value = FILL;
            }
        }
        for codec in CODECS {
            let compressor = Compressor::new(codec, Bound::range(BOUND).map_err(Failure::failed)?)
                .device(Device::Cpu)
                .extents(&[flags.edge; 3])?
                .with_rank(Shape::Cube.rank())?;
            let compressor = match missing {
                Missing::None => compressor,
                Missing::Ball | Missing::Random => {
                    compressor.fill(Fill::Bits(u64::from(FILL.to_bits())))?
                }
            };
            let row = Buffers::new(&gpu, &stream, &compressor, &field, flags.repeat)?.measure()?;
            let missing = missing.name();
            output::print(&format!("| {missing} | {codec} | {row} |\n"))?;
        }
    }
    Ok(())
}

const HEADING: &str = "\
| missing | codec | ratio | compress | us | decompress | us |
| --- | --- | --- | --- | --- | --- | --- |";

/// Adds the failed action to an error of the driver.
fn failed(action: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let reason = error.to_string();
        Error::Cuda { action, reason }.into()
    }
}

/// A field in the GPU's memory, and memory for its stream and its values.
struct Buffers<'a> {
    gpu: &'a Gpu,
    stream: &'a Arc<CudaStream>,
    compressor: &'a Compressor,
    layout: StreamLayout,
    field: &'a [f32],
    repeat: u32,
    input: CudaSlice<f32>,
    bytes: CudaSlice<u8>,
    output: CudaSlice<f32>,
    workspace: ferrosz::cuda::Workspace,
}

impl<'a> Buffers<'a> {
    fn new(
        gpu: &'a Gpu,
        stream: &'a Arc<CudaStream>,
        compressor: &'a Compressor,
        field: &'a [f32],
        repeat: u32,
    ) -> Result<Self, Failure> {
        let elements = field.len() as u64;
        let layout = compressor.stream_layout(elements, Dtype::F32)?;
        let room = compressor.max_compressed_len(elements, Dtype::F32)?;
        let no_memory = |_| Error::OutOfMemory { bytes: room };
        let poison = f32::from_bits(u32::from_ne_bytes([POISON; 4]));
        let output = stream.clone_htod(&vec![poison; field.len()]);
        let bytes = stream.clone_htod(&vec![POISON; room as usize]);
        Ok(Self {
            gpu,
            stream,
            compressor,
            layout,
            field,
            repeat,
            input: stream.clone_htod(field).map_err(no_memory)?,
            bytes: bytes.map_err(no_memory)?,
            output: output.map_err(no_memory)?,
            workspace: gpu.workspace_for(stream, layout)?,
        })
    }

    /// The cells of a row behind the codec.
    fn measure(&mut self) -> Result<String, Failure> {
        let expected = self.compressor.compress(self.field)?;
        let compress = self.time(Self::compress)?;
        self.check_stream(&expected)?;
        let decompress = self.time(Self::decompress)?;
        self.check_values(&expected)?;
        let bytes = size_of_val(self.field) as u64;
        let [compress_us, decompress_us] =
            [compress, decompress].map(|times| times.microseconds()[1]);
        Ok(format!(
            "{:.2} | {:.0} | {compress_us:.0} | {:.0} | {decompress_us:.0}",
            bytes as f64 / expected.len() as f64,
            compress.rate(bytes),
            decompress.rate(bytes),
        ))
    }

    fn compress(&mut self) -> Result<(), Error> {
        let (input, bytes) = (&self.input, &mut self.bytes);
        (self.gpu).compress(
            self.stream,
            self.compressor,
            input,
            bytes,
            &mut self.workspace,
        )
    }

    fn decompress(&mut self) -> Result<(), Error> {
        self.gpu.decompress(
            self.stream,
            &Decompressor::new(),
            self.layout,
            &self.bytes,
            &mut self.output,
            &mut self.workspace,
        )
    }

    /// Times `work` between two events.
    fn time(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<Times, Failure> {
        let stream = self.stream.clone();
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let record = || {
            let recorded = stream.record_event(flags);
            recorded.map_err(failed("record an event"))
        };
        sample(WARM_UP, self.repeat, || {
            let start = record()?;
            work(self)?;
            let end = record()?;
            end.synchronize().map_err(failed("wait for the GPU"))?;
            let milliseconds = start.elapsed_ms(&end).map_err(failed("take the time"))?;
            Ok(1e-3 * f64::from(milliseconds))
        })
    }

    /// Compares the stream with that of the CPU.
    fn check_stream(&self, expected: &[u8]) -> Result<(), Failure> {
        let length = self.workspace.stream_bytes(self.stream)?;
        let found = self.stream.clone_dtoh(&self.bytes);
        let found = found.map_err(failed("copy from the GPU"))?;
        match length == expected.len() as u64 && found.starts_with(expected) {
            true => Ok(()),
            false => Err(Failure::failed("the stream is not that of the CPU")),
        }
    }

    /// Compares the values with those that the CPU decodes.
    fn check_values(&self, expected: &[u8]) -> Result<(), Failure> {
        self.workspace.check(self.stream)?;
        let found = self.stream.clone_dtoh(&self.output);
        let found = found.map_err(failed("copy from the GPU"))?;
        let decoder = Decompressor::new().device(Device::Cpu);
        let wanted = decoder.decompress::<f32>(expected)?;
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        match bits(&wanted) == bits(&found) {
            true => Ok(()),
            false => Err(Failure::failed("the values are not those of the CPU")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_tenths_are_missing() {
        let edge = 64;
        for missing in [Missing::Ball, Missing::Random] {
            let count = (0..edge * edge * edge)
                .filter(|i| missing.has(edge, *i))
                .count();
            let share = count as f64 / (edge * edge * edge) as f64;
            assert!((share - SHARE).abs() < 0.01, "{missing:?}: {share}");
        }
        assert!(!Missing::None.has(edge, 5));
    }
}
