//! `ferrosz stats`.

use crate::stream_file;
use crate::wanted::Wanted;
use crate::{
    args::Stats as Args, common::Common, failure::Failure, json, location::Location, output,
    remote, report,
};
use ferrosz::codec::value::ValueType;
use ferrosz::stream::{Searched, Statistics};
use ferrosz::{Decompressor, Info};
use serde_json::{Value, json};
use std::collections::BinaryHeap;
use std::ops::RangeFull;

/// Shows the statistics of a stream, or finds values of its array.
///
/// # Errors
///
/// If the stream cannot be read, is damaged, or has no statistics and may not be decoded.
pub fn run(args: &Args, common: &Common) -> Result<bool, Failure> {
    let mut stream = Opened::new(&args.stream)?;
    let info = stream.info()?;
    let found = match args.wanted {
        None if !args.decode => {
            let Some(statistics) = stream.statistics()? else {
                return Err(Failure::failed(format_args!(
                    "{} has no statistics; --decode decodes all of it for them",
                    args.stream
                )));
            };
            return show(args, common, &info, &statistics).map(|()| true);
        }
        wanted => Matches::new(&mut stream, &info, wanted, args.list.unwrap_or(0))?,
    };
    let text = match common.json {
        true => {
            let begin = json::begin("stats", &args.stream);
            format!(
                "{}\n",
                json::join([begin, json::stream(&info), found.to_json(args)])
            )
        }
        false => found.text(args, &info),
    };
    output::print(&text).map(|()| true)
}

