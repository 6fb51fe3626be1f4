use super::*;
use crate::cpu::code::image::image_bytes;
use crate::cpu::code::samples::{Kind, Levels, Sample, SampleChunk, lengths};
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::code::entropy::states::SymbolCoder;
use ferrosz_codec::code::entropy::states::{Huffman, Rans};
use ferrosz_codec::code::entropy::token::Token;
use ferrosz_codec::oracle;
use ferrosz_codec::shape::Shape;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Codes, and raw values as tile, position and bits.
type Decoded = (Vec<TileCodes>, Vec<(usize, usize, u64)>);

impl Sample {
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for chunk in &self.chunks {
            for (tile, codes) in chunk.tiles.iter().zip(&chunk.codes) {
                self.map.count(Version::best(), tile, codes, &mut counts);
            }
        }
        counts
    }

    fn tiles<'a>(&'a self, chunk: &'a SampleChunk) -> ChunkTiles<'a> {
        ChunkTiles {
            map: &self.map,
            tiles: &chunk.tiles,
        }
    }

    fn encode<C: SymbolCoder, T: Element>(
        &self,
        chunk: &SampleChunk,
        frequencies: &FrequencyTables,
    ) -> (Form, Vec<u8>) {
        let pushes = Pushes::new::<C>(frequencies).unwrap();
        let value = |tile: usize, at: usize| T::from_bits64(chunk.values[tile][at]);
        let tiles = self.tiles(chunk);
        let by_version = |version| {
            let length = ChunkLength::Four;
            let mut words = vec![0xeeee; word_count(length)];
            let mut image = vec![0xee; image_bytes(length)];
            let (codes, place) = (&chunk.codes, &mut image);
            let (form, bytes) = encode(version, tiles, &pushes, codes, value, &mut words, place);
            image.truncate(bytes);
            (form, image)
        };
        same(by_version)
    }

    fn decode<T: Element>(
        &self,
        chunk: &SampleChunk,
        pops: &Pops,
        form: Form,
        bytes: &[u8],
    ) -> Result<Decoded, ChunkFault> {
        let by_version = |version| {
            let mut codes = vec![[0xeeee; TILE]; chunk.tiles.len()];
            let mut raws = Vec::new();
            let set = |tile, at, value: T| raws.push((tile, at, value.to_bits64()));
            let tiles = self.tiles(chunk);
            decode(version, tiles, pops, form, bytes, &mut codes, set)?;
            Ok((codes, raws))
        };
        same(by_version)
    }
}

/// The result of every version, which must be the same.
fn same<R: PartialEq>(by_version: impl Fn(Version) -> R) -> R {
    let mut results = Version::all().map(by_version);
    let result = results.next().expect("a version");
    assert!(results.all(|other| other == result));
    result
}

impl SampleChunk {
    fn raws<T: Element>(&self) -> Vec<(usize, usize, u64)> {
        let mut raws = Vec::new();
        for (tile, codes) in self.codes.iter().enumerate() {
            for (at, z) in codes.iter().enumerate() {
                if *z == RAW {
                    let value = T::from_bits64(self.values[tile][at]);
                    raws.push((tile, at, value.to_bits64()));
                }
            }
        }
        raws
    }
}

/// Checks that all coders agree; returns how often each form occurred.
fn check<C: SymbolCoder, T: Element>(
    sample: &Sample,
    frequencies: &FrequencyTables,
    forms: &mut [u32; 5],
) {
    let order = sample.map.order();
    let pops = Pops::new::<C>(frequencies).unwrap();
    for chunk in &sample.chunks {
        let (form, bytes) = sample.encode::<C, T>(chunk, frequencies);
        let codes: Vec<Vec<u16>> = chunk.codes.iter().map(|codes| codes.to_vec()).collect();
        let values = chunk
            .values
            .iter()
            .map(|tile| tile.iter().map(|v| T::from_bits64(*v)).collect());
        let values: Vec<Vec<T>> = values.collect();
        let right = oracle::entropy::encode::<C, T>(
            order,
            sample.map.shifts(),
            &chunk.tiles,
            frequencies.contexts(),
            &codes,
            &values,
        );
        assert!(
            (form, &bytes) == (right.0, &right.1),
            "{form:?} {:?}",
            right.0
        );
        forms[form.id() as usize] += 1;
        let (found, raws) = sample.decode::<T>(chunk, &pops, form, &bytes).unwrap();
        if form == Form::Raw {
            let positions = found.iter().flatten().filter(|z| **z == RAW);
            assert_eq!(positions.count(), sample.tiles(chunk).active());
            assert_eq!(raws.len(), sample.tiles(chunk).active());
            assert!(
                raws.iter()
                    .all(|r| T::from_bits64(chunk.values[r.0][r.1]).to_bits64() == r.2)
            );
        } else {
            assert!(found == chunk.codes && raws == chunk.raws::<T>());
        }
        let slow = oracle::entropy::decode::<C, T>(
            order,
            sample.map.shifts(),
            &chunk.tiles,
            frequencies.contexts(),
            form,
            &bytes,
        );
        let (slow, slow_raws) = slow.unwrap();
        let slow_raws = slow_raws.into_iter().map(T::to_bits64);
        assert!(slow.concat() == found.concat());
        assert!(slow_raws.eq(raws.into_iter().map(|raw| raw.2)));
    }
}

