//! Each rank of MPI has a box of a field. Together they write one file, and each reads its box back.
//!
//!     cargo build --example field && mpiexec -n 4 target/debug/examples/field field.fsz

use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
use mpi::traits::*;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

const EXTENTS: [u64; 3] = [60, 80, 100];

fn main() -> Result<(), Box<dyn Error>> {
    let path: PathBuf = std::env::args_os()
        .nth(1)
        .ok_or("give the name of a file")?
        .into();
    let universe = mpi::initialize().ok_or("MPI was initialised before")?;
    let world = universe.world();

    // 1. The box of this rank, and its values.
    let own = box_of(world.rank() as u64, world.size() as u64);
    let mut values = Vec::new();
    for z in own[0].clone() {
        for y in own[1].clone() {
            values.extend(own[2].clone().map(|x| 0.25 * ((z * y + x) % 1000) as f32));
        }
    }

    // 2. All ranks write the file.
    let compressor = Compressor::new(Codec::INTERP, Bound::range(1e-3)?).extents(&EXTENTS)?;
    let length = ferrosz_mpi::compress_part(&compressor, &world, &path, &own, &values)?;

    // 3. Each reads its box. The bound is a thousandth of the range of the whole field.
    let part = Part::Box(own.to_vec());
    let decoded: Vec<f32> = Decompressor::new().decompress_part(&fs::read(&path)?, &part)?;
    let errors = values
        .iter()
        .zip(&decoded)
        .map(|(value, decoded)| (value - decoded).abs());
    let largest = errors.fold(0.0, f32::max);
    assert!(largest <= 1e-3 * 249.75, "the bound is not kept: {largest}");
    if world.rank() == 0 {
        println!(
            "{} bytes became {length}",
            4 * EXTENTS.iter().product::<u64>()
        );
    }
    Ok(())
}

/// The box of a rank: as many cuts along the first two axes as the number of ranks allows.
fn box_of(rank: u64, size: u64) -> [Range<u64>; 3] {
    let columns = (1..=size)
        .filter(|n| size.is_multiple_of(*n) && n * n <= size)
        .max()
        .unwrap_or(1);
    let cut = |length: u64, at: u64, parts: u64| length * at / parts..length * (at + 1) / parts;
    [
        cut(EXTENTS[0], rank / columns, size / columns),
        cut(EXTENTS[1], rank % columns, columns),
        0..EXTENTS[2],
    ]
}
