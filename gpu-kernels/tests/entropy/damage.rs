//! Damaged streams: what the kernels make of them, the CPU makes too, and no access goes astray.

use super::machine::{
    Compressed, Decompressed, SPLIT, compress, compress_planes, decompress, decompress_planes,
    identity, seal,
};
use super::sample::{Chunk, Kind, Levels, Sample};
use ferrosz_codec::code::bit_planes::CHUNK_WORDS;
use ferrosz_codec::code::entropy::frequency_tables::{FrequencyTables, Head};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::code::entropy::states::{Huffman, Rans, SymbolCoder};
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::table::Entry;
use ferrosz_codec::error::{ChunkFault, TableFault};
use ferrosz_codec::shape::{Cube, Line, Plane, Shape, Slices, StaticShape};
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{ChunkLength, TILE};
use ferrosz_gpu_kernels::pipeline::cells::Fault;
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::code::bit_planes;
use ferrosz_host::cpu::code::entropy::{Pops, decode};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::ops::Range;

/// What the CPU makes of a stream's chunks: their codes, or what is wrong.
struct Verdict {
    tables: Result<(), TableFault>,
    chunks: Vec<Result<Vec<u16>, ChunkFault>>,
}

struct Damaged<'a> {
    sample: &'a Sample<f32>,
    stream: &'a [u32],
    payload_at: usize,
    verify: bool,
}

impl Damaged<'_> {
    fn payload(&self) -> &[u32] {
        &self.stream[self.payload_at..]
    }

    fn frequencies<C: SymbolCoder>(&self) -> Result<FrequencyTables, TableFault> {
        let last = Head::from_word(self.payload()[15]);
        let words = (16 + last.end as usize).next_multiple_of(4);
        let words = self.payload().get(..words).ok_or(TableFault::Size)?;
        FrequencyTables::read::<C>(words)
    }

    /// A chunk's form and bytes.
    fn image(&self, number: usize, chunk: &Chunk) -> Result<(Form, Vec<u8>), ChunkFault> {
        let table = &self.stream[Compressed::TABLE..self.payload_at];
        let own = Entry::from_words(table.as_chunks().0[number], SPLIT);
        let Range { start, end } = own.range();
        let words =
            (self.payload().get(start as usize / 4..end as usize / 4)).ok_or(ChunkFault::Place)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if bytes.len() > self.sample.tiles(chunk).raw_bytes::<f32>() {
            return Err(ChunkFault::Place);
        }
        if self.verify
            && checksum(identity().seed(1 + number as u64, own.form), &bytes) != own.checksum
        {
            return Err(ChunkFault::Checksum);
        }
        let form = Form::from_id(own.form).ok_or(ChunkFault::Form)?;
        Ok((form, bytes))
    }

    fn chunk(&self, pops: &Pops, number: usize, chunk: &Chunk) -> Result<Vec<u16>, ChunkFault> {
        let (form, bytes) = self.image(number, chunk)?;
        let mut codes: Vec<TileCodes> = vec![[0; TILE]; chunk.tiles.len()];
        let tiles = self.sample.tiles(chunk);
        let set = |_, _, _: f32| {};
        decode(Version::best(), tiles, pops, form, &bytes, &mut codes, set)?;
        Ok(codes.into_iter().flatten().collect())
    }

    fn planes(&self, number: usize, chunk: &Chunk) -> Result<Vec<u16>, ChunkFault> {
        let (form, bytes) = self.image(number, chunk)?;
        let mut codes: Vec<TileCodes> = vec![[0; TILE]; chunk.tiles.len()];
        let mut words: Box<[u32; CHUNK_WORDS]> = vec![0; CHUNK_WORDS].try_into().expect("as many");
        let tiles = self.sample.tiles(chunk);
        let set = |_, _, _: f32| {};
        bit_planes::decode(tiles, form, &bytes, &mut codes, set, &mut words)?;
        Ok(codes.into_iter().flatten().collect())
    }

    /// Compares what the emulator found in bit planes with what the CPU finds. Of several faults of a chunk they may
    /// name different ones.
    fn check_planes(&self, found: &Decompressed) {
        let chunks = self.sample.chunks.iter().enumerate();
        let wanted: Vec<_> = chunks.map(|(i, chunk)| self.planes(i, chunk)).collect();
        let number = match found.fault {
            // The first entry is the prologue's.
            Some(Fault::Chunk(number, _)) => Some(number as usize - 1),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(number, wanted.iter().position(Result::is_err));
        for (codes, wanted) in found.codes.iter().zip(wanted) {
            match wanted {
                Ok(wanted) => assert!(*codes == wanted),
                Err(_) => assert!(codes.iter().all(|z| *z == 0)),
            }
        }
    }

    fn verdict<C: SymbolCoder>(&self) -> Verdict {
        let frequencies = self.frequencies::<C>();
        let chunks = match &frequencies {
            Err(_) => Vec::new(),
            Ok(frequencies) => {
                let pops = Pops::new::<C>(frequencies).unwrap();
                let chunks = self.sample.chunks.iter().enumerate();
                chunks
                    .map(|(number, chunk)| self.chunk(&pops, number, chunk))
                    .collect()
            }
        };
        Verdict {
            tables: frequencies.map(|_| ()),
            chunks,
        }
    }

    /// Compares what the emulator found with the verdict.
    fn check<C: SymbolCoder>(&self, found: &Decompressed) {
        let verdict = self.verdict::<C>();
        if verdict.tables.is_err() {
            assert!(
                matches!(found.fault, Some(Fault::Tables(_))),
                "{:?}",
                found.fault
            );
            return;
        }
        let fault = |(number, chunk): (usize, &Result<_, ChunkFault>)| {
            let fault = *chunk.as_ref().err()?;
            Some(Fault::Chunk(1 + number as u64, fault as u32))
        };
        let wanted = verdict.chunks.iter().enumerate().find_map(fault);
        assert_eq!(found.fault, wanted);
        for (codes, wanted) in found.codes.iter().zip(&verdict.chunks) {
            match wanted {
                Ok(wanted) => assert!(codes == wanted),
                Err(_) => assert!(codes.iter().all(|z| *z == 0)),
            }
        }
    }
}

