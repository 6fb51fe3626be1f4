//! `ferrosz-lab ablations` on the emulator.

use crate::common::Place;

#[test]
fn every_variant_is_verified() {
    let place = Place::new();
    let line = "ablations --synthetic waves:33 --device emulator --repeat 1";
    let found = place.json(&format!("{line} --f64 --json --quiet"));
    let rows = found["rows"].as_array().unwrap();
    // Ten passes, and two ways of two coders of layers.
    assert_eq!(rows.len(), 2 * (10 + 4));
    for row in rows {
        assert_eq!(row["verified"], true);
        let width = if row["dtype"] == "f32" { 4 } else { 8 };
        // A layer of 33^3 elements.
        assert_eq!(row["bytes"], width * 32_768);
        assert!(row["ratio"].as_f64().unwrap() > 1.0, "{row}");
        assert!(row["times"]["us"].as_f64().unwrap() > 0.0);
    }
    let ratios = found["ratios"].as_array().unwrap();
    assert_eq!(ratios.len(), 2 * 3);
    for row in ratios {
        // Longer blocks have fewer rate bytes and outliers, and more planes.
        let of = |name: &str| row[name].as_f64().unwrap();
        let gain = of("line_of_64") / of("line_of_32");
        assert!((0.5..2.0).contains(&gain), "{row}");
        assert!(of("plane") > 1.0 && of("cube") > 1.0, "{row}");
    }
}

#[test]
fn tables_are_for_the_documents() {
    let place = Place::new();
    let line = "ablations --synthetic sparse:32 --device emulator --repeat 1";
    let printed = String::from_utf8(place.succeed(line).stdout).unwrap();
    for row in [
        "### A pass of cuSZp2",
        "| sparse:32 | f32 | chained scan | own block, vectors | 32 |",
        "| sparse:32 | f32 | look-back | own block, scalars | 32 |",
        "| sparse:32 | f32 | compress | one warp |",
        "| sparse:32 | f32 | range 1e-2 |",
    ] {
        assert!(printed.contains(row), "no {row} in {printed}");
    }
}

#[test]
fn what_cannot_be_ablated_is_said() {
    let place = Place::new();
    place.fail(2, "ablations --device cpu", &["a GPU", "--device cuda"]);
    place.fail(2, "ablations --device emulator --range 0x", &["--range"]);
    let small = "ablations --synthetic waves:31 --device emulator --quiet";
    place.fail(1, small, &["waves:31", "32768"]);
}