/// A stream here or on a server.
enum Opened<'a> {
    Here(&'a Location, stream_file::Stream),
    Remote(&'a str, Box<remote::Remote>),
}

impl<'a> Opened<'a> {
    fn new(location: &'a Location) -> Result<Self, Failure> {
        Ok(match location {
            Location::Url(url) => Self::Remote(url, Box::new(remote::open(url)?)),
            _ => Self::Here(location, stream_file::read(location)?),
        })
    }

    fn info(&mut self) -> Result<Info, Failure> {
        match self {
            Self::Here(location, stream) => stream_file::info(location, stream, "stats"),
            Self::Remote(url, stream) => stream.info().map_err(|error| remote::explain(url, error)),
        }
    }

    fn statistics(&mut self) -> Result<Option<Statistics>, Failure> {
        match self {
            Self::Here(location, stream) => {
                Statistics::of(stream).map_err(|error| stream_file::explain(location, error))
            }
            Self::Remote(url, stream) => {
                (stream.statistics()).map_err(|error| remote::explain(url, error))
            }
        }
    }

    /// Finds values; returns the numbers of chunks that were read, and how many bytes.
    fn find(
        &mut self,
        wanted: Option<Wanted>,
        take: &mut dyn FnMut(u64, f64),
    ) -> Result<(Searched, u64), Failure> {
        let decompressor = Decompressor::new();
        match self {
            Self::Here(location, stream) => {
                let found = match wanted {
                    Some(wanted) => decompressor.find(stream, wanted, take),
                    None => decompressor.find(stream, RangeFull, take),
                };
                let search = found.map_err(|error| stream_file::explain(location, error))?;
                Ok((search, search.bytes_decoded))
            }
            Self::Remote(url, stream) => {
                let found = match wanted {
                    Some(wanted) => stream.find(&decompressor, wanted, take),
                    None => stream.find(&decompressor, RangeFull, take),
                };
                let search = found.map_err(|error| remote::explain(url, error))?;
                Ok((search, stream.traffic().bytes))
            }
        }
    }
}

fn show(args: &Args, common: &Common, info: &Info, statistics: &Statistics) -> Result<(), Failure> {
    let (min, max, mean) = (statistics.min(), statistics.max(), statistics.mean());
    if common.json {
        let own = json!({
            "decoded": false,
            "min": min,
            "max": max,
            "mean": mean,
            "values": statistics.count(),
            "outdated": statistics.is_outdated,
            "groups": statistics.groups().len(),
            "chunks_of_group": statistics.chunks_of_group(),
            "statistics_bytes": statistics.bytes,
        });
        let begin = json::begin("stats", &args.stream);
        return output::print(&format!(
            "{}\n",
            json::join([begin, json::stream(info), own])
        ));
    }
    let of = match statistics.is_outdated {
        true => "the array before it was compressed and updated",
        false => "the array before it was compressed",
    };
    let mut pairs = numbers(info.dtype, [min, max, mean]);
    pairs.extend([
        ("values", of_all(statistics.count(), info)),
        ("of", of.to_owned()),
        (
            "groups",
            format!(
                "{} of {} chunks; {}, {:.3} % of the stream",
                statistics.groups().len(),
                statistics.chunks_of_group(),
                report::bytes(statistics.bytes),
                100.0 * statistics.bytes as f64 / info.stream_bytes as f64
            ),
        ),
    ]);
    output::print(&report::pairs(&pairs))
}

/// Smallest value, largest value and mean.
fn numbers(dtype: ValueType, numbers: [Option<f64>; 3]) -> Vec<(&'static str, String)> {
    let text = |number: Option<f64>| number.map_or("none".to_owned(), |one| shown(dtype, one));
    let [min, max, mean] = numbers.map(text);
    vec![("min", min), ("max", max), ("mean", mean)]
}

/// A number with the digits that its type needs.
fn shown(dtype: ValueType, number: f64) -> String {
    match dtype.coded().bytes() {
        4 => (number as f32).to_string(),
        _ => number.to_string(),
    }
}

fn of_all(count: u64, info: &Info) -> String {
    format!("{count} of {}", info.elements)
}

/// Values that were found.
struct Matches {
    search: Searched,
    bytes_read: u64,
    count: u64,
    min: f64,
    max: f64,
    /// The sum of the values, and the rest that it lost to rounding.
    sum: [f64; 2],
    /// The first and the last coordinate along each axis.
    ends: Vec<[u64; 2]>,
    /// The first places, with their values.
    places: Vec<(Vec<u64>, f64)>,
}

impl Matches {
    fn new(
        stream: &mut Opened<'_>,
        info: &Info,
        wanted: Option<Wanted>,
        list: usize,
    ) -> Result<Self, Failure> {
        let mut first = BinaryHeap::new();
        let (mut count, mut min, mut max, mut sum) =
            (0, f64::INFINITY, f64::NEG_INFINITY, [0.0; 2]);
        let mut ends = vec![[u64::MAX, 0]; info.extents.len()];
        let (search, bytes_read) = stream.find(wanted, &mut |place, number| {
            count += 1;
            min = number.min(min);
            max = number.max(max);
            add(&mut sum, number);
            let mut rest = place;
            for (end, length) in ends.iter_mut().zip(&info.extents).rev() {
                let at = rest % length;
                *end = [end[0].min(at), end[1].max(at)];
                rest /= length;
            }
            if first.len() < list || first.peek().is_some_and(|(last, _)| place < *last) {
                first.push((place, number.to_bits()));
            }
            if first.len() > list {
                first.pop();
            }
        })?;
        let places = first.into_sorted_vec().into_iter();
        let places = places.map(|(place, bits)| (at(place, &info.extents), f64::from_bits(bits)));
        Ok(Self {
            search,
            bytes_read,
            count,
            min,
            max,
            sum,
            ends,
            places: places.collect(),
        })
    }

    fn numbers(&self) -> [Option<f64>; 3] {
        let mean = (self.sum[0] + self.sum[1]) / self.count as f64;
        [self.min, self.max, mean].map(|number| (self.count > 0).then_some(number))
    }

    /// The smallest box that has all places.
    fn ranges(&self) -> Vec<String> {
        let ends = self.ends.iter().filter(|_| self.count > 0);
        ends.map(|[first, last]| format!("{first}:{}", last + 1))
            .collect()
    }

    fn text(&self, args: &Args, info: &Info) -> String {
        let Searched {
            chunks,
            chunks_wanted,
            has_statistics,
            ..
        } = self.search;
        let without = match has_statistics {
            true => "",
            false => "; the stream has no statistics, which would tell where values are",
        };
        let of = args
            .wanted
            .map_or(String::new(), |wanted| format!(" are {wanted}"));
        let mut pairs = vec![("values", of_all(self.count, info) + &of)];
        pairs.extend(numbers(info.dtype, self.numbers()));
        if args.wanted.is_some() && self.count > 0 {
            pairs.push(("box", self.ranges().join(",")));
        }
        pairs.push((
            "read",
            format!(
                "{chunks_wanted} of {chunks} chunks, {} of {}{without}",
                report::bytes(self.bytes_read),
                report::bytes(info.stream_bytes)
            ),
        ));
        let mut text = report::pairs(&pairs);
        for (place, number) in &self.places {
            let place: Vec<String> = place.iter().map(u64::to_string).collect();
            text += &format!("{}  {}\n", place.join(","), shown(info.dtype, *number));
        }
        text
    }

    fn to_json(&self, args: &Args) -> Value {
        let [min, max, mean] = self.numbers();
        let ends = self.ends.iter().map(|[first, last]| [*first, last + 1]);
        let places = self
            .places
            .iter()
            .map(|(at, value)| json!({ "at": at, "value": value }));
        json!({
            "decoded": true,
            "where": args.wanted.map(|wanted| wanted.to_string()),
            "values": self.count,
            "min": min,
            "max": max,
            "mean": mean,
            "box": (self.count > 0).then(|| ends.collect::<Vec<_>>()),
            "has_statistics": self.search.has_statistics,
            "chunks": self.search.chunks,
            "chunks_read": self.search.chunks_wanted,
            "bytes_read": self.bytes_read,
            "places": places.collect::<Vec<_>>(),
        })
    }
}

/// The coordinates of an element.
fn at(mut place: u64, extents: &[u64]) -> Vec<u64> {
    let mut at: Vec<u64> = Vec::new();
    for length in extents.iter().rev() {
        at.push(place % length);
        place /= length;
    }
    at.reverse();
    at
}

/// Adds a number to a compensated sum (Neumaier 1974): the second number collects the rounding errors of the first.
fn add([sum, rest]: &mut [f64; 2], number: f64) {
    let next = *sum + number;
    let lost = match sum.abs() >= number.abs() {
        true => (*sum - next) + number,
        false => (number - next) + *sum,
    };
    if lost.is_finite() {
        *rest += lost;
    }
    *sum = next;
}
