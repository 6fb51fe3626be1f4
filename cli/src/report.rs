//! Numbers and tables for people.

pub use ferrosz_report::words::{
    absolute_error, bits_per_value, bound, bytes, decibels, lengths, number, short, six_digits,
};

/// Each text once, in their order, with commas between.
pub fn distinct(texts: &[&str]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for text in texts {
        if !all.contains(text) {
            all.push(text);
        }
    }
    all.join(", ")
}

/// Lines of a name and a value, the values under each other.
pub fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| format!("{name:width$}  {value}\n");
    pairs.iter().map(line).collect()
}

/// A table of rows under a heading; the first column is left-aligned, the others are right-aligned.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let cells = rows.iter().chain([&heading]);
            let widths = cells.filter_map(|row| row.get(column)).map(String::len);
            widths.max().unwrap_or(0)
        })
        .collect();
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect();
    [&heading, &rule]
        .into_iter()
        .chain(rows)
        .map(|row| line(row, &widths))
        .collect()
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells: Vec<String> = (row.iter().zip(widths).enumerate())
        .map(|(column, (cell, width))| match column {
            0 => format!("{cell:width$}"),
            _ => format!("{cell:>width$}"),
        })
        .collect();
    format!("{}\n", cells.join("  ").trim_end())
}

/// Megabytes per second.
pub fn megabytes_per_second(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 / 1e6 / seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [
            vec!["a".to_owned(), "1".to_owned()],
            vec!["bcd".to_owned(), "100".to_owned()],
        ];
        let text = table(&["x", "value"], &rows);
        assert_eq!(text, "x    value\n---  -----\na        1\nbcd    100\n");
    }
}
