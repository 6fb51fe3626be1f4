//! Results, as tables and as JSON.

use super::super::times::Times;
use super::super::{json, machine::Machine, markdown};
use super::block_ratios::BlockRatios;
use ferrosz::{Bound, Dtype};
use ferrosz_cli::{failure::Failure, output, report};
use ferrosz_lab_kernels::job::{LayerVariant, PassVariant};
use serde_json::{Value, json};
use std::fmt;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// A pass of cuSZp2.
    Pass(PassVariant),
    /// AATROX's compression.
    Compress(LayerVariant),
    /// AATROX's decompression.
    Decompress(LayerVariant),
}

/// The cells of a design in its table, with bars between.
impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass(variant) => f.write_str(&variant.design().join(" | ")),
            Self::Compress(variant) => write!(f, "compress | {}", variant.name()),
            Self::Decompress(variant) => write!(f, "decompress | {}", variant.name()),
        }
    }
}

/// The times of a variant with a field.
pub struct Measured {
    /// The field's name.
    pub field: String,
    /// Its type.
    pub dtype: Dtype,
    /// Bytes of its whole layers.
    pub bytes: u64,
    /// The variant.
    pub design: Design,
    /// Bytes of the field divided by bytes of the stream.
    pub ratio: f64,
    /// The times.
    pub times: Times,
    /// The time of a copy that reads and writes as many bytes, divided by the measured time.
    pub copy_share: f64,
}

impl Measured {
    fn row(&self) -> String {
        let [_, microseconds, _] = self.times.microseconds();
        format!(
            "{} | {} | {} | {:.2} | {microseconds:.1} | {:.0} | {:.0} %",
            self.field,
            self.dtype,
            self.design,
            self.ratio,
            self.times.rate(self.bytes),
            100.0 * self.copy_share
        )
    }

    fn json(&self) -> Value {
        let design: Vec<String> = (self.design.to_string().split(" | "))
            .map(str::to_owned)
            .collect();
        json!({
            "field": self.field,
            "dtype": self.dtype.name(),
            "bytes": self.bytes,
            "design": design,
            "ratio": self.ratio,
            "times": json::times(&self.times, self.bytes),
            "copy_share": self.copy_share,
            // A wrong result would have ended the run.
            "verified": true,
        })
    }
}

impl BlockRatios {
    fn row(&self) -> String {
        let [of_32, of_64] = self.line;
        let [plane, cube] = self.shaped;
        format!(
            "{} | {} | {} | {of_32:.2} | {of_64:.2} | {plane:.2} | {cube:.2} | {:.2} | {:.2}",
            self.field,
            self.dtype,
            report::bound(self.bound),
            plane / of_64,
            cube / of_64
        )
    }

    fn json(&self) -> Value {
        json!({
            "field": self.field,
            "dtype": self.dtype.name(),
            "bound": self.bound.value(),
            "line_of_32": self.line[0],
            "line_of_64": self.line[1],
            "plane": self.shaped[0],
            "cube": self.shaped[1],
        })
    }
}

/// All results.
#[derive(Default)]
pub struct Results {
    /// Times.
    pub rows: Vec<Measured>,
    /// Ratios.
    pub ratios: Vec<BlockRatios>,
}

impl Results {
    /// The object of a run.
    pub fn json(&self, machine: &Machine, bound: Bound) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "arguments": std::env::args().skip(1).collect::<Vec<_>>(),
            "device": machine.about.device.to_string(),
            "machine": machine.about.name,
            "driver": machine.about.driver,
            "repeat": machine.repeat,
            "bound": bound.value(),
            "rows": self.rows.iter().map(Measured::json).collect::<Vec<_>>(),
            "ratios": self.ratios.iter().map(BlockRatios::json).collect::<Vec<_>>(),
        })
    }

    /// Prints three tables in Markdown.
    ///
    /// # Errors
    ///
    /// If standard output cannot be written.
    pub fn print(&self, machine: &Machine, bound: Bound) -> Result<(), Failure> {
        let driver = (machine.about.driver.as_ref())
            .map_or_else(String::new, |driver| format!(", driver {driver}"));
        output::print(&format!(
            "{}{driver}; medians of {} runs; {}.\n\n### A pass of cuSZp2\n\n",
            machine.about.name,
            machine.repeat,
            report::bound(bound)
        ))?;
        let is_pass = |row: &&Measured| matches!(row.design, Design::Pass(_));
        markdown::heading(
            "field | type | positions | accesses | block | ratio | us | GB/s | of a copy",
        )?;
        for row in self.rows.iter().filter(is_pass) {
            markdown::row(format_args!("{}", row.row()))?;
        }
        output::print("\n### A layer of AATROX\n\n")?;
        markdown::heading("field | type | way | a layer is of | ratio | us | GB/s | of a copy")?;
        for row in self.rows.iter().filter(|row| !is_pass(row)) {
            markdown::row(format_args!("{}", row.row()))?;
        }
        output::print("\n### Ratios with blocks of 64\n\n")?;
        markdown::heading(
            "field | type | bound | 1D, 32 | 1D, 64 | 2D, 8 x 8 | 3D, 4 x 4 x 4 | 2D over 1D, 64 | 3D over 1D, 64",
        )?;
        self.ratios
            .iter()
            .try_for_each(|ratios| markdown::row(format_args!("{}", ratios.row())))
    }
}
