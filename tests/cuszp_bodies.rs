//! The block bodies are those of cuSZp's one-dimensional streams wherever the two quantisers agree.
//!
//! cuSZp's quantiser is written here as its format describes it, and its codes are coded by our block
//! coder; the library's own streams must then hold the same rate bytes and bodies for all blocks with
//! the same codes. That these are cuSZp's own bytes is for `cuszp/tests/cuszp/` to show.

use crate::common::fields::{FromBits, flat_walk};
use ferrosz::codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, rate_of, write_body};
use ferrosz::codec::code::fixed_length::rate::RateByte;
use ferrosz::codec::container::chunk::{CHUNK, Form};
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::container::table::{ENTRY_BYTES, Entry, Split};
use ferrosz::codec::pipeline::BlockCodec;
use ferrosz::codec::shape::{GROUP as BLOCK, Shape};
use ferrosz::{Bound, Codec, Compressor, Device};

/// Lengths of the arrays that are compressed with every codec.
const LENGTHS: [usize; 3] = [100_000, 32_769, 1_000];

/// The codecs with cuSZp's predictors.
const CODECS: [BlockCodec; 3] = [BlockCodec::Fixed, BlockCodec::Plain, BlockCodec::Outlier];

/// cuSZp's code of a value: t = x * (0.5 / eb), halves rounded up but for -0.5 and below. All codes of
/// [`flat_walk`] are far from the ends of `i32`.
fn cuszp_code<T: FromBits>(value: T, error: T) -> i32 {
    let half = T::from_f64(0.5);
    let inverse = half * error.reciprocal();
    let scaled = value * inverse;
    let down = i32::from(scaled < T::ZERO - half);
    (scaled + half).truncate() - down
}

/// Codes of a block to its rate byte and body.
fn coded(codes: &[i32], codec: BlockCodec) -> (RateByte, Vec<u8>) {
    let mut block = [0; BLOCK];
    block[..codes.len()].copy_from_slice(codes);
    let mut groups = [block];
    codec.predictor().forward(Shape::Line, &mut groups);
    // Behind the end there is no difference, whatever the last code was.
    groups[0][codes.len()..].fill(0);
    let block = groups.map(|group| SignedGroup::split(&group));
    let rate = rate_of(&block, codec);
    let mut body = vec![0; BODY_SCRATCH];
    write_body(block, rate, &mut body);
    body.truncate(rate.body_bytes(1) as usize);
    (rate, body)
}

fn cuszp_codes<T: FromBits>(length: usize) -> Vec<i32> {
    let error = T::from_f64(0.05);
    let values = flat_walk::<T>(length);
    values.iter().map(|x| cuszp_code(*x, error)).collect()
}

/// Rate byte and body of every block of a stream of ours; none for chunks that are not coded.
fn blocks_of(stream: &[u8], codec: BlockCodec) -> Vec<Option<(u8, Vec<u8>)>> {
    let header = Header::read(stream).expect("a header");
    let (table, payload) = stream[HEADER_BYTES..].split_at(header.chunks() as usize * ENTRY_BYTES);
    let (table, _) = table.as_chunks();
    let mut blocks = Vec::new();
    for (chunk, entry) in table
        .iter()
        .map(|entry| Entry::from_bytes(entry, Split::SHORT))
        .enumerate()
    {
        let elements = (header.elements() as usize - chunk * CHUNK).min(CHUNK);
        let count = elements.div_ceil(BLOCK);
        if ![Form::Coded.id(), Form::CodedWithExceptions.id()].contains(&entry.form) {
            blocks.extend((0..count).map(|_| None));
            continue;
        }
        let bytes = &payload[entry.start as usize..];
        let mut at = count.next_multiple_of(4);
        for rate in &bytes[..count] {
            let stores_outliers = codec.stores_outliers();
            let parsed = RateByte::from_byte(*rate, stores_outliers, 31).expect("a rate byte");
            let end = at + parsed.body_bytes(1) as usize;
            blocks.push(Some((*rate, bytes[at..end].to_vec())));
            at = end;
        }
    }
    blocks
}

fn check_blocks<T: FromBits>() {
    let error = T::from_f64(0.05);
    let bound = Bound::abs(error.to_f64()).expect("a good bound");
    for (length, codec) in LENGTHS
        .into_iter()
        .flat_map(|n| CODECS.map(|codec| (n, codec)))
    {
        let values = flat_walk::<T>(length);
        let compressor = Compressor::new(Codec::Blocks(codec), bound).device(Device::Cpu);
        let stream = compressor.compress(&values).expect("compresses");
        let quantizer = bound.resolve::<T>(&Default::default());
        let ours: Vec<Option<i32>> = values.iter().map(|x| quantizer.quantize(*x)).collect();
        let theirs = cuszp_codes::<T>(length);
        let mut same = 0;
        let blocks = blocks_of(&stream, codec);
        for (b, block) in blocks.iter().enumerate() {
            let range = b * BLOCK..length.min((b + 1) * BLOCK);
            let codes = &theirs[range.clone()];
            let agree = ours[range].iter().zip(codes).all(|(a, b)| *a == Some(*b));
            if let (true, Some((rate, body))) = (agree, block) {
                let (expected, expected_body) = coded(codes, codec);
                assert_eq!(
                    (*rate, body),
                    (expected.to_byte(), &expected_body),
                    "block {b}"
                );
                same += 1;
            }
        }
        println!("{codec:?} {length}: {same} of {} blocks", blocks.len());
        assert!(
            same * 10 >= blocks.len() * 3,
            "{codec:?}: only {same} of {}",
            blocks.len()
        );
    }
}

#[test]
fn blocks_of_f32_are_cuszps() {
    check_blocks::<f32>();
}

#[test]
fn blocks_of_f64_are_cuszps() {
    check_blocks::<f64>();
}
