//! Batches of host slices beside single calls.

use crate::common::cases::takes_part;
use crate::common::fields::{FromBits, Kind, make};
use ferrosz::{Bound, BoundMode, Codec, Compressor, Decompressor, Device, Error, Preset};

const LENGTHS: [usize; 10] = [0, 1, 31, 32, 33, 700, 8191, 8192, 8193, 20_000];

fn fields<T: FromBits>() -> Vec<Vec<T>> {
    (LENGTHS.iter().cycle().zip(Kind::ALL.iter().cycle()))
        .take(33)
        .zip(0..)
        .map(|((length, kind), seed)| make(*kind, *length, seed))
        .collect()
}

fn slices<T>(vectors: &[Vec<T>]) -> Vec<&[T]> {
    vectors.iter().map(Vec::as_slice).collect()
}

fn bits<T: FromBits>(values: &Result<Vec<T>, Error>) -> Result<Vec<u64>, Error> {
    let values = values.as_ref().map_err(Clone::clone)?;
    Ok(values.iter().map(|value| value.to_bits64()).collect())
}

/// Both directions on a device; also streams of which some are damaged.
fn check<T: FromBits>(compressor: Compressor, device: Device) {
    let fields = fields::<T>();
    let context = format!("{compressor:?} on {device}");
    let alone = compressor.device(Device::Cpu);
    let wanted: Vec<_> = fields.iter().map(|field| alone.compress(field)).collect();
    let found = compressor.device(device).compress_batch(&slices(&fields));
    assert!(found == wanted, "{context}");
    let mut streams: Vec<Vec<u8>> = wanted.into_iter().flatten().collect();
    for (i, stream) in streams.iter_mut().enumerate() {
        let last = stream.len() - 1;
        match i % 7 {
            3 => stream[last / 2] ^= 4,
            5 => stream.truncate(last),
            _ => {}
        }
    }
    let alone = Decompressor::new().device(Device::Cpu);
    let found = (alone.device(device)).decompress_batch::<T>(&slices(&streams));
    for (stream, found) in streams.iter().zip(&found) {
        assert_eq!(
            bits(found),
            bits(&alone.decompress::<T>(stream)),
            "{context}"
        );
    }
}

fn bounds() -> Vec<Bound> {
    [
        (BoundMode::Abs, 1e-3),
        (BoundMode::Range, 1e-3),
        (BoundMode::Max, 0.0),
    ]
    .into_iter()
    .map(|(mode, value)| Bound::new(mode, value).expect("a good bound"))
    .collect()
}

#[test]
fn the_cpu_compresses_batches_as_single_arrays() {
    for bound in bounds() {
        for (codec, number) in Codec::ALL.into_iter().zip(0..) {
            if takes_part(number, 8) {
                check::<f32>(Compressor::new(codec, bound), Device::Cpu);
            }
        }
        check::<f64>(Compressor::new(Preset::Small, bound), Device::Auto);
    }
}

#[test]
fn the_emulator_compresses_batches_as_single_arrays() {
    for (codec, bound) in Codec::BLOCKS.into_iter().zip(bounds().into_iter().cycle()) {
        check::<f32>(Compressor::new(codec, bound), Device::Emulator);
    }
    let bound = bounds()[1];
    check::<f64>(Compressor::new(Codec::LORENZO, bound), Device::Emulator);
    // Not for the kernels of batches: one after the other.
    let field = make::<f32>(Kind::Smooth, 600, 1);
    let planes = Compressor::new(Codec::PLAIN, bound).extents(&[20, 30]);
    let planes = planes.expect("good extents");
    let wanted = planes.device(Device::Cpu).compress(&field);
    let on_emulator = planes.device(Device::Emulator);
    let found = on_emulator.compress_batch(&[&field, &field[..5]]);
    assert_eq!(found[0], wanted);
    assert!(matches!(found[1], Err(Error::ExtentsMismatch { .. })));
    let stream = wanted.expect("compressed");
    let decoded = Decompressor::new().device(Device::Emulator);
    assert!(decoded.decompress_batch::<f32>(&[&stream])[0].is_ok());
}

#[test]
fn an_error_concerns_only_its_array() {
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).expect("a good bound"));
    let compressor = compressor.extents(&[3, 4]).expect("good extents");
    let found = compressor.compress_batch(&[&[1.0f32; 12][..], &[1.0; 11], &[2.0; 12]]);
    assert!(found[0].is_ok() && found[2].is_ok());
    assert!(matches!(found[1], Err(Error::ExtentsMismatch { .. })));
    assert_eq!(compressor.compress_batch::<f32>(&[]), Vec::new());
    let unknown = Compressor::new(Codec::PLAIN, compressor.bound()).device(Device::Cuda(99));
    let found = unknown.compress_batch(&[&[1.0f32; 12][..]]);
    assert!(matches!(found[0], Err(Error::NoDevice { .. })));
}
