//! `ferrosz compress --axes`, and what comes of it: shapes, parts, `info`, refusals.

use crate::common::{Place, stderr};
use serde_json::json;

/// An array of 6 times, 3 levels, 10 x 12 places, as raw values: smooth in time alone.
fn series() -> Vec<u8> {
    let value = |i: usize| {
        let place = i % 360;
        (place * 7919 % 1000) as f32 + (i / 360) as f32 * 0.001
    };
    (0..6 * 360).flat_map(|i| value(i).to_le_bytes()).collect()
}

const SHAPE: &str = "--dtype f32 --dims 6,3,10,12";

#[test]
fn arrays_keep_their_shape_whatever_the_axes() {
    let place = Place::new();
    place.put("in.f32", &series());
    for (axes, codec) in [
        ("s,z,y,x", "plain"),
        ("s,z,y,x", "interp"),
        ("x,s,s,s", "lorenzo+rans"),
        ("x,z,s,y", "outlier"),
        ("z,z,y,x", "lorenzo"),
    ] {
        let line =
            format!("compress in.f32 a.fsz {SHAPE} --abs 0.01 --codec {codec} --axes {axes}");
        place.succeed(&line);
        let info = place.json("info a.fsz --json");
        assert_eq!(info["dims"], json!([6, 3, 10, 12]), "{axes}");
        assert_eq!(info["axes"] == json!(axes), axes != "x,s,s,s", "{axes}");
        assert_eq!(
            place.json(&format!("verify in.f32 a.fsz {SHAPE} --json"))["kept"],
            true
        );
        place.succeed("decompress a.fsz out.npy");
        let npy = place.get("out.npy");
        assert!(String::from_utf8_lossy(&npy[..128]).contains("'shape': (6, 3, 10, 12)"));
        let whole = npy[npy.len() - 4 * 6 * 360..].to_vec();
        place.succeed("decompress a.fsz part.raw --box 1:5,2:3,:,4:7");
        let mut wanted: Vec<u8> = Vec::new();
        for time in 1..5 {
            for y in 0..10 {
                let first = 4 * (((time * 3 + 2) * 10 + y) * 12 + 4);
                wanted.extend(&whole[first..first + 12]);
            }
        }
        assert_eq!(place.get("part.raw"), wanted, "{axes} {codec}");
        place.succeed("decompress a.fsz part.raw --elements 355..730");
        assert_eq!(place.get("part.raw"), &whole[4 * 355..4 * 730]);
    }
}

#[test]
fn presets_choose_axes_and_say_so() {
    let place = Place::new();
    place.put("in.f32", &series());
    let said = stderr(&place.succeed(&format!("compress in.f32 a.fsz {SHAPE} --abs 0.01")));
    assert!(said.contains("axes x,"), "{said}");
    let chosen = place.json("info a.fsz --json");
    let line = format!("compress in.f32 b.fsz {SHAPE} --abs 0.01 --axes z,z,y,x");
    place.succeed(&line);
    let forced = place.json("info b.fsz --json");
    let bytes = |info: &serde_json::Value| info["stream_bytes"].as_u64().unwrap();
    assert!(
        bytes(&chosen) * 100 < bytes(&forced) * 95,
        "{chosen} {forced}"
    );
    let text = String::from_utf8(place.succeed("info a.fsz").stdout).unwrap();
    assert!(text.contains("axes            x,"), "{text}");
    place.succeed(&format!(
        "compress in.f32 c.fsz {SHAPE} --abs 0.01 --codec plain --axes s,z,y,x"
    ));
    let text = String::from_utf8(place.succeed("info c.fsz").stdout).unwrap();
    assert!(text.contains("6 slices that are coded apart"), "{text}");
}

#[test]
fn updates_are_in_the_users_order() {
    let place = Place::new();
    place.put("in.f32", &series());
    place.succeed(&format!(
        "compress in.f32 a.fsz {SHAPE} --abs 0.01 --codec plain --axes x,z,s,y"
    ));
    let part: Vec<u8> = (0..2 * 3).flat_map(|i| (i as f32).to_le_bytes()).collect();
    place.put("part.f32", &part);
    place.succeed("update a.fsz part.f32 --box 2:4,1:2,5:6,3:6");
    place.succeed("decompress a.fsz part.raw --box 2:4,1:2,5:6,3:6");
    let found = place.get("part.raw");
    let values = found
        .chunks(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    for (i, value) in values.enumerate() {
        assert!((value - i as f32).abs() <= 0.011, "{i}: {value}");
    }
}

#[test]
fn wrong_axes_are_refused_by_name() {
    let place = Place::new();
    place.put("in.f32", &series());
    for (axes, words) in [
        ("s,y,x", &["--axes s,y,x", "3 roles", "6 x 3 x 10 x 12"][..]),
        ("s,s,z,x", &["--axes", "one y if there is a z"]),
        ("s,s,s,s", &["--axes", "one must be x"]),
        ("t,z,y,x", &["--axes", "s, z, y or x"]),
    ] {
        let output = place.run(&format!(
            "compress in.f32 a.fsz {SHAPE} --abs 0.01 --axes {axes}"
        ));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}
