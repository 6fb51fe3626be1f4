//! Pipelines of the interpolator and a stage: round trips, the bytes of stages, and damaged containers.

use crate::common::fields::FromBits;
use crate::common::judge;
use crate::common::parts::{all_bits, bits, case, seed};
use ferrosz_cuszp::Shape;
use ferrosz_cuszp::cuszp::{self, Mode, Params};
use ferrosz_stages::container::{self, Container, PartName};
use ferrosz_stages::stage::bit_planes::BitPlanes;
use ferrosz_stages::stage::entropy::{Huffman, Rans};
use ferrosz_stages::stage::fixed_length::FixedLength;
use ferrosz_stages::stage::own_stages;
use ferrosz_stages::stage::plain::Plain;
use ferrosz_stages::stage::stream::Stream;
use ferrosz_stages::{
    Bound, Code, CodeFormat, CodeOrder, CodeWidth, Codes, Decomposition, Device, Error,
    Interpolator, MachineStage, Pipeline, RadiusRule, Stage, decompress,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// Compares the containers of a case with its parts, and what comes back with the field; of half of the stages, those of
/// the emulator, too.
fn check<T: FromBits, C: Code>(
    random: &mut SmallRng,
    interpolator: &Interpolator,
    field: &[T],
    what: &str,
) {
    let interpolator = interpolator.device(Device::Cpu);
    let parts: Decomposition<T, C> = interpolator.decompose(field).expect(what);
    let decoded = parts.compose_on(Device::Cpu).expect(what);
    judge::judge(parts.recipe.bound, field, &decoded).expect(what);
    for stage in own_stages() {
        let what = format!("{}, {what}", stage.name());
        let pipeline =
            |device| Pipeline::of(interpolator.device(device), stage.clone()).width(C::WIDTH);
        let bytes = pipeline(Device::Cpu).compress(field).expect(&what);
        let mut devices = vec![Device::Cpu];
        if random.random() {
            devices.push(Device::Emulator);
            let emulated = pipeline(Device::Emulator).compress(field).expect(&what);
            assert!(bytes == emulated, "bytes, {what}");
        }
        let container = Container::read(&bytes).expect(&what);
        assert_eq!(container.stage(), stage.name());
        assert_eq!(container.dtype(), T::DTYPE);
        assert_eq!(
            container.extents().iter().product::<u64>(),
            field.len() as u64
        );
        let found = container.parts::<T, C>(&*stage).expect(&what);
        assert_eq!(found.recipe, parts.recipe, "{what}");
        assert!(all_bits(&found) == all_bits(&parts), "parts, {what}");
        for device in devices {
            let found: Vec<T> = decompress(&bytes, &[], device).expect(&what);
            assert!(bits(&found) == bits(&decoded), "{device:?}, {what}");
        }
    }
}

fn all_of<T: FromBits>(random: &mut SmallRng, number: u64) {
    let (interpolator, field, what) = case::<T>(random, number);
    let rule = match random.random_range(0..4) {
        0 => RadiusRule::Given(3),
        1 => RadiusRule::Fits,
        2 => RadiusRule::Given(128),
        _ => RadiusRule::Sampled,
    };
    let interpolator = interpolator.radius_by(rule);
    match number % 3 {
        0 => check::<T, u8>(random, &interpolator, &field, &what),
        1 => check::<T, u16>(random, &interpolator, &field, &what),
        _ => check::<T, u32>(random, &interpolator, &field, &what),
    }
    let widest = interpolator.radius(32_768);
    check::<T, u16>(random, &widest, &field, &what);
}

#[test]
fn fields_come_back_through_every_stage() {
    let mut random = SmallRng::seed_from_u64(seed());
    for number in 0..14 {
        all_of::<f32>(&mut random, number);
        all_of::<f64>(&mut random, number);
    }
}

/// Waves with a few values that are not finite. Blocks of 32 of them are no multiple of 512, but for the last empty ones.
fn waves(order: CodeOrder) -> (Interpolator, Vec<f32>) {
    let wave = |i: i32| ((i % 50) as f32 * 0.1).sin() + ((i / 50) as f32 * 0.003).cos();
    let mut field: Vec<f32> = (0..40 * 30 * 30).map(wave).collect();
    (field[77], field[5000]) = (f32::NAN, f32::NEG_INFINITY);
    let interpolator = Interpolator::new(Bound::abs(1e-3).unwrap())
        .device(Device::Cpu)
        .extents(&[40, 30, 30])
        .unwrap();
    (interpolator.order(order), field)
}

/// The bytes of a stage for a field.
fn encoded(stage: &dyn Stage, order: CodeOrder) -> (Vec<u8>, Vec<u16>, u32) {
    let (interpolator, field) = waves(order);
    let parts: Decomposition<f32, u16> = interpolator.decompose(&field).unwrap();
    let bytes: Vec<u8> = parts
        .codes
        .iter()
        .flat_map(|code| code.to_le_bytes())
        .collect();
    let format = CodeFormat::of(&parts.recipe).unwrap();
    let encoded = stage.encode(&Codes::new(format, &bytes).unwrap()).unwrap();
    assert_eq!(stage.decode(&encoded, &format).unwrap(), bytes);
    (encoded, parts.codes, parts.recipe.resolved.radius)
}

#[test]
fn fixed_length_makes_streams_of_cuszp() {
    for order in CodeOrder::ALL {
        let (encoded, codes, radius) = encoded(&FixedLength, order);
        let differences: Vec<f32> = (codes.iter())
            .map(|code| f32::from(*code) - radius as f32)
            .collect();
        let params = Params::new(Shape::Line, Mode::Fixed, [1, 1, codes.len() as u64], 0.5);
        let wanted = cuszp::compress(&params, &differences).unwrap();
        let differs = wanted.iter().zip(&encoded).position(|(a, b)| a != b);
        assert_eq!((differs, encoded.len()), (None, wanted.len()));
    }
}

#[test]
fn ferrosz_makes_lossless_streams_of_integers() {
    for order in CodeOrder::ALL {
        let (encoded, codes, radius) = encoded(&Stream, order);
        let differences: Vec<i16> = (codes.iter())
            .map(|code| (i32::from(*code) - radius as i32) as i16)
            .collect();
        let decoded: Vec<i16> = ferrosz::Decompressor::new().decompress(&encoded).unwrap();
        assert!(decoded == differences, "{order:?}");
        let info = ferrosz::info(&encoded).unwrap();
        let (extents, rank) = match order {
            CodeOrder::Raster => ([40, 30, 30], 3),
            CodeOrder::Level => ([1, 1, 36_000], 1),
        };
        assert_eq!((&info.extents[..], info.rank), (&extents[..], rank));
    }
}

#[test]
fn coders_of_tiles_know_levels_in_any_order() {
    for stage in [&Rans as &dyn Stage, &Huffman, &BitPlanes] {
        let [(raster, ..), (by_level, ..)] = CodeOrder::ALL.map(|order| encoded(stage, order));
        assert!(raster == by_level, "{}", stage.name());
    }
    let length = |stage: &dyn Stage| encoded(stage, CodeOrder::Raster).0.len();
    let lengths = [
        length(&Rans),
        length(&Huffman),
        length(&BitPlanes),
        length(&Plain),
    ];
    assert!(lengths.is_sorted(), "{lengths:?}");
}

/// A stage that its user wrote: lengths of runs.
struct Runs;

impl Stage for Runs {
    fn name(&self) -> &str {
        "runs"
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        let runs = codes.bytes().chunk_by(|a, b| a == b);
        Ok(runs
            .flat_map(|run| run.chunks(255))
            .flat_map(|run| [run.len() as u8, run[0]])
            .collect())
    }

    fn decode(&self, bytes: &[u8], _: &CodeFormat) -> Result<Vec<u8>, Error> {
        let (pairs, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(Error::stage("runs", "half a run is left"));
        }
        Ok(pairs
            .iter()
            .flat_map(|[count, byte]| vec![*byte; usize::from(*count)])
            .collect())
    }
}

/// A stage with any name.
struct Named(&'static str);

impl Stage for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        Plain.encode(codes)
    }

    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
        Plain.decode(&bytes[1..], format)
    }
}

