//! Reports of damaged chunks, for people and programs.

use crate::{failure::Failure, location::Location, stream_file};
use ferrosz::codec::error::ChunkFault;
use ferrosz::stream::Damage;
use ferrosz::{Error, FormatError, Info, Part};
use serde_json::{Value, json};
use std::fmt;

/// Damaged chunks in a text at most.
const MOST_CHUNKS: usize = 20;

/// Parts of each damaged chunk in a text at most.
const MOST_PARTS: usize = 3;

/// Where a stream is cut off, if it is: its bytes, and those that it should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    found: u64,
    needed: u64,
}

impl Cut {
    /// The cut of a stream with this description.
    pub fn of(stream: &[u8], info: &Info) -> Option<Self> {
        let (found, needed) = (stream.len() as u64, info.stream_bytes);
        (found < needed).then_some(Self { found, needed })
    }

    /// The failure of a stream of which nothing can be decoded.
    pub fn explain(cut: Option<Self>, location: &Location, error: Error) -> Failure {
        match cut {
            Some(cut) if matches!(error, Error::Format(_)) => Failure::failed(format_args!(
                "{location}: the stream is {cut}, before the end of what all of its values need: nothing can be salvaged"
            )),
            _ => stream_file::explain(location, error),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cut off: {} bytes of {}", self.found, self.needed)
    }
}

/// A line about the cut, one for each of the first [`MOST_CHUNKS`] damaged chunks, and one with the number of the others.
pub fn lines(damages: &[Damage], cut: Option<Cut>) -> Vec<String> {
    let mut lines: Vec<String> = cut
        .iter()
        .map(|cut| format!("the stream is {cut}"))
        .collect();
    let listed = damages.iter().take(MOST_CHUNKS);
    lines.extend(listed.map(|damage| line(damage, cut)));
    if let Some(more) = damages
        .len()
        .checked_sub(MOST_CHUNKS)
        .filter(|more| *more > 0)
    {
        lines.push(format!("and {more} more chunks; --json lists all"));
    }
    lines
}

fn line(damage: &Damage, cut: Option<Cut>) -> String {
    let parts: Vec<String> = damage.lost.iter().take(MOST_PARTS).map(flag).collect();
    let more = match damage.lost.len().saturating_sub(MOST_PARTS) {
        0 => String::new(),
        more => format!(" and {more} more parts"),
    };
    let lost = match damage.elements() {
        0 => "nothing else is lost with it".to_owned(),
        count => format!("lost: {count} values, {}{more}", parts.join(" ")),
    };
    format!("{}; {lost}", cause(damage, cut))
}

/// Why a chunk is lost. Where a stream is cut off, a chunk that ends behind the end is cut off.
fn cause(damage: &Damage, cut: Option<Cut>) -> String {
    let is_outside = matches!(
        damage.cause,
        FormatError::InvalidChunk {
            what: ChunkFault::Place,
            ..
        }
    );
    match cut {
        Some(_) if is_outside => format!("chunk {} is cut off", damage.chunk),
        _ => damage.cause.to_string(),
    }
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
pub fn to_json(damages: &[Damage], cut: Option<Cut>) -> Value {
    let one = |damage: &Damage| {
        json!({
            "chunk": damage.chunk,
            "cause": cause(damage, cut),
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
