//! Streams and values that are written to files.

use crate::common::cases::takes_part;
use ferrosz::versions;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Error, Fill, info};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::io::{Cursor, Seek, SeekFrom, Write};

/// A writer that fails after so many bytes.
struct Full(Cursor<Vec<u8>>, usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.get_ref().len() + bytes.len() > self.1 {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(position)
    }
}

fn field(lengths: &[u64]) -> Vec<f32> {
    let mut rng = SmallRng::seed_from_u64(17);
    let count = lengths.iter().product::<u64>();
    (0..count)
        .map(|i| (i as f32 * 1e-3).sin() + rng.random_range(-0.01..0.01))
        .collect()
}

#[test]
fn written_streams_and_values_are_those_of_memory() {
    let lengths = [20u64, 70, 90];
    let mut field = field(&lengths);
    field[5000..9000].fill(-999.0);
    let mut number = 0;
    for codec in Codec::ALL {
        for (axes, has_fill) in [
            (None, false),
            (None, true),
            (Some("s,y,x"), false),
            (Some("x,z,y"), true),
        ] {
            number += 1;
            if !takes_part(number, 3) {
                continue;
            }
            let compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"));
            let mut compressor = compressor.extents(&lengths).expect("extents");
            if has_fill {
                compressor = compressor.fill(Fill::Value(-999.0)).expect("a fill value");
            }
            if let Some(axes) = axes {
                compressor = compressor.axes(axes.parse().expect("axes"));
            }
            // The stream begins behind other bytes.
            let mut file = Cursor::new(vec![7; 10]);
            file.set_position(10);
            let bytes = compressor.compress_seek(&field, &mut file).expect("memory");
            let stream = compressor.compress(&field).expect("memory");
            assert!(file.get_ref()[10..] == stream[..], "{codec} {axes:?}");
            assert_eq!((bytes, file.position()), (stream.len() as u64, bytes + 10));
            let mut file = Cursor::new(vec![7; 10]);
            file.set_position(10);
            let decompressor = Decompressor::new();
            let count = decompressor
                .decompress_seek::<f32>(&stream, &mut file)
                .expect("sound");
            let values: Vec<f32> = decompressor.decompress(&stream).expect("sound");
            assert_eq!(count, values.len() as u64);
            assert!(
                file.get_ref()[10..] == *bytemuck::cast_slice::<_, u8>(&values),
                "{codec} {axes:?}"
            );
        }
    }
}

#[test]
fn values_of_several_windows_are_those_of_one() {
    let lengths = [20u64, 70, 90];
    let field = field(&lengths);
    for codec in Codec::ALL {
        let compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"));
        let compressor = compressor.extents(&lengths).expect("extents");
        let stream = compressor.compress(&field).expect("memory");
        let mut file = Cursor::new(Vec::new());
        versions::decompress_seek::<f32>(80_000, &stream, &mut file).expect("sound");
        let values: Vec<f32> = Decompressor::new().decompress(&stream).expect("sound");
        assert!(
            file.get_ref()[..] == *bytemuck::cast_slice::<_, u8>(&values),
            "{codec}"
        );
    }
}

#[test]
fn a_full_disk_leaves_no_stream() {
    let field = field(&[50_000]);
    for codec in [Codec::PLAIN, Codec::INTERP] {
        let compressor = Compressor::new(codec, Bound::abs(1e-3).expect("a bound"));
        let whole = compressor.compress(&field).expect("memory").len();
        for room in [0, 100, whole / 2, whole - 1] {
            let mut file = Full(Cursor::new(Vec::new()), room);
            let written = compressor.compress_seek(&field, &mut file);
            assert!(
                matches!(written, Err(Error::Io { .. })),
                "{codec} {room}: {written:?}"
            );
            assert!(info(file.0.get_ref()).is_err(), "{codec} {room}");
        }
        let mut file = Full(Cursor::new(Vec::new()), 1000);
        let stream = compressor.compress(&field).expect("memory");
        let written = Decompressor::new().decompress_seek::<f32>(&stream, &mut file);
        assert!(
            matches!(written, Err(Error::Io { .. })),
            "{codec}: {written:?}"
        );
    }
}

#[test]
fn damage_is_an_error() {
    let compressor = Compressor::new(Codec::LORENZO_RANS, Bound::abs(1e-3).expect("a bound"));
    let mut stream = compressor.compress(&field(&[50_000])).expect("memory");
    let end = stream.len();
    stream[end - 40] ^= 1;
    let written = Decompressor::new().decompress_seek::<f32>(&stream, Cursor::new(Vec::new()));
    assert!(matches!(written, Err(Error::Format(_))), "{written:?}");
}
