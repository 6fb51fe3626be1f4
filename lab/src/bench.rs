//! `ferrosz-lab bench`: the speed of codecs on data in the device's own memory.

pub mod ablations;
mod about;
mod agree;
mod bare;
pub mod batch;
pub mod calls;
mod cases;
mod coding;
mod container;
mod device_memory;
mod field;
pub mod flags;
mod gpu;
pub mod gpus;
mod json;
mod machine;
mod markdown;
pub mod mask;
mod memory;
pub mod papers;
pub mod parts;
mod row;
pub mod short;
mod synthetic;
mod table;
mod times;
pub mod transfer;

use cases::{Case, Format, cases};
use ferrosz::Element;
use ferrosz_cli::{
    array::Array, common::Common, failure::Failure, output, report, with_element_field,
};
use field::Subject;
use flags::Flags;
use gpu::OnDevice;
use machine::Machine;
use row::{Row, Series};
use table::Table;

/// Measures and prints rows as they are done; with `--json` prints one object at the end.
///
/// # Errors
///
/// If a field cannot be read, the device cannot be used, or a result is wrong.
pub fn run(flags: &Flags, common: &Common) -> Result<(), Failure> {
    let run = Run {
        machine: Machine::new(common.device, flags.repeat, flags.host_clock)?,
        flags,
        common,
        done: Vec::new(),
    };
    run.all()
}

/// A run of the command.
struct Run<'a> {
    machine: Machine,
    flags: &'a Flags,
    common: &'a Common,
    done: Vec<Series>,
}

impl Run<'_> {
    /// Measures all fields.
    fn all(mut self) -> Result<(), Failure> {
        for source in self.flags.fields.sources() {
            for (name, field) in field::load(&source, self.flags)? {
                with_element_field!(field, array => self.field(name, array))?;
            }
        }
        if !self.common.json {
            return Ok(());
        }
        let object = json::report(&self.machine.about, self.flags, &self.done);
        output::print(&format!("{object}\n"))
    }

    /// Measures all cases of one field.
    fn field<T: Element + OnDevice>(
        &mut self,
        name: String,
        array: Array<T>,
    ) -> Result<(), Failure> {
        let subject = Subject::new(name, array)?;
        let cases = cases(self.flags, &subject)?;
        let ceilings = (self.machine.ceilings(&subject.values))
            .map_err(|failure| Failure::failed(format_args!("{}: {failure}", subject.name)))?;
        let mut series = Series {
            field: subject.name.clone(),
            dtype: T::DTYPE,
            extents: subject.extents.lengths().to_vec(),
            ceilings,
            rows: Vec::new(),
        };
        let about = &self.machine.about;
        if self.done.is_empty() {
            self.say(&table::heading(about, self.flags))?;
        }
        let table = Table::new(&series, about);
        self.say(&table.heading(&series))?;
        for case in &cases {
            let row = self.measure(&subject, case)?;
            self.say(&table.row(&series, &row))?;
            series.rows.push(row);
        }
        self.done.push(series);
        Ok(())
    }

    fn measure<T: Element + OnDevice>(
        &self,
        subject: &Subject<T>,
        case: &Case<T>,
    ) -> Result<Row, Failure> {
        match case.format {
            Format::Container(layout) => {
                container::measure(&self.machine, subject, layout, case.bound)
            }
            Format::Bare(bare) => bare::measure(&self.machine, subject, case, bare),
        }
        .map_err(|failure| {
            Failure::failed(format_args!(
                "{}, {} {}, {}: {failure}",
                subject.name,
                case.codec,
                case.rank,
                report::bound(case.bound)
            ))
        })
    }

    /// Prints to standard output, or to standard error if standard output is for JSON.
    fn say(&self, text: &str) -> Result<(), Failure> {
        match (self.common.json, self.common.quiet) {
            (true, true) => Ok(()),
            (true, false) => {
                output::note(text);
                Ok(())
            }
            (false, _) => output::print(&format!("{text}\n")),
        }
    }
}
