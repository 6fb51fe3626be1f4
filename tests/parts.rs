//! Fields in parts: random decompositions of random fields beside one process.

use crate::common::cases::{each, takes_part};
use crate::common::fields::{FromBits, Kind, make, make_long};
use crate::types;
use ferrosz::codec::container::checksum::checksum;
use ferrosz::codec::container::header::{HEADER_BYTES, Header, MAGIC};
use ferrosz::codec::mapping::mask::ClassCount;
use ferrosz::codec::tile::ChunkLength;
use ferrosz::codec::with_value;
use ferrosz::parts::{Group, Message, Piece, Plan, Threads};
use ferrosz::{
    Bound, BoundMode, Choice, Codec, Compressor, Decompressor, Device, Error, Gpus, Preset, Shape,
    Value, ValueType,
};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use std::io::Cursor;
use std::ops::Range;

/// The box of a member.
type Box = Vec<Range<u64>>;

/// Divides a field into as many boxes, by cuts at any places; some may be empty. The order of members is any, too.
fn decomposition(lengths: &[u64], members: usize, rng: &mut SmallRng) -> Vec<Box> {
    let whole: Box = lengths.iter().map(|length| 0..*length).collect();
    let mut boxes = vec![whole];
    while boxes.len() < members {
        let cut = boxes.swap_remove(rng.random_range(0..boxes.len()));
        let axis = rng.random_range(0..lengths.len());
        let range = cut[axis].clone();
        // Half of the cuts are where blocks and tiles are, too.
        let mut at = rng.random_range(range.start..=range.end);
        if rng.random() {
            at = (at.next_multiple_of(16)).clamp(range.start, range.end);
        }
        for part in [range.start..at, at..range.end] {
            let mut own = cut.clone();
            own[axis] = part;
            boxes.push(own);
        }
    }
    boxes.shuffle(rng);
    boxes
}

/// The values of a box, in C order.
fn cut<T: Copy>(lengths: &[u64], own: &Box, field: &[T]) -> Vec<T> {
    let mut elements = vec![0u64];
    for (length, range) in lengths.iter().zip(own) {
        elements = (elements.iter())
            .flat_map(|element| range.clone().map(move |at| element * length + at))
            .collect();
    }
    elements
        .iter()
        .map(|element| field[*element as usize])
        .collect()
}

/// The stream that members with these boxes write.
fn together<V: Value>(
    compressor: &Compressor,
    lengths: &[u64],
    boxes: &[Box],
    field: &[V],
) -> Vec<u8> {
    // The file has other bytes before.
    let mut file = Cursor::new(vec![0xAA; 100]);
    file.set_position(7);
    let found = Threads::run(boxes.len(), &mut file, |group| {
        let own = &boxes[group.rank()];
        compressor.compress_part(group, own, &cut(lengths, own, field))
    });
    for length in &found {
        assert_eq!(found[0], *length);
        assert!(length.is_ok(), "{length:?}");
    }
    let length = found[0].as_ref().map_or(0, |length| *length as usize);
    let file = file.into_inner();
    assert!(file.len() >= 7 + length, "{length}");
    assert!(file[..7] == [0xAA; 7], "bytes before the stream changed");
    file[7..][..length].to_vec()
}

/// Extents of a field for some members. On GPUs each has a slab of chunks, so the slowest axis has as many layers of them.
fn extents(members: usize, device: Device, rng: &mut SmallRng) -> Vec<u64> {
    if device != Device::Cpu {
        let layers = 16 * members as u64;
        return match rng.random_range(0..5) {
            0 => vec![rng.random_range(20_000..70_000)],
            1 => vec![layers * 4, rng.random_range(1..200)],
            2 | 3 => vec![
                layers + rng.random_range(0..20),
                rng.random_range(1..40),
                rng.random_range(1..40),
            ],
            _ => vec![members as u64, layers, 1, rng.random_range(60..140), 1],
        };
    }
    match rng.random_range(0..6) {
        0 => vec![rng.random_range(0..60_000)],
        1 => vec![rng.random_range(1..300), rng.random_range(1..200)],
        2 | 3 => (0..3).map(|_| rng.random_range(1..46)).collect(),
        4 => vec![
            rng.random_range(1..5),
            rng.random_range(1..20),
            rng.random_range(1..20),
            rng.random_range(1..90),
        ],
        _ => vec![
            rng.random_range(1..20),
            1,
            rng.random_range(16..50),
            rng.random_range(60..140),
            1,
        ],
    }
}

