//! Streams in files, and in places that fail.

use ferrosz::stream::{ReadAt, StreamAt, Update};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Error, Fill, FormatError, Part, info};
use std::io;
use std::ops::Range;

fn compressed(codec: Codec, extents: &[u64]) -> (Vec<f32>, Vec<u8>) {
    let field: Vec<f32> = (0..extents.iter().product::<u64>())
        .map(|i| (i as f32 * 1e-3).sin() + (i % 977) as f32 * 1e-3)
        .collect();
    let compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"));
    let compressor = compressor.extents(extents).expect("extents");
    let stream = compressor.compress(&field).expect("memory");
    (field, stream)
}

#[test]
fn a_file_is_read_as_memory_is() {
    let extents = [20u64, 90, 80];
    for codec in [Codec::PLAIN, Codec::LORENZO_RANS, Codec::INTERP] {
        let (_, stream) = compressed(codec, &extents);
        let mut file = tempfile();
        io::Write::write_all(&mut file, &stream).expect("a temporary file");
        let part = Part::Box(vec![3..9, 60..70, 7..8]);
        let mut of_file = StreamAt::open(&file).expect("a stream");
        let mut of_memory = StreamAt::open(&stream[..]).expect("a stream");
        let decompressor = Decompressor::new();
        let values: Vec<f32> = of_file
            .decompress_part(&decompressor, &part)
            .expect("sound");
        let expected = decompressor.decompress_part::<f32>(&stream, &part);
        assert_eq!(values, expected.expect("sound"));
        let again: Vec<f32> = of_memory
            .decompress_part(&decompressor, &part)
            .expect("sound");
        assert_eq!(values, again);
        assert_eq!(of_file.traffic(), of_memory.traffic());
        assert!(of_file.traffic().rounds <= 3);
        assert_eq!(
            of_file.info().expect("a stream"),
            info(&stream).expect("a stream")
        );
        assert_eq!(of_file.read_all().expect("a stream"), stream);
        let rounds = of_file.traffic().rounds;
        assert_eq!(of_file.read_all().expect("a stream"), stream);
        assert_eq!(of_file.traffic().rounds, rounds);
        assert_eq!(file.byte_len().expect("a file"), stream.len() as u64);
    }
}

#[test]
fn an_update_of_a_file_reads_few_of_its_bytes() {
    let (_, mut stream) = compressed(Codec::PLAIN, &[64, 256, 256]);
    let mut file = tempfile();
    io::Write::write_all(&mut file, &stream).expect("a temporary file");
    let part = Part::Box(vec![32..34, 100..104, 200..210]);
    for value in [7.0f32, -7.0] {
        let mut at = StreamAt::open(&file).expect("a stream");
        at.check_end().expect("nothing follows");
        let update = at.update(&part, &[value; 80]).expect("an update");
        let read = at.traffic().bytes;
        assert!(20 * read < stream.len() as u64, "{read} bytes");
        assert_eq!(
            update,
            Update::new(&stream, &part, &[value; 80]).expect("an update")
        );
        update.apply(&mut stream);
        update.apply_to_file(&mut file).expect("a temporary file");
        let all = file.read_ranges(std::slice::from_ref(&(0..u64::MAX)));
        assert!(all.expect("a temporary file").concat() == stream);
    }
}

#[test]
fn the_end_of_a_stream_is_checked() {
    let (_, stream) = compressed(Codec::PLAIN, &[300_000]);
    let (all, zeros) = (stream.len(), vec![0; 200_000]);
    let mut appended = stream.clone();
    let update = Update::new(&stream, &Part::Elements(0..99_999), &[1.0f32; 99_999]);
    update.expect("an update").apply(&mut appended);
    let end = |end: &[u8]| {
        let place = [&stream, end].concat();
        StreamAt::open(&place[..])
            .and_then(|mut at| at.check_end())
            .map_err(|error| error.to_string())
    };
    let unfinished = &appended[all..];
    for unfinished in [&[], &unfinished[..1], &unfinished[..70_000], &zeros] {
        assert_eq!(end(unfinished), Ok(()));
    }
    for other in [
        b"other".to_vec(),
        [&zeros, &b"o"[..]].concat(),
        [&zeros, unfinished].concat(),
    ] {
        let error = Error::from(FormatError::TrailingBytes(other.len() as u64));
        assert_eq!(end(&other), Err(error.to_string()));
    }
    let cut = &stream[..all - 1];
    let error = StreamAt::open(cut).expect("a stream").check_end();
    let (needed, found) = (all as u64, all as u64 - 1);
    assert!(
        matches!(error, Err(Error::Format(FormatError::Truncated { needed: n, found: f })) if (n, f) == (needed, found))
    );
}

/// A file without a name, which the system deletes with its last handle.
fn tempfile() -> std::fs::File {
    let name = format!(
        "ferrosz-stream-at-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    );
    let path = std::env::temp_dir().join(name);
    let mut options = std::fs::OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let file = file.expect("a temporary file");
    let _ = std::fs::remove_file(path);
    file
}

#[test]
fn a_place_that_is_cut_off_is_an_error() {
    let (_, stream) = compressed(Codec::PLAIN, &[300_000]);
    for length in [0, 10, 1000, 70_000, stream.len() - 1] {
        let part = Part::Elements(0..300_000);
        let found = StreamAt::open(&stream[..length])
            .and_then(|mut at| at.decompress_part::<f32>(&Decompressor::new(), &part));
        assert!(matches!(found, Err(Error::Format(_))), "{length}");
    }
}

#[test]
fn failures_of_the_place_are_reported() {
    #[derive(Debug)]
    struct Broken;
    impl ReadAt for Broken {
        fn byte_len(&self) -> io::Result<u64> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
        fn read_ranges(&self, _: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let error = StreamAt::open(Broken).expect_err("a broken place");
    assert!(matches!(
        error,
        Error::Io {
            kind: io::ErrorKind::ConnectionReset,
            ..
        }
    ));
}

#[test]
fn streams_with_a_mask_are_read() {
    let mut field: Vec<f32> = (0..100_000).map(|i| (i as f32 * 1e-3).sin()).collect();
    field[5000..9000].fill(-999.0);
    let compressor = Compressor::new(Codec::INTERP, Bound::abs(1e-3).expect("a bound"));
    let compressor = compressor.fill(Fill::Value(-999.0)).expect("a fill value");
    let stream = compressor.compress(&field).expect("memory");
    let mut at = StreamAt::open(&stream[..]).expect("a stream");
    let part = Part::Elements(8_990..9_010);
    let values: Vec<f32> = at
        .decompress_part(&Decompressor::new(), &part)
        .expect("sound");
    assert_eq!(values[..10], [-999.0; 10]);
    assert!(values[10] > -2.0);
}
