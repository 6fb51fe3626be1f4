//! Containers as they were committed, so that they stay as they are. `tests/independent` composes them in NumPy.
//! `FERROSZ_WRITE_CONTAINERS=1` rewrites them.

use crate::common::fields::{FromBits, Kind, make};
use crate::common::parts::bits;
use ferrosz_stages::stage::own_stages;
use ferrosz_stages::{
    Bound, CodeOrder, CodeWidth, Device, Geometry, Interpolator, Pipeline, RadiusRule, Tuning,
    decompress,
};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

/// The pipelines of a number, one for each stage, and the field.
fn case<T: FromBits>(number: usize) -> (Vec<Pipeline>, Vec<T>) {
    let extents: &[u64] = [
        &[6, 21, 70][..],
        &[50, 33],
        &[3, 20, 19],
        &[1500],
        &[17, 18],
        &[5, 9, 33],
    ][number % 6];
    let elements = extents.iter().product::<u64>() as usize;
    let kind = [Kind::Smooth, Kind::NotFinite, Kind::Sparse, Kind::Random][number % 4];
    let rule = [RadiusRule::Sampled, RadiusRule::Fits, RadiusRule::Given(8)][number % 3];
    let tuning = Tuning::of_mode(number as u32 % 6, Geometry::ALL[number % 3], None);
    let bound = if kind == Kind::Random {
        Bound::abs(2.0)
    } else {
        Bound::range(1e-3)
    };
    let interpolator = Interpolator::new(bound.unwrap())
        .extents(extents)
        .and_then(|it| it.tuning(tuning.unwrap()))
        .unwrap()
        .order(CodeOrder::ALL[number % 2])
        .radius_by(rule);
    let width = CodeWidth::ALL[number % 3];
    let pipelines = own_stages()
        .into_iter()
        .map(|stage| Pipeline::of(interpolator.device(Device::Cpu), stage).width(width));
    (
        pipelines.collect(),
        make::<T>(kind, elements, number as u64),
    )
}

/// Compares the containers of a case with the committed ones; adds their lines to the index.
fn check<T: FromBits>(number: usize, directory: &Path, index: &mut String) {
    let (pipelines, field) = case::<T>(number);
    for (pipeline, stage) in pipelines.iter().zip(own_stages()) {
        let name = format!("{number}-{}-{}", T::DTYPE, stage.name());
        let bytes = pipeline.compress(&field).expect(&name);
        let values: Vec<T> = decompress(&bytes, &[], Device::Cpu).expect(&name);
        let mut digest = Sha256::new();
        for value in bits(&values) {
            digest.update(&value.to_le_bytes()[..T::BYTES]);
        }
        let digest = digest.finalize();
        let digits = digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        writeln!(index, "{name} {digits}").unwrap();
        let path = directory.join(format!("{name}.fzpc"));
        if std::env::var_os("FERROSZ_WRITE_CONTAINERS").is_some() {
            std::fs::write(&path, &bytes).expect(&name);
        }
        assert!(std::fs::read(&path).expect(&name) == bytes, "{name}");
    }
}

#[test]
fn containers_are_the_committed_ones() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/containers");
    let mut index = String::new();
    for number in 0..6 {
        match number % 2 {
            0 => check::<f32>(number, &directory, &mut index),
            _ => check::<f64>(number, &directory, &mut index),
        }
    }
    let path = directory.join("index.txt");
    if std::env::var_os("FERROSZ_WRITE_CONTAINERS").is_some() {
        std::fs::write(&path, &index).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), index);
}
