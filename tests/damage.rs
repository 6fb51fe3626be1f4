//! Damaged, cut off and made-up streams: an error that names the cause, never a panic, and no
//! memory that the stream's length does not earn.

use crate::common::cases::{asked, takes_part};
use crate::common::damage;
use crate::common::fields::{Kind, make};
use crate::common::forge::{self, forge};
use crate::common::machine::Machine;
use crate::common::{compressor, layouts};
use ferrosz::codec::container::extents::Extents;
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::container::record_kind::RecordKind;
use ferrosz::codec::container::table::Entry;
use ferrosz::codec::container::version::{VERSION, Version};
use ferrosz::codec::{FormatError, oracle};
use ferrosz::stream::{Layout, Role};
use ferrosz::{
    Axes, Bound, BoundMode, Codec, Compressor, Decompressor, Device, Dtype, Error, Part, Shape,
    Unknown, info,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

fn stream_of(codec: Codec, kind: Kind, length: usize) -> Vec<u8> {
    Compressor::new(codec, Bound::range(1e-3).expect("a good bound"))
        .device(Device::Cpu)
        .compress(&make::<f32>(kind, length, 11))
        .expect("compresses")
}

fn stream_in(layout: Layout, kind: Kind) -> Vec<u8> {
    let field = make::<f32>(kind, layout.extents.elements() as usize, 11);
    let bound = Bound::range(1e-3).expect("a good bound");
    compressor(layout, bound, Device::Cpu)
        .and_then(|compressor| compressor.compress(&field))
        .expect("compresses")
}

fn decode(stream: &[u8]) -> Result<Vec<f32>, Error> {
    Decompressor::new().device(Device::Cpu).decompress(stream)
}

fn decode_unverified(stream: &[u8]) -> Result<Vec<f32>, Error> {
    Decompressor::new()
        .device(Device::Cpu)
        .verify_checksums(false)
        .decompress(stream)
}

/// Kernels find anchors by the geometry in the prologue, and memory for those of the codec's alone is there.
#[cfg(feature = "emulator")]
#[test]
fn no_kernel_follows_a_wrong_geometry() {
    for codec in [Codec::INTERP, Codec::STENCIL, Codec::INTERP_SQUARE] {
        for extents in [&[20_000][..], &[90, 140], &[12, 20, 30]] {
            let layout = Layout::new(
                codec,
                Shape::ALL[extents.len() - 1],
                Extents::new(extents).expect("extents"),
            );
            let stream = stream_in(layout, Kind::Smooth);
            let prologue = layout
                .header(Dtype::F32, Bound::default(), 0)
                .payload_start() as usize;
            for bit in 0..8 {
                let mut damaged = stream.clone();
                damaged[prologue] ^= 1 << bit;
                for verifies in [true, false] {
                    let found = Decompressor::new()
                        .device(Device::Emulator)
                        .verify_checksums(verifies)
                        .decompress::<f32>(&damaged);
                    assert!(
                        matches!(found, Err(Error::Format(_))),
                        "{codec} {extents:?}, bit {bit}: {found:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_found() {
    for layout in [&[3000][..], &[9, 10, 20]].into_iter().flat_map(layouts) {
        let codec = layout.codec;
        let stream = stream_in(layout, Kind::NotFinite);
        // All bits of the header, and of the rest a part.
        let is_taken = |bit: &usize| *bit < 8 * HEADER_BYTES || takes_part(*bit as u64, 7);
        for bit in (0..8 * stream.len()).filter(is_taken) {
            let mut damaged = stream.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = decode(&damaged);
            assert!(
                matches!(found, Err(Error::Format(_))),
                "{codec}, bit {bit}: {found:?}"
            );
            if bit % 29 == 0 {
                let _ = decode_unverified(&damaged);
                assert!(oracle::decompress::<f32>(&damaged).is_err());
            }
        }
    }
}

#[test]
fn every_machine_finds_it() {
    damage::is_found_by_all(&Machine::of_this_computer());
}

#[test]
fn every_machine_refuses_a_prologue_whose_entry_has_a_length() {
    damage::in_the_entry_of_a_prologue_is_found_by_all(&Machine::of_this_computer());
}

#[test]
fn damage_stays_in_its_chunk() {
    let field = make::<f32>(Kind::Smooth, 40_000, 11);
    let stream = stream_of(Codec::PLAIN, Kind::Smooth, 40_000);
    let whole = decode(&stream).expect("decodes");
    let mut damaged = stream.clone();
    let at = stream.len() - 100;
    damaged[at] ^= 0x40;
    let chunk = 4;
    assert_eq!(
        decode(&damaged),
        Err(Error::Format(FormatError::ChunkChecksum { chunk }))
    );
    let decoder = Decompressor::new().device(Device::Cpu);
    let before = decoder.decompress_range::<f32>(&damaged, 0..chunk * 8192);
    assert_eq!(before.expect("not touched"), whole[..chunk as usize * 8192]);
    assert_eq!(field.len(), whole.len());
}

#[test]
fn a_part_touches_no_other_chunk() {
    let field = make::<f32>(Kind::Smooth, 64 * 64 * 64, 3);
    let bound = Bound::range(1e-3).expect("a good bound");
    let decoder = Decompressor::new().device(Device::Cpu);
    for layout in layouts(&[64, 64, 64]) {
        let stream = oracle::compress(layout, bound, &field);
        // In the chunk behind the first, whatever its shape: all but the first is damaged.
        let second = stream[HEADER_BYTES + 16..].first_chunk();
        let second = Entry::from_bytes(second.expect("an entry"), layout.split());
        let mut damaged = stream.clone();
        let payload = HEADER_BYTES + 16 * 32 + second.start as usize;
        damaged[payload..].iter_mut().for_each(|byte| *byte ^= 0x55);
        let part = Part::Box(vec![0..2, 0..16, 0..32]);
        let found = decoder.decompress_part::<f32>(&damaged, &part);
        let right = decoder
            .decompress_part::<f32>(&stream, &part)
            .expect("decompresses");
        assert_eq!(found.expect("not touched"), right, "{layout:?}");
        assert!(decode(&damaged).is_err());
        let outside = Part::Elements(0..field.len() as u64 + 1);
        assert!(decoder.decompress_part::<f32>(&stream, &outside).is_err());
    }
}

#[test]
fn every_cut_is_found() {
    let stream = stream_of(Codec::OUTLIER, Kind::Random, 9000);
    for length in 0..stream.len() {
        let found = decode(&stream[..length]);
        assert!(
            matches!(found, Err(Error::Format(FormatError::Truncated { .. }))),
            "{length}"
        );
    }
    let longer = [&stream[..], &[1]].concat();
    assert_eq!(
        decode(&longer),
        Err(Error::Format(FormatError::TrailingBytes(1)))
    );
}

/// Some file systems leave zeros where power was lost during an append.
#[test]
fn zeros_behind_a_stream_are_passed_over() {
    let stream = stream_of(Codec::OUTLIER, Kind::Random, 9000);
    let longer = [&stream[..], &[0; 4096]].concat();
    assert_eq!(decode(&longer), decode(&stream));
    let reference = oracle::decompress::<f32>(&longer).expect("decodes");
    assert_eq!(Ok(reference), decode(&stream));
}

#[test]
fn causes_are_named() {
    let stream = stream_of(Codec::PLAIN, Kind::Smooth, 100);
    let format = |error| Err(Error::Format(error));
    assert_eq!(
        decode(b"not a stream at all"),
        format(FormatError::NotFerrosz)
    );
    let mut newer = stream.clone();
    newer[9] ^= 0x40;
    let version = Version(VERSION.0 ^ 0x4000);
    assert_eq!(decode(&newer), format(FormatError::UnknownVersion(version)));
    let mut damaged = stream.clone();
    damaged[50] ^= 1;
    assert_eq!(decode(&damaged), format(FormatError::HeaderChecksum));
    let other = Decompressor::new()
        .device(Device::Cpu)
        .decompress::<f64>(&stream);
    assert_eq!(
        other,
        Err(Error::Format(FormatError::WrongDtype {
            wanted: Dtype::F64.into(),
            found: Dtype::F32.into()
        }))
    );
    let mut small = [0.0f32; 99];
    let too_small = Decompressor::new()
        .device(Device::Cpu)
        .decompress_into(&stream, &mut small);
    assert!(matches!(
        too_small,
        Err(Error::OutputTooSmall {
            needed: 100,
            found: 99,
            ..
        })
    ));
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).expect("a good bound"));
    let too_small = compressor
        .device(Device::Cpu)
        .compress_into(&[1.0f32; 9], &mut [0; 20]);
    assert!(matches!(
        too_small,
        Err(Error::OutputTooSmall { found: 20, .. })
    ));
    let mismatch = compressor
        .extents(&[2, 3])
        .and_then(|c| c.compress(&[1.0f32; 7]));
    assert!(matches!(
        mismatch,
        Err(Error::ExtentsMismatch {
            product: 6,
            elements: 7,
            ..
        })
    ));
    assert!(matches!(
        compressor.extents(&[1; 9]),
        Err(Error::BadExtents(_))
    ));
    assert!(matches!(
        compressor.extents(&[u64::MAX, 3]),
        Err(Error::BadExtents(_))
    ));
    assert!(info(&stream[..HEADER_BYTES]).is_err());
    assert!(info(&stream[..HEADER_BYTES + 16]).is_ok());
}

#[test]
fn forged_headers_are_refused() {
    let stream = stream_of(Codec::PLAIN, Kind::Smooth, 100);
    let mut rng = SmallRng::seed_from_u64(5);
    for at in 8..HEADER_BYTES - 8 {
        for byte in [0, 1, 0x7f, 0xff, rng.random()] {
            // The identity is made right again; what its bytes are does not matter.
            if (128..136).contains(&at) {
                continue;
            }
            let mut forged = stream.clone();
            forge(&mut forged, at, &[byte]);
            // Whatever the identity covers is in the checksums of the chunks, too.
            if forged != stream {
                assert!(decode(&forged).is_err(), "byte {at} = {byte}");
            }
            let _ = decode_unverified(&forged);
        }
    }
    // A field of 2^63 elements, claimed by 160 bytes.
    for length in [1u64 << 63, u64::MAX, 1 << 50] {
        let mut forged = stream.clone();
        forge(&mut forged, 16, &length.to_le_bytes());
        forge(&mut forged, 104, &length.div_ceil(8192).to_le_bytes());
        assert!(matches!(decode(&forged), Err(Error::Format(_))));
    }
}

/// What overflows shows only where overflow is checked, as the profiles of tests say.
#[test]
#[should_panic = "overflow"]
fn overflow_is_checked() {
    let most = std::hint::black_box(u64::MAX);
    let _ = std::hint::black_box(most + 1);
}

/// 160 bytes that claim fields as large as numbers can be, in every layout; all checksums are right.
#[test]
fn headers_of_extreme_extents_are_refused() {
    let lengths = [
        0,
        1,
        2,
        1 << 31,
        u64::from(u32::MAX),
        (1 << 32) + 1,
        (1 << 62) - 1,
        (1 << 63) - 1,
        u64::MAX - 1,
        u64::MAX,
    ];
    let mut claimed = Vec::new();
    for a in lengths {
        claimed.push(vec![a]);
        for b in lengths {
            claimed.push(vec![a, b]);
            claimed.extend([2, 1 << 20].map(|c| vec![a, b, c]));
        }
    }
    for a in lengths {
        claimed.extend(lengths.map(|b| vec![a, b, 3, 2]));
    }
    let bound = Bound::abs(1e-3).expect("a good bound");
    let mut read = 0;
    let all = claimed.iter().filter_map(|lengths| Extents::new(lengths));
    // With roles of axes, too.
    let roles = [Role::Slice, Role::Z, Role::Y, Role::X];
    let with_roles = |extents: Extents| {
        let rank = extents.lengths().len();
        [
            Some(extents),
            extents.with_roles(&roles[4 - rank..]),
            extents.with_roles(&vec![Role::X; rank]),
        ]
    };
    for extents in all.flat_map(with_roles).flatten() {
        for (codec, shape) in Codec::ALL
            .into_iter()
            .flat_map(|c| Shape::ALL.map(|s| (c, s)))
        {
            let layout = Layout::new(codec, shape, extents);
            let header = layout.header(Dtype::F32, bound, 1e-3f32.to_bits().into());
            let stream = header.to_bytes();
            read += u32::from(Header::read(&stream).is_ok());
            // Lengths with which ends of parts would be beyond what numbers hold.
            let most = layout.max_stream_bytes(Dtype::F32).unwrap_or(u64::MAX) & !15;
            for lengths in [
                [most, 0, 0],
                [0, (u64::MAX - most) & !15, 0],
                [most, most, most],
            ] {
                let [payload_bytes, record_bytes, update_bytes] = lengths;
                let forged = Header {
                    payload_bytes,
                    record_bytes,
                    update_bytes,
                    ..header
                };
                let forged = forged.to_bytes();
                assert!(decode(&forged).is_err() && info(&forged).is_err());
                assert!(oracle::decompress::<f32>(&forged).is_err());
            }
            if extents.elements() > 0 {
                assert!(decode(&stream).is_err(), "{codec} {extents:?}");
                assert!(decode_unverified(&stream).is_err(), "{codec} {extents:?}");
                assert!(info(&stream).is_err(), "{codec} {extents:?}");
                assert!(oracle::decompress::<f32>(&stream).is_err());
                let cpu = Decompressor::new().device(Device::Cpu);
                let range = cpu.decompress_range::<f32>(&stream, 0..1);
                assert!(range.is_err(), "{codec} {extents:?}");
            }
        }
    }
    println!("{read} headers read");
    assert!(read > 1000);
}

#[test]
fn random_bytes_after_a_right_table_do_not_panic() {
    let mut rng = SmallRng::seed_from_u64(6);
    for round in 0..if asked().is_some() { 3000 } else { 1000 } {
        let kind = Kind::ALL[round % Kind::ALL.len()];
        let all = layouts(&[
            2 + round as u64 % 4,
            3 + round as u64 % 7,
            13 + round as u64 % 10,
        ]);
        let mut stream = stream_in(all[round % all.len()], kind);
        for _ in 0..rng.random_range(1..20) {
            let at = rng.random_range(HEADER_BYTES..stream.len().max(HEADER_BYTES + 1));
            if let Some(byte) = stream.get_mut(at) {
                *byte = rng.random();
            }
        }
        let _ = decode_unverified(&stream);
    }
}

/// A header of one stream before table and chunks of another that is as long (they were told apart by nothing when seeds
/// were of number and form alone).
#[test]
fn no_part_of_one_stream_passes_in_another() {
    let field = make::<f32>(Kind::Random, 20_000, 3);
    let stream = |error| {
        let bound = Bound::abs(error).expect("a bound");
        let compressor = Compressor::new(Codec::FIXED, bound).device(Device::Cpu);
        compressor.compress(&field).expect("compresses")
    };
    let (one, other) = (stream(1e-3), stream(1.000_001e-3));
    assert_eq!(one.len(), other.len());
    let mixed = [&one[..HEADER_BYTES], &other[HEADER_BYTES..]].concat();
    let chunk = 0;
    let expected = Err(Error::Format(FormatError::ChunkChecksum { chunk }));
    assert_eq!(decode(&mixed), expected);
    assert!(oracle::decompress::<f32>(&mixed).is_err());
    // One chunk with its entry alone: what both have at the same place.
    let table = HEADER_BYTES..HEADER_BYTES + 3 * 16;
    let mut mixed = one.clone();
    let entry = table.start + 16..table.start + 32;
    mixed[entry.clone()].copy_from_slice(&other[entry]);
    assert!(decode(&mixed).is_err());
}

/// Each entry says where its chunk begins and ends, so damage of one is not taken for damage of its neighbour.
#[test]
fn a_damaged_entry_blames_its_own_chunk() {
    let stream = stream_of(Codec::PLAIN, Kind::Smooth, 40_000);
    for chunk in 0..5u64 {
        for byte in 0..16 {
            let mut damaged = stream.clone();
            damaged[HEADER_BYTES + 16 * chunk as usize + byte] ^= 0x20;
            let decoder = Decompressor::new().device(Device::Cpu);
            for other in (0..5).filter(|other| *other != chunk) {
                let range = other * 8192..(other * 8192 + 8192).min(40_000);
                let found = decoder.decompress_range::<f32>(&damaged, range);
                assert!(found.is_ok(), "byte {byte} of entry {chunk}: {found:?}");
            }
            assert!(decode(&damaged).is_err());
        }
    }
}

/// The bits of roles of axes, each of which is a header of its own or refused by name.
#[test]
fn forged_roles_are_refused() {
    let extents = Extents::new(&[3, 4, 5, 6]).expect("good extents");
    let bound = Bound::abs(0.01).expect("a good bound");
    let field = make::<f32>(Kind::Smooth, 360, 1);
    for (codec, shape) in [
        (Codec::PLAIN, Shape::Cube),
        (Codec::INTERP, Shape::Cube),
        (Codec::LORENZO, Shape::Plane),
        (Codec::PLAIN, Shape::Line),
    ] {
        let stream = oracle::compress(Layout::new(codec, shape, extents), bound, &field);
        let mut accepted = 0;
        for bits in 1..=u16::MAX {
            let mut forged = stream.clone();
            forge(&mut forged, 100, &bits.to_le_bytes());
            match Header::read(&forged) {
                Ok(_) => accepted += 1,
                Err(FormatError::InvalidHeader(why)) => {
                    assert!(!why.is_empty(), "{bits:x}");
                    assert!(decode(&forged).is_err() && info(&forged).is_err());
                    assert!(oracle::decompress::<f32>(&forged).is_err());
                    continue;
                }
                Err(other) => panic!("{bits:x}: {other}"),
            }
            // The checksums of the chunks are those of another header.
            assert!(decode(&forged).is_err() && oracle::decompress::<f32>(&forged).is_err());
            let _ = decode_unverified(&forged);
        }
        assert_eq!(accepted == 0, shape == Shape::Line, "{codec} {shape}");
    }
}

/// Only the mask of a stream with logarithms has the signs and the zeros.
#[test]
fn logarithms_without_a_mask_are_refused() {
    let field = make::<f32>(Kind::Smooth, 360, 1);
    for codec in [Codec::PLAIN, Codec::INTERP] {
        for (error, is_refused) in [(0.1, true), (0.0, false)] {
            let layout = Layout::new(codec, Shape::Line, Extents::line(360));
            let bound = Bound::abs(error).expect("a good bound");
            let mut forged = oracle::compress(layout, bound, &field);
            forge(&mut forged, 13, &[BoundMode::Pwrel.id()]);
            let wanted = "logarithms without a mask, which has the signs";
            let wanted = is_refused.then_some(FormatError::InvalidHeader(wanted));
            assert_eq!(Header::read(&forged).err(), wanted, "{codec} {error}");
        }
    }
}

/// Records of the order of axes that contradict the header are refused.
#[test]
fn forged_orders_are_refused() {
    let axes: Axes = "x,s,y,z".parse().expect("axes");
    let bound = Bound::abs(0.01).expect("a good bound");
    let field = make::<f32>(Kind::Smooth, 360, 1);
    for codec in [Codec::PLAIN, Codec::INTERP] {
        let compressor = Compressor::new(codec, bound).device(Device::Cpu).axes(axes);
        let compressor = compressor.extents(&[3, 4, 5, 6]).expect("good extents");
        let stream = compressor.compress(&field).expect("compresses");
        assert_eq!(&stream[160..172], b"AXES\x04\0\0\0\x01\x03\x02\0");
        let mut refused = 0;
        for contents in 0..256u32 {
            // All contents of four numbers below four.
            let order: Vec<u8> = (0..4).map(|i| (contents >> (2 * i) & 3) as u8).collect();
            let mut forged = stream.clone();
            forged[168..172].copy_from_slice(&order);
            let sum = ferrosz::codec::container::checksum::checksum(0, &forged[160..176]);
            forge(&mut forged, 120, &sum.to_le_bytes());
            let is_right = forged == stream;
            assert_eq!(decode(&forged).is_ok(), is_right, "{order:?}");
            assert_eq!(oracle::decompress::<f32>(&forged).is_ok(), is_right);
            let salvaged = Decompressor::new().salvage::<f32>(&forged);
            refused += u32::from(info(&forged).is_err() && salvaged.is_err());
        }
        // The other orders are those of other streams, whose chunks have other checksums.
        assert_eq!(refused, 256 - 23);
        for length in [0u32, 3, 5, 8, 9, u32::MAX] {
            let mut forged = stream.clone();
            forged[164..168].copy_from_slice(&length.to_le_bytes());
            let sum = ferrosz::codec::container::checksum::checksum(0, &forged[160..176]);
            forge(&mut forged, 120, &sum.to_le_bytes());
            assert!(
                decode(&forged).is_err() && info(&forged).is_err(),
                "{length}"
            );
        }
    }
}

/// Records are passed over or refused by name, on the host and where kernels run.
#[test]
fn records_are_skipped_or_refused() {
    let stream = stream_of(Codec::PLAIN, Kind::Smooth, 20_000);
    let with = |kind| forge::with_record(&stream, VERSION, kind);
    let skipped = with(b"note");
    assert_eq!(decode(&skipped), decode(&stream));
    assert_eq!(
        oracle::decompress::<f32>(&skipped).ok(),
        decode(&stream).ok()
    );
    #[cfg(feature = "emulator")]
    {
        let emulator = Decompressor::new().device(Device::Emulator);
        assert_eq!(emulator.decompress::<f32>(&skipped), decode(&stream));
        let part = emulator
            .decompress_range::<f32>(&skipped, 9000..9010)
            .expect("a part");
        assert_eq!(part, decode(&stream).expect("decodes")[9000..9010]);
    }
    let refused = Err(Error::Format(FormatError::Unknown {
        what: Unknown::Record(RecordKind(*b"FILL")),
        version: VERSION,
    }));
    assert_eq!(decode(&with(b"FILL")), refused);
    assert!(info(&with(b"FILL")).is_err());
    assert!(oracle::decompress::<f32>(&with(b"FILL")).is_err());
    for at in HEADER_BYTES..HEADER_BYTES + 32 {
        let mut damaged = skipped.clone();
        damaged[at] ^= 8;
        assert!(matches!(
            decode(&damaged),
            Err(Error::Format(FormatError::InvalidRecords(_)))
        ));
    }
}
