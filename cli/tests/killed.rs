//! `ferrosz update`, killed: whatever the moment, the file holds the old stream or the new one.

use crate::common::Place;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Elements: so many that an update appends megabytes, and takes long enough to be hit.
const ELEMENTS: usize = 1 << 20;

/// Updates that are begun.
const UPDATES: usize = 120;

/// Values that hardly compress; all different for each `seed`.
fn values(seed: u64) -> Vec<f32> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..ELEMENTS)
        .map(|_| f32::from(rng.random::<u16>()))
        .collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// What the file decodes to, which must be one of two fields; whether it is the second.
fn is_new(stream: &[u8], old: &[f32], new: &[f32]) -> bool {
    let decoded: Vec<f32> = Decompressor::new()
        .device(Device::Cpu)
        .decompress(stream)
        .unwrap_or_else(|error| panic!("the stream is lost: {error}"));
    assert!(decoded == old || decoded == new, "neither old nor new");
    decoded == new
}

#[test]
fn a_killed_update_leaves_the_old_or_the_new_stream() {
    let place = Place::new();
    // Whole numbers and a bound below a half: what is decoded is known bit for bit.
    let fields = [values(1), values(2)];
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.25).unwrap()).device(Device::Cpu);
    let stream = compressor.compress(&fields[0]).unwrap();
    place.put("a.fsz", &stream);
    let part = 1000..ELEMENTS - 1000;
    let mut current = fields[0].clone();
    for (name, field) in ["0.raw", "1.raw"].into_iter().zip(&fields) {
        place.put(name, &bytes(&field[part.clone()]));
    }
    let line = |input: usize| {
        format!(
            "update a.fsz {input}.raw --elements 1000..{} --quiet",
            ELEMENTS - 1000
        )
    };

    let whole = Instant::now();
    place.succeed(&line(0));
    let whole = whole.elapsed();
    let mut rng = SmallRng::seed_from_u64(3);
    let (mut killed, mut unfinished, mut done) = (0, 0, 0);
    for round in 0..UPDATES {
        let input = (round + 1) % 2;
        let mut new = current.clone();
        new[part.clone()].copy_from_slice(&fields[input][part.clone()]);
        let line = line(input);
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut child = place
            .command(&arguments)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(rng.random_range(Duration::ZERO..whole.mul_f64(1.1)));
        let _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());

        let stream = place.get("a.fsz");
        let end = ferrosz::info(&stream).unwrap().stream_bytes;
        unfinished += u32::from(stream.len() as u64 > end);
        if is_new(&stream, &current, &new) {
            done += 1;
            current = new;
        }
        // Killed updates may leave bytes, and finished ones do; the file need not grow for ever.
        if round % 10 == 9 {
            place.succeed("compact a.fsz b.fsz");
            fs::rename(place.path("b.fsz"), place.path("a.fsz")).unwrap();
            assert!(!is_new(&place.get("a.fsz"), &current, &[]));
        }
    }
    eprintln!(
        "{UPDATES} updates: {killed} killed, {unfinished} cut off in what they append, {done} done"
    );
    // Whether the kills were spread over the whole of an update.
    assert!(killed > 0 && done > 0);
    // What a killed update left does not disturb the next.
    place.succeed(&line(1));
    let mut new = current.clone();
    new[part.clone()].copy_from_slice(&fields[1][part]);
    assert!(is_new(&place.get("a.fsz"), &current, &new) || current == new);
}
