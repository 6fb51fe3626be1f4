//! `ferrosz-lab ablations`: the parts of the designs of cuSZp2 and AATROX, one replaced at a time.

mod block_ratios;
mod measured;
mod variants;

use super::field::{Subject, load_whole, widen};
use super::flags::{Fields, RANGES};
use super::gpu::{self, OnDevice};
use super::machine::Machine;
use block_ratios::BlockRatios;
use clap::Args;
use ferrosz::{Bound, Device, Element};
use ferrosz_cli::array::{Array, Field};
use ferrosz_cli::{common::Common, failure::Failure, output};
use ferrosz_cuszp::aatrox::LAYER;
use measured::Results;
use variants::Variants;

/// `ferrosz-lab ablations`.
#[derive(Debug, Args)]
pub struct Ablations {
    /// The fields, of which whole layers of 32,768 elements are taken.
    #[command(flatten)]
    pub fields: Fields,
    /// The bound of what is timed, relative to the range
    #[arg(long, value_name = "E", default_value_t = 1e-3)]
    pub range: f64,
    /// Each field of f32 also as f64
    #[arg(long)]
    pub f64: bool,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// Measures all variants, and prints tables for the documents; with `--json` an object. Every stream and every value is
/// compared with those of the CPU. On the emulator the comparison counts alone.
///
/// # Errors
///
/// If there is no GPU, or a result is wrong.
pub fn run(flags: &Ablations, common: &Common) -> Result<(), Failure> {
    let machine = machine(common.device, flags.repeat)?;
    let mut run = AblationRun {
        bound: Bound::range(flags.range).map_err(Failure::usage)?,
        results: Results::default(),
        machine: &machine,
        is_quiet: common.quiet,
    };
    for source in flags.fields.sources() {
        let (name, field) = load_whole(&source, &flags.fields.shape)?;
        match field {
            Field::F32(array) => {
                let wide = flags.f64.then(|| widen(&array));
                run.field(&name, array)?;
                wide.map_or(Ok(()), |wide| run.field(&name, wide))?;
            }
            Field::F64(array) => run.field(&name, array)?,
            other => return Err(other.is_not_of_elements()),
        }
    }
    let AblationRun { results, bound, .. } = run;
    if common.json {
        return output::print(&format!("{}\n", results.json(&machine, bound)));
    }
    results.print(&machine, bound)
}

/// The machine that runs the kernels: the CPU's is the emulator.
fn machine(device: Device, repeat: u32) -> Result<Machine, Failure> {
    match device {
        Device::Emulator => {
            let mut machine = Machine::new(Device::Cpu, repeat, true)?;
            machine.about.device = device;
            machine.about.name = "the emulator, whose times say nothing".to_owned();
            Ok(machine)
        }
        device => Machine::new(Device::Cuda(gpu::ordinal(device)?), repeat, false),
    }
}

/// A run of the command.
struct AblationRun<'a> {
    machine: &'a Machine,
    bound: Bound,
    results: Results,
    is_quiet: bool,
}

impl AblationRun<'_> {
    /// Measures all variants with a field.
    fn field<T: Element + OnDevice>(&mut self, name: &str, array: Array<T>) -> Result<(), Failure> {
        if !self.is_quiet {
            output::note(&format!("{name}, {}", T::DTYPE));
        }
        let mut subject = Subject::new(name.to_owned(), array)?;
        for range in RANGES {
            let bound = Bound::range(range).map_err(Failure::failed)?;
            let ratios = BlockRatios::of(&subject, bound)?;
            self.results.ratios.push(ratios);
        }
        let error = subject.positive_error(self.bound)?;
        let layers = subject.values.len() / LAYER;
        if layers == 0 {
            return Err(Failure::failed(format_args!(
                "{name} has fewer than {LAYER} values, and kernels take layers of as many"
            )));
        }
        subject.values.truncate(layers * LAYER);
        let machine = self.machine;
        let variants = Variants::new(machine, &subject, error)?;
        self.results.rows.extend(variants.measure()?);
        Ok(())
    }
}
