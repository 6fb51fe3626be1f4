//! Fields, and arrays of them in memory.
#![allow(dead_code, reason = "each test file uses some of it")]

use ferrosz_zarrs::{FerroszCodec, FerroszCodecConfiguration};
use std::sync::Arc;
use zarrs::array::{Array, ArrayBuilder, DataType, Element, ElementOwned, FillValue};
use zarrs::storage::storage_adapter::performance_metrics::PerformanceMetricsStorageAdapter;
use zarrs::storage::store::MemoryStore;

/// A store in memory that counts requests and their bytes.
pub type Store = PerformanceMetricsStorageAdapter<MemoryStore>;

pub fn store() -> Arc<Store> {
    Arc::new(Store::new(Arc::new(MemoryStore::new())))
}

/// A wave with noise, between about -11 and 11.
pub fn field(elements: u64) -> Vec<f64> {
    let mut state = 1u64;
    let noise = |i| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(i);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let noise: Vec<f64> = (0..elements).map(noise).collect();
    let wave = |i: usize| 10.0 * (i as f64 / 137.0).sin();
    noise
        .iter()
        .enumerate()
        .map(|(i, noise)| wave(i) + noise)
        .collect()
}

pub fn field_f32(elements: u64) -> Vec<f32> {
    field(elements)
        .into_iter()
        .map(|value| value as f32)
        .collect()
}

pub fn abs(error: f64) -> FerroszCodecConfiguration {
    FerroszCodecConfiguration::abs(error)
}

pub fn named(error: f64, codec: &str) -> FerroszCodecConfiguration {
    FerroszCodecConfiguration {
        codec: Some(codec.parse().expect("the name of a codec")),
        written_once: true,
        ..abs(error)
    }
}

pub fn codec(configuration: &FerroszCodecConfiguration) -> Arc<FerroszCodec> {
    let codec = FerroszCodec::new_with_configuration(configuration);
    Arc::new(codec.expect("a configuration"))
}

/// The builder of an array `/x` with this codec.
pub fn builder(
    shape: &[u64],
    chunks: &[u64],
    data_type: DataType,
    fill_value: impl Into<FillValue>,
    configuration: &FerroszCodecConfiguration,
) -> ArrayBuilder {
    let mut builder = ArrayBuilder::new(
        shape.to_vec(),
        chunks.to_vec(),
        data_type,
        fill_value.into(),
    );
    builder.array_to_bytes_codec(codec(configuration));
    builder
}

/// An array with these values, in a store of its own.
pub fn stored<T: Element>(builder: &ArrayBuilder, values: &[T]) -> Array<Store> {
    let array = builder.build(store(), "/x").expect("an array");
    array.store_metadata().expect("memory");
    array
        .store_array_subset(&array.subset_all(), values)
        .expect("memory");
    array
}

/// All values of an array.
pub fn all<T: ElementOwned>(array: &Array<Store>) -> Vec<T> {
    array
        .retrieve_array_subset(&array.subset_all())
        .expect("sound chunks")
}

/// The largest error of the values, in arithmetic of doubles.
pub fn error<T: Copy + Into<f64>>(values: &[T], back: &[T]) -> f64 {
    assert_eq!(values.len(), back.len());
    let errors = values
        .iter()
        .zip(back)
        .map(|(x, y)| ((*x).into() - (*y).into()).abs());
    errors.fold(0.0, f64::max)
}
