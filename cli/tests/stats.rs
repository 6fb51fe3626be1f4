//! `ferrosz stats`.

use crate::common::Place;

const DIMS: [u64; 3] = [20, 100, 150];

/// A plume on a slope, in numbers that `f32` has.
fn field() -> Vec<f32> {
    let [_, height, width] = DIMS;
    let value = |i: u64| {
        let (z, y, x) = (i / width / height, i / width % height, i % width);
        let is_plume = (3..6).contains(&z) && (40..44).contains(&y) && x > 145;
        let noise = (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as f32 / 256.0;
        (z + y) as f32 + noise + if is_plume { 500.0 } else { 0.0 }
    };
    (0..DIMS.iter().product()).map(value).collect()
}

fn place() -> Place {
    let place = Place::new();
    let bytes: Vec<u8> = field()
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    place.put("t.f32", &bytes);
    place
}

#[test]
fn values_are_found_where_they_are() {
    let place = place();
    for codec in ["plain", "lorenzo+rans", "interp"] {
        place.succeed(&format!(
            "compress t.f32 t.fsz --dtype f32 --dims 20,100,150 --abs 0.001 --codec {codec}"
        ));
        let found = place.json("stats t.fsz --where >300 --list 2 --json");
        place.succeed("decompress t.fsz back.f32");
        let back = place.get("back.f32");
        let (words, _) = back.as_chunks::<4>();
        let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        let high = values.iter().filter(|value| **value > 300.0);
        let most = high.clone().copied().fold(0.0, f32::max);
        assert_eq!(found["values"], high.count());
        assert_eq!(found["values"], 3 * 4 * 4);
        assert_eq!(found["max"], f64::from(most));
        assert_eq!(
            found["box"],
            serde_json::json!([[3, 6], [40, 44], [146, 150]])
        );
        let first = &found["places"][0];
        assert_eq!(first["at"], serde_json::json!([3, 40, 146]));
        let at = (3 * 100 + 40) * 150 + 146;
        assert_eq!(first["value"], f64::from(values[at]));
        assert_eq!(found["has_statistics"], true);
        assert!(
            found["chunks_read"].as_u64() < found["chunks"].as_u64(),
            "{codec}"
        );
        assert!(found["bytes_read"].as_u64() < found["stream_bytes"].as_u64());
        let output = place.succeed("stats t.fsz --where >300 --list 2");
        let text = String::from_utf8(output.stdout).unwrap();
        for words in ["48 of 300000 are >300", "3:6,40:44,146:150", "\n3,40,147  "] {
            assert!(text.contains(words), "{text}");
        }
    }
}

#[test]
fn statistics_are_written_by_default_and_are_those_of_the_array() {
    let place = place();
    let line = "compress t.f32 t.fsz --dtype f32 --dims 20,100,150 --abs 0.001";
    place.succeed(line);
    let shown = place.json("stats t.fsz --json");
    let field = field();
    let mean = field.iter().map(|value| f64::from(*value)).sum::<f64>() / field.len() as f64;
    assert!((shown["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
    let max = field.iter().copied().fold(0.0, f32::max);
    assert_eq!(shown["max"], f64::from(max));
    assert_eq!(shown["values"], 300_000);
    let bytes = shown["statistics_bytes"].as_u64().unwrap();
    assert!(1000 * bytes <= shown["stream_bytes"].as_u64().unwrap());
    let with = place.get("t.fsz").len() as u64;
    place.succeed(&format!("{line} --no-stats"));
    assert_eq!(with - place.get("t.fsz").len() as u64, bytes);
    place.fail(1, "stats t.fsz", &["no statistics", "--decode"]);
    let decoded = place.json("stats t.fsz --decode --json");
    assert!((decoded["mean"].as_f64().unwrap() - mean).abs() < 0.5);
    let all = place.json("stats t.fsz --where 0..1e9 --json");
    assert_eq!(
        (&all["has_statistics"], &all["values"]),
        (&false.into(), &300_000.into())
    );
    let nothing = place.json("stats t.fsz --where <-1 --json");
    assert_eq!(
        (&nothing["values"], nothing["box"].is_null()),
        (&0.into(), true)
    );
    place.put("short.f32", &1.5f32.to_le_bytes());
    place.succeed("compress short.f32 short.fsz --dtype f32 --dims 1 --abs 0.5");
    place.fail(1, "stats short.fsz", &["no statistics"]);
    place.succeed("compress short.f32 short.fsz --dtype f32 --dims 1 --abs 0.5 --stats");
    assert_eq!(place.json("stats short.fsz --json")["mean"], 1.5);
    place.fail(2, "stats t.fsz --where 5..1", &["below their start"]);
    place.fail(2, "stats t.fsz --list 5", &["--where"]);
}