fn round_trips<C: SymbolCoder>(seed: u64) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut forms = [0; 5];
    for _ in 0..60 {
        let kind = Kind::random(&mut rng);
        let sample = Sample::new(kind, lengths(kind.shape, &mut rng), &mut rng);
        let mut counts = sample.counts();
        if rng.random_bool(0.3) {
            // As if these symbols had been counted in other chunks. Without escapes, some codes cannot be coded.
            counts.0.iter_mut().flatten().for_each(|n| {
                *n = if rng.random_bool(0.5) { *n } else { 0 };
            });
            counts.complete(rng.random());
        } else {
            counts.complete(false);
        }
        if rng.random() {
            check::<C, f32>(&sample, &FrequencyTables::of::<C>(&counts), &mut forms);
        } else {
            check::<C, f64>(&sample, &FrequencyTables::of::<C>(&counts), &mut forms);
        }
    }
    assert!(forms[0] > 0 && forms[1] > 20 && forms[3] > 0, "{forms:?}");
}

#[test]
fn rans_chunks_come_back_and_are_the_oracles() {
    round_trips::<Rans>(1);
}

#[test]
fn huffman_chunks_come_back_and_are_the_oracles() {
    round_trips::<Huffman>(2);
}

#[test]
fn few_symbols_come_back() {
    let mut rng = SmallRng::seed_from_u64(3);
    for z in [1, 2, 15, 16, 1000, 61_440, 65_534] {
        for density in [0.0, 0.5] {
            for shape in Shape::ALL {
                let mut sample = Sample::new(
                    Kind {
                        shape,
                        levels: Levels::None,
                        shifts: Shifts::NONE,
                        scale: [0.0; 2],
                        density,
                        raw: 0.0,
                    },
                    lengths(shape, &mut rng),
                    &mut rng,
                );
                let map = sample.map.clone();
                for chunk in &mut sample.chunks {
                    for (tile, codes) in chunk.tiles.iter().zip(&mut chunk.codes) {
                        for (at, code) in codes.iter_mut().enumerate() {
                            let active = map.active(tile, at as u32 / 32);
                            let is_set = density > 0.0 && *code == 0;
                            *code = if active >> (at % 32) & 1 == 0 || is_set {
                                0
                            } else {
                                z
                            };
                        }
                    }
                }
                let mut counts = sample.counts();
                counts.complete(false);
                let mut forms = [0; 5];
                check::<Rans, f32>(&sample, &FrequencyTables::of::<Rans>(&counts), &mut forms);
                check::<Huffman, f64>(
                    &sample,
                    &FrequencyTables::of::<Huffman>(&counts),
                    &mut forms,
                );
            }
        }
    }
}

/// Bits per code at the exact probabilities of tokens by class, from counts of this function.
fn entropy_bits(counts: &Counts) -> f64 {
    let mut bits = 0.0;
    for (context, counts) in counts.0.iter().enumerate() {
        let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        for (token, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = f64::from(*count);
            let extra = if context == 0 {
                0
            } else {
                Token::bits(token as u32)
            };
            bits += count * (f64::from(extra) - (count / total).log2());
        }
    }
    bits
}

