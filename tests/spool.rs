//! Fields that come through readers, and fields whose copies are in temporary files: the streams are those of memory.

use crate::common::cases::takes_part;
use ferrosz::{Bound, Codec, Compressor, Error, Preset, Value, ValueType};
use std::io::{Cursor, Read};

/// Values of more bytes than are kept in memory: 64 MiB.
const LARGE: usize = (1 << 24) + 12_345;

fn waves(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 1e-3).sin() + 2.0).collect()
}

fn compressor(codec: Codec) -> Compressor {
    Compressor::new(codec, Bound::abs(1e-3).unwrap())
}

/// A reader that gives an odd number of bytes at a time, between interruptions.
struct Odd<'a> {
    rest: &'a [u8],
    calls: usize,
}

impl<'a> Odd<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Self { rest, calls: 0 }
    }
}

impl Read for Odd<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(5) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let most = self.calls % 7 * 2001 + 1;
        let count = most.min(buffer.len());
        self.rest.read(&mut buffer[..count])
    }
}

/// A reader that fails after some bytes.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0 == 0 {
            return Err(std::io::Error::other("the cable is cut"));
        }
        let count = self.0.min(buffer.len());
        buffer[..count].fill(0);
        self.0 -= count;
        Ok(count)
    }
}

fn read<V: Value>(compressor: Compressor, reader: impl Read) -> Result<Vec<u8>, Error> {
    let mut file = Cursor::new(Vec::new());
    let length = compressor.compress_read::<V>(reader, &mut file)?;
    assert_eq!(length, file.get_ref().len() as u64);
    Ok(file.into_inner())
}

#[test]
fn streams_are_those_of_slices() {
    for count in [0, 1, 5000, 300_000] {
        let field = waves(count);
        let bytes = bytemuck::cast_slice(&field);
        for codec in [Codec::PLAIN, Codec::INTERP] {
            let found = read::<f32>(compressor(codec), Odd::new(bytes)).unwrap();
            assert!(
                found == compressor(codec).compress(&field).unwrap(),
                "{codec} {count}"
            );
        }
    }
    let integers: Vec<u16> = (0..6000).map(|i| i % 700).collect();
    let compressor = Compressor::new(Preset::Small, Bound::abs(2.0).unwrap());
    let compressor = compressor.extents(&[60, 100]).unwrap();
    let found = read::<u16>(compressor, Odd::new(bytemuck::cast_slice(&integers))).unwrap();
    assert!(found == compressor.compress(&integers).unwrap());
}

#[test]
fn extents_say_how_many_values_are_read() {
    let field = waves(12_000);
    let compressor = compressor(Codec::PLAIN).extents(&[60, 100]).unwrap();
    let mut reader = bytemuck::cast_slice(&field);
    for half in field.chunks(6000) {
        let found = read::<f32>(compressor, &mut reader).unwrap();
        assert!(found == compressor.compress(half).unwrap());
    }
    assert!(reader.is_empty());
}

#[test]
fn large_fields_go_through_files() {
    let field = waves(LARGE);
    let bytes = bytemuck::cast_slice(&field);
    let compressor = compressor(Codec::PLAIN);
    let wanted = compressor.compress(&field).unwrap();
    assert!(read::<f32>(compressor, Odd::new(bytes)).unwrap() == wanted);
    let with_extents = compressor.extents(&[LARGE as u64]).unwrap();
    assert!(read::<f32>(with_extents, bytes).unwrap() == wanted);
}

#[test]
fn readers_that_end_early_are_refused() {
    let large = 4 * LARGE as u64;
    for (extents, found, elements) in [
        (Some(100), 0u64, 100),
        (Some(100), 399, 100),
        (None, 7, 2),
        (None, large + 1, LARGE as u64 + 1),
        (Some(u64::MAX / 8), large, u64::MAX / 8),
    ] {
        let mut compressor = compressor(Codec::PLAIN);
        if let Some(extents) = extents {
            compressor = compressor.extents(&[extents]).unwrap();
        }
        let error = read::<f32>(compressor, std::io::repeat(0).take(found)).unwrap_err();
        let wanted = Error::ReaderEnded {
            found,
            elements,
            value_type: ValueType::F32,
            needed: 4 * elements,
        };
        assert_eq!(error, wanted);
    }
    let error = read::<f32>(compressor(Codec::PLAIN), &[0u8; 7][..]).unwrap_err();
    let text = "the reader ended after 7 bytes, but 2 values of f32 have 8";
    assert_eq!(error.to_string(), text);
}

#[test]
fn an_error_of_the_reader_is_that_of_the_call() {
    for bytes in [0, 1000, 4 * LARGE] {
        let error = read::<f32>(compressor(Codec::PLAIN), Failing(bytes)).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the field: the cable is cut");
    }
}

#[test]
fn copies_in_files_are_those_in_memory() {
    fn check<V: Value>(number: u64, compressor: Compressor, field: &[V]) {
        if !takes_part(number, 6) {
            return;
        }
        let mut file = Cursor::new(Vec::new());
        compressor.compress_seek(field, &mut file).unwrap();
        let wanted = compressor.compress(field).unwrap();
        assert!(*file.get_ref() == wanted, "{compressor:?}");
        assert!(compressor.bounded_memory().compress(field).unwrap() == wanted);
    }
    let extents = [260, 260, 260];
    let mut field = waves(260 * 260 * 260);
    let of_blocks = compressor(Codec::PLAIN).extents(&extents).unwrap();
    let of_tiles = compressor(Codec::INTERP).extents(&extents).unwrap();
    check(0, of_tiles.axes("x,z,y".parse().unwrap()), &field);
    check(1, of_tiles.with_bound(Bound::pwrel(1e-2).unwrap()), &field);
    let integers: Vec<i16> = field.iter().map(|value| (value * 1e3) as i16).collect();
    check(2, of_blocks.with_bound(Bound::abs(3.0).unwrap()), &integers);
    for (i, value) in field.iter_mut().enumerate() {
        if i / 70_000 % 3 == 0 || i % 11 == 0 {
            *value = 1e20;
        }
    }
    check(3, of_blocks.fill(1e20).unwrap(), &field);
    check(
        4,
        of_tiles.fill(1e20).unwrap().axes("z,x,y".parse().unwrap()),
        &field,
    );
    let preset = Compressor::new(Preset::Fast, Bound::range(1e-3).unwrap());
    check(
        5,
        preset.extents(&extents).unwrap().fill(1e20).unwrap(),
        &field,
    );
}