#[test]
fn a_stage_of_the_users_own_is_known_by_its_name() {
    let (interpolator, field) = waves(CodeOrder::Level);
    let own = Pipeline::new(interpolator, Runs);
    let bytes = own.compress(&field).unwrap();
    let emulated = Pipeline::new(interpolator.device(Device::Emulator), Runs);
    assert_eq!(emulated.compress(&field), Ok(bytes.clone()));
    assert!(emulated.decompress::<f32>(&bytes).is_ok());
    let back: Vec<f32> = own.decompress(&bytes).unwrap();
    judge::judge(Bound::abs(1e-3).unwrap(), &field, &back).unwrap();
    let other = Pipeline::new(interpolator, Plain);
    let unknown = Error::UnknownStage("runs".to_owned());
    assert_eq!(other.decompress::<f32>(&bytes), Err(unknown.clone()));
    assert!(unknown.to_string().contains("'runs'"));
    assert!(decompress::<f32>(&bytes, &[&Plain, &Runs], Device::Cpu).is_ok());
    let of_other = other.compress(&field).unwrap();
    assert!(own.decompress::<f32>(&of_other).is_ok());
    assert!(own.decompress::<f64>(&bytes).is_err());
    for name in ["", "a name that is longer than 32 byte", "\0"] {
        let refused = Pipeline::new(interpolator, Named(name)).compress(&field);
        assert_eq!(refused, Err(Error::BadStageName(name.to_owned())));
    }
    // A stage that loses a byte.
    let bytes = Pipeline::new(interpolator, Named("loses"))
        .compress(&field)
        .unwrap();
    let found = decompress::<f32>(&bytes, &[&Named("loses")], Device::Cpu);
    assert!(matches!(found, Err(Error::Stage { stage, .. }) if stage == "loses"));
}

