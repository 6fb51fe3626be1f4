//! The tables that are printed during a run.

use super::flags::Flags;
use super::machine::About;
use super::row::{Row, SMALL, Series, Timed};
use super::times::Times;
use ferrosz::Device;
use ferrosz_cli::report;

/// Columns of every table, with heading and width, after the field's name.
const COLUMNS: [(&str, usize); 12] = [
    ("dtype", 5),
    ("codec", 13),
    ("rank", 4),
    ("bound", 12),
    ("ratio", 8),
    ("compress", 9),
    ("call", 9),
    ("decompress", 10),
    ("compress %", 10),
    ("call %", 6),
    ("decompress %", 12),
    ("box us", 8),
];

/// More columns for small fields: microseconds of calls one by one.
const SINGLE_COLUMNS: [(&str, usize); 3] =
    [("compress us", 11), ("call us", 9), ("decompress us", 13)];

/// More columns for small fields on machines with graphs: microseconds of a call in a graph.
const GRAPH_COLUMNS: [(&str, usize); 3] = [
    ("compress graph", 14),
    ("call graph", 10),
    ("decompress graph", 16),
];

/// A missing value.
const NONE: &str = "-";

/// The heading above all tables.
pub fn heading(about: &About, flags: &Flags) -> String {
    let with = match (&about.driver, about.threads) {
        (Some(driver), _) => format!(", driver {driver}"),
        (None, Some(threads)) => format!(", {threads} threads"),
        (None, None) => String::new(),
    };
    let clock = match (flags.host_clock, about.device) {
        (true, Device::Cuda(_)) => " by the host's clock",
        _ => "",
    };
    let repeat = flags.repeat;
    format!(
        "{}{with}; medians of {repeat} runs{clock}\n\
         compress: bound known as an absolute error; call: as given; in GB/s of original data\n\
         %: of the floor, (1 + 1/ratio) bytes as fast as a copy, and one more read for the call",
        about.name
    )
}

/// The table of one field.
pub struct Table {
    name_width: usize,
    /// Columns beyond [`COLUMNS`].
    more: Vec<(&'static str, usize)>,
}

impl Table {
    /// The table of a field.
    pub fn new(series: &Series, about: &About) -> Self {
        let mut more = Vec::new();
        if series.ceilings.bytes < SMALL {
            more.extend(SINGLE_COLUMNS);
            if about.device != Device::Cpu {
                more.extend(GRAPH_COLUMNS);
            }
        }
        Self {
            name_width: series.field.len().max("field".len()),
            more,
        }
    }

    /// The heading: the field, copy and read, and the names of the columns.
    pub fn heading(&self, series: &Series) -> String {
        let ceilings = &series.ceilings;
        let columns: Vec<String> = self.columns().map(|(name, _)| name.to_owned()).collect();
        format!(
            "\n{}: {} {}, {}; copy {} GB/s read + write, read {} GB/s\n{}",
            series.field,
            report::lengths(&series.extents),
            series.dtype,
            report::bytes(ceilings.bytes),
            report::number(ceilings.copy_rate()),
            report::number(ceilings.read_rate()),
            self.line("field", &columns)
        )
    }

    /// The line of a row.
    pub fn row(&self, series: &Series, row: &Row) -> String {
        let shares = row.shares(&series.ceilings);
        let times = [
            Some(&row.compress),
            row.call.as_ref(),
            Some(&row.decompress),
        ];
        let single = times.map(|timed| timed.map(|timed| timed.single));
        let replayed = times.map(|timed| timed.and_then(|timed| timed.replayed));
        let rate = |times: Times| report::number(times.rate(row.field_bytes));
        let part = row
            .part
            .as_ref()
            .map(|(_, timed): &(_, Timed)| timed.single);
        let mut cells = vec![
            series.dtype.to_string(),
            row.codec.clone(),
            row.rank.to_string(),
            report::bound(row.bound),
            format!("{:.2}", row.ratio()),
        ];
        cells.extend(single.map(|times| or_none(times, rate)));
        cells.extend(shares.map(|share| or_none(share, |share| format!("{:.0}", 100.0 * share))));
        cells.push(or_none(part, microseconds));
        // Values without a column are left out.
        let more = single.into_iter().chain(replayed);
        cells.extend(more.map(|times| or_none(times, microseconds)));
        self.line(&series.field, &cells)
    }

    fn columns(&self) -> impl Iterator<Item = (&'static str, usize)> {
        COLUMNS.iter().chain(&self.more).copied()
    }

    fn line(&self, name: &str, cells: &[String]) -> String {
        let mut text = format!("{name:0$}", self.name_width);
        for (cell, (_, width)) in cells.iter().zip(self.columns()) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        text
    }
}

fn or_none<V>(value: Option<V>, text: impl FnOnce(V) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), text)
}

fn microseconds(times: Times) -> String {
    let [_, median, _] = times.microseconds();
    format!("{median:.1}")
}
