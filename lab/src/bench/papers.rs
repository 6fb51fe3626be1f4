//! `ferrosz-lab papers`: the experiments of the papers, on fields of the user.
//!
//! Each pair of a stream and a bound is measured once on each field. The tables are views of these points.

mod codes;
mod figures;
mod points;
mod published;
mod ratios;
mod sets;
mod streams;

use super::machine::Machine;
use clap::Args;
use clap::builder::PossibleValuesParser;
use ferrosz_cli::{args::ShapeFlags, common::Common, failure::Failure, output};
use points::Point;
use serde_json::{Value, json};
use sets::Member;
use streams::PaperStream;

/// Bounds relative to the range if none are given: those of the papers.
const RANGES: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// `ferrosz-lab papers`.
#[derive(Debug, Args)]
pub struct Papers {
    /// Fields: .npy or raw values with their dimensions. Fields with the same SET are the files of one data set; a SET
    /// of the papers, such as NYX, has the papers' numbers beside ours
    #[arg(value_name = "[SET=]FIELD[:Z,Y,X]", value_parser = sets::member(), required = true)]
    pub fields: Vec<Member>,
    /// Element type and dimensions of raw arrays.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// Tables to print; all, if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = PossibleValuesParser::new(names()))]
    pub only: Vec<String>,
    /// Streams to measure, by their names in the tables; all, if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = streams::named)]
    pub streams: Vec<PaperStream>,
    /// Bounds relative to the range
    #[arg(long, value_name = "E,...", value_delimiter = ',', default_values_t = RANGES)]
    pub range: Vec<f64>,
    /// Widen f32 arrays to f64
    #[arg(long)]
    pub f64: bool,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Time calls on a GPU by the host's clock, until length and errors are known, instead of between events
    #[arg(long)]
    pub host_clock: bool,
}

/// The table of codes is of fields, not of points.
const CODES: &str = "codes";

/// The names of all tables.
fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.name).chain([CODES])
}

impl Papers {
    /// Whether a table is printed.
    fn shows(&self, table: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == table)
    }
}

/// A view of the points: its name on the command line, and what prints it.
struct View {
    name: &'static str,
    print: fn(&[Point], &[f64]) -> Result<(), Failure>,
}

const TABLES: [View; 6] = [
    View {
        name: "ratios",
        print: ratios::ratios,
    },
    View {
        name: "gains",
        print: ratios::gains,
    },
    View {
        name: "throughput",
        print: figures::throughput,
    },
    View {
        name: "quality",
        print: figures::quality,
    },
    View {
        name: "advantage",
        print: figures::advantage,
    },
    View {
        name: "transfer",
        print: figures::transfer,
    },
];

/// Measures and prints the tables, or with `--json` one object of all points.
///
/// # Errors
///
/// If a field cannot be read, the device cannot be used, or a result is wrong.
pub fn run(papers: &Papers, common: &Common) -> Result<(), Failure> {
    let machine = Machine::new(common.device, papers.repeat, papers.host_clock)?;
    let (points, codes) = points::all(papers, &machine, common)?;
    if common.json {
        let points: Vec<Value> = points.iter().map(Point::to_json).collect();
        let object = json!({ "machine": machine.about.name, "points": points });
        return output::print(&format!("{object}\n"));
    }
    output::print(&format!(
        "{}; medians of {} runs\n",
        machine.about.name, papers.repeat
    ))?;
    for table in TABLES.iter().filter(|table| papers.shows(table.name)) {
        (table.print)(&points, &papers.range)?;
    }
    match papers.shows(CODES) {
        true => codes::print(&codes, &papers.range),
        false => Ok(()),
    }
}
