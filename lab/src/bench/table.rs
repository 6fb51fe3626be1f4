//! The tables that are printed during a run.

use super::row::{Row, SMALL, Series};
use super::{about::About, flags::Flags, times::Times};
use ferrosz::Device;
use ferrosz_cli::report;

/// Columns of every table after the field's name: headings, as wide as the columns.
const COLUMNS: &str = "dtype|        codec|rank|       bound|   ratio| compress|     call|decompress|\
                       compress %|call %|decompress %|  box us";

/// More columns for small fields: microseconds of calls one by one.
const SINGLE_COLUMNS: &str = "|compress us|  call us|decompress us";

/// More columns for small fields on machines with graphs: microseconds of a call in a graph.
const GRAPH_COLUMNS: &str = "|compress graph|call graph|decompress graph";

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
    columns: String,
}

impl Table {
    /// The table of a field.
    pub fn new(series: &Series, about: &About) -> Self {
        let more = match (series.ceilings.bytes < SMALL, about.device) {
            (false, _) => [""; 2],
            (true, Device::Cpu) => [SINGLE_COLUMNS, ""],
            (true, _) => [SINGLE_COLUMNS, GRAPH_COLUMNS],
        };
        Self {
            name_width: series.field.len().max("field".len()),
            columns: format!("{COLUMNS}{}{}", more[0], more[1]),
        }
    }

    /// The heading: the field, copy and read, and the names of the columns.
    pub fn heading(&self, series: &Series) -> String {
        let ceilings = &series.ceilings;
        let columns: Vec<String> = self.columns.split('|').map(str::to_owned).collect();
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
        let part = row.part.as_ref().map(|(_, timed)| timed.single);
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

    fn line(&self, name: &str, cells: &[String]) -> String {
        let mut text = format!("{name:0$}", self.name_width);
        for (cell, column) in cells.iter().zip(self.columns.split('|')) {
            let width = column.len();
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