#[test]
fn parts_that_do_not_fit_are_not_written() {
    let (interpolator, field) = waves(CodeOrder::Level);
    let good: Decomposition<f32, u16> = interpolator.radius(4).decompose(&field).unwrap();
    assert!(good.outlier_indices.len() > 2);
    let refused = |spoil: &dyn Fn(&mut Decomposition<f32, u16>)| {
        let mut parts = good.clone();
        spoil(&mut parts);
        container::write(&parts, &[40, 30, 30], &Rans).is_err()
    };
    assert!(refused(&|parts| *parts.codes.last_mut().unwrap() = 8));
    assert!(refused(&|parts| parts.outlier_indices[1] += 1));
    assert!(refused(&|parts| parts.codes.truncate(9)));
    assert!(refused(&|parts| parts.recipe.resolved.radius = 1 << 31));
    assert!(refused(&|parts| parts.recipe.width = CodeWidth::U8));
    assert!(!refused(&|_| {}));
    assert!(container::write(&good, &[40, 30, 31], &Rans).is_err());
}

/// The parts of a container by their places; the header first.
fn places(bytes: &[u8]) -> Vec<(PartName, std::ops::Range<usize>)> {
    let mut places = vec![(PartName::Header, 0..408)];
    for (number, name) in [PartName::Codes, PartName::Anchors, PartName::Outliers]
        .iter()
        .enumerate()
    {
        let length = bytes[40 + 8 * number..][..8].try_into().unwrap();
        let start = places[number].1.end;
        let length = u64::from_le_bytes(length) as usize;
        places.push((*name, start..start + length.next_multiple_of(4)));
    }
    places
}

#[test]
fn damage_is_an_error_that_names_the_part() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (interpolator, field) = waves(CodeOrder::Raster);
    for stage in own_stages() {
        let bytes = Pipeline::of(interpolator, stage).compress(&field).unwrap();
        let places = places(&bytes);
        assert_eq!(places.last().unwrap().1.end, bytes.len());
        for (name, place) in places {
            let all = 8 * place.len();
            let tried = if name == PartName::Header {
                all
            } else {
                all.min(60)
            };
            for number in 0..tried {
                let bit = if tried == all {
                    number
                } else {
                    random.random_range(0..all)
                };
                let mut damaged = bytes.clone();
                damaged[place.start + bit / 8] ^= 1 << (bit % 8);
                let found = decompress::<f32>(&damaged, &[], Device::Cpu);
                match found.unwrap_err() {
                    Error::DamagedPart { part, .. } => assert_eq!(part, name),
                    // The magic number and the version come before the checksum.
                    Error::Ferrosz(_) => assert!(name == PartName::Header && bit < 64),
                    error => panic!("{error}"),
                }
            }
        }
        for _ in 0..60 {
            let cut = random.random_range(0..bytes.len());
            assert!(decompress::<f32>(&bytes[..cut], &[], Device::Cpu).is_err());
        }
        assert!(decompress::<f32>(&[&bytes[..], &[0; 4]].concat(), &[], Device::Cpu).is_err());
    }
}