#[test]
fn rans_takes_what_the_entropy_says() {
    let mut rng = SmallRng::seed_from_u64(4);
    for (density, scale) in [(1.0, -3.0), (1.0, 0.0), (1.0, 4.0), (0.02, 1.0)] {
        let kind = Kind {
            shape: Shape::Cube,
            levels: Levels::OfTile,
            shifts: Shifts::NONE.with(0, 2, -1).with(0, 3, 2),
            scale: [scale, scale + 2.0],
            density,
            raw: 0.0,
        };
        let sample = Sample::new(kind, [64, 64, 256], &mut rng);
        let mut counts = sample.counts();
        let ideal = entropy_bits(&counts) / 8.0;
        for is_sample in [false, true] {
            counts.complete(is_sample);
            let frequencies = FrequencyTables::of::<Rans>(&counts);
            let images = sample
                .chunks
                .iter()
                .map(|chunk| sample.encode::<Rans, f32>(chunk, &frequencies));
            let bytes: usize = images.map(|(_, bytes)| bytes.len()).sum();
            // For each chunk: the head, two to four bytes a lane, padding.
            let states = sample.chunks.len() as f64 * (20.0 + 32.0 * 2.6 + 10.0);
            assert!(
                (bytes as f64) < ideal * 1.01 + states,
                "{bytes} {ideal} {states}"
            );
            assert!((bytes as f64) > ideal);
        }
    }
}

#[test]
fn damage_is_found_or_gives_some_codes() {
    let mut rng = SmallRng::seed_from_u64(5);
    let mut faults = [0; 10];
    for i in 0..24 {
        let mut kind = Kind::random(&mut rng);
        if i < 16 {
            // Codes that are seldom so large that the chunk is raw.
            kind.scale = [-2.0, 3.0];
            kind.raw = 0.0;
        }
        let sample = Sample::new(kind, lengths(kind.shape, &mut rng), &mut rng);
        let mut counts = sample.counts();
        counts.complete(false);
        damage::<Rans, f32>(
            &sample,
            &FrequencyTables::of::<Rans>(&counts),
            &mut rng,
            &mut faults,
        );
        damage::<Huffman, f64>(
            &sample,
            &FrequencyTables::of::<Huffman>(&counts),
            &mut rng,
            &mut faults,
        );
    }
    // Damage of a raw value is not found.
    assert!(faults[0] * 15 < faults.iter().sum(), "{faults:?}");
    assert!(faults[ChunkFault::State as usize] > 0 && faults[ChunkFault::Length as usize] > 0);
}

/// Damages chunks; a chunk that is decoded without a fault counts as fault 0.
fn damage<C: SymbolCoder, T: Element>(
    sample: &Sample,
    frequencies: &FrequencyTables,
    rng: &mut SmallRng,
    faults: &mut [u32; 10],
) {
    let pops = Pops::new::<C>(frequencies).unwrap();
    for chunk in &sample.chunks {
        let (form, whole) = sample.encode::<C, T>(chunk, frequencies);
        if form != Form::Coded {
            continue;
        }
        for cut in [0, 16, 32, whole.len() - 16, whole.len() + 16] {
            let mut bytes = whole.clone();
            bytes.resize(cut, 0);
            assert!(sample.decode::<T>(chunk, &pops, form, &bytes).is_err());
        }
        let used = whole.len() - 15;
        for i in 0..40 {
            let at = if i < 20 {
                i
            } else {
                rng.random_range(20..used.max(21))
            };
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << rng.random_range(0..8);
            let found = sample.decode::<T>(chunk, &pops, form, &bytes);
            let slow = oracle::entropy::decode::<C, T>(
                sample.map.order(),
                sample.map.shifts(),
                &chunk.tiles,
                frequencies.contexts(),
                form,
                &bytes,
            );
            assert_eq!(found.is_ok(), slow.is_ok());
            faults[found.err().map_or(0, |fault| fault as usize)] += 1;
        }
    }
}

#[test]
fn any_bytes_are_decoded_without_panic() {
    let mut rng = SmallRng::seed_from_u64(6);
    let kind = Kind::random(&mut rng);
    let sample = Sample::new(kind, [1, 30, 100], &mut rng);
    for _ in 0..100 {
        let counts = Counts([[0; 112]; 16].map(|counts: [u32; 112]| {
            let used = rng.random_bool(0.7);
            counts.map(|_| u32::from(used) * rng.random_range(0..3))
        }));
        let pops = Pops::new::<Rans>(&FrequencyTables::of::<Rans>(&counts)).unwrap();
        let bytes: Vec<u8> = (0..1600).map(|_| rng.random()).collect();
        for form in Form::ALL {
            for chunk in &sample.chunks {
                let _ = sample.decode::<f64>(chunk, &pops, form, &bytes);
            }
        }
    }
    assert_eq!(CONTEXTS, 16);
}