fn check<T: FromBits>(case: u64, device: Device, rng: &mut SmallRng) {
    let codec = Codec::ALL[case as usize % Codec::ALL.len()];
    let members = match device {
        Device::Cpu => [1, 2, 3, 4, 7][rng.random_range(0..5)],
        _ => rng.random_range(1..4),
    };
    let lengths = extents(members, device, rng);
    let elements: u64 = lengths.iter().product();
    let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
    let field: Vec<T> = make(kind, elements as usize, case);
    let modes = [
        (BoundMode::Abs, 1e-2),
        (BoundMode::Range, 1e-3),
        (BoundMode::Max, 1e-4),
        (BoundMode::Abs, 0.0),
    ];
    let (mode, value) = modes[rng.random_range(0..modes.len())];
    let bound = Bound::new(mode, value).expect("a bound");
    let compressor = Compressor::new(codec, bound).device(Device::Cpu);
    let mut compressor = compressor.extents(&lengths).expect("extents");
    let shape = Shape::ALL[rng.random_range(0..Shape::ALL.len())];
    if codec.takes(shape) && rng.random() {
        compressor = compressor.with_rank(shape.rank()).expect("a rank");
    }
    if rng.random_range(0..4) == 0 {
        compressor = compressor.chunk_length(ChunkLength::Sixteen);
    }
    if lengths.len() == 4 && rng.random() {
        compressor = compressor.axes("s,z,y,x".parse().expect("axes"));
    }
    let boxes = decomposition(&lengths, members, rng);
    let whole = compressor.compress(&field).expect("memory");
    let members = compressor.device(device);
    let found = together(&members, &lengths, &boxes, &field);
    assert!(found == whole, "case {case}: {codec} {lengths:?} {boxes:?}");
    if device == Device::Cpu && case.is_multiple_of(4) {
        let found = planned(&compressor, boxes.len() as u64, &field);
        assert!(found == whole, "case {case}: {codec} {lengths:?} planned");
    }
}

/// The stream of a plan whose parts are made by themselves.
fn planned<V: Value>(compressor: &Compressor, parts: u64, field: &[V]) -> Vec<u8> {
    let plan = compressor.plan(field, parts).expect("a plan").to_bytes();
    let plan = || Plan::read(&plan).expect("a plan");
    let part = |number| {
        let mut file = Cursor::new(Vec::new());
        let length = plan().compress(number, field, &mut file, &|_| {});
        assert_eq!(length, Ok(file.get_ref().len() as u64));
        file.into_inner()
    };
    // Any order.
    let parts: Vec<_> = (0..parts).rev().map(part).collect();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let mut file = Cursor::new(vec![0xAA; 7]);
    file.set_position(7);
    let length = plan().join(&parts, &mut file).expect("whole");
    let file = file.into_inner();
    assert_eq!(
        (file.len() as u64, &file[..7]),
        (length + 7, &[0xAA; 7][..])
    );
    file[7..].to_vec()
}

/// Random fields in random parts.
fn random_parts(device: Device, usual: u64) {
    each(usual, |case, rng| match case % 3 {
        0 => check::<f64>(case, device, rng),
        _ => check::<f32>(case, device, rng),
    });
}

