//! Parts of chunks, read by ranges: their values are those of whole chunks, and requests and bytes are counted.

mod common;

use common::{Store, abs, all, builder, field, field_f32, named, stored};
use ferrosz_zarrs::FerroszCodecConfiguration;
use zarrs::array::{Array, ArrayBytes, ArraySubset, CodecOptions, Indexer, data_type};

const SHAPE: [u64; 3] = [64, 256, 256];

/// 16 MiB, with a fill value.
fn wide() -> Vec<f32> {
    let mut values = field_f32(SHAPE.iter().product());
    values[1_000_000..1_200_000].fill(-9999.0);
    values
}

fn subsets() -> Vec<ArraySubset> {
    let ranges: [[std::ops::Range<u64>; 3]; 8] = [
        [3..4, 0..256, 0..256],
        [63..64, 5..6, 7..8],
        [0..64, 0..256, 200..201],
        [10..14, 100..103, 50..60],
        [15..17, 127..129, 127..129],
        [60..64, 250..256, 250..256],
        [5..5, 0..256, 0..256],
        [0..64, 0..256, 0..256],
    ];
    ranges
        .iter()
        .map(|ranges| ArraySubset::new_with_ranges(ranges))
        .collect()
}

/// The elements of a subset of all values.
fn cut(values: &[f32], subset: &ArraySubset) -> Vec<f32> {
    let indices = subset.linearised_indices(&SHAPE).expect("within the array");
    indices.iter().map(|index| values[index as usize]).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The values of a subset, the requests for them, and their bytes.
fn read(array: &Array<Store>, subset: &ArraySubset) -> (Vec<f32>, usize, usize) {
    let store = array.storage();
    store.reset();
    let values = array.retrieve_array_subset(subset).expect("sound chunks");
    (values, store.reads(), store.bytes_read())
}

#[test]
fn every_part_is_that_of_the_whole_chunk() {
    let values = wide();
    for codec in ["plain", "layered", "lorenzo+rans", "interp"] {
        for (chunks, inner) in [
            ([64, 128, 128], None),
            ([64, 256, 256], Some(vec![32, 64, 128])),
        ] {
            let mut builder = builder(
                &SHAPE,
                &chunks,
                data_type::float32(),
                -9999f32,
                &named(0.1, codec),
            );
            builder.subchunk_shape(inner);
            let array = stored(&builder, &values);
            let whole = all::<f32>(&array);
            assert!(common::error(&values, &whole) <= 0.1, "{codec}");
            for subset in subsets() {
                let (found, _, _) = read(&array, &subset);
                assert!(
                    bits(&found) == bits(&cut(&whole, &subset)),
                    "{codec} {subset}"
                );
            }
        }
    }
}

#[test]
fn parts_of_converted_and_relative_fields() {
    let values: Vec<i32> = field(1 << 18)
        .iter()
        .map(|value| (value * 1e5) as i32)
        .collect();
    let integers = builder(
        &[512, 512],
        &[512, 512],
        data_type::int32(),
        0i32,
        &abs(100.0),
    );
    let array = stored(&integers, &values);
    let subset = ArraySubset::new_with_ranges(&[100..103, 7..50]);
    let found: Vec<i32> = array.retrieve_array_subset(&subset).unwrap();
    let whole = all::<i32>(&array);
    let rows = (100..103).flat_map(|row| &whole[row * 512 + 7..row * 512 + 50]);
    assert!(found.iter().eq(rows) && common::error(&values, &whole) <= 100.0);

    let values = field(1 << 18);
    let relative = FerroszCodecConfiguration {
        axes: Some("x,y".parse().unwrap()),
        ..FerroszCodecConfiguration::pwrel(0.01)
    };
    let relative = builder(
        &[512, 512],
        &[512, 512],
        data_type::float64(),
        0.0,
        &relative,
    );
    let array = stored(&relative, &values);
    let found: Vec<f64> = array.retrieve_array_subset(&subset).unwrap();
    let whole = all::<f64>(&array);
    let rows = (100..103).flat_map(|row| &whole[row * 512 + 7..row * 512 + 50]);
    assert!(found.iter().eq(rows));
}

#[test]
fn a_part_reads_few_bytes_of_a_chunk() {
    let values = wide();
    let part = ArraySubset::new_with_ranges(&[10..14, 100..103, 50..60]);
    for (codec, share) in [("plain", 20), ("lorenzo+rans", 10), ("interp", 4)] {
        let array = stored(
            &builder(
                &SHAPE,
                &SHAPE,
                data_type::float32(),
                -9999f32,
                &named(0.1, codec),
            ),
            &values,
        );
        let (_, requests, bytes) = read(&array, &array.subset_all());
        assert_eq!(requests, 1);
        let (_, requests, of_part) = read(&array, &part);
        println!("{codec}: {requests} requests, {of_part} of {bytes} bytes");
        // The header; rows of the table and what all chunks share; chunks, in some ranges.
        assert!(
            requests <= 8 && of_part * share < bytes,
            "{codec}: {requests} {of_part} {bytes}"
        );
    }
}

#[test]
fn a_part_of_a_shard_reads_the_index_and_its_chunk() {
    let values = wide();
    let mut builder = builder(
        &SHAPE,
        &SHAPE,
        data_type::float32(),
        -9999f32,
        &named(0.1, "plain"),
    );
    builder.subchunk_shape(vec![32, 128, 128]);
    let array = stored(&builder, &values);
    let (whole, _, bytes) = read(&array, &array.subset_all());
    let part = ArraySubset::new_with_ranges(&[3..5, 10..12, 20..22]);
    let (found, requests, of_part) = read(&array, &part);
    assert_eq!(found, cut(&whole, &part));
    println!("a shard: {requests} requests, {of_part} of {bytes} bytes");
    // The index; the header, rows of the table, and chunks of an inner chunk, which is an eighth.
    assert!(
        requests <= 5 && of_part * 30 < bytes,
        "{requests} {of_part} {bytes}"
    );
    // Most of an inner chunk: the index and the whole of it.
    let most = ArraySubset::new_with_ranges(&[0..32, 0..128, 0..100]);
    let (found, requests, of_most) = read(&array, &most);
    assert_eq!(found, cut(&whole, &most));
    assert!(
        requests == 2 && of_most * 7 < bytes,
        "{requests} {of_most} {bytes}"
    );
}

#[test]
fn small_chunks_are_read_in_one_request() {
    let values = field_f32(128 * 128);
    let array = stored(
        &builder(
            &[128, 128],
            &[128, 128],
            data_type::float32(),
            0f32,
            &abs(0.01),
        ),
        &values,
    );
    let subset = ArraySubset::new_with_ranges(&[5..6, 7..8]);
    let (found, requests, _) = read(&array, &subset);
    assert_eq!((found[0], requests), (all::<f32>(&array)[5 * 128 + 7], 1));
}

#[test]
fn a_chunk_that_is_not_there_has_the_fill_value() {
    let mut builder = builder(&SHAPE, &SHAPE, data_type::float32(), 5f32, &abs(1.0));
    for inner in [None, Some(vec![32, 128, 128])] {
        builder.subchunk_shape(inner);
        let array = builder.build(common::store(), "/x").unwrap();
        for subset in subsets() {
            let (found, _, _) = read(&array, &subset);
            assert!(
                found.len() as u64 == subset.num_elements()
                    && found.iter().all(|value| *value == 5.0)
            );
        }
    }
}

#[test]
fn indexers_that_are_no_boxes_or_not_within_the_chunk() {
    let values = wide();
    let array = stored(
        &builder(
            &SHAPE,
            &SHAPE,
            data_type::float32(),
            0f32,
            &named(0.1, "plain"),
        ),
        &values,
    );
    let whole = all::<f32>(&array);
    let decoder = array.partial_decoder(&[0, 0, 0]).unwrap();
    let decode = |indexer: &dyn Indexer| -> Result<Vec<f32>, String> {
        let elements = decoder.partial_decode(indexer, &CodecOptions::default());
        let bytes = elements.and_then(|elements: ArrayBytes<'_>| Ok(elements.into_fixed()?));
        Ok(bytemuck::pod_collect_to_vec(
            &bytes.map_err(|failure| failure.to_string())?,
        ))
    };
    let boxes = subsets()[1..4].to_vec();
    let expected: Vec<f32> = boxes
        .iter()
        .flat_map(|subset| cut(&whole, subset))
        .collect();
    assert_eq!(decode(&boxes).unwrap(), expected);
    let outside: [&[std::ops::Range<u64>]; 3] = [
        &[0..1, 0..1, 256..257],
        &[0..1, 0..1],
        &[0..1, 0..1, 0..1, 0..1],
    ];
    for ranges in outside {
        assert!(
            decode(&ArraySubset::new_with_ranges(ranges)).is_err(),
            "{ranges:?}"
        );
    }
}

#[cfg(feature = "async")]
#[test]
fn asynchronous_stores_give_the_same() {
    use futures::executor::block_on;
    use std::sync::Arc;
    use zarrs::storage::storage_adapter::performance_metrics::PerformanceMetricsStorageAdapter;
    use zarrs::storage::store::AsyncMemoryStore;

    let values = wide();
    for inner in [None, Some(vec![32, 128, 128])] {
        let is_sharded = inner.is_some();
        let mut builder = builder(
            &SHAPE,
            &SHAPE,
            data_type::float32(),
            -9999f32,
            &named(0.1, "plain"),
        );
        builder.subchunk_shape(inner);
        let expected = stored(&builder, &values);
        let store = Arc::new(PerformanceMetricsStorageAdapter::new(Arc::new(
            AsyncMemoryStore::new(),
        )));
        let array = builder.build(store.clone(), "/x").unwrap();
        block_on(array.async_store_array_subset(&array.subset_all(), &values[..])).unwrap();
        for subset in subsets() {
            let (wanted, _, bytes) = read(&expected, &subset);
            store.reset();
            let found: Vec<f32> = block_on(array.async_retrieve_array_subset(&subset)).unwrap();
            assert!(bits(&found) == bits(&wanted), "{subset}");
            // Of a shard, zarrs reads whole inner chunks here.
            assert!(is_sharded || store.bytes_read() == bytes, "{subset}");
        }
    }
}
