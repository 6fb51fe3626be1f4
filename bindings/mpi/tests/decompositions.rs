//! Random decompositions of random fields by 1, 2, 3, 4 and 7 of seven ranks: the file has the bytes of one process.
//! FERROSZ_MPI_CASES is the number of cases for each number of ranks; FERROSZ_MPI_FOLDER has the files.

use ferrosz::{Bound, Codec, Compressor, Device, Error, Value};
use ferrosz_mpi::Ranks;
use mpi::topology::Color;
use mpi::traits::*;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Box = Vec<Range<u64>>;

const SIZES: [i32; 5] = [1, 2, 3, 4, 7];

fn main() {
    let universe = mpi::initialize().expect("MPI is initialised once");
    let world = universe.world();
    if world.size() != 7 {
        println!(
            "run by {} ranks instead of 7: `bindings/mpi/test` starts it",
            world.size()
        );
        return;
    }
    let variable = |name: &str| std::env::var(name).ok();
    let cases = variable("FERROSZ_MPI_CASES").and_then(|cases| cases.parse().ok());
    let folder = variable("FERROSZ_MPI_FOLDER").map_or_else(std::env::temp_dir, PathBuf::from);
    for size in SIZES {
        let color = match world.rank() < size {
            true => Color::with_value(0),
            false => Color::undefined(),
        };
        if let Some(comm) = world.split_by_color(color) {
            let cases = cases.unwrap_or(9);
            for case in 0..cases {
                let path = folder.join(format!("{size}.fsz"));
                match case % 3 {
                    0 => check(&comm, &path, case, |value| value),
                    _ => check(&comm, &path, case, |value| value as f32),
                }
            }
            if comm.rank() == 0 {
                println!("{size} ranks: {cases} cases");
            }
        }
        wait_idle(&world);
    }
    errors(&world, &folder);
}

/// A barrier at which ranks sleep. In the blocking one, as in all blocking calls, ranks of MPICH compute in vain, and keep the
/// cores from those that have work.
fn wait_idle(world: &impl Communicator) {
    let mut request = world.immediate_barrier();
    while let Err(waiting) = request.test() {
        request = waiting;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// One case; a fault ends all ranks.
fn check<V: Value>(comm: &impl Communicator, path: &Path, case: u64, value: fn(f64) -> V) {
    // All ranks draw the same numbers.
    let mut rng = SmallRng::seed_from_u64(1000 * comm.size() as u64 + case);
    let lengths = extents(&mut rng);
    let elements: u64 = lengths.iter().product();
    let mut last = 0.0;
    let field: Vec<V> = (0..elements)
        .map(|_| {
            last += rng.random_range(-1.0..1.0);
            value(last)
        })
        .collect();
    let codec = Codec::ALL[case as usize % Codec::ALL.len()];
    let bounds = [
        Bound::abs(1e-2),
        Bound::range(1e-3),
        Bound::max(1e-4),
        Bound::abs(0.0),
    ];
    let bound = bounds[rng.random_range(0..4)].expect("a bound");
    let compressor = Compressor::new(codec, bound).device(Device::Cpu);
    let compressor = compressor.extents(&lengths).expect("extents");
    let boxes = decomposition(&lengths, comm.size() as usize, &mut rng);
    let own = &boxes[comm.rank() as usize];
    let whole = compressor.compress(&field).expect("memory");
    // Not more than eight rounds of writes: each costs some time slices of a core if there are more ranks than cores.
    let most_bytes = [usize::MAX, whole.len() / 8 + 1][rng.random_range(0..2)];

    let ranks = Ranks::new(comm, path).most_bytes(most_bytes);
    let length = compressor.compress_part(&ranks, own, &cut(&lengths, own, &field));
    drop(ranks);
    let file = std::fs::read(path).expect("the file is there");
    let is_same = length == Ok(whole.len() as u64) && file == whole;
    if !is_same {
        eprintln!(
            "case {case} of {} ranks: {codec} {lengths:?} {boxes:?}: {length:?}",
            comm.size()
        );
        comm.abort(1);
    }
    comm.barrier();
}

/// A file that cannot be opened, and values of one rank that are not those of its box, are errors of all.
fn errors(world: &impl Communicator, folder: &Path) {
    let own = [world.rank() as u64..world.rank() as u64 + 1, 0..100];
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1.0).expect("a bound"));
    let compressor = compressor.extents(&[7, 100]).expect("extents");
    let nowhere = folder.join("no folder").join("file");
    let found = ferrosz_mpi::compress_part(&compressor, world, &nowhere, &own, &[1f32; 100]);
    let is_error = matches!(found, Err(Error::Group { .. }));
    let path = folder.join("errors.fsz");
    let values = vec![1f32; if world.rank() == 3 { 99 } else { 100 }];
    let found = ferrosz_mpi::compress_part(&compressor, world, &path, &own, &values);
    let is_expected = match world.rank() {
        3 => matches!(found, Err(Error::PartMismatch { .. })),
        _ => matches!(found, Err(Error::Group { .. })),
    };
    if !is_error || !is_expected || path.exists() {
        eprintln!("rank {}: {found:?}", world.rank());
        world.abort(1);
    }
    if world.rank() == 0 {
        println!("errors of all");
    }
}

fn extents(rng: &mut SmallRng) -> Vec<u64> {
    match rng.random_range(0..4) {
        0 => vec![rng.random_range(0..60_000)],
        1 => vec![rng.random_range(1..300), rng.random_range(1..200)],
        _ => (0..3).map(|_| rng.random_range(1..46)).collect(),
    }
}

/// As many boxes, by cuts at any places, in any order; some may be empty.
fn decomposition(lengths: &[u64], members: usize, rng: &mut SmallRng) -> Vec<Box> {
    let mut boxes: Vec<Box> = vec![lengths.iter().map(|length| 0..*length).collect()];
    while boxes.len() < members {
        let cut = boxes.swap_remove(rng.random_range(0..boxes.len()));
        let axis = rng.random_range(0..lengths.len());
        let Range { start, end } = cut[axis];
        let at = rng.random_range(start..=end);
        for part in [start..at, at..end] {
            let mut own = cut.clone();
            own[axis] = part;
            boxes.push(own);
        }
    }
    boxes.shuffle(rng);
    boxes
}

/// The values of a box, in C order.
fn cut<V: Copy>(lengths: &[u64], own: &Box, field: &[V]) -> Vec<V> {
    let mut elements = vec![0u64];
    for (length, range) in lengths.iter().zip(own) {
        elements = (elements.iter())
            .flat_map(|element| range.clone().map(move |at| element * length + at))
            .collect();
    }
    elements
        .iter()
        .map(|element| field[*element as usize])
        .collect()
}
