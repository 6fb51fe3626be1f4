//! Reports of damaged chunks, for people and programs.

use ferrosz::{Damage, Part};
use serde_json::{Value, json};

/// Damaged chunks in a text at most.
const MOST_CHUNKS: usize = 20;

/// Parts of each damaged chunk in a text at most.
const MOST_PARTS: usize = 3;

/// A line for each of the first [`MOST_CHUNKS`] damaged chunks, and one with the number of the others.
pub fn lines(damages: &[Damage]) -> Vec<String> {
    let mut lines: Vec<String> = damages.iter().take(MOST_CHUNKS).map(line).collect();
    if let Some(more) = damages
        .len()
        .checked_sub(MOST_CHUNKS)
        .filter(|more| *more > 0)
    {
        lines.push(format!("and {more} more chunks; --json lists all"));
    }
    lines
}

fn line(damage: &Damage) -> String {
    let parts: Vec<String> = damage.lost.iter().take(MOST_PARTS).map(flag).collect();
    let more = match damage.lost.len().saturating_sub(MOST_PARTS) {
        0 => String::new(),
        more => format!(" and {more} more parts"),
    };
    let lost = match damage.elements() {
        0 => "nothing else is lost with it".to_owned(),
        count => format!("lost: {count} values, {}{more}", parts.join(" ")),
    };
    format!("{}; {lost}", damage.cause)
}

/// The flag that selects a part: `--elements` or `--box`.
fn flag(part: &Part) -> String {
    match part {
        Part::Elements(range) => format!("--elements {}..{}", range.start, range.end),
        Part::Box(ranges) => {
            let ranges = ranges
                .iter()
                .map(|range| format!("{}:{}", range.start, range.end));
            format!("--box {}", ranges.collect::<Vec<_>>().join(","))
        }
    }
}

/// All damaged chunks and their lost parts.
pub fn to_json(damages: &[Damage]) -> Value {
    let one = |damage: &Damage| {
        json!({
            "chunk": damage.chunk,
            "cause": damage.cause.to_string(),
            "elements": damage.elements(),
            "lost": damage.lost.iter().map(part_to_json).collect::<Vec<_>>(),
        })
    };
    damages.iter().map(one).collect()
}

fn part_to_json(part: &Part) -> Value {
    match part {
        Part::Elements(range) => json!({ "elements": [range.start, range.end] }),
        Part::Box(ranges) => {
            let ranges = ranges.iter().map(|range| json!([range.start, range.end]));
            json!({ "box": ranges.collect::<Vec<_>>() })
        }
    }
}
