//! Half precision and integers on the command line.

use crate::common::{Place, npy_header};
use serde_json::json;

/// Dimensions 5, 40, 37.
const ELEMENTS: usize = 5 * 40 * 37;

/// Waves of integers between 100 and 1100, little-endian; as bits of halves they are small numbers.
fn waves(bytes: usize) -> Vec<u8> {
    let value = |i: usize| 600.0 + 500.0 * (i as f64 * 0.01).sin();
    (0..ELEMENTS)
        .flat_map(|i| (value(i) as u64).to_le_bytes()[..bytes].to_vec())
        .collect()
}

fn bytes_of(dtype: &str) -> usize {
    if dtype.ends_with("32") { 4 } else { 2 }
}

#[test]
fn raw_values_of_every_type_come_back() {
    let place = Place::new();
    for dtype in ["f16", "bf16", "i16", "u16", "i32", "u32"] {
        let original = waves(bytes_of(dtype));
        place.put("in.raw", &original);
        let shape = format!("--dtype {dtype} --dims 5,40,37");
        for preset in ["fast", "balanced", "small"] {
            place.succeed(&format!(
                "compress in.raw a.fsz {shape} --abs 0 --{preset} --quiet"
            ));
            place.succeed("decompress a.fsz out.raw");
            assert_eq!(place.get("out.raw"), original, "{dtype} {preset}");
        }
        for bound in ["--abs 1.5", "--range 0.01", "--max 0.02"] {
            place.succeed(&format!(
                "compress in.raw a.fsz {shape} {bound} --codec lorenzo"
            ));
            let found = place.json("verify in.raw a.fsz --json");
            assert_eq!(found["kept"], true, "{dtype} {bound}");
            let info = place.json("info a.fsz --json");
            assert_eq!(info["dtype"], json!(dtype));
            if bound == "--abs 1.5" && !dtype.contains('f') {
                assert_eq!(info["absolute_error"], json!(1.0), "{dtype}");
            }
            assert_eq!(info["field_bytes"], json!(ELEMENTS * bytes_of(dtype)));
        }
        place.succeed("check a.fsz");
        place.succeed("decompress a.fsz whole.raw");
        place.succeed("decompress a.fsz part.raw --box 1:3,:,4:7");
        let whole = place.get("whole.raw");
        let width = bytes_of(dtype);
        let mut expected: Vec<u8> = Vec::new();
        for row in 40..3 * 40 {
            expected.extend(&whole[width * (37 * row + 4)..width * (37 * row + 7)]);
        }
        assert_eq!(place.get("part.raw"), expected);
        place.succeed("update a.fsz part.raw --box 1:3,:,4:7");
        place.succeed("decompress a.fsz again.raw --box 1:3,:,4:7");
        assert_eq!(place.get("again.raw").len(), expected.len());
        place.succeed(&format!("bench in.raw {shape} --repeat 1"));
    }
}

#[test]
fn npy_files_have_their_types() {
    let place = Place::new();
    for (dtype, descr) in [
        ("f16", "f2"),
        ("i16", "i2"),
        ("u16", "u2"),
        ("i32", "i4"),
        ("u32", "u4"),
        ("bf16", "V2"),
    ] {
        let width = bytes_of(dtype);
        let little = waves(width);
        let big: Vec<u8> = little
            .chunks(width)
            .flat_map(|value| value.iter().rev().copied())
            .collect();
        let shape = "(5, 40, 37)";
        place.put(
            "a.npy",
            &[
                npy_header(&format!("<{descr}"), "False", shape),
                little.clone(),
            ]
            .concat(),
        );
        place.put(
            "b.npy",
            &[npy_header(&format!(">{descr}"), "False", shape), big].concat(),
        );
        let flag = if dtype == "bf16" { "--dtype bf16" } else { "" };
        for name in ["a.npy", "b.npy"] {
            place.succeed(&format!("compress {name} s.fsz --abs 0 {flag}"));
            assert_eq!(
                place.json(&format!("verify {name} s.fsz --json"))["kept"],
                true
            );
            place.succeed("decompress s.fsz out.npy");
            let out = place.get("out.npy");
            assert!(String::from_utf8_lossy(&out[..100]).contains(&format!("'<{descr}'")));
            assert_eq!(&out[out.len() - little.len()..], little);
        }
        // In Fortran order the same bytes are another array, which comes back in C order.
        place.put(
            "f.npy",
            &[
                npy_header(&format!("<{descr}"), "True", "(37, 40, 5)"),
                little.clone(),
            ]
            .concat(),
        );
        place.succeed(&format!("compress f.npy s.fsz --abs 0 {flag}"));
        assert_eq!(place.json("verify f.npy s.fsz --json")["kept"], true);
    }
    place.fail(2, "compress a.npy s2.fsz --abs 0", &["--dtype bf16"]);
}

#[test]
fn fill_values_of_integers_are_found() {
    let place = Place::new();
    let mut values = waves(2);
    for value in values.chunks_mut(2).skip(500).take(300) {
        value.copy_from_slice(&i16::MIN.to_le_bytes());
    }
    place.put("in.raw", &values);
    place.succeed("compress in.raw a.fsz --dtype i16 --dims 5,40,37 --range 0.01");
    let info = place.json("info a.fsz --json");
    assert_eq!(info["fill_values"], json!([-32768.0]));
    let found = place.json("verify in.raw a.fsz --json");
    assert_eq!(
        (&found["kept"], &found["fill_elements_kept"]),
        (&json!(true), &json!(300))
    );
    assert_eq!(
        found["bit_for_bit"][0],
        json!({ "class": "nan", "count": 0, "kept": 0 })
    );
    place.fail(
        1,
        "compress in.raw b.fsz --dtype i16 --dims 5,40,37 --abs 1 --fill 1e20",
        &["1e20", "i16"],
    );
}

#[test]
fn commands_for_elements_alone_say_so() {
    let place = Place::new();
    place.put("in.raw", &waves(2));
    place.fail(
        1,
        "cuszp compress in.raw a.csz --dtype u16 --dims 5,40,37 --abs 1 --mode plain",
        &["u16", "f32 and f64"],
    );
}
