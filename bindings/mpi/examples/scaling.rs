//! The time in which ranks of MPI compress and write a field of 400 x 400 x 400 values of f32 together, and where it goes.
//!
//!     RAYON_NUM_THREADS=1 mpiexec -n 4 target/release/examples/scaling interp FILE

use ferrosz::parts::{Group, Message, Piece};
use ferrosz::{Bound, Codec, Compressor, Device};
use ferrosz_mpi::Ranks;
use mpi::collective::SystemOperation;
use mpi::traits::*;
use std::cell::Cell;
use std::error::Error;
use std::time::Instant;

const EDGE: u64 = 400;
const REPEATS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, codec, path] = &arguments[..] else {
        return Err("give a codec and the name of a file".into());
    };
    let universe = mpi::initialize().ok_or("MPI was initialised before")?;
    let world = universe.world();
    let (rank, size) = (world.rank() as u64, world.size() as u64);

    // Slabs: waves with noise of a hundredth.
    let own = [
        EDGE * rank / size..EDGE * (rank + 1) / size,
        0..EDGE,
        0..EDGE,
    ];
    let values: Vec<f32> = (own[0].start * EDGE * EDGE..own[0].end * EDGE * EDGE)
        .map(|at| {
            let wave = |place: u64, period: f32| (place as f32 / period).sin();
            let noise = (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32 / (1 << 24) as f32;
            let smooth =
                wave(at / EDGE / EDGE, 31.0) * wave(at / EDGE % EDGE, 17.0) + wave(at % EDGE, 23.0);
            smooth + 0.01 * noise
        })
        .collect();
    let compressor =
        Compressor::new(codec.parse::<Codec>()?, Bound::range(1e-3)?).device(Device::Cpu);
    let compressor = compressor.extents(&[EDGE; 3])?;

    for _ in 0..REPEATS {
        let ranks = Timed::new(Ranks::new(&world, path.as_ref()));
        world.barrier();
        let start = Instant::now();
        let length = compressor.compress_part(&ranks, &own, &values)?;
        let seconds = start.elapsed().as_secs_f64();
        let own_times = [seconds, ranks.waited.get(), ranks.wrote.get()];
        let mut sums = [0.0; 3];
        world.all_reduce_into(&own_times[..], &mut sums[..], SystemOperation::sum());
        if rank == 0 {
            let [seconds, waited, wrote] = sums.map(|sum| sum / size as f64);
            let rate = (4 * EDGE * EDGE * EDGE) as f64 / seconds / 1e6;
            println!(
                "{codec} {size} ranks: {seconds:.3} s, {rate:.0} MB/s; messages {waited:.3} s, writes {wrote:.3} s, {length} bytes"
            );
        }
    }
    Ok(())
}

/// A group that measures how long its calls take.
struct Timed {
    ranks: Ranks,
    /// Seconds in reductions and messages, which wait for the slowest rank.
    waited: Cell<f64>,
    /// Seconds in writes and the barrier behind them.
    wrote: Cell<f64>,
}

impl Timed {
    fn new(ranks: Ranks) -> Self {
        Self {
            ranks,
            waited: Cell::new(0.0),
            wrote: Cell::new(0.0),
        }
    }
}

/// Adds the seconds of a call.
fn timed<R>(seconds: &Cell<f64>, call: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = call();
    seconds.set(seconds.get() + start.elapsed().as_secs_f64());
    result
}

impl Group for Timed {
    fn rank(&self) -> usize {
        self.ranks.rank()
    }
    fn size(&self) -> usize {
        self.ranks.size()
    }
    fn max(&self, numbers: &mut [u64]) -> Result<(), ferrosz::Error> {
        timed(&self.waited, || self.ranks.max(numbers))
    }
    fn sum(&self, numbers: &mut [u64]) -> Result<(), ferrosz::Error> {
        timed(&self.waited, || self.ranks.sum(numbers))
    }
    fn sum_before(&self, number: u64) -> Result<u64, ferrosz::Error> {
        timed(&self.waited, || self.ranks.sum_before(number))
    }
    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, ferrosz::Error> {
        timed(&self.waited, || self.ranks.exchange(messages))
    }
    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), ferrosz::Error> {
        timed(&self.wrote, || self.ranks.write(pieces))
    }
    fn barrier(&self) -> Result<(), ferrosz::Error> {
        timed(&self.wrote, || self.ranks.barrier())
    }
}
