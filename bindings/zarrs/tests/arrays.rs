//! Arrays of every type and shape, there and back through zarrs.

mod common;

use common::{Store, abs, all, builder, codec, error, field, field_f32, named, store, stored};
use ferrosz::{Bf16, Bound, BoundMode, Decompressor, F16, Value};
use ferrosz_zarrs::FerroszCodecConfiguration;
use std::num::NonZeroU64;
use zarrs::array::{
    Array, ArrayBytes, ArrayCodecTraits, ArraySubset, ArrayToBytesCodecTraits, CodecOptions,
    DataType, ElementOwned, FillValue, data_type,
};
use zarrs::plugin::ExtensionName;
use zarrs::storage::{ReadableStorageTraits, StoreKey};

/// The bytes of a chunk.
fn chunk(array: &Array<Store>, key: &str) -> Vec<u8> {
    let key = StoreKey::new(format!("x/c/{key}")).unwrap();
    array
        .storage()
        .get(&key)
        .unwrap()
        .expect("a chunk")
        .to_vec()
}

fn keeps_its_bound<T: ElementOwned + Value + Into<f64>>(data_type: DataType) {
    let field = field(40 * 50 * 60);
    let values: Vec<T> = (field.iter())
        .map(|value| T::from_number((value * 20.0 + 300.0).round()).expect("an integer"))
        .collect();
    for bound in [0.0, 1.0] {
        let fill_value = FillValue::from(vec![0; size_of::<T>()]);
        // Decoded values that may be written again lose nothing here.
        let once = FerroszCodecConfiguration {
            written_once: true,
            ..abs(bound)
        };
        let array = stored(
            &builder(
                &[40, 50, 60],
                &[20, 30, 40],
                data_type.clone(),
                fill_value,
                &once,
            ),
            &values,
        );
        let back = all::<T>(&array);
        assert!(error(&values, &back) <= bound, "{data_type} {bound}");
        assert!(
            bound == 0.0 || back != values,
            "{data_type}: nothing is lost"
        );
    }
}

#[test]
fn every_type_keeps_its_bound() {
    keeps_its_bound::<f32>(data_type::float32());
    keeps_its_bound::<f64>(data_type::float64());
    keeps_its_bound::<F16>(data_type::float16());
    keeps_its_bound::<Bf16>(data_type::bfloat16());
    keeps_its_bound::<i16>(data_type::int16());
    keeps_its_bound::<u16>(data_type::uint16());
    keeps_its_bound::<i32>(data_type::int32());
    keeps_its_bound::<u32>(data_type::uint32());
}

/// The parts of complex numbers are within the bound, and boxes are those of the numbers.
#[test]
fn complex_numbers_keep_their_bound() {
    let parts = field_f32(2 * 40 * 50 * 60);
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_ne_bytes()).collect();
    let to_parts = |bytes: ArrayBytes<'static>| -> Vec<f32> {
        let bytes = bytes.into_fixed().expect("bytes of a fixed length");
        let (parts, _) = bytes.as_chunks::<4>();
        parts.iter().map(|part| f32::from_ne_bytes(*part)).collect()
    };
    let fill_value = FillValue::from([0; 8]);
    let array = builder(
        &[40, 50, 60],
        &[40, 50, 60],
        data_type::complex64(),
        fill_value,
        &abs(0.01),
    );
    let array = array.build(store(), "/x").unwrap();
    let all = array.subset_all();
    array
        .store_array_subset(&all, ArrayBytes::from(bytes))
        .unwrap();
    let info = ferrosz::info(&chunk(&array, "0/0/0")).unwrap();
    assert_eq!(
        (info.type_name(), info.number_extents()),
        ("complex64", &[40, 50, 60][..])
    );
    let back = to_parts(array.retrieve_array_subset(&all).unwrap());
    assert!(error(&parts, &back) <= 0.01);
    let of_box = ArraySubset::new_with_ranges(&[3..5, 7..8, 50..60]);
    let found = to_parts(array.retrieve_array_subset(&of_box).unwrap());
    let row = |z: usize| &back[2 * ((z * 50 + 7) * 60 + 50)..2 * ((z * 50 + 7) * 60 + 60)];
    assert_eq!(found, [row(3), row(4)].concat());
}

