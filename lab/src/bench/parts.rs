//! `ferrosz-lab parts`: one field in the parts of 1 to 16 members, each with one thread, as ranks of MPI have one core, or on GPUs.

use super::synthetic::Kind;
use clap::Args;
use ferrosz::parts::{Group, Message, Piece, Threads};
use ferrosz::{Bound, Codec, Compressor, Device, Error};
use ferrosz_cli::failure::Failure;
use ferrosz_cli::output;
use std::io::Cursor;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The codecs that are measured.
const CODECS: [Codec; 2] = [Codec::PLAIN, Codec::INTERP];

/// `ferrosz-lab parts`.
#[derive(Debug, Args)]
pub struct Flags {
    /// Numbers of members
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "1,2,4,8,16"
    )]
    pub members: Vec<usize>,
    /// Elements along each of the three edges of the field
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=2048))]
    pub edge: u64,
    /// Where the members compress: cpu, cuda:0, cuda:0,1 or cuda:all
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: Device,
    /// Timed runs; the best is shown
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

const HEADING: &str = "\
| codec | boxes | members | GB/s | times one | collective calls | messages | MB in messages | pieces | stream |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Measures and prints a table. Every stream is compared with that of one process.
///
/// # Errors
///
/// If a stream differs.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let field = Kind::Waves.cube(flags.edge as usize);
    output::print(&format!("{HEADING}\n"))?;
    for codec in CODECS {
        let compressor =
            Compressor::new(codec, Bound::range(1e-3).map_err(Error::Bound)?).device(Device::Cpu);
        let compressor = compressor.extents(&[flags.edge; 3])?;
        let whole = compressor.compress(&field)?;
        let compressor = compressor.device(flags.device);
        for is_slabs in [true, false] {
            let mut of_one = None;
            for members in &flags.members {
                let boxes = boxes(flags.edge, *members, is_slabs);
                let found = measure(flags, &compressor, &boxes, &field, &whole)?;
                let rate = (4 * field.len()) as f64 / found.seconds / 1e9;
                let of_one = *of_one.get_or_insert(rate);
                output::print(&format!(
                    "| `{codec}` | {} | {members} | {rate:.2} | {:.2} | {} | {} | {:.2} | {} | equal |\n",
                    if is_slabs { "slabs" } else { "boxes" },
                    rate / of_one,
                    found.calls / *members as u64,
                    found.messages,
                    found.bytes as f64 / 1e6,
                    found.pieces,
                ))?;
            }
        }
    }
    Ok(())
}

/// The boxes of members: slabs along the slowest axis, or boxes that are cut along the longest axis again and again.
/// Their faces are where they fall, not where chunks are.
fn boxes(edge: u64, members: usize, is_slabs: bool) -> Vec<[Range<u64>; 3]> {
    if is_slabs {
        let at = |member: usize| edge * member as u64 / members as u64;
        return (0..members)
            .map(|member| [at(member)..at(member + 1), 0..edge, 0..edge])
            .collect();
    }
    let mut boxes = vec![[0..edge, 0..edge, 0..edge]];
    while boxes.len() < members {
        let size = |part: &[Range<u64>; 3]| {
            part.iter()
                .map(|range| range.end - range.start)
                .product::<u64>()
        };
        let largest = (0..boxes.len())
            .max_by_key(|i| size(&boxes[*i]))
            .unwrap_or(0);
        let part = boxes.swap_remove(largest);
        let axis = (0..3)
            .max_by_key(|axis| part[*axis].end - part[*axis].start)
            .unwrap_or(0);
        let middle = u64::midpoint(part[axis].start, part[axis].end);
        for half in [part[axis].start..middle, middle..part[axis].end] {
            let mut own = part.clone();
            own[axis] = half;
            boxes.push(own);
        }
    }
    boxes
}

/// What the members of a group did.
#[derive(Default)]
struct Found {
    seconds: f64,
    calls: u64,
    messages: u64,
    bytes: u64,
    pieces: u64,
}

fn measure(
    flags: &Flags,
    compressor: &Compressor,
    boxes: &[[Range<u64>; 3]],
    field: &[f32],
    whole: &[u8],
) -> Result<Found, Failure> {
    let parts: Vec<Vec<f32>> = boxes
        .iter()
        .map(|own| cut(flags.edge, own, field))
        .collect();
    let mut best = Found {
        seconds: f64::INFINITY,
        ..Found::default()
    };
    for _ in 0..flags.repeat {
        let counts = Counts::default();
        let mut file = Cursor::new(Vec::with_capacity(whole.len()));
        let start = Instant::now();
        let lengths = Threads::run(boxes.len(), &mut file, |group| {
            let rank = group.rank();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let pool = pool.map_err(|error| Error::Group {
                action: "start a thread",
                reason: error.to_string(),
            })?;
            let group = Counted {
                group,
                counts: &counts,
            };
            pool.install(|| compressor.compress_part(&group, &boxes[rank], &parts[rank]))
        });
        let seconds = start.elapsed().as_secs_f64();
        lengths.into_iter().collect::<Result<Vec<u64>, Error>>()?;
        if file.get_ref() != whole {
            return Err(Failure::failed(
                "the stream of the members is not that of one process",
            ));
        }
        if seconds < best.seconds {
            let [calls, messages, bytes, pieces] = [
                &counts.calls,
                &counts.messages,
                &counts.bytes,
                &counts.pieces,
            ]
            .map(|count| count.load(Ordering::Relaxed));
            best = Found {
                seconds,
                calls,
                messages,
                bytes,
                pieces,
            };
        }
    }
    Ok(best)
}

/// The values of a box, in C order.
fn cut(edge: u64, [z, y, x]: &[Range<u64>; 3], field: &[f32]) -> Vec<f32> {
    let mut values = Vec::new();
    for z in z.clone() {
        for y in y.clone() {
            let row = (z * edge + y) * edge;
            values.extend_from_slice(&field[(row + x.start) as usize..(row + x.end) as usize]);
        }
    }
    values
}

#[derive(Default)]
struct Counts {
    calls: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
    pieces: AtomicU64,
}

/// A member whose calls are counted.
struct Counted<'a, G> {
    group: &'a G,
    counts: &'a Counts,
}

impl<G> Counted<'_, G> {
    fn count(&self) {
        self.counts.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl<G: Group> Group for Counted<'_, G> {
    fn rank(&self) -> usize {
        self.group.rank()
    }

    fn size(&self) -> usize {
        self.group.size()
    }

    fn max(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.count();
        self.group.max(numbers)
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.count();
        self.group.sum(numbers)
    }

    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        self.count();
        self.group.sum_before(number)
    }

    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        self.count();
        let to_others = messages
            .iter()
            .filter(|message| message.rank != self.rank());
        for message in to_others {
            self.counts.messages.fetch_add(1, Ordering::Relaxed);
            (self.counts.bytes).fetch_add(message.bytes.len() as u64, Ordering::Relaxed);
        }
        self.group.exchange(messages)
    }

    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        self.count();
        (self.counts.pieces).fetch_add(pieces.len() as u64, Ordering::Relaxed);
        self.group.write(pieces)
    }

    fn barrier(&self) -> Result<(), Error> {
        self.count();
        self.group.barrier()
    }
}
