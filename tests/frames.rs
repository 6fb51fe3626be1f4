//! Files of frames beside single calls, and what is left of damaged ones.

use ferrosz::frames::{FrameReader, FrameWriter, Frames, FramesEnd};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Error, Preset, Value};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes before the first frame, and of the head of each record.
const HEAD: usize = 32;

fn compressor() -> Compressor {
    let bound = Bound::abs(0.01).expect("a bound");
    Compressor::new(Codec::PLAIN, bound).device(Device::Cpu)
}

/// Waves that move from frame to frame.
fn frame(number: usize, elements: usize) -> Vec<f32> {
    let value = |i| ((i as f32 * 0.01).sin() + number as f32 * 0.3).cos() * 20.0;
    (0..elements).map(value).collect()
}

/// A file of frames of 20 x 30 values.
fn file(count: usize) -> Vec<u8> {
    let mut writer = FrameWriter::new(compressor(), &[20, 30], Vec::new()).expect("a writer");
    for number in 0..count {
        writer.write(&frame(number, 600)).expect("a frame");
    }
    writer.finish().expect("an end")
}

fn streams(count: usize) -> Vec<Vec<u8>> {
    let compressor = compressor().extents(&[20, 30]).expect("extents");
    let of = |number| compressor.compress(&frame(number, 600)).expect("a stream");
    (0..count).map(of).collect()
}

/// The checksum of section 7 of FORMAT.md, written from its text.
fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    let words = bytes.chunks(4).enumerate();
    words.fold(seed, |sum, (i, word)| {
        let g = (i as u64 + 1) * 0x9E37_79B1 % (1 << 32);
        let weight = (g ^ (g >> 15)) | 1;
        let word = word
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte));
        sum.wrapping_add(word.wrapping_mul(weight))
    })
}

/// A head as FRAMES.md has it, written from its text.
fn head(kind: u8, first: u64, second: u64) -> Vec<u8> {
    let mut head = vec![0x89, 0x46, 0x53, kind, 0x0D, 0x0A, 0x1A, 0x0A];
    head.extend(first.to_le_bytes());
    head.extend(second.to_le_bytes());
    let sum = checksum(0, &head);
    head.extend(sum.to_le_bytes());
    head
}

#[test]
fn a_file_is_as_the_format_says() {
    let streams = streams(2);
    let mut wanted = head(0x46, 1, 0);
    let mut positions = Vec::new();
    for (number, stream) in (0..).zip(&streams) {
        positions.push(wanted.len() as u64);
        wanted.extend(head(0x66, number, stream.len() as u64));
        wanted.extend(stream);
    }
    let index = wanted.len() as u64;
    let content: Vec<u8> = ([0].iter().chain(&positions))
        .flat_map(|at: &u64| at.to_le_bytes())
        .collect();
    wanted.extend(head(0x69, 2, 8 + content.len() as u64));
    wanted.extend(checksum(2, &content).to_le_bytes());
    wanted.extend(content);
    wanted.extend(head(0x65, 2, index));
    assert_eq!(file(2), wanted);
    // No frame, and a vector that was computed by another program.
    let start = "894653460d0a1a0a0100000000000000000000000000000069c593085bc5d82d";
    let hex: String = file(0)[..HEAD]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex, start);
    assert_eq!(file(0)[HEAD..], head(0x65, 0, 0));
}