/// Members with all settings that need no mask: types of values, orders of axes, presets.
fn check_settings<V: Value>(case: u64, device: Device, rng: &mut SmallRng) {
    let members = [1, 2, 3, 5][rng.random_range(0..4)];
    let (lengths, roles): (Vec<u64>, &[&str]) = match rng.random_range(0..3) {
        0 => (vec![rng.random_range(0..40_000)], &["x"]),
        1 => {
            let sides = (0..3).map(|_| rng.random_range(1..46));
            (sides.collect(), &["x,z,y", "y,z,x", "s,y,x", "z,y,x"])
        }
        _ => {
            let sides = [1..5, 9..24, 1..30, 30..80].map(|side| rng.random_range(side));
            (sides.to_vec(), &["s,z,y,x", "x,s,z,y", "z,x,s,y"])
        }
    };
    let kind = types::fields::Kind::ALL[rng.random_range(0..types::fields::Kind::ALL.len())];
    let field: Vec<V> = types::fields::field(kind, &lengths);
    let bounds = [Bound::abs(2.0), Bound::range(1e-3), Bound::abs(0.0)];
    let bound = bounds[rng.random_range(0..3)].expect("a bound");
    let choice = match rng.random_range(0..2) {
        0 => Choice::from(Preset::ALL[rng.random_range(0..Preset::ALL.len())]),
        _ => Codec::ALL[case as usize % Codec::ALL.len()].into(),
    };
    let compressor = Compressor::new(choice, bound).device(Device::Cpu);
    let mut compressor = compressor.extents(&lengths).expect("extents");
    if rng.random() {
        let roles = roles[rng.random_range(0..roles.len())];
        compressor = compressor.axes(roles.parse().expect("axes"));
    }
    let chosen = compressor.choose_without_mask(&field).expect("memory");
    let whole = chosen.compress(&field).expect("memory");
    let boxes = decomposition(&lengths, members, rng);
    let found = together(&compressor.device(device), &lengths, &boxes, &field);
    assert!(
        found == whole,
        "case {case}: {} {choice:?} {lengths:?} {kind:?} {bound:?} {boxes:?}: {:?}",
        V::TYPE,
        chosen.layout_for(field.len() as u64)
    );
    if device == Device::Cpu {
        let found = planned(&compressor, members as u64, &field);
        assert!(
            found == whole,
            "case {case}: {} {choice:?} {lengths:?} {kind:?} {bound:?} planned",
            V::TYPE
        );
    }
}

/// Random settings of members, and of plans.
fn random_settings(device: Device, usual: u64) {
    each(usual, |case, rng| {
        let value_type = ValueType::ALL[case as usize % ValueType::ALL.len()];
        with_value!(value_type, V => check_settings::<V>(case, device, rng));
    });
}

#[test]
fn members_and_plans_convert_turn_and_choose_as_one_process() {
    random_settings(Device::Cpu, 80);
}

#[test]
fn so_they_do_on_emulated_gpus() {
    random_settings(Device::Emulator, 8);
}

#[test]
fn any_decomposition_makes_the_bytes_of_one_process() {
    random_parts(Device::Cpu, 75);
}

