//! Several GPUs of one machine: the bytes and the values of one, and of the CPU. The GPUs are emulated ones; the tests on
//! real ones are ignored where there may be none.

#[cfg(feature = "cuda")]
mod device_memory;

use crate::common::cases::{asked, each, takes_part};
use crate::common::fields::{FromBits, Kind, make, make_long};
use ferrosz::codec::container::header::HEADER_BYTES;
use ferrosz::codec::tile::ChunkLength;
use ferrosz::stream::Update;
use ferrosz::{
    Axes, Bound, BoundMode, Codec, Compressor, Decompressor, Device, Dtype, Error, Fill, Gpus,
    Part, Shape,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::cell::Cell;
use std::io::Cursor;

/// So many emulated GPUs.
fn emulated(count: usize) -> Device {
    Device::Gpus(Gpus::emulated(count).expect("a count"))
}

/// Extents of about so many elements.
fn extents(rng: &mut SmallRng, elements: u64) -> Vec<u64> {
    let elements = rng.random_range(elements / 8..=elements);
    let mut side = |rank: u32| {
        let mean = (elements as f64).powf(1.0 / f64::from(rank));
        rng.random_range((mean * 0.6) as u64 + 1..=(mean * 1.6) as u64 + 1)
    };
    match elements % 6 {
        0 => vec![elements],
        1 => vec![side(2), side(2)],
        2 | 3 => vec![side(3), side(3), side(3)],
        4 => vec![elements / 2000 + 1, 2, 25, 40],
        _ => vec![1, elements / 1500 + 1, 1, 30, 50],
    }
}

fn bound(rng: &mut SmallRng) -> Bound {
    let modes = [
        (BoundMode::Abs, 1e-2),
        (BoundMode::Range, 1e-3),
        (BoundMode::Range, 0.1),
        (BoundMode::Max, 1e-4),
        (BoundMode::Abs, 0.0),
    ];
    let (mode, value) = modes[rng.random_range(0..modes.len())];
    Bound::new(mode, value).expect("a bound")
}

/// The codecs of random cases.
#[derive(Debug, Clone, Copy)]
enum Family {
    Blocks,
    Tiles,
}

/// A field and its compressor.
struct Case<T> {
    what: String,
    compressor: Compressor,
    field: Vec<T>,
}

impl<T: FromBits> Case<T> {
    fn of(family: Family, number: u64, rng: &mut SmallRng, elements: u64) -> Self {
        match family {
            Family::Blocks => Self::of_blocks(number, rng, elements),
            Family::Tiles => Self::of_tiles(number, rng, elements),
        }
    }

    /// A random case of a codec of blocks, of at most so many elements.
    fn of_blocks(number: u64, rng: &mut SmallRng, elements: u64) -> Self {
        let codec = Codec::BLOCKS[number as usize % Codec::BLOCKS.len()];
        let mut case = Self::new(codec, number, rng, elements);
        case.choose_rank(codec, rng);
        case
    }

    /// A random case of a codec of tiles, of at most so many elements.
    fn of_tiles(number: u64, rng: &mut SmallRng, elements: u64) -> Self {
        let codecs: Vec<Codec> = (Codec::ALL.into_iter())
            .filter(|codec| codec.tiles().is_some())
            .collect();
        let codec = codecs[number as usize % codecs.len()];
        let mut case = Self::new(codec, number, rng, elements);
        case.choose_rank(codec, rng);
        let length = ChunkLength::ALL[rng.random_range(0..ChunkLength::ALL.len())];
        case.compressor = case.compressor.chunk_length(length);
        case.what += &format!(", {length:?}");
        case
    }

    fn choose_rank(&mut self, codec: Codec, rng: &mut SmallRng) {
        let shape = Shape::ALL[rng.random_range(0..Shape::ALL.len())];
        if codec.takes(shape) && rng.random() {
            let compressor = self.compressor.with_rank(shape.rank());
            self.compressor = compressor.expect("a rank");
            self.what += &format!(", {shape}");
        }
    }

    fn new(codec: Codec, number: u64, rng: &mut SmallRng, elements: u64) -> Self {
        let lengths = extents(rng, elements);
        let count = lengths.iter().product::<u64>() as usize;
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let field = match count > 1 << 22 {
            true => make_long(kind, count, number),
            false => make(kind, count, number),
        };
        let bound = bound(rng);
        let mut compressor = Compressor::new(codec, bound)
            .extents(&lengths)
            .expect("extents");
        if lengths.len() == 4 && rng.random() {
            compressor = compressor.axes("s,z,y,x".parse().expect("axes"));
        }
        Self {
            what: format!("case {number}: {codec} {lengths:?} {kind:?} {bound:?}"),
            compressor,
            field,
        }
    }

    /// Compares several devices with the CPU; how many of them shared the work.
    fn check(&self, devices: &[Device]) -> usize {
        let what = &self.what;
        let stream = self.compressor.device(Device::Cpu).compress(&self.field);
        let stream = stream.expect("memory");
        let values: Vec<T> = decode(Device::Cpu, &stream).expect("a stream");
        let mut shared = 0;
        for device in devices {
            let compressor = self.compressor.device(*device);
            let found = compressor.compress(&self.field);
            assert!(
                found.as_ref() == Ok(&stream),
                "{what} {device}: {}",
                difference(&found, &stream)
            );
            let found: Result<Vec<T>, Error> = decode(*device, &stream);
            assert!(
                found.is_ok_and(|found| same(&found, &values)),
                "{what} {device}"
            );
            let used = compressor.device_for(self.field.len() as u64, T::TYPE);
            shared += usize::from(used == Ok(*device));
        }
        shared
    }
}

fn difference(found: &Result<Vec<u8>, Error>, wanted: &[u8]) -> String {
    match found {
        Err(error) => error.to_string(),
        Ok(found) => {
            let first = found.iter().zip(wanted).position(|(a, b)| a != b);
            format!(
                "{} bytes of {}, first other byte {first:?}",
                found.len(),
                wanted.len()
            )
        }
    }
}

fn decode<T: FromBits>(device: Device, stream: &[u8]) -> Result<Vec<T>, Error> {
    Decompressor::new().device(device).decompress(stream)
}

fn same<T: FromBits>(a: &[T], b: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(a) == bytemuck::cast_slice::<T, u8>(b)
}

/// Random fields of all codecs of a family, each on one of several sets of devices in turn; at least a third of them can be
/// divided.
fn random_fields(family: Family, sets: &[&[Device]], usual: u64, elements: u64) {
    let (shared, all) = (Cell::new(0), Cell::new(0));
    each(usual, |number, rng| {
        // The types take turns of three, so those of the sets do not follow them.
        let devices = sets[number as usize / 3 % sets.len()];
        all.set(all.get() + devices.len());
        let used = match number % 3 {
            0 => Case::<f64>::of(family, number, rng, elements).check(devices),
            _ => Case::<f32>::of(family, number, rng, elements).check(devices),
        };
        shared.set(shared.get() + used);
    });
    let (shared, all) = (shared.get(), all.get());
    println!("{all} cases on {sets:?}, {shared} on several GPUs: no difference");
    // Of few cases none may be large enough.
    assert!(
        3 * shared >= all || all < 40,
        "{shared} of {all} cases were divided"
    );
}

#[test]
fn emulated_gpus_make_the_bytes_of_one() {
    let sets = [[2, 7], [3, 4], [1, 2]].map(|counts| counts.map(emulated));
    random_fields(
        Family::Blocks,
        &sets.each_ref().map(|set| &set[..]),
        12,
        120_000,
    );
}

#[test]
fn emulated_gpus_share_tiles() {
    random_fields(Family::Tiles, &[&[2, 5].map(emulated)], 3, 200_000);
}

/// Planes whose tiles are nearly empty: so a small field has more runs than are counted whole.
#[test]
fn statistics_of_a_sample_are_those_of_one_gpu() {
    let field: Vec<f32> = make(Kind::Smooth, 2100 * 2 * 3, 11);
    let lengths = [
        (Codec::INTERP, ChunkLength::Four),
        (Codec::LORENZO_RANS, ChunkLength::Sixteen),
    ];
    for ((codec, length), number) in lengths.into_iter().zip(0..) {
        if !takes_part(number, 4) {
            continue;
        }
        let compressor = Compressor::new(codec, Bound::range(1e-3).expect("a bound"))
            .extents(&[2100, 2, 3])
            .and_then(|compressor| compressor.with_rank(2));
        let case = Case {
            what: format!("{codec} {length:?}"),
            compressor: compressor.expect("extents").chunk_length(length),
            field: field.clone(),
        };
        assert_eq!(case.check(&[emulated(2)]), 1);
    }
}

/// Work that one GPU does alone: masks, other orders of axes, converted values, parts.
#[test]
fn the_first_gpu_does_all_other_work() {
    let device = emulated(3);
    let abs = |error| Bound::abs(error).expect("a bound");
    let plain = Compressor::new(Codec::PLAIN, abs(0.1)).extents(&[60, 30, 40]);
    let plain = plain.expect("extents");
    let field: Vec<f32> = make(Kind::Smooth, 72_000, 9);
    let pwrel = plain.with_bound(Bound::pwrel(1e-3).expect("a bound"));
    let turned: Axes = "x,z,y".parse().expect("axes");
    let masked = plain.fill(Fill::Bits(u64::from(field[7].to_bits())));
    for compressor in [pwrel, plain.axes(turned), masked.expect("a fill value")] {
        let case = Case {
            what: format!("{compressor:?}"),
            compressor,
            field: field.clone(),
        };
        assert_eq!(case.check(&[device]), 0, "{compressor:?}");
    }
    let shorts: Vec<i16> = (0..72_000).map(|i| (i % 331) as i16).collect();
    let integers: Vec<i32> = (0..72_000).map(|i| i % 7919).collect();
    let on = |device| plain.device(device);
    assert_eq!(
        on(device).compress(&shorts),
        on(Device::Cpu).compress(&shorts)
    );
    assert_eq!(
        on(device).compress(&integers),
        on(Device::Cpu).compress(&integers)
    );
    let stream = on(device).compress(&field).expect("memory");
    let part = Part::Box(vec![3..50, 7..9, 0..40]);
    let of = |device| {
        let decompressor = Decompressor::new().device(device);
        decompressor.decompress_part::<f32>(&stream, &part)
    };
    assert_eq!(of(device), of(Device::Cpu));
}

/// A stream of a field that several GPUs share.
fn shared_stream(codec: Codec) -> (Compressor, Vec<f32>, Vec<u8>) {
    let field: Vec<f32> = make(Kind::Random, 90 * 40 * 50, 3);
    let bound = Bound::range(1e-2).expect("a bound");
    let compressor = Compressor::new(codec, bound).extents(&[90, 40, 50]);
    let compressor = compressor.expect("extents").device(emulated(3));
    let stream = compressor.compress(&field).expect("memory");
    assert_eq!(compressor.device_for(180_000, Dtype::F32), Ok(emulated(3)));
    (compressor, field, stream)
}

#[test]
fn results_go_to_any_place() {
    let (compressor, field, stream) = shared_stream(Codec::OUTLIER);
    let mut room = vec![0; stream.len() + 5];
    assert_eq!(
        compressor.compress_into(&field, &mut room),
        Ok(stream.len())
    );
    assert!(room[..stream.len()] == stream);
    assert!(matches!(
        compressor.compress_into(&field, &mut room[..stream.len() - 1]),
        Err(Error::OutputTooSmall { .. })
    ));
    let values: Vec<f32> = decode(Device::Cpu, &stream).expect("a stream");
    let decompressor = Decompressor::new().device(emulated(4));
    let mut file = Cursor::new(Vec::new());
    let written = decompressor.decompress_seek::<f32>(&stream, &mut file);
    assert_eq!(written, Ok(180_000));
    assert!(file.into_inner() == bytemuck::cast_slice::<f32, u8>(&values));
    let mut place = vec![0.0f32; 180_000];
    assert_eq!(
        decompressor.decompress_into(&stream, &mut place),
        Ok(180_000)
    );
    assert!(same(&place, &values));
}

#[test]
fn streams_with_updates_are_decoded() {
    let (_, _, mut stream) = shared_stream(Codec::OUTLIER);
    let values = vec![7.5f32; 40 * 50];
    let part = Part::Box(vec![41..42, 0..40, 0..50]);
    let update = Update::new(&stream, &part, &values).expect("an update");
    update.apply(&mut stream);
    let wanted: Vec<f32> = decode(Device::Cpu, &stream).expect("a stream");
    assert!(same(
        &decode(emulated(3), &stream).expect("a stream"),
        &wanted
    ));
}

/// Damages a stream of a codec so many times in a campaign, in at least `kinds` ways that have errors of their own.
fn check_damage(codec: Codec, rounds: u64, kinds: usize) {
    let (rounds, kinds) = match asked() {
        Some(_) => (rounds, kinds),
        None => (rounds / 4, kinds / 4),
    };
    let (_, _, stream) = shared_stream(codec);
    let mut rng = SmallRng::seed_from_u64(8);
    let info = ferrosz::info(&stream).expect("a stream");
    // Without records the table is behind the header.
    let table = HEADER_BYTES as u64;
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..rounds {
        let mut damaged = stream.clone();
        for _ in 0..=round % 3 {
            // Any byte, half of the time one of the chunk table.
            let at = match rng.random() {
                true => rng.random_range(table..table + 16 * info.chunks),
                false => rng.random_range(0..stream.len() as u64),
            };
            damaged[at as usize] ^= 1 << rng.random_range(0..8);
        }
        let one = decode::<f32>(Device::Emulator, &damaged).expect_err("damage");
        for count in [2, 5] {
            let several = decode::<f32>(emulated(count), &damaged).expect_err("damage");
            assert_eq!(several, one, "{codec}, round {round}");
        }
        seen.insert(one.to_string());
    }
    assert!(seen.len() >= kinds, "{seen:?}");
}

#[test]
fn damage_is_reported_as_by_one_gpu() {
    check_damage(Codec::OUTLIER, 40, 11);
}

#[test]
fn damage_of_tiles_is_reported_as_by_one_gpu() {
    for (codec, number) in [(Codec::INTERP, 0), (Codec::LORENZO_RANS, 1)] {
        if takes_part(number, 2) {
            check_damage(codec, 20, 4);
        }
    }
}

#[test]
fn gpus_that_do_not_exist_are_refused() {
    let field = [1.0f32; 100_000];
    let bound = Bound::abs(0.1).expect("a bound");
    let device: Device = "cuda:0,63".parse().expect("a device");
    // Also if one GPU would do the work.
    for codec in [Codec::PLAIN, Codec::INTERP] {
        let compressor = Compressor::new(codec, bound).device(device);
        let found = compressor.compress(&field);
        assert!(
            matches!(found, Err(Error::NoDevice { device: "cuda", .. })),
            "{found:?}"
        );
    }
    assert!(matches!(Gpus::new(&[3, 3]), Err(Error::BadGpus(_))));
}

#[test]
#[ignore = "needs two NVIDIA GPUs"]
fn gpus_make_the_bytes_of_one() {
    let mut devices = vec![Device::Cuda(0), Device::Gpus(Gpus::ALL)];
    for name in ["cuda:0,1", "cuda:0,1,2,3"] {
        let device: Device = name.parse().expect("a device");
        let compressor = Compressor::new(Codec::PLAIN, Bound::default()).device(device);
        if compressor.compress(&[0.0f32; 20_000]).is_ok() {
            devices.push(device);
        }
    }
    assert!(devices.len() > 2, "there are not two GPUs");
    for family in [Family::Blocks, Family::Tiles] {
        random_fields(family, &[&devices[1..]], 240, 3_000_000);
        if asked().is_none() {
            random_fields(family, &[&devices], 12, 60_000_000);
        }
    }
}