#[test]
fn stages_refuse_or_read_any_bytes() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (interpolator, field) = waves(CodeOrder::Level);
    let parts: Decomposition<f32, u16> = interpolator.decompose(&field).unwrap();
    let format = CodeFormat::of(&parts.recipe).unwrap();
    let (mut refused, mut read) = (0, 0);
    for stage in own_stages() {
        let (good, ..) = encoded(&*stage, CodeOrder::Level);
        for _ in 0..200 {
            let mut bytes = good.clone();
            match random.random_range(0..3) {
                0 => bytes.truncate(random.random_range(0..good.len())),
                1 => bytes.extend([0; 16]),
                _ => {
                    // Most damage near the start, where tables are.
                    let most = if random.random() {
                        good.len()
                    } else {
                        good.len().min(400)
                    };
                    bytes[random.random_range(0..most)] ^= 1 << random.random_range(0..8);
                }
            }
            let codes = stage.decode(&bytes, &format);
            match codes.and_then(|codes| Codes::new(format, &codes).map(|_| ())) {
                Ok(()) => read += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 500 && read > 0, "{refused} {read}");
}

/// A stage of ferrosz's own that has forgotten what the CPU does, or makes these bytes of any codes.
struct Forged(Arc<dyn Stage>, Option<Vec<u8>>);

impl Stage for Forged {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn encode(&self, _: &Codes<'_>) -> Result<Vec<u8>, Error> {
        let forgotten = || Error::stage(self.name(), "forgotten");
        self.1.clone().ok_or_else(forgotten)
    }

    fn decode(&self, _: &[u8], _: &CodeFormat) -> Result<Vec<u8>, Error> {
        Err(Error::stage(self.name(), "forgotten"))
    }

    fn on_machine(&self) -> Option<MachineStage> {
        self.0.on_machine()
    }
}

fn stages_on_machines() -> Vec<Arc<dyn Stage>> {
    let mut stages = own_stages();
    stages.retain(|stage| stage.on_machine().is_some());
    stages
}

#[test]
fn machines_need_no_stage_of_the_cpu() {
    assert_eq!(stages_on_machines().len(), 5);
    for stage in stages_on_machines() {
        let (interpolator, field) = waves(CodeOrder::Raster);
        let forged = |device| {
            let stage = Forged(stage.clone(), None);
            Pipeline::new(interpolator.device(device), stage)
        };
        let wanted = Pipeline::of(interpolator, stage.clone()).compress(&field);
        let bytes = forged(Device::Emulator).compress(&field);
        assert!(bytes == wanted, "{}", stage.name());
        let bytes = bytes.unwrap();
        assert!(forged(Device::Cpu).compress(&field).is_err());
        assert!(forged(Device::Cpu).decompress::<f32>(&bytes).is_err());
        let back: Vec<f32> = forged(Device::Emulator).decompress(&bytes).unwrap();
        judge::judge(Bound::abs(1e-3).unwrap(), &field, &back).unwrap();
    }
}

#[test]
fn machines_refuse_what_the_cpu_refuses() {
    let mut random = SmallRng::seed_from_u64(seed());
    let field: Vec<f32> = (0..12 * 20 * 30).map(|i| (i as f32 * 0.02).sin()).collect();
    let interpolator = Interpolator::new(Bound::abs(1e-3).unwrap())
        .device(Device::Cpu)
        .extents(&[12, 20, 30])
        .unwrap();
    let parts: Decomposition<f32, u16> = interpolator.decompose(&field).unwrap();
    let codes: Vec<u8> = parts
        .codes
        .iter()
        .flat_map(|code| code.to_le_bytes())
        .collect();
    let format = CodeFormat::of(&parts.recipe).unwrap();
    for stage in stages_on_machines() {
        let good = stage.encode(&Codes::new(format, &codes).unwrap()).unwrap();
        let (mut refused, mut read) = (0, 0);
        let most = good.len();
        for _ in 0..60 {
            let mut bytes = good.clone();
            match random.random_range(0..4) {
                0 => bytes.truncate(random.random_range(0..good.len())),
                1 => bytes.extend([0; 3]),
                2 => bytes[random.random_range(0..most.min(300))] ^= 1 << random.random_range(0..8),
                _ => bytes[random.random_range(0..most)] ^= 1 << random.random_range(0..8),
            }
            let forged = Forged(stage.clone(), Some(bytes));
            let bytes = container::write(&parts, &[12, 20, 30], &forged).unwrap();
            let [by_cpu, by_emulator] = [Device::Cpu, Device::Emulator]
                .map(|device| decompress::<f32>(&bytes, &[], device));
            match (by_cpu, by_emulator) {
                (Ok(a), Ok(b)) => {
                    assert!(bits(&a) == bits(&b), "{}", stage.name());
                    read += 1;
                }
                (Err(a), Err(b)) => {
                    assert_eq!(
                        std::mem::discriminant(&a),
                        std::mem::discriminant(&b),
                        "{a} {b}"
                    );
                    refused += 1;
                }
                (a, b) => panic!("{}: {:?} {:?}", stage.name(), a.err(), b.err()),
            }
        }
        println!("{}: {refused} refused, {read} read", stage.name());
        assert!(refused > 10);
    }
}