#[test]
fn so_it_does_on_emulated_gpus() {
    random_parts(Device::Emulator, 10);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn so_it_does_on_gpus() {
    random_parts(Device::Gpus(Gpus::ALL), 240);
}

#[test]
fn a_member_without_a_gpu_takes_those_of_all() {
    let field: Vec<f32> = make(Kind::ALL[1], 120_000, 1);
    let whole = compressor(Codec::INTERP).compress(&field).expect("memory");
    let run = |devices: [Device; 3]| {
        let (mut file, boxes) = (Cursor::new(Vec::new()), slabs(3));
        let found = Threads::run(3, &mut file, |group| {
            let own = &boxes[group.rank()];
            let compressor = compressor(Codec::INTERP).device(devices[group.rank()]);
            compressor.compress_part(group, own, &cut(&[40, 50, 60], own, &field))
        });
        (found, file.into_inner())
    };
    let (found, file) = run([Device::Emulator, Device::Auto, Device::Emulator]);
    assert_eq!(
        found,
        [
            Ok(whole.len() as u64),
            Ok(whole.len() as u64),
            Ok(whole.len() as u64)
        ]
    );
    assert!(file == whole);
    // A GPU that is named must be there.
    let (found, file) = run([Device::Emulator, Device::Cuda(99), Device::Emulator]);
    assert!(matches!(found[1], Err(Error::NoDevice { .. })), "{found:?}");
    for rank in [0, 2] {
        assert!(matches!(found[rank], Err(Error::Group { .. })), "{found:?}");
    }
    assert!(file.is_empty());
}

/// Fields of which only a sample of the runs is counted, and whose coarse field has several tiles.
#[test]
fn large_fields_too() {
    let cases: [(&[u64], u8, Codec); 4] = [
        (&[180, 450, 430], 3, Codec::INTERP),
        (&[180, 450, 430], 3, Codec::SLICES),
        (&[1, 5900, 5900], 2, Codec::STENCIL),
        (&[34_000_000], 1, Codec::STENCIL_HUFFMAN),
    ];
    for ((lengths, rank, codec), seed) in cases.into_iter().zip(0..) {
        if !takes_part(seed, 4) {
            continue;
        }
        let mut rng = SmallRng::seed_from_u64(seed);
        let elements: u64 = lengths.iter().product();
        let field: Vec<f32> = make_long(Kind::ALL[seed as usize], elements as usize, seed);
        let bound = Bound::range(1e-3).expect("a bound");
        let compressor = Compressor::new(codec, bound).device(Device::Cpu);
        let compressor = compressor.extents(lengths).expect("extents");
        let compressor = compressor.with_rank(rank).expect("a rank");
        let boxes = decomposition(lengths, 5, &mut rng);
        let whole = compressor.compress(&field).expect("memory");
        let found = together(&compressor, lengths, &boxes, &field);
        assert!(found == whole, "{codec} {lengths:?} {boxes:?}");
        let found = planned(&compressor, 3, &field);
        assert!(found == whole, "{codec} {lengths:?} planned");
    }
}

fn compressor(choice: impl Into<Choice>) -> Compressor {
    let bound = Bound::abs(1e-3).expect("a bound");
    let compressor = Compressor::new(choice, bound).extents(&[40, 50, 60]);
    compressor.expect("extents")
}

/// Slabs along the slowest axis.
fn slabs(members: u64) -> Vec<Box> {
    (0..members)
        .map(|rank| vec![40 * rank / members..40 * (rank + 1) / members, 0..50, 0..60])
        .collect()
}

/// A member of a group of threads that ends at its n-th call.
struct Mortal<'a> {
    group: &'a dyn Group,
    left: std::cell::Cell<usize>,
}

impl Mortal<'_> {
    fn live(&self) -> Result<(), Error> {
        match self.left.replace(self.left.get().saturating_sub(1)) {
            0 => Err(Error::Group {
                action: "live",
                reason: "it was ended".to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

impl Group for Mortal<'_> {
    fn rank(&self) -> usize {
        self.group.rank()
    }
    fn size(&self) -> usize {
        self.group.size()
    }
    fn max(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.live()?;
        self.group.max(numbers)
    }
    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.live()?;
        self.group.sum(numbers)
    }
    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        self.live()?;
        self.group.sum_before(number)
    }
    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        self.live()?;
        self.group.exchange(messages)
    }
    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        self.live()?;
        self.group.write(pieces)
    }
    fn barrier(&self) -> Result<(), Error> {
        self.live()?;
        self.group.barrier()
    }
}

