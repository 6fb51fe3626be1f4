//! Damaged chunks are errors of zarrs.

mod common;

use common::{Store, abs, all, builder, field_f32, named, stored};
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use zarrs::array::{Array, ArraySubset, CodecOptions, data_type};
use zarrs::storage::{ReadableStorageTraits, StoreKey, WritableStorageTraits};

const SHAPE: [u64; 2] = [400, 500];

fn array(codec: &str) -> Array<Store> {
    let builder = builder(
        &SHAPE,
        &SHAPE,
        data_type::float32(),
        0f32,
        &named(1e-3, codec),
    );
    stored(&builder, &field_f32(SHAPE.iter().product()))
}

fn key() -> StoreKey {
    StoreKey::new("x/c/0/0").unwrap()
}

fn chunk(array: &Array<Store>) -> Vec<u8> {
    array
        .storage()
        .get(&key())
        .unwrap()
        .expect("a chunk")
        .to_vec()
}

/// The values of the whole array and of its last rows, with another chunk; or the errors.
fn with_chunk(array: &Array<Store>, chunk: &[u8]) -> [Result<Vec<f32>, String>; 2] {
    array.storage().set(&key(), chunk.to_vec().into()).unwrap();
    let last = ArraySubset::new_with_ranges(&[397..400, 490..500]);
    [array.subset_all(), last].map(|subset| {
        let values = array.retrieve_array_subset::<Vec<f32>>(&subset);
        values.map_err(|failure| failure.to_string())
    })
}

#[test]
fn every_byte_of_the_header_and_the_last_chunk() {
    for codec in ["plain", "lorenzo+rans", "interp"] {
        let array = array(codec);
        let sound = chunk(&array);
        let last = sound.len() - 16;
        for at in (0..HEADER_BYTES).chain((0..16).map(|i| last + i)) {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x10;
            for result in with_chunk(&array, &damaged) {
                assert!(result.is_err(), "{codec}: byte {at}");
            }
        }
        assert!(with_chunk(&array, &sound).iter().all(Result::is_ok));
    }
}

#[test]
fn damage_stays_in_its_chunk_and_is_named() {
    let array = array("plain");
    let (sound, whole) = (chunk(&array), all::<f32>(&array));
    let last = ferrosz::info(&sound).unwrap().chunks - 1;
    let mut damaged = sound.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for result in with_chunk(&array, &damaged) {
        let failure = result.unwrap_err();
        assert!(
            failure.contains(&format!("chunk {last} is damaged")),
            "{failure}"
        );
    }
    let first = ArraySubset::new_with_ranges(&[0..3, 0..10]);
    let found: Vec<f32> = array.retrieve_array_subset(&first).unwrap();
    assert_eq!(found[..10], whole[..10]);
    // Without checksums the values may be wrong.
    let unchecked = CodecOptions::default().with_validate_checksums(false);
    let values = array
        .retrieve_array_subset_opt::<Vec<f32>>(&array.subset_all(), &unchecked)
        .unwrap();
    assert_eq!(values[..10], whole[..10]);
}

#[test]
fn streams_that_are_cut_off_or_no_streams() {
    for codec in ["plain", "interp"] {
        let array = array(codec);
        let sound = chunk(&array);
        let cuts = [
            0,
            1,
            100,
            HEADER_BYTES,
            HEADER_BYTES + 16,
            500,
            5000,
            sound.len() - 1,
        ];
        let mut others: Vec<Vec<u8>> = cuts
            .iter()
            .map(|length| sound[..*length].to_vec())
            .collect();
        others.push(vec![0; sound.len()]);
        others.push(b"nothing".repeat(10_000));
        others.push([&sound[..], &[1]].concat());
        for other in others {
            let [whole, part] = with_chunk(&array, &other);
            assert!(whole.is_err(), "{codec}: {} bytes", other.len());
            assert!(
                part.is_err() || other.len() > sound.len(),
                "{codec}: {} bytes",
                other.len()
            );
        }
    }
}

#[test]
fn streams_of_other_chunks() {
    let array = array("plain");
    for (shape, data_type, fill_value, name) in [
        ([400, 501], data_type::float32(), vec![0; 4], "200400"),
        ([400, 499], data_type::float32(), vec![0; 4], "199600"),
        ([400, 500], data_type::int32(), vec![0; 4], "i32"),
        ([400, 500], data_type::float64(), vec![0; 8], "f64"),
    ] {
        let bytes = vec![0u8; 400 * shape[1] as usize * fill_value.len()];
        let other = builder(&shape, &shape, data_type, fill_value, &abs(1.0));
        let other = other.build(common::store(), "/x").unwrap();
        let options = CodecOptions::default().with_store_empty_chunks(true);
        let bytes = zarrs::array::ArrayBytes::from(bytes);
        other.store_chunk_opt(&[0, 0], bytes, &options).unwrap();
        for result in with_chunk(&array, &chunk(&other)) {
            let failure = result.unwrap_err();
            assert!(failure.contains(name), "{failure}");
        }
    }
    // The same elements with other extents are no damage: a program without a notion of axes has made the stream.
    let line = builder(
        &[200_000],
        &[200_000],
        data_type::float32(),
        0f32,
        &named(1e-3, "plain"),
    );
    let values = field_f32(200_000);
    let line = stored(&line, &values);
    let stream = line
        .storage()
        .get(&StoreKey::new("x/c/0").unwrap())
        .unwrap()
        .unwrap();
    let [whole, part] = with_chunk(&array, &stream).map(Result::unwrap);
    assert!(common::error(&values, &whole) <= 1e-3);
    assert_eq!(part[..10], whole[397 * 500 + 490..397 * 500 + 500]);
}

/// Headers with sound checksums that claim more than there is.
#[test]
fn huge_claims_are_errors() {
    let array = array("plain");
    let sound = chunk(&array);
    let header = Header::read(&sound).unwrap();
    let claims = [1 << 20, 1 << 34, 1 << 44, 1 << 47].map(|bytes| {
        let of_payload = Header {
            payload_bytes: bytes,
            ..header
        };
        let of_updates = Header {
            update_bytes: bytes,
            ..header
        };
        let of_records = Header {
            record_bytes: bytes,
            ..header
        };
        [of_payload, of_updates, of_records]
    });
    for forged in claims.as_flattened() {
        let mut stream = sound.clone();
        stream[..HEADER_BYTES].copy_from_slice(&forged.to_bytes());
        for result in with_chunk(&array, &stream) {
            assert!(result.is_err(), "{forged:?}");
        }
    }
    let elements = ferrosz::stream::Extents::new(&[1 << 20, 1 << 20]).unwrap();
    let mut stream = sound.clone();
    let forged = Header {
        extents: elements,
        ..header
    };
    stream[..HEADER_BYTES].copy_from_slice(&forged.to_bytes());
    assert!(with_chunk(&array, &stream).iter().all(Result::is_err));
}
