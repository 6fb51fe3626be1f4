//! Parts of an array on the command line: elements or a box.

use crate::{failure::Failure, report};
use clap::Args;
use ferrosz::Part;
use ferrosz::codec::container::extents::MAX_RANK;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A part of an array: at most one of these.
#[derive(Debug, Clone, Default, Args)]
#[group(id = "part", multiple = false)]
pub struct PartFlags {
    /// These elements, counted from 0 in memory order, TO not included
    #[arg(long, value_name = "FROM..TO")]
    pub elements: Option<Elements>,
    /// This box: a range or an index for each dimension, slowest first, ends not included; ':' is all of it
    #[arg(long = "box", value_name = "Z0:Z1,Y,X0:X1")]
    pub box_: Option<OpenBox>,
}

impl PartFlags {
    /// The part that the flags select of an array with these extents; none without flags.
    ///
    /// # Errors
    ///
    /// If the part is not within the array.
    pub fn of(&self, extents: &[u64]) -> Result<Option<Part>, Failure> {
        if let Some(Elements(range)) = &self.elements {
            let elements: u64 = extents.iter().product();
            if range.end > elements {
                return Err(Failure::failed(format_args!(
                    "--elements {}..{} is not within the {elements} elements of the array",
                    range.start, range.end
                )));
            }
            return Ok(Some(Part::Elements(range.clone())));
        }
        let ranges = self.box_.as_ref().map(|ranges| ranges.within(extents));
        Ok(ranges.transpose()?.map(Part::Box))
    }
}

/// A range of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elements(pub Range<u64>);

impl FromStr for Elements {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (from, to) = text
            .split_once("..")
            .and_then(|(from, to)| Some((number(from)?, number(to)?)))
            .ok_or("a range is two whole numbers with two dots between, as in 0..1000")?;
        if from > to {
            return Err(format!("the range ends at {to}, before its start {from}"));
        }
        Ok(Self(from..to))
    }
}

/// A range in each dimension, slowest first; a range may leave its end to the array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenBox(Vec<OpenRange>);

/// A range; without `to` it ends at the array's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenRange {
    /// The first index.
    pub from: u64,
    /// The index behind the last one.
    pub to: Option<u64>,
}

impl OpenBox {
    /// The ranges within an array of these extents.
    fn within(&self, extents: &[u64]) -> Result<Vec<Range<u64>>, Failure> {
        let lengths = report::lengths(extents);
        if self.0.len() != extents.len() {
            return Err(Failure::failed(format_args!(
                "--box has {} ranges, but the array has the dimensions {lengths}: give a range for \
                 each, ':' for the whole of it",
                self.0.len()
            )));
        }
        let ranges = self.0.iter().zip(extents).map(|(range, length)| {
            let to = range.to.unwrap_or(*length);
            (range.from <= to && to <= *length)
                .then_some(range.from..to)
                .ok_or_else(|| {
                    Failure::failed(format_args!(
                        "--box: {range} is not within its dimension's 0:{length} (the array has the \
                         dimensions {lengths})"
                    ))
                })
        });
        ranges.collect()
    }
}

impl FromStr for OpenBox {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ranges: Vec<OpenRange> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        match ranges.len() {
            1..=MAX_RANK => Ok(Self(ranges)),
            count => Err(format!(
                "{count} ranges are too many: an array has one to {MAX_RANK} dimensions"
            )),
        }
    }
}

impl FromStr for OpenRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse::<u64>().ok().map(Some),
        };
        let (from, to) = match text.split_once(':') {
            Some((from, to)) => number(from).zip(number(to)),
            // An index is a range of length 1.
            None => number(text)
                .flatten()
                .and_then(|index| Some((Some(index), Some(index.checked_add(1)?)))),
        }
        .ok_or(
            "a box is whole numbers with a colon between, or an index, for each dimension, as in 0:5,7,:,10:",
        )?;
        let from = from.unwrap_or(0);
        match to {
            Some(to) if from > to => {
                Err(format!("the range {text} ends at {to}, before its start"))
            }
            to => Ok(Self { from, to }),
        }
    }
}

/// As a flag has it: `5:9`, `5:`.
impl fmt::Display for OpenRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.from)?;
        self.to.map_or(Ok(()), |to| write!(f, "{to}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_two_numbers_in_order() {
        assert_eq!("3..8".parse(), Ok(Elements(3..8)));
        for bad in ["", "3", "..8", "3..", "8..3", "a..b", "3...8"] {
            assert!(bad.parse::<Elements>().is_err(), "{bad}");
        }
    }

    #[test]
    fn boxes_may_leave_ends_to_the_array() {
        let within = |text: &str, extents: &[u64]| {
            let open: OpenBox = text.parse().unwrap();
            open.within(extents).map_err(|failure| failure.to_string())
        };
        assert_eq!(within(":,5:,:9", &[4, 6, 9]), Ok(vec![0..4, 5..6, 0..9]));
        assert_eq!(within(" 1 : 2 ,4:", &[4, 4]), Ok(vec![1..2, 4..4]));
        for (text, extents) in [("5:", &[4][..]), (":5", &[4]), (":", &[4, 4])] {
            let said = within(text, extents).unwrap_err();
            assert!(said.contains("--box"), "{said}");
        }
        assert_eq!(within("1:3,5,:", &[4, 6, 9]), Ok(vec![1..3, 5..6, 0..9]));
        assert!(within("6", &[6]).unwrap_err().contains("--box"));
        for bad in [
            "",
            "1:2,",
            "2:1",
            "1:2:3",
            "-1:",
            "-1",
            "a:b",
            "18446744073709551615",
        ] {
            assert!(bad.parse::<OpenBox>().is_err(), "{bad}");
        }
        let whole = |axes| vec![":"; axes].join(",").parse::<OpenBox>();
        assert!(whole(MAX_RANK).is_ok() && whole(MAX_RANK + 1).is_err());
    }
}