#[test]
fn a_member_that_ends_leaves_no_stream() {
    let field: Vec<f32> = make(Kind::ALL[1], 120_000, 1);
    let any = [0, 1, 2].as_slice();
    for (choice, device, mortals) in [
        (Choice::from(Codec::PLAIN), Device::Cpu, any),
        (Codec::INTERP.into(), Device::Cpu, any),
        (Codec::INTERP.into(), Device::Emulator, &[1]),
        (Preset::Small.into(), Device::Cpu, any),
    ] {
        let compressor = compressor(choice);
        let chosen = compressor.choose_without_mask(&field);
        let whole = chosen.expect("memory").compress(&field).expect("memory");
        let compressor = compressor.device(device);
        for mortal in mortals {
            if !takes_part(*mortal as u64, 3) {
                continue;
            }
            let mut is_whole = false;
            // At some number of calls the member lives to the end.
            for calls in 0..200 {
                let mut file = Cursor::new(Vec::new());
                let boxes = slabs(3);
                let found = Threads::run(3, &mut file, |group| {
                    let own = &boxes[group.rank()];
                    let values = cut(&[40, 50, 60], own, &field);
                    let left = if group.rank() == *mortal {
                        calls
                    } else {
                        usize::MAX
                    };
                    let group = Mortal {
                        group,
                        left: left.into(),
                    };
                    compressor.compress_part(&group, own, &values)
                });
                let file = file.into_inner();
                is_whole = found.iter().all(Result::is_ok);
                match is_whole {
                    true => assert!(file == whole),
                    // If only the last step failed, the header may be there; but then the stream is whole.
                    false => assert!(
                        ferrosz::info(&file).is_err() || file == whole,
                        "{choice:?} {calls}"
                    ),
                }
                assert_eq!(
                    is_whole,
                    found.iter().any(Result::is_ok),
                    "{choice:?} {calls}: {found:?}"
                );
                if is_whole {
                    break;
                }
            }
            assert!(is_whole);
        }
    }
}

#[test]
fn errors_name_their_cause() {
    let field: Vec<f32> = make(Kind::ALL[1], 120_000, 1);
    let run = |compressor: Compressor, boxes: Vec<Box>| {
        let mut found = Threads::run(boxes.len(), Cursor::new(Vec::new()), |group| {
            let own = &boxes[group.rank()];
            compressor.compress_part(group, own, &cut(&[40, 50, 60], own, &field))
        });
        assert!(found.iter().all(Result::is_err), "{found:?}");
        found.swap_remove(0).expect_err("an error").to_string()
    };
    let text = run(
        compressor(Codec::PLAIN),
        vec![slabs(2)[0].clone(), slabs(2)[0].clone()],
    );
    assert!(text.contains("members 0 and 1 overlap"), "{text}");
    let text = run(compressor(Codec::PLAIN), vec![slabs(2)[0].clone()]);
    assert!(text.contains("60000 of its 120000 elements"), "{text}");
    let text = run(compressor(Codec::PLAIN), vec![vec![0..40, 0..50]]);
    assert!(
        text.contains(
            "box [0..40, 0..50] is not one range within each of the field's extents [40, 50, 60]"
        ),
        "{text}"
    );
    let mut found = Threads::run(1, Cursor::new(Vec::new()), |group| {
        compressor(Codec::PLAIN).compress_part(group, &[0..40, 0..50, 0..60], &field[1..])
    });
    assert_eq!(
        found.swap_remove(0),
        Err(Error::PartMismatch {
            elements: 120_000,
            found: 119_999
        })
    );
    let with_fill = compressor(Codec::PLAIN)
        .fill(ferrosz::Fill::Value(0.0))
        .expect("a value");
    let text = run(with_fill, slabs(2));
    assert!(text.contains("fill values"), "{text}");
}