/// All ways to write make the streams of single calls with the choice of the first frame, and both readers find them.
fn check<V: Value>(compressor: Compressor, frames: &[Vec<V>], extents: &[u64]) {
    let mut writer = FrameWriter::new(compressor, extents, Vec::new()).expect("a writer");
    let (some, rest) = frames.split_at(1);
    writer.write(&some[0]).expect("a frame");
    let (some, rest) = rest.split_at(rest.len() / 2);
    writer.write_all(some).expect("frames");
    let mut rest = rest.iter().cloned();
    writer
        .write_each(|| Ok::<_, Error>(rest.next()))
        .expect("frames");
    let file = writer.finish().expect("an end");

    let alone = compressor.extents(extents).expect("extents");
    let alone = alone.choose(&frames[0]).expect("a choice");
    let found = Frames::open(&file).expect("a file");
    assert_eq!(
        (found.len(), found.end()),
        (frames.len() as u64, FramesEnd::Indexed)
    );
    let mut reader = FrameReader::new(&file[..]).expect("a file");
    for (number, frame) in (0..).zip(frames) {
        let wanted = alone.compress(frame).expect("a stream");
        assert!(
            found.stream(number).as_ref() == Ok(&&wanted[..]),
            "{compressor:?}, frame {number}"
        );
        assert!(
            reader.next() == Some(Ok(wanted)),
            "{compressor:?}, frame {number}"
        );
    }
    assert!(reader.next().is_none() && reader.has_ended());
    assert!(found.stream(frames.len() as u64).is_err());
}

#[test]
fn frames_are_single_calls() {
    let frames: Vec<_> = (0..9).map(|number| frame(number, 6000)).collect();
    let integers: Vec<Vec<u16>> = (0..9)
        .map(|number| (0..6000).map(|i| 700 + i % 50 * number).collect())
        .collect();
    let bounds = [Bound::abs(0.5), Bound::range(1e-3)];
    for bound in bounds.map(|bound| bound.expect("a bound")) {
        for preset in Preset::ALL {
            let compressor = Compressor::new(preset, bound).device(Device::Cpu);
            check(compressor, &frames, &[60, 100]);
            check(compressor, &integers, &[6000]);
        }
        let compressor = Compressor::new(Codec::INTERP, bound).device(Device::Cpu);
        check(compressor, &frames, &[3, 20, 100]);
        check(
            compressor.fill(700.0).expect("a fill"),
            &integers,
            &[60, 100],
        );
    }
    #[cfg(feature = "emulator")]
    check(
        compressor().device(Device::Emulator),
        &frames[..3],
        &[60, 100],
    );
}

#[test]
fn a_file_that_is_cut_anywhere_has_its_whole_frames() {
    let (file, streams) = (file(3), streams(3));
    let mut end = HEAD;
    let ends: Vec<usize> = (streams.iter())
        .map(|stream| {
            end += HEAD + stream.len();
            end
        })
        .collect();
    for length in 0..file.len() {
        let cut = &file[..length];
        if length < HEAD {
            assert!(Frames::open(cut).is_err() && FrameReader::new(cut).is_err());
            continue;
        }
        let whole = ends.iter().filter(|end| **end <= length).count();
        let frames = Frames::open(cut).expect("a file");
        assert_eq!(frames.len() as usize, whole, "{length} bytes");
        let mut reader = FrameReader::new(cut).expect("a file");
        for (number, stream) in (0..).zip(&streams[..whole]) {
            assert_eq!(frames.stream(number), Ok(&stream[..]), "{length} bytes");
            assert_eq!(reader.next(), Some(Ok(stream.clone())), "{length} bytes");
        }
        // A pipe that ends behind a frame or an index was stopped; one that ends elsewhere is cut off.
        let is_between = [HEAD, file.len() - HEAD].contains(&length) || ends.contains(&length);
        assert_eq!(reader.next().is_none(), is_between, "{length} bytes");
        assert!(reader.next().is_none() && !reader.has_ended());
        // Behind the last record: the index is the last but one.
        let records = [HEAD].into_iter().chain(ends.clone());
        let records = records.chain([file.len() - HEAD]);
        let last = records.filter(|end| *end <= length).max();
        let rest = length - last.expect("a beginning");
        assert_eq!(
            frames.end(),
            FramesEnd::Stopped { rest: rest as u64 },
            "{length} bytes"
        );
    }
}