/// Flips bits of every word of a stream behind its header, and has `check` look at what that does.
fn flip_bits(
    sample: &Sample<f32>,
    compressed: &Compressed,
    flips: usize,
    check: impl Fn(&Damaged<'_>, u64) -> bool,
) {
    let mut rng = SmallRng::seed_from_u64(compressed.stream.len() as u64);
    let mut faults = 0;
    let words = Compressed::TABLE..compressed.stream.len();
    for word in words.clone() {
        for flip in 0..flips {
            let mut stream = compressed.stream.clone();
            stream[word] ^= 1 << rng.random_range(0..32);
            let damaged = Damaged {
                sample,
                stream: &stream,
                payload_at: compressed.payload_at(),
                verify: flip % 4 == 3,
            };
            faults += u32::from(check(&damaged, word as u64));
        }
    }
    assert!(faults as usize > words.len() * flips / 4, "{faults}");
}

fn flip_bits_of_states<C: SymbolCoder, S: StaticShape>(kind: Kind, lengths: [u64; 3]) {
    let mut rng = SmallRng::seed_from_u64(lengths[2]);
    let sample = Sample::<f32>::new(kind, [0; 3], lengths, &mut rng);
    let compressed = compress::<f32, C, S>(&sample, 0);
    flip_bits(&sample, &compressed, 4, |damaged, run| {
        let (stream, verify) = (damaged.stream, damaged.verify);
        let found = decompress::<f32, C, S>(&sample, stream, verify, run);
        damaged.check::<C>(&found);
        found.fault.is_some()
    });
}

fn flip_bits_of_planes<S: StaticShape>(kind: Kind, lengths: [u64; 3]) {
    let mut rng = SmallRng::seed_from_u64(lengths[2]);
    let sample = Sample::<f32>::new(kind, [0; 3], lengths, &mut rng);
    let compressed = compress_planes(&sample, 0);
    flip_bits(&sample, &compressed, 4, |damaged, run| {
        let (stream, verify) = (damaged.stream, damaged.verify);
        let found = decompress_planes::<f32, S>(&sample, stream, verify, run);
        damaged.check_planes(&found);
        found.fault.is_some()
    });
}

fn kind(shape: Shape, levels: Levels, raw: f64) -> Kind {
    Kind {
        shape,
        levels,
        shifts: match (levels, shape) {
            (Levels::OfTile | Levels::OfSlices, Shape::Cube) => {
                Shifts::NONE.with(0, 1, -1).with(0, 3, 2).with(1, 2, 1)
            }
            _ => Shifts::NONE,
        },
        chunk: ChunkLength::Four,
        scale: [1.0, 4.0],
        density: 1.0,
        raw,
    }
}

#[test]
fn flipped_bits_are_faults_or_change_what_the_cpu_finds_too() {
    flip_bits_of_states::<Rans, Cube>(kind(Shape::Cube, Levels::OfTile, 0.02), [3, 4, 11]);
    flip_bits_of_states::<Huffman, Plane>(kind(Shape::Plane, Levels::None, 0.0), [5, 6, 17]);
    flip_bits_of_states::<Rans, Slices>(kind(Shape::Cube, Levels::OfSlices, 0.02), [3, 4, 11]);
    flip_bits_of_states::<Rans, Line>(kind(Shape::Line, Levels::OfTile, 0.0), [1, 1, 300]);
}

#[test]
fn flipped_bits_of_planes_too() {
    flip_bits_of_planes::<Cube>(kind(Shape::Cube, Levels::OfTile, 0.02), [3, 4, 11]);
    flip_bits_of_planes::<Line>(kind(Shape::Line, Levels::None, 0.0), [1, 1, 300]);
}

#[test]
fn streams_that_are_cut_off_are_faults() {
    let mut rng = SmallRng::seed_from_u64(7);
    let kind = kind(Shape::Cube, Levels::OfTile, 0.02);
    let sample = Sample::<f32>::new(kind, [0; 3], [3, 5, 90], &mut rng);
    let stream = compress::<f32, Rans, Cube>(&sample, 0).stream;
    for words in [0, 1, 19, 38, 39, 40, 44, 50, 60, stream.len() - 1] {
        let found = decompress::<f32, Rans, Cube>(&sample, &stream[..words], true, 1);
        assert!(found.fault.is_some(), "{words}");
        assert!(found.codes.iter().flatten().all(|z| *z == 0), "{words}");
    }
}

/// A stream with words put in at a position of its payload, `starts` bytes added to the starts of all chunks.
fn lengthened(compressed: &Compressed, at: usize, words: &[u32], starts: u64) -> Vec<u32> {
    let mut stream = compressed.stream.clone();
    let payload_at = compressed.payload_at();
    for entry in stream[Compressed::TABLE..payload_at].as_chunks_mut::<4>().0 {
        let found = Entry::from_words(*entry, SPLIT);
        let start = found.start + starts;
        *entry = Entry { start, ..found }.to_words(SPLIT);
    }
    let at = payload_at + at;
    stream.splice(at..at, words.iter().copied());
    let mut header: [u32; HEADER_WORDS] = stream[..HEADER_WORDS].try_into().expect("a header");
    seal(&mut header, 4 * (stream.len() - payload_at) as u64);
    stream[..HEADER_WORDS].copy_from_slice(&header);
    stream
}

#[test]
fn what_is_longer_than_it_needs_to_be_is_a_fault() {
    let mut rng = SmallRng::seed_from_u64(8);
    let kind = kind(Shape::Cube, Levels::OfTile, 0.0);
    let sample = Sample::<f32>::new(kind, [0; 3], [3, 5, 90], &mut rng);
    let compressed = compress::<f32, Rans, Cube>(&sample, 0);
    let end = compressed.payload().len();
    // The last chunk with words behind it that its entry says are its own.
    let mut streams = vec![
        lengthened(&compressed, end, &[0; 4], 0),
        lengthened(&compressed, end, &[0; 4000], 0),
    ];
    for (stream, words) in streams.iter_mut().zip([4, 4000]) {
        let entry = &mut stream[compressed.payload_at() - 4..][..4];
        let last = Entry::from_words(entry.try_into().expect("an entry"), SPLIT);
        let bytes = last.bytes + 4 * words;
        entry.copy_from_slice(&Entry { bytes, ..last }.to_words(SPLIT));
    }
    // The body of one context followed by four words more.
    for context in 0..16 {
        let after = Head::from_word(compressed.payload()[context]).end as usize;
        let mut stream = lengthened(&compressed, 16 + after, &[0; 4], 16);
        for word in &mut stream[compressed.payload_at()..][context..16] {
            let head = Head::from_word(*word);
            *word = Head {
                end: head.end + 4,
                ..head
            }
            .to_word();
        }
        streams.push(stream);
    }
    for (i, stream) in streams.iter().enumerate() {
        let damaged = Damaged {
            sample: &sample,
            stream,
            payload_at: compressed.payload_at(),
            verify: false,
        };
        let found = decompress::<f32, Rans, Cube>(&sample, stream, false, 1);
        assert!(found.fault.is_some(), "{i}");
        damaged.check::<Rans>(&found);
    }
}