#[test]
fn arrays_have_up_to_eight_dimensions() {
    let shapes: [&[u64]; 8] = [
        &[],
        &[3000],
        &[50, 60],
        &[10, 15, 20],
        &[3, 10, 10, 10],
        &[5, 2, 3, 10, 10],
        &[2; 6],
        &[2; 8],
    ];
    for shape in shapes {
        let values = field(shape.iter().product());
        // The last chunk of an axis is cut off.
        let chunks: Vec<u64> = shape.iter().map(|length| length / 2 + 1).collect();
        let builder = builder(shape, &chunks, data_type::float64(), 0.0, &abs(0.01));
        let array = stored(&builder, &values);
        assert!(error(&values, &all(&array)) <= 0.01, "{shape:?}");
    }
    let array = builder(&[2; 9], &[2; 9], data_type::float64(), 0.0, &abs(0.01));
    let array = array.build(store(), "/x").unwrap();
    let failure = array.store_chunk(&[0; 9], &[1.0; 512]).unwrap_err();
    assert!(
        failure.to_string().contains("[2, 2, 2, 2, 2, 2, 2, 2, 2]"),
        "{failure}"
    );
}

#[test]
fn a_chunk_is_a_stream_of_ferrosz() {
    let values = field_f32(40 * 50);
    let builder = builder(
        &[40, 50],
        &[40, 50],
        data_type::float32(),
        0.0f32,
        &named(0.25, "plain"),
    );
    let array = stored(&builder, &values);
    let stream = chunk(&array, "0/0");
    let info = ferrosz::info(&stream).unwrap();
    assert_eq!(
        (info.extents, info.bound),
        (vec![40, 50], Bound::abs(0.25).unwrap())
    );
    assert_eq!(info.codec, ferrosz::Codec::PLAIN);
    assert_eq!(
        Decompressor::new().decompress::<f32>(&stream).unwrap(),
        all::<f32>(&array)
    );
}

#[test]
fn the_metadata_name_the_codec() {
    let configuration = FerroszCodecConfiguration {
        preset: Some(ferrosz::Preset::Balanced),
        rank: Some(2),
        axes: Some("s,y,x".parse().unwrap()),
        keep_sign: true,
        keep_zero: true,
        ..FerroszCodecConfiguration::abs(0.01)
    };
    let values = field_f32(20 * 30 * 40);
    let builder = builder(
        &[20, 30, 40],
        &[10, 30, 40],
        data_type::float32(),
        0.0f32,
        &configuration,
    );
    let array = stored(&builder, &values);
    let metadata = serde_json::to_value(array.metadata()).unwrap();
    let expected = serde_json::json!([{
        "name": "ferrosz",
        "configuration": {
            "abs": 0.01, "preset": "balanced", "rank": 2, "axes": "s,y,x", "keep_sign": true, "keep_zero": true
        }
    }]);
    assert_eq!(metadata["codecs"], expected);
    let opened = Array::open(array.storage(), "/x").unwrap();
    assert_eq!(all::<f32>(&opened), all::<f32>(&array));
    assert_eq!(
        ferrosz::info(&chunk(&array, "0/0/0"))
            .unwrap()
            .axes
            .to_string(),
        "s,y,x"
    );
}

#[test]
fn levels_of_chunks_are_coded_apart() {
    let configuration = FerroszCodecConfiguration {
        levels: 2,
        written_once: true,
        ..FerroszCodecConfiguration::abs(0.01)
    };
    let values = field_f32(20 * 30 * 40);
    let (shape, chunks) = ([20, 30, 40], [10, 30, 40]);
    let builder = builder(
        &shape,
        &chunks,
        data_type::float32(),
        0.0f32,
        &configuration,
    );
    let array = stored(&builder, &values);
    let metadata = serde_json::to_value(array.metadata()).unwrap();
    let expected = serde_json::json!({"abs": 0.01, "levels": 2, "written_once": true});
    assert_eq!(metadata["codecs"][0]["configuration"], expected);
    let stream = chunk(&array, "1/0/0");
    assert_eq!(ferrosz::info(&stream).unwrap().levels_apart, 2);
    let coarse: Vec<f32> = Decompressor::new().level(&stream, 2).unwrap();
    assert_eq!(coarse[8 * 10 + 9], all::<f32>(&array)[14 * 30 * 40 + 36]);
}

/// An array with this configuration of the codec, or the text of the error.
fn opened(configuration: &str) -> Result<(), String> {
    let builder = builder(&[4], &[4], data_type::float32(), 0.0f32, &abs(1.0));
    let array = builder.build(store(), "/x").unwrap();
    let mut metadata = serde_json::to_value(array.metadata()).unwrap();
    metadata["codecs"][0]["configuration"] = serde_json::from_str(configuration).unwrap();
    let metadata = serde_json::from_value(metadata).unwrap();
    let array = Array::new_with_metadata(store(), "/x", metadata);
    array.map(|_| ()).map_err(|failure| failure.to_string())
}