#[test]
fn damaged_plans_and_parts_are_found() {
    let field: Vec<f32> = make(Kind::ALL[1], 120_000, 1);
    for codec in [Codec::PLAIN, Codec::INTERP] {
        let compressor = compressor(codec);
        let plan = compressor.plan(&field, 2).expect("a plan");
        let bytes = plan.to_bytes();
        assert_eq!(Plan::read(&bytes), Ok(plan.clone()));
        for at in (0..bytes.len()).step_by(13) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Plan::read(&damaged).is_err(), "{codec} {at}");
            assert!(Plan::read(&bytes[..at]).is_err(), "{codec} {at}");
        }
        let part = |plan: &Plan, number| {
            let mut file = Cursor::new(Vec::new());
            let length = plan.compress(number, &field, &mut file, &|_| {});
            length.map(|_| file.into_inner())
        };
        let parts = [0, 1].map(|number| part(&plan, number).expect("a part"));
        let join = |parts: &[&[u8]]| {
            let mut file = Cursor::new(Vec::new());
            let joined = plan.join(parts, &mut file);
            assert!(joined.is_ok() || ferrosz::info(file.get_ref()).is_err());
            joined.map(|_| file.into_inner())
        };
        let whole = compressor.compress(&field).expect("memory");
        assert!(join(&[&parts[0], &parts[1]]) == Ok(whole));
        for at in (0..parts[0].len()).step_by(101) {
            let mut damaged = parts[0].clone();
            damaged[at] ^= 1;
            assert!(join(&[&damaged, &parts[1]]).is_err(), "{codec} {at}");
            assert!(join(&[&parts[0][..at], &parts[1]]).is_err(), "{codec} {at}");
        }
        let text = |parts: &[&[u8]]| join(parts).expect_err("an error").to_string();
        assert_eq!(text(&[&parts[0]]), "part 1 of 2 is missing");
        assert_eq!(
            text(&[&parts[0], &parts[1], &parts[1]]),
            "part 1 is given twice"
        );
        let other = compressor.with_bound(Bound::abs(1e-2).expect("a bound"));
        let other = other.plan(&field, 2).expect("a plan");
        let of_other = part(&other, 1).expect("a part");
        assert_eq!(text(&[&parts[0], &of_other]), "part 1 is of another plan");
        let text = part(&plan, 2).expect_err("an error").to_string();
        assert_eq!(text, "there is no part 2: the plan has 2");
        let mut file = Cursor::new(Vec::new());
        let short = plan.compress(0, &field[1..], &mut file, &|_| {});
        let text = short.expect_err("an error").to_string();
        assert_eq!(
            text,
            "the plan is of 120000 values of f32, the field has 119999 of f32"
        );
        let mut other = field.clone();
        other.reverse();
        let of_other = plan.compress(0, &other, &mut file, &|_| {});
        let text = of_other.expect_err("an error").to_string();
        assert_eq!(text, "the plan is of a field with other values");
    }
}

/// The last value of an odd number of values of 16 bits is not in a whole word.
#[test]
fn a_plan_knows_short_fields_of_16_bits() {
    for field in [vec![5u16], vec![5, 6, 7]] {
        let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.0).expect("a bound"));
        let plan = compressor.plan(&field, 1).expect("a plan");
        let mut other = field.clone();
        *other.last_mut().expect("a value") += 1;
        let part = plan.compress(0, &other, Cursor::new(Vec::new()), &|_| {});
        let text = part.expect_err("an error").to_string();
        assert_eq!(text, "the plan is of a field with other values");
        let joined = joined_parts(&plan, &field);
        assert_eq!(joined, compressor.device(Device::Cpu).compress(&field));
    }
}

/// A part whose checksums are right, and whose chunk is longer than any of its field, makes no stream; one that is a little
/// longer than its contents is damage that `check` finds.
#[test]
fn parts_with_longer_chunks_are_found() {
    let field: Vec<f32> = make(Kind::ALL[1], 5000, 1);
    let compressor = compressor(Codec::PLAIN).extents(&[5000]).expect("extents");
    let plan = compressor.plan(&field, 1).expect("a plan");
    let mut part = Cursor::new(Vec::new());
    plan.compress(0, &field, &mut part, &|_| {})
        .expect("memory");
    let part = part.into_inner();
    assert!(plan.join(&[&part], Cursor::new(Vec::new())).is_ok());
    // Magic, identity, number, chunks, bytes of chunks, checksum; the chunk; its form, length and checksum.
    for more in [16, 1 << 14, 1 << 21] {
        let mut chunk = part[48..part.len() - 24].to_vec();
        chunk.extend(vec![0; more]);
        let length = (chunk.len() as u64).to_le_bytes();
        let mut listed = part[part.len() - 24..].to_vec();
        listed[8..16].copy_from_slice(&length);
        listed[16..].copy_from_slice(&checksum(0, &chunk).to_le_bytes());
        let head = [&part[..32], &length[..]].concat();
        let sum = checksum(checksum(0, &head), &listed).to_le_bytes();
        let forged = [&head[..], &sum[..], &chunk, &listed].concat();
        let mut file = Cursor::new(Vec::new());
        if plan.join(&[&forged], &mut file).is_ok() {
            let found = Decompressor::new().check(file.get_ref());
            assert!(
                more < 1 << 14 && found.is_ok_and(|found| !found.is_empty()),
                "{more}"
            );
        }
    }
}

