//! What every machine must say of a damaged stream.

use super::cases::{asked, seed, takes_part};
use super::fields::{Kind, make};
use super::machine::Machine;
use super::{layouts, tile_layouts};
use ferrosz::codec::container::header::HEADER_BYTES;
use ferrosz::codec::oracle;
use ferrosz::stream::Layout;
use ferrosz::{Bound, Error};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// No flipped bit may go unseen where checksums are verified, and of blocks all machines name the same fault. Without
/// checksums there may be wrong values, but no panic, and no kernel fault.
pub fn is_found_by_all(machines: &[Machine]) {
    let lengths = [&[9000][..], &[30, 300], &[9, 20, 50]];
    let blocks = lengths.into_par_iter().flat_map(layouts);
    let tiles = tile_layouts(&[18, 17, 40]).into_par_iter();
    rayon::join(
        || blocks.for_each(|layout| of_blocks(machines, layout)),
        || tiles.for_each(|layout| of_tiles(machines, layout)),
    );
}

/// A prologue says itself how long it is. Where its entry says so, too, that is a fault, though nothing else is wrong.
pub fn in_the_entry_of_a_prologue_is_found_by_all(machines: &[Machine]) {
    for (layout, number) in tile_layouts(&[18, 17, 40]).into_iter().zip(0..) {
        if !takes_part(number, 4) {
            continue;
        }
        let stream = stream_of(layout, Kind::Smooth);
        for bit in [48, 63] {
            let mut damaged = stream.clone();
            damaged[HEADER_BYTES + bit / 8] ^= 1 << (bit % 8);
            for machine in machines {
                let found = machine.decompress::<f32>(&damaged);
                assert!(found.is_err(), "{machine:?} {layout:?} {bit}");
            }
        }
    }
}

fn of_blocks(machines: &[Machine], layout: Layout) {
    let kernels_take_one_in = 4;
    for (step, damaged) in damaged(layout, Kind::NotFinite, share_of(400)).enumerate() {
        let expected = Machine::cpu()[0].decompress::<f32>(&damaged).err();
        for machine in machines {
            if machine.is_slow() && step % kernels_take_one_in > 0 {
                continue;
            }
            let context = format!("{machine:?} {layout:?} {step}");
            let found = machine.decompress::<f32>(&damaged).err();
            match machine {
                Machine::Reference => assert!(found.is_some(), "{context}"),
                Machine::Cpu(_) | Machine::Emulator | Machine::Gpu => {
                    assert!(found.is_some() && found == expected, "{context}: {found:?}");
                }
            }
            if let Err(error) = machine.decompress_trusting::<f32>(&damaged) {
                assert!(matches!(error, Error::Format(_)), "{context}: {error}");
            }
        }
    }
}

fn of_tiles(machines: &[Machine], layout: Layout) {
    let kernels_take_one_in = 8;
    for (step, damaged) in damaged(layout, Kind::Smooth, share_of(64)).enumerate() {
        for machine in machines {
            if machine.is_slow() && step % kernels_take_one_in > 0 {
                continue;
            }
            let context = format!("{machine:?} {layout:?} {step}");
            assert!(machine.decompress::<f32>(&damaged).is_err(), "{context}");
            let _ = machine.decompress_trusting::<f32>(&damaged);
            let cut = &damaged[..damaged.len() - 1 - step];
            assert!(machine.decompress::<f32>(cut).is_err(), "{context}");
        }
    }
}

/// So many in a campaign, and a sixteenth of them in a usual run.
fn share_of(all: usize) -> usize {
    if asked().is_some() { all } else { all / 16 }
}

fn stream_of(layout: Layout, kind: Kind) -> Vec<u8> {
    let field = make::<f32>(kind, layout.extents.elements() as usize, 5);
    oracle::compress(layout, Bound::range(1e-3).expect("a good bound"), &field)
}

/// A stream with a flipped bit, again and again: half of them in header and table, where damage does most.
fn damaged(layout: Layout, kind: Kind, count: usize) -> impl Iterator<Item = Vec<u8>> {
    let stream = stream_of(layout, kind);
    let mut rng = SmallRng::seed_from_u64(seed());
    (0..count).map(move |_| {
        let most = if rng.random() { 240 } else { stream.len() };
        let at = rng.random_range(0..most.min(stream.len()));
        let mut damaged = stream.clone();
        damaged[at] ^= 1 << rng.random_range(0..8);
        damaged
    })
}
