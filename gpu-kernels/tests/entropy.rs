//! The kernels of the entropy coder on the emulator, against the coder of the CPU.

mod damage;
mod machine;
mod sample;

use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::{Counts, is_sample};
use ferrosz_codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::code::entropy::states::{Huffman, Rans, SymbolCoder};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::shape::{Cube, Shape, StaticShape};
use ferrosz_codec::tile::{ChunkLength, TILE};
use ferrosz_codec::with_order;
use machine::{
    Compressed, compress, compress_counted, compress_planes, decompress, decompress_planes,
    expected, identity,
};
use rand::{SeedableRng, rngs::SmallRng};
use sample::{Chunk, Kind, Levels, Sample};

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Compresses on the emulator, and compares that with what the CPU makes.
fn check_compression<E: Element, C: SymbolCoder, S: StaticShape>(
    sample: &Sample<E>,
    run: u64,
) -> Compressed {
    let compressed = compress::<E, C, S>(sample, run);
    let frequencies = FrequencyTables::of::<C>(&sample.counts());
    let words = sample.frequency_words::<C>(&frequencies);
    assert_eq!(compressed.frequencies, words);
    assert_eq!(compressed.payload()[..words.len()], words);
    check_chunks(sample, &compressed, 4 * words.len() as u64, |chunk| {
        sample.encode::<C>(&frequencies, chunk)
    });
    compressed
}

/// Compares the chunks, the first of which starts at this byte of the payload, with those of the CPU.
fn check_chunks<E: Element>(
    sample: &Sample<E>,
    compressed: &Compressed,
    mut start: u64,
    encode: impl Fn(&Chunk) -> (Form, Vec<u8>),
) {
    for (number, chunk) in sample.chunks.iter().enumerate() {
        let (form, image) = encode(chunk);
        let (entry, found) = compressed.chunk(number);
        assert_eq!(entry.start, start, "chunk {number}");
        assert_eq!(entry.form, form.id(), "chunk {number}");
        assert!(bytes_of(found) == image, "chunk {number}");
        let sum = checksum(identity().seed(1 + number as u64, form.id()), &image);
        assert_eq!(entry.checksum, sum, "chunk {number}");
        start += image.len() as u64;
    }
    assert_eq!(4 * compressed.payload().len() as u64, start);
}

/// Compresses, and decompresses again.
fn check_in<E: Element, C: SymbolCoder, S: StaticShape>(sample: &Sample<E>, run: u64) {
    let compressed = check_compression::<E, C, S>(sample, run);
    let forms = compressed.forms();
    let found = decompress::<E, C, S>(sample, &compressed.stream, run.is_multiple_of(2), run);
    assert!(found == expected(sample, &forms), "{:?}", found.fault);
}

/// Stores bit planes, and reads them again.
fn check_planes_in<E: Element, S: StaticShape>(sample: &Sample<E>, run: u64) {
    let compressed = compress_planes(sample, run);
    check_chunks(sample, &compressed, 0, |chunk| sample.encode_planes(chunk));
    let forms = compressed.forms();
    let verify = run.is_multiple_of(2);
    let found = decompress_planes::<E, S>(sample, &compressed.stream, verify, run);
    assert!(found == expected(sample, &forms), "{:?}", found.fault);
}

fn check_planes<E: Element>(sample: &Sample<E>, run: u64) {
    with_order!(sample.map.order(), S => check_planes_in::<E, S>(sample, run));
}

fn check<E: Element, C: SymbolCoder>(sample: &Sample<E>, run: u64) {
    with_order!(sample.map.order(), S => check_in::<E, C, S>(sample, run));
}

fn coarse_of(kind: &Kind, fine: [u64; 3], has_coarse: bool) -> [u64; 3] {
    match kind.shape {
        _ if !has_coarse => [0; 3],
        Shape::Line => [1, 1, fine[2].div_ceil(4)],
        Shape::Plane => [fine[0], fine[1].div_ceil(2), fine[2].div_ceil(2)],
        Shape::Cube => fine.map(|length| length.div_ceil(2)),
    }
}

#[test]
fn chunks_are_those_of_the_cpu() {
    let mut rng = SmallRng::seed_from_u64(1);
    for run in 0..40 {
        let kind = Kind::random(&mut rng);
        let fine = kind.lengths(&mut rng);
        let coarse = coarse_of(&kind, fine, run % 3 == 0);
        println!("{run}: {kind:?} {coarse:?} {fine:?}");
        if run % 2 == 0 {
            let sample = Sample::<f32>::new(kind, coarse, fine, &mut rng);
            check::<f32, Rans>(&sample, run);
            // Bit planes have chunks of one length.
            if kind.chunk == ChunkLength::Four {
                check_planes(&sample, run);
            }
        } else {
            let mut sample = Sample::<f64>::new(kind, coarse, fine, &mut rng);
            if run % 4 == 1 {
                // A slab. The field has so many runs that only a sample of them is counted.
                sample.of_field = [7 * run, 1000];
            }
            check::<f64, Huffman>(&sample, run);
            if kind.chunk == ChunkLength::Four {
                check_planes(&sample, run);
            }
        }
    }
}

#[test]
fn codes_that_the_sample_does_not_have_are_escaped() {
    let mut rng = SmallRng::seed_from_u64(2);
    let kind = Kind {
        shape: Shape::Plane,
        levels: Levels::None,
        shifts: Shifts::NONE,
        chunk: ChunkLength::Four,
        scale: [0.0, 14.0],
        density: 1.0,
        raw: 0.001,
    };
    // A tile a slice, and more runs than are counted whole.
    let sample = Sample::<f32>::new(kind, [0; 3], [2056, 2, 3], &mut rng);
    assert!(is_sample(sample.of_field[1]));
    check::<f32, Rans>(&sample, 0);
}

/// Every code costs what it can cost at most: a token of one slot, and an escape.
fn check_the_longest_words(chunk: ChunkLength) {
    let mut rng = SmallRng::seed_from_u64(3);
    let kind = Kind {
        shape: Shape::Cube,
        levels: Levels::None,
        shifts: Shifts::NONE,
        chunk,
        scale: [0.0, 0.0],
        density: 0.0,
        raw: 0.0,
    };
    let width = 64 * u64::from(chunk.tiles());
    let mut sample = Sample::<f64>::new(kind, [0; 3], [16, 16, width], &mut rng);
    sample.chunks[0].codes.fill([30_000; TILE]);
    let mut counts = Counts::default();
    for counts in &mut counts.0[1..] {
        counts[0] = 1 << 30;
        counts[111] = 1;
    }
    counts.complete(false);
    let found = compress_counted::<f64, Rans, Cube>(&sample, 0, |cells| {
        for (cell, count) in cells.iter_mut().zip(counts.0.as_flattened()) {
            *cell = u64::from(*count);
        }
    });
    let (form, image) =
        sample.encode::<Rans>(&FrequencyTables::of::<Rans>(&counts), &sample.chunks[0]);
    assert_eq!(form, Form::Coded);
    assert!(image.len() > chunk.tiles() as usize * TILE * 28 / 8);
    assert!(bytes_of(found.chunk(0).1) == image);
}

#[test]
fn the_longest_words_find_room() {
    for chunk in [ChunkLength::One, ChunkLength::Four, ChunkLength::Sixteen] {
        check_the_longest_words(chunk);
    }
}