/// A plan whose checksums are right, but which no field has, is refused, or its parts make a sound stream.
#[test]
fn forged_plans_make_no_damaged_stream() {
    let field: Vec<f32> = make(Kind::ALL[1], 20_000, 1);
    let integers: Vec<i16> = field.iter().map(|value| (value * 100.0) as i16).collect();
    for codec in [Codec::INTERP, Codec::LORENZO_RANS, Codec::PLAIN] {
        let small = compressor(codec).extents(&[20, 25, 40]).expect("extents");
        check_forged(&small, &field);
        // With records of an order of axes and a conversion.
        let turned = small.axes("x,z,y".parse().expect("axes"));
        check_forged(
            &turned.with_bound(Bound::abs(2.0).expect("a bound")),
            &integers,
        );
        let empty = compressor(codec).extents(&[20, 0, 40]).expect("extents");
        let of_empty = empty.plan::<f32>(&[], 1).expect("a plan").to_bytes();
        let found = joined_parts::<f32>(&Plan::read(&of_empty).expect("a plan"), &[]);
        assert_eq!(found, empty.compress::<f32>(&[]));
    }
}

fn check_forged<V: Value>(compressor: &Compressor, field: &[V]) {
    let codec = compressor.codec();
    let plan = compressor.plan(field, 1).expect("a plan").to_bytes();
    let head = plan
        .windows(MAGIC.len())
        .position(|bytes| bytes == MAGIC)
        .expect("a header");
    let header = Header::read(&plan[head..]).expect("a header");
    let headers = [
        Header {
            record_bytes: 16,
            ..header
        },
        Header {
            payload_bytes: 1 << 20,
            ..header
        },
        Header {
            update_bytes: 64,
            ..header
        },
        Header {
            classes: ClassCount {
                fills: 1,
                has_signs: false,
            },
            ..header
        },
        Header {
            error_bits: 1,
            ..header
        },
    ];
    let with_header = |header: &Header| {
        let mut forged = plan.clone();
        forged[head..head + HEADER_BYTES].copy_from_slice(&header.to_bytes());
        forged
    };
    let with_bit = |at: usize| {
        let mut forged = plan.clone();
        forged[at] ^= 1 << (at % 8);
        forged
    };
    let (mut joined, flips) = (0, (0..plan.len() - 8).map(with_bit));
    for (number, mut forged) in headers.iter().map(with_header).chain(flips).enumerate() {
        let end = forged.len() - 8;
        let sum = checksum(0, &forged[..end]);
        forged[end..].copy_from_slice(&sum.to_le_bytes());
        // Of too many parts each would be empty.
        let read = Plan::read(&forged).ok().filter(|plan| plan.parts() < 5);
        if let Some(Ok(stream)) = read.map(|plan| joined_parts(&plan, field)) {
            let damages = Decompressor::new().check(&stream);
            let is_sound = damages.is_ok_and(|found| found.is_empty());
            assert!(is_sound, "{codec:?} {number}");
            joined += 1;
        }
    }
    assert!(joined < plan.len() / 8, "{codec:?}: {joined}");
    assert!(joined_parts(&Plan::read(&plan).expect("a plan"), field).is_ok());
}

fn joined_parts<V: Value>(plan: &Plan, field: &[V]) -> Result<Vec<u8>, Error> {
    let part = |number| {
        let mut file = Cursor::new(Vec::new());
        plan.compress(number, field, &mut file, &|_| {})?;
        Ok(file.into_inner())
    };
    let parts: Vec<Vec<u8>> = (0..plan.parts()).map(part).collect::<Result<_, Error>>()?;
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let mut file = Cursor::new(Vec::new());
    plan.join(&parts, &mut file)?;
    Ok(file.into_inner())
}
