//! `ferrosz-lab bench` on the CPU.

use crate::common::{DIMS, Place, field, npy, raw, stderr};
use ferrosz::{Bound, Codec, Compressor, Shape};
use serde_json::Value;

fn rows(found: &Value) -> &[Value] {
    found["rows"].as_array().unwrap()
}

fn is_positive(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

/// A rate, and durations in their order.
fn check_times(times: &Value) {
    let number = |name: &str| times[name].as_f64().unwrap();
    assert!(is_positive(&times["gb_s"]), "{times}");
    assert!(0.0 < number("us_min") && number("us_min") <= number("us"));
    assert!(number("us") <= number("us_max"));
}

#[test]
fn every_codec_and_rank_is_measured_and_verified() {
    let place = Place::new();
    let found =
        place.json("bench --synthetic waves:32 --range 1e-2,1e-4 --repeat 2 --json --quiet");
    assert_eq!(
        (&found["device"], &found["repeat"]),
        (&"cpu".into(), &2.into())
    );
    assert!(
        found["machine"]
            .as_str()
            .is_some_and(|name| !name.is_empty())
    );
    assert!(is_positive(&found["threads"]) && found["driver"].is_null());
    assert_eq!(found["arguments"][0], "bench");
    let ceilings = found["ceilings"].as_array().unwrap();
    assert_eq!(ceilings.len(), 1);
    check_times(&ceilings[0]["copy"]);
    check_times(&ceilings[0]["read"]);
    for codec in Codec::ALL {
        let of_codec = rows(&found)
            .iter()
            .filter(|row| row["codec"] == codec.name());
        let ranks: Vec<u64> = of_codec.map(|row| row["rank"].as_u64().unwrap()).collect();
        let shapes = Shape::ALL.into_iter().filter(|shape| codec.takes(*shape));
        let taken: Vec<u64> = shapes.flat_map(|shape| [shape.rank().into(); 2]).collect();
        assert_eq!(ranks, taken, "{codec}");
    }
    for row in rows(&found) {
        assert_eq!(row["verified"], true);
        assert_eq!(row["field_bytes"], 4 * 32 * 32 * 32);
        assert!(row["ratio"].as_f64().unwrap() > 1.0, "{row}");
        for what in ["compress", "call", "decompress"] {
            check_times(&row[what]);
            assert!(is_positive(&row[what]["floor_share"]) && row[what]["in_a_graph"].is_null());
        }
        check_times(&row["box"]);
        assert_eq!(row["box"]["dims"], serde_json::json!([32, 32, 32]));
    }
}

#[test]
fn starts_of_fields_are_lines() {
    let place = Place::new();
    let line = "bench --synthetic walk:32 --synthetic sparse:32 --bytes 4KiB --bytes 65536 --f64 \
                --codec outlier,plain --abs 0.5 --max 1e-3 --repeat 1 --json --quiet";
    let found = place.json(line);
    assert_eq!(found["ceilings"].as_array().unwrap().len(), 4);
    assert_eq!(rows(&found).len(), 2 * 2 * 2 * 2);
    for row in rows(&found) {
        assert_eq!((&row["dtype"], &row["rank"]), (&"f64".into(), &1.into()));
        assert_eq!(row["dims"][0].as_u64().unwrap() * 8, row["field_bytes"]);
    }
    let modes: Vec<&Value> = rows(&found)[..2]
        .iter()
        .map(|row| &row["bound_mode"])
        .collect();
    assert_eq!(modes, ["abs", "max"]);
    assert_eq!(rows(&found)[0]["absolute_error"], 0.5);
}

#[test]
fn files_are_read_with_their_shapes() {
    let compressor = Compressor::new(Codec::LORENZO, Bound::range(1e-3).unwrap())
        .with_rank(3)
        .unwrap();
    let stream = (compressor.extents(&DIMS).unwrap())
        .compress(&field())
        .unwrap();
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.put("in.raw", &raw("f64"));
    let flags = "--codec lorenzo --rank 3 --repeat 1 --range 1e-3 --json --quiet";
    for files in [
        "in.npy",
        "in.raw --dtype f64 --dims 5,40,37",
        "in.raw:5,40,37 --dtype f64",
    ] {
        let found = place.json(&format!("bench {files} {flags}"));
        assert_eq!(rows(&found).len(), 1);
        assert_eq!(rows(&found)[0]["field"], "in");
        assert_eq!(rows(&found)[0]["stream_bytes"], stream.len());
    }
}

#[test]
fn streams_without_header_are_measured() {
    let place = Place::new();
    let line = "bench --bare --synthetic waves:16 --range 1e-3 --repeat 1 --json --quiet";
    let found = place.json(line);
    assert_eq!(rows(&found).len(), 3 * 3 + 1);
    for row in rows(&found) {
        assert!(row["ratio"].as_f64().unwrap() > 1.0, "{row}");
        assert!(row["call"].is_null() && row["box"].is_null() && row["verified"] == true);
    }
    place.put("in.npy", &crate::common::npy("f32"));
    place.succeed("bench in.npy --bare --rank 2 --repeat 1 --abs 0.01");
}

#[test]
fn the_table_is_for_people() {
    let place = Place::new();
    let line = "bench --synthetic sparse:20 --codec plain --rank 2 --repeat 1";
    let printed = String::from_utf8(place.succeed(line).stdout).unwrap();
    let words = ["sparse:20: 20 x 20 x 20 f32", "copy", "read", "call us"];
    assert!(words.iter().all(|word| printed.contains(word)), "{printed}");
    let is_row = |line: &&str| line.starts_with("sparse:20  ") && line.contains("plain");
    let rows: Vec<&str> = printed.lines().filter(is_row).collect();
    assert_eq!(rows.len(), 3, "{printed}");
    for (row, bound) in rows.iter().zip(["range 1e-2", "range 1e-3", "range 1e-4"]) {
        assert!(row.contains(bound), "{row}");
    }
    // JSON alone on standard output, the table beside it.
    let both = place.succeed(&format!("{line} --json"));
    assert!(serde_json::from_slice::<Value>(&both.stdout).is_ok());
    assert!(stderr(&both).contains("sparse:20"));
}

#[test]
fn what_cannot_be_measured_is_said() {
    let place = Place::new();
    let emulator = ["--device emulator", "time says nothing", "cuda"];
    place.fail(2, "bench --device emulator", &emulator);
    place.fail(1, "bench --device cuda:99", &["no device 'cuda'"]);
    place.fail(
        2,
        "bench --codec nonsense",
        &["nonsense", "is not a codec", "layered"],
    );
    place.fail(2, "bench --bare --codec plain", &["--bare", "--codec"]);
    place.fail(2, "bench --rank 4", &["a rank is 1, 2 or 3"]);
    place.fail(2, "bench --range 1e-3,x", &["a bound is a number"]);
    place.fail(
        2,
        "bench --synthetic tides",
        &["tides", "waves", "sparse", "walk"],
    );
    place.fail(2, "bench --bytes 1KB", &["64MiB"]);
    place.fail(2, "bench --repeat 0", &["--repeat"]);
    let small = "bench --synthetic walk:8";
    place.fail(
        2,
        &format!("{small} --bytes 1GiB"),
        &["--bytes", "walk:8 has only 2048"],
    );
    place.fail(
        2,
        &format!("{small} --bytes 1KiB --rank 3"),
        &["walk:8", "--rank"],
    );
    place.fail(1, &format!("{small} --bytes 3"), &["no values"]);
    place.fail(
        1,
        &format!("{small} --bare --abs 0"),
        &["walk:8", "positive"],
    );
    place.fail(1, "bench missing.npy", &["missing.npy"]);
    place.put("in.raw", &raw("f32"));
    place.fail(2, "bench in.raw", &["--dtype", "--dims"]);
}