#[test]
fn damage_costs_its_frame_alone() {
    let (file, streams) = (file(4), streams(4));
    let mut starts = vec![HEAD];
    for stream in &streams {
        starts.push(starts[starts.len() - 1] + HEAD + stream.len());
    }
    for at in 0..file.len() {
        for bit in [1, 0x80] {
            let mut damaged = file.clone();
            damaged[at] ^= bit;
            // Whether the index is there or not.
            for damaged in [
                &damaged[..],
                &damaged[..starts[4].max(at + 1).min(file.len())],
            ] {
                let Ok(frames) = Frames::open(damaged) else {
                    assert!(at < HEAD);
                    continue;
                };
                assert!(at >= HEAD);
                for (number, stream) in streams.iter().enumerate() {
                    let own = starts[number]..starts[number + 1];
                    let found = frames.stream(number as u64);
                    match own.contains(&at) {
                        false => assert_eq!(found, Ok(&stream[..]), "byte {at}"),
                        true => {
                            let decoded =
                                found.and_then(|stream| Decompressor::new().check(stream));
                            assert!(
                                decoded.is_err() || decoded.is_ok_and(|found| !found.is_empty())
                            );
                        }
                    }
                }
                // A pipe has all frames before the damage, or finds it.
                let reader = FrameReader::new(damaged).expect("a file");
                for (number, found) in reader.enumerate() {
                    if starts.get(number + 1).is_some_and(|end| *end <= at) {
                        assert_eq!(found.as_ref(), Ok(&streams[number]), "byte {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_head_with_the_number_of_another_frame_is_damage() {
    let (mut file, streams) = (file(4), streams(4));
    let at = HEAD + HEAD + streams[0].len();
    let length = streams[1].len() as u64;
    assert_eq!(file[at..at + HEAD], head(0x66, 1, length));
    file[at..at + HEAD].copy_from_slice(&head(0x66, 2, length));
    let frames = Frames::open(&file).expect("a file");
    assert_eq!((frames.len(), frames.end()), (4, FramesEnd::Indexed));
    assert!(matches!(frames.stream(1), Err(Error::BadFrames(_))));
    for number in [0, 2, 3] {
        assert_eq!(frames.stream(number as u64), Ok(&streams[number][..]));
    }
    let mut reader = FrameReader::new(&file[..]).expect("a file");
    assert_eq!(reader.next(), Some(Ok(streams[0].clone())));
    assert!(matches!(reader.next(), Some(Err(Error::BadFrames(_)))));
}

#[test]
fn forged_records_take_neither_memory_nor_time() {
    let start = head(0x46, 1, 0);
    let content = |previous: u64| {
        let words = [previous, 32];
        let content: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        [checksum(1, &content).to_le_bytes().to_vec(), content].concat()
    };
    for records in [
        // Numbers, lengths and counts without end.
        [head(0x66, 1 << 60, 0), head(0x65, 1 << 60, 0)].concat(),
        [head(0x66, 0, u64::MAX), head(0x66, 0, 1 << 40)].concat(),
        [head(0x69, 0, u64::MAX), head(0x65, 0, u64::MAX)].concat(),
        // An index that names itself, and one that does not begin as a frame.
        [head(0x69, 1, 24), content(32), head(0x65, 1, 32)].concat(),
        [head(0x69, 1, 24), content(0), head(0x65, 1, 32)].concat(),
        // A second beginning.
        [head(0x46, 1, 0), head(0x46, 2, 0)].concat(),
    ] {
        let file = [&start[..], &records].concat();
        let frames = Frames::open(&file).expect("a beginning");
        assert!(frames.len() <= 2);
        assert!((0..frames.len()).all(|number| frames.stream(number).is_err()));
        let found: Vec<_> = FrameReader::new(&file[..]).expect("a beginning").collect();
        assert!(found.iter().all(Result::is_err), "{found:?}");
    }
    for (bytes, word) in [
        (head(0x46, 2, 0), "version 2"),
        (b"\x89FSZ\r\n\x1a\n".repeat(4), "not a file of frames"),
    ] {
        let refusal = Frames::open(&bytes).expect_err("no frames").to_string();
        assert!(refusal.contains(word), "{refusal}");
    }
    let bad = FrameWriter::<f32, _>::new(compressor(), &[0, 5], Vec::new());
    assert!(bad.is_err_and(|error| error.to_string().contains("without values")));
}

/// More frames than an index has: each index names the one before.
#[test]
fn indexes_are_a_chain() {
    const COUNT: usize = 2 * 65_536 + 5;
    let mut writer = FrameWriter::new(compressor(), &[3], Vec::new()).expect("a writer");
    let values = |number: usize| vec![number as f32, 0.5, 2.0];
    for first in (0..COUNT).step_by(4096) {
        let frames: Vec<_> = (first..COUNT.min(first + 4096)).map(values).collect();
        writer.write_all(&frames).expect("frames");
    }
    let mut file = writer.finish().expect("an end");
    let numbers = [0, 1, 65_535, 65_536, 131_071, 131_072, COUNT - 1];
    let check = |file: &[u8], end| {
        let frames = Frames::open(file).expect("a file");
        assert_eq!((frames.len(), frames.end()), (COUNT as u64, end));
        for number in numbers {
            let stream = frames.stream(number as u64).expect("a frame");
            let found: Vec<f32> = Decompressor::new().decompress(stream).expect("values");
            assert!((found[0] - number as f32).abs() <= 0.02, "frame {number}");
        }
    };
    check(&file, FramesEnd::Indexed);
    let count = FrameReader::new(&file[..])
        .expect("a file")
        .filter(Result::is_ok)
        .count();
    assert_eq!(count, COUNT);
    let first_index = head(0x69, 65_536, 16 + 8 * 65_536);
    let found = file.windows(HEAD).position(|bytes| bytes == first_index);
    file[found.expect("the first index") + HEAD + 100] ^= 1;
    check(&file, FramesEnd::BadIndex);
}

/// A writer whose bytes another thread sees.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl Seen {
    fn frames(&self) -> usize {
        let bytes = self.0.lock().expect("a lock");
        Frames::open(&bytes[..]).map_or(0, |frames| frames.len() as usize)
    }
}

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a lock").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_frame_is_written_before_the_next_one_comes() {
    let seen = Seen::default();
    let mut writer = FrameWriter::new(compressor(), &[600], seen.clone()).expect("a writer");
    let mut number = 0;
    let start = Instant::now();
    writer
        .write_each(|| {
            while seen.frames() < number {
                assert!(
                    start.elapsed() < Duration::from_secs(60),
                    "frame {number} waits"
                );
                std::thread::sleep(Duration::from_millis(1));
            }
            number += 1;
            Ok::<_, Error>((number <= 10).then(|| frame(number, 600)))
        })
        .expect("frames");
    assert_eq!(writer.frames(), 10);
}

#[test]
fn few_frames_wait() {
    // So large that each is compressed alone.
    const ELEMENTS: usize = 1 << 22;
    let seen = Seen::default();
    let mut writer = FrameWriter::new(compressor(), &[ELEMENTS], seen.clone()).expect("a writer");
    let mut number = 0;
    writer
        .write_each(|| {
            // One is compressed, one waits, and this one comes.
            assert!(number <= seen.frames() + 2, "{number} frames were taken");
            number += 1;
            Ok::<_, Error>((number <= 6).then(|| vec![number as f32; ELEMENTS]))
        })
        .expect("frames");
    assert_eq!(seen.frames(), 6);
}

#[test]
fn an_error_comes_behind_the_frames_before_it() {
    let seen = Seen::default();
    let mut writer = FrameWriter::new(compressor(), &[20, 30], seen.clone()).expect("a writer");
    let mut number = 0;
    let refusal = writer.write_each(|| {
        number += 1;
        match number <= 7 {
            true => Ok(Some(frame(number, 600))),
            false => Err(Error::BadFrames("no more".to_owned())),
        }
    });
    assert_eq!(refusal, Err(Error::BadFrames("no more".to_owned())));
    assert_eq!((writer.frames(), seen.frames()), (7, 7));
    // A frame of another length is refused, and the next one is taken.
    assert!(matches!(
        writer.write(&[1.0; 599]),
        Err(Error::ExtentsMismatch { .. })
    ));
    writer.write(&frame(8, 600)).expect("a frame");
    assert_eq!(seen.frames(), 8);
}