#[test]
fn configurations_that_mean_nothing_are_refused() {
    for (configuration, named) in [
        ("{}", "abs or pwrel"),
        (r#"{"abs": 1, "pwrel": 1}"#, "only one"),
        (r#"{"abs": -1}"#, "-1"),
        (r#"{"abs": "1"}"#, "f64"),
        (r#"{"range": 0.001}"#, "range"),
        (r#"{"abs": 1, "codec": "zip"}"#, "zip"),
        (r#"{"abs": 1, "preset": "smaller"}"#, "smaller"),
        (
            r#"{"abs": 1, "preset": "small", "codec": "plain"}"#,
            "not both",
        ),
        (r#"{"abs": 1, "rank": 4}"#, "rank 4"),
        (r#"{"abs": 1, "rank": 300}"#, "300"),
        (r#"{"abs": 1, "codec": "layered", "rank": 2}"#, "layered"),
        (r#"{"abs": 1, "axes": "a,b"}"#, "axes"),
    ] {
        let failure = opened(configuration).expect_err(configuration);
        assert!(
            failure.contains(named) && failure.contains("codec ferrosz"),
            "{configuration}: {failure}"
        );
    }
    // As Python may write it.
    opened(r#"{"abs": 1, "preset": null, "keep_sign": false}"#).unwrap();
}

/// Each time a chunk is decoded and encoded again, which the values of splines would not stand.
#[test]
fn the_bound_holds_when_elements_are_written_again() {
    let field = field_f32(20 * 30 * 40);
    let fast = FerroszCodecConfiguration {
        preset: Some(ferrosz::Preset::Fast),
        ..abs(0.05)
    };
    for configuration in [abs(0.05), fast] {
        let builder = builder(
            &[20, 30, 40],
            &[20, 30, 40],
            data_type::float32(),
            0.0f32,
            &configuration,
        );
        let array = stored(&builder, &field);
        for place in (0..20u64).map(|number| number * 17 % 20) {
            let part = ArraySubset::new_with_start_shape(vec![place, 1, 2], vec![1, 1, 1]).unwrap();
            let value = [field[(place as usize * 30 + 1) * 40 + 2]];
            array.store_array_subset(&part, &value[..]).unwrap();
        }
        assert!(error(&field, &all::<f32>(&array)) <= 0.05);
    }
}

#[test]
fn splines_are_for_chunks_that_are_written_once() {
    let field = field_f32(20 * 30 * 40);
    let extents = [20, 30, 40];
    let built = |configuration: &FerroszCodecConfiguration| {
        builder(
            &extents,
            &extents,
            data_type::float32(),
            0.0f32,
            configuration,
        )
    };
    let array = stored(&built(&named(0.01, "interp")), &field);
    let again = FerroszCodecConfiguration {
        written_once: false,
        ..named(0.01, "interp")
    };
    let opened = built(&again).build(array.storage(), "/x").unwrap();
    assert!(error(&field, &all::<f32>(&opened)) <= 0.01);
    let failure = opened
        .store_array_subset(&opened.subset_all(), &field)
        .unwrap_err();
    assert!(failure.to_string().contains("written_once"), "{failure}");
    let once = FerroszCodecConfiguration {
        written_once: true,
        ..abs(0.01)
    };
    let json = serde_json::to_string(&once).unwrap();
    assert_eq!(json, r#"{"abs":0.01,"written_once":true}"#);
    let lengths = [abs(0.01), once]
        .map(|configuration| chunk(&stored(&built(&configuration), &field), "0/0/0").len());
    assert!(lengths[1] < lengths[0], "{lengths:?}");
}

/// zarrs does not show the type to the codec before the first chunk.
#[test]
fn other_types_are_refused_by_name() {
    for (data_type, fill_value) in [
        (data_type::int64(), FillValue::from(0i64)),
        (data_type::uint8(), FillValue::from(0u8)),
        (data_type::bool(), FillValue::from(false)),
    ] {
        let bytes = vec![1; 8 * fill_value.size()];
        let array = builder(&[8], &[4], data_type.clone(), fill_value, &abs(1.0));
        let array = array.build(store(), "/x").unwrap();
        let written = array.store_array_subset(&array.subset_all(), ArrayBytes::from(bytes));
        let read = array.retrieve_array_subset::<ArrayBytes<'static>>(&array.subset_all());
        for failure in [written, read.map(|_| ())].map(Result::unwrap_err) {
            let text = failure.to_string();
            let name = data_type.name_v3().unwrap();
            assert!(
                text.contains(&format!("{name} for codec ferrosz")),
                "{text}"
            );
        }
    }
    // Bounds relative to each value are for floating-point numbers of 32 and 64 bits.
    let array = builder(
        &[4],
        &[4],
        data_type::int16(),
        0i16,
        &FerroszCodecConfiguration::pwrel(0.1),
    );
    let array = array.build(store(), "/x").unwrap();
    let failure = array
        .store_chunk(&[0], &[1i16, 2, 3, 4])
        .unwrap_err()
        .to_string();
    assert!(failure.contains("i16"), "{failure}");
}

#[test]
fn the_fill_value_is_kept_and_spoils_no_bound() {
    let nan = f32::from_bits(0x7fc0_1234);
    // The first is among the other values, and looks like none that stands for missing ones.
    for fill_value in [
        300.123,
        0.0,
        -0.0,
        -9999.0,
        1e20,
        f32::NAN,
        nan,
        f32::INFINITY,
    ] {
        let mut values = field_f32(40 * 50 * 60);
        let is_filled = |i: usize| i / 60 % 50 / 10 == 2;
        for (i, value) in values.iter_mut().enumerate() {
            *value = if is_filled(i) {
                fill_value
            } else {
                *value + 300.0
            };
        }
        // The chunks at the edge are padded with the fill value.
        let builder = builder(
            &[40, 50, 60],
            &[32, 32, 32],
            data_type::float32(),
            fill_value,
            &abs(0.01),
        );
        let back = all::<f32>(&stored(&builder, &values));
        for (i, (value, back)) in values.iter().zip(&back).enumerate() {
            let is_kept = match is_filled(i) {
                true => value.to_bits() == back.to_bits(),
                false => (f64::from(*value) - f64::from(*back)).abs() <= 0.01,
            };
            assert!(is_kept, "{fill_value}: {value} {back}");
        }
    }
}

#[test]
fn fill_values_of_integers_are_kept() {
    let mut values: Vec<i16> = field(10_000)
        .iter()
        .map(|value| (value * 20.0) as i16)
        .collect();
    values[300..400].fill(i16::MIN);
    let builder = builder(&[10_000], &[3000], data_type::int16(), i16::MIN, &abs(3.0));
    let back = all::<i16>(&stored(&builder, &values));
    assert_eq!(back[300..400], values[300..400]);
    assert!(error(&values, &back) <= 3.0 && back != values);
}

/// Four fill values, signs and zeros are more classes than a mask has.
#[test]
fn more_fill_values_than_a_mask_has_are_no_error() {
    let mut values: Vec<f32> = field_f32(20_000)
        .iter()
        .map(|value| value + 300.0)
        .collect();
    values[100..200].fill(0.0);
    values[200..300].fill(1e20);
    values[300..400].fill(-9999.0);
    values[400..500].fill(f32::NAN);
    values[500..600].fill(-f32::NAN);
    let fill_value = 300.123f32;
    values[600..700].fill(fill_value);
    let pwrel = FerroszCodecConfiguration::pwrel(0.01);
    let kept = FerroszCodecConfiguration {
        keep_sign: true,
        keep_zero: true,
        ..named(0.5, "interp")
    };
    for configuration in [pwrel, kept] {
        let builder = builder(
            &[20_000],
            &[20_000],
            data_type::float32(),
            fill_value,
            &configuration,
        );
        let array = stored(&builder, &values);
        let stream = chunk(&array, "0");
        let is_relative = ferrosz::info(&stream).unwrap().bound.mode() == BoundMode::Pwrel;
        for (value, back) in values.iter().zip(all::<f32>(&array)) {
            let error = if is_relative {
                0.01 * f64::from(*value).abs()
            } else {
                0.5
            };
            let is_kept = match value.is_nan() || [0.0, fill_value].contains(value) {
                true => value.to_bits() == back.to_bits(),
                false => (f64::from(*value) - f64::from(back)).abs() <= error,
            };
            assert!(is_kept, "{value} {back}");
        }
    }
}

#[test]
fn bounds_relative_to_each_value() {
    let values: Vec<f64> = field(30_000).iter().map(|value| value.powi(5)).collect();
    let configuration = FerroszCodecConfiguration::pwrel(1e-3);
    let builder = builder(
        &[300, 100],
        &[64, 64],
        data_type::float64(),
        0.0,
        &configuration,
    );
    let back = all::<f64>(&stored(&builder, &values));
    let is_kept =
        |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-3 * x.abs() && x.signum() == y.signum();
    assert!(values.iter().zip(&back).all(is_kept) && back != values);
}

#[test]
fn a_bound_follows_from_the_range_of_the_array() {
    let values = field(10_000);
    let (low, high) = values
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
    let with_missing = values.iter().copied().chain([f64::NAN, f64::INFINITY]);
    let range = FerroszCodecConfiguration::range(1e-3, with_missing).unwrap();
    assert_eq!(
        range,
        FerroszCodecConfiguration::range(1e-3, [high, low]).unwrap()
    );
    let (wanted, found) = (1e-3 * (high - low), range.abs.unwrap());
    assert!(
        found <= wanted && found >= wanted * (1.0 - 1e-15),
        "{found} {wanted}"
    );
    let max = FerroszCodecConfiguration::max(0.5, [-4.0, 3.0]).unwrap();
    assert_eq!(max, abs(2.0));
    assert!(FerroszCodecConfiguration::range(-1.0, [0.0]).is_err());
    assert_eq!(FerroszCodecConfiguration::range(0.1, []).unwrap(), abs(0.0));
}

#[test]
fn a_part_of_a_chunk_is_written() {
    let values = field_f32(64 * 64);
    let builder = builder(
        &[64, 64],
        &[32, 32],
        data_type::float32(),
        0.0f32,
        &named(0.1, "plain"),
    );
    let array = stored(&builder, &values);
    let before = all::<f32>(&array);
    let subset = ArraySubset::new_with_ranges(&[10..14, 20..40]);
    array.store_array_subset(&subset, &[77.0f32; 80]).unwrap();
    for (i, (before, after)) in before.iter().zip(all::<f32>(&array)).enumerate() {
        let wanted = match subset.contains(&[i as u64 / 64, i as u64 % 64]) {
            true => 77.0,
            false => *before,
        };
        assert!((f64::from(wanted) - f64::from(after)).abs() <= 0.1);
    }
}

/// As many threads as zarrs has, each with a chunk, and the library's own tasks in the same threads.
#[test]
fn many_chunks_at_a_time_are_those_of_one_thread() {
    let values = field_f32(64 * 256 * 128);
    let builder = builder(
        &[64, 256, 128],
        &[32, 64, 128],
        data_type::float32(),
        0.0f32,
        &abs(0.01),
    );
    let array = stored(&builder, &values);
    let one = builder.build(store(), "/x").unwrap();
    let options = CodecOptions::default()
        .with_concurrent_target(1)
        .with_chunk_concurrent_minimum(1);
    one.store_array_subset_opt(&one.subset_all(), &values, &options)
        .unwrap();
    for z in 0..2 {
        for y in 0..4 {
            let key = format!("{z}/{y}/0");
            assert_eq!(chunk(&array, &key), chunk(&one, &key));
        }
    }
    let subset = one.subset_all();
    assert_eq!(
        all::<f32>(&array),
        one.retrieve_array_subset_opt::<Vec<f32>>(&subset, &options)
            .unwrap()
    );
}

#[test]
fn large_chunks_take_more_threads() {
    let codec = codec(&abs(1.0));
    for (length, threads) in [(1, 1), (1 << 16, 1), (1 << 20, 16)] {
        let shape = [NonZeroU64::new(length).unwrap()];
        let found = codec
            .recommended_concurrency(&shape, &data_type::float32())
            .unwrap();
        assert_eq!((found.min(), found.max()), (1, threads));
    }
}

/// The traits can be called without the checks of an array.
#[test]
fn values_that_are_no_chunk_are_refused() {
    let codec = codec(&abs(1.0));
    let shape = [NonZeroU64::new(10).unwrap()];
    let (float, options) = (data_type::float32(), CodecOptions::default());
    for (bytes, fill_value) in [
        (39, vec![0; 4]),
        (0, vec![0; 4]),
        (40, vec![0; 8]),
        (40, Vec::new()),
    ] {
        let encoded = codec.encode(
            vec![0u8; bytes].into(),
            &shape,
            &float,
            &fill_value.into(),
            &options,
        );
        assert!(encoded.is_err(), "{bytes}");
    }
    // Not aligned for values of four bytes.
    let bytes = [0u8; 41];
    let (fill_value, values) = (FillValue::from(0.0f32), ArrayBytes::from(&bytes[1..]));
    assert!(
        codec
            .encode(values, &shape, &float, &fill_value, &options)
            .is_ok()
    );
    let huge = [NonZeroU64::MAX, NonZeroU64::MAX];
    assert!(
        codec
            .encode(vec![0u8; 40].into(), &huge, &float, &fill_value, &options)
            .is_err()
    );
    let stream = codec
        .encode(vec![0u8; 40].into(), &shape, &float, &fill_value, &options)
        .unwrap();
    assert!(
        codec
            .decode(stream, &[NonZeroU64::MAX], &float, &fill_value, &options)
            .is_err()
    );
}
