//! `ferrosz-lab parts`: one field in the parts of 1 to 16 members, each with one thread, as ranks of MPI have one core, or on GPUs.

use super::{agree, flags::Cube, markdown, synthetic::Kind, times::sample};
use clap::Args;
use ferrosz::parts::{Group, Message, Piece, Threads};
use ferrosz::{Bound, Codec, Compressor, Device, Error};
use ferrosz_cli::failure::Failure;
use std::io::Cursor;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The codecs that are measured.
const CODECS: [Codec; 2] = [Codec::PLAIN, Codec::INTERP];

/// `ferrosz-lab parts`.
#[derive(Debug, Args)]
#[command(mut_arg("repeat", |repeat| {
    repeat.default_value("3").help("Timed runs; the best is shown")
}))]
pub struct Parts {
    /// Numbers of members
    #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16")]
    pub members: Vec<usize>,
    /// The field.
    #[command(flatten)]
    pub cube: Cube,
    /// Where the members compress: cpu, cuda:0, cuda:0,1 or cuda:all
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: Device,
}

/// Measures and prints a table. Every stream is compared with that of one process.
///
/// # Errors
///
/// If a stream differs.
pub fn run(flags: &Parts) -> Result<(), Failure> {
    let edge = flags.cube.edge;
    let field = Kind::Waves.cube(edge as usize);
    markdown::heading(
        "codec | boxes | members | GB/s | times one | collective calls | messages | MB in messages | pieces | stream",
    )?;
    for codec in CODECS {
        let bound = Bound::range(1e-3).map_err(Error::Bound)?;
        let compressor = Compressor::new(codec, bound).extents(&[edge; 3])?;
        let whole = compressor.device(Device::Cpu).compress(&field)?;
        let compressor = compressor.device(flags.device);
        for is_slabs in [true, false] {
            let mut of_one = None;
            for members in &flags.members {
                let boxes = boxes(edge, *members, is_slabs);
                let (seconds, counts) = measure(flags, &compressor, &boxes, &field, &whole)?;
                let Counts {
                    calls,
                    messages,
                    bytes,
                    pieces,
                } = counts;
                let rate = size_of_val(&field[..]) as f64 / seconds / 1e9;
                let of_one = *of_one.get_or_insert(rate);
                markdown::row(format_args!(
                    "`{codec}` | {} | {members} | {rate:.2} | {:.2} | {} | {} | {:.2} | {} | equal",
                    if is_slabs { "slabs" } else { "boxes" },
                    rate / of_one,
                    calls.into_inner() / *members as u64,
                    messages.into_inner(),
                    bytes.into_inner() as f64 / 1e6,
                    pieces.into_inner(),
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
        let slab = |member| [at(member)..at(member + 1), 0..edge, 0..edge];
        return (0..members).map(slab).collect();
    }
    let length = |range: &Range<u64>| range.end - range.start;
    let size = |part: &[Range<u64>; 3]| part.iter().map(length).product::<u64>();
    let mut boxes = vec![[0..edge, 0..edge, 0..edge]];
    while boxes.len() < members {
        let largest = (0..boxes.len()).max_by_key(|i| size(&boxes[*i]));
        let part = boxes.swap_remove(largest.unwrap_or(0));
        let axis = (0..3).max_by_key(|axis| length(&part[*axis])).unwrap_or(0);
        let middle = u64::midpoint(part[axis].start, part[axis].end);
        for half in [part[axis].start..middle, middle..part[axis].end] {
            let mut own = part.clone();
            own[axis] = half;
            boxes.push(own);
        }
    }
    boxes
}

/// The seconds of the best run, and what the members did in a run.
fn measure(
    flags: &Parts,
    compressor: &Compressor,
    boxes: &[[Range<u64>; 3]],
    field: &[f32],
    whole: &[u8],
) -> Result<(f64, Counts), Failure> {
    let parts = boxes.iter().map(|own| cut(flags.cube.edge, own, field));
    let parts: Vec<Vec<f32>> = parts.collect();
    let mut counts = Counts::default();
    let times = sample(0, flags.cube.repeat, || {
        counts = Counts::default();
        let mut file = Cursor::new(Vec::with_capacity(whole.len()));
        let start = Instant::now();
        let lengths = Threads::run(boxes.len(), &mut file, |group| {
            let rank = group.rank();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let pool = pool.map_err(|error| Error::Group {
                action: "start a thread",
                reason: error.to_string(),
            })?;
            let counts = &counts;
            let group = Counted { group, counts };
            pool.install(|| compressor.compress_part(&group, &boxes[rank], &parts[rank]))
        });
        let seconds = start.elapsed().as_secs_f64();
        lengths.into_iter().collect::<Result<Vec<u64>, Error>>()?;
        agree::streams(file.get_ref(), whole)?;
        Ok::<_, Failure>(seconds)
    })?;
    Ok((times.min, counts))
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

/// What the members of a group did.
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
    fn count(&self) -> &G {
        self.counts.calls.fetch_add(1, Ordering::Relaxed);
        self.group
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
        self.count().max(numbers)
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.count().sum(numbers)
    }

    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        self.count().sum_before(number)
    }

    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        let to_others = (messages.iter()).filter(|message| message.rank != self.rank());
        for message in to_others {
            self.counts.messages.fetch_add(1, Ordering::Relaxed);
            (self.counts.bytes).fetch_add(message.bytes.len() as u64, Ordering::Relaxed);
        }
        self.count().exchange(messages)
    }

    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        (self.counts.pieces).fetch_add(pieces.len() as u64, Ordering::Relaxed);
        self.count().write(pieces)
    }

    fn barrier(&self) -> Result<(), Error> {
        self.count().barrier()
    }
}
