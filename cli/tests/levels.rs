//! `compress --levels` and `decompress --level`.

use crate::common::Place;

const DIMS: [usize; 3] = [40, 70, 90];

/// A place with a field of waves, and its stream with and without levels apart.
fn place() -> Place {
    let place = Place::new();
    let [depth, height, width] = DIMS;
    let value = |i: usize| {
        let (z, y, x) = (i / width / height, i / width % height, i % width);
        (z as f32 * 0.1).sin() + (y as f32 * 0.07).cos() * (x as f32 * 0.05).sin()
    };
    let bytes: Vec<u8> = (0..depth * height * width)
        .flat_map(|i| value(i).to_le_bytes())
        .collect();
    place.put("t.f32", &bytes);
    let flags = "--dtype f32 --dims 40,70,90 --abs 0.001";
    place.succeed(&format!(
        "compress t.f32 apart.fsz {flags} --codec interp --levels 3"
    ));
    place.succeed(&format!("compress t.f32 tiles.fsz {flags} --codec interp"));
    place.succeed(&format!("compress t.f32 blocks.fsz {flags} --codec plain"));
    place
}

/// Every 2^level-th value along each axis of the values in a box.
fn thinned(place: &Place, name: &str, level: usize, from: [usize; 3], to: [usize; 3]) -> Vec<u8> {
    let bytes = place.get(name);
    let (values, _) = bytes.as_chunks::<4>();
    let [_, height, width] = DIMS;
    let along = |axis: usize| (from[axis]..to[axis]).filter(move |at| at % (1 << level) == 0);
    let mut found = Vec::new();
    for z in along(0) {
        for y in along(1) {
            found.extend(along(2).flat_map(|x| values[(z * height + y) * width + x]));
        }
    }
    found
}

#[test]
fn a_level_has_every_second_fourth_or_eighth_value() {
    let place = place();
    for stream in ["apart", "tiles", "blocks"] {
        place.succeed(&format!("decompress {stream}.fsz all.f32"));
        for level in 0..6 {
            let report = place.json(&format!(
                "decompress {stream}.fsz some.f32 --level {level} --json"
            ));
            assert!(place.get("some.f32") == thinned(&place, "all.f32", level, [0; 3], DIMS));
            let dims = DIMS.map(|length| length.div_ceil(1 << level));
            assert_eq!(report["dims"], serde_json::json!(dims), "{stream} {level}");
            place.succeed(&format!(
                "decompress {stream}.fsz some.f32 --level {level} --box 7:30,:,11:64"
            ));
            let wanted = thinned(&place, "all.f32", level, [7, 0, 11], [30, 70, 64]);
            assert!(place.get("some.f32") == wanted, "{stream} {level}");
        }
    }
    let info = place.json("info apart.fsz --json");
    assert_eq!(info["levels_apart"], 3);
    let said = place.succeed("info apart.fsz");
    assert!(String::from_utf8_lossy(&said.stdout).contains("3 levels apart"));
}

#[test]
fn what_has_no_levels_is_told() {
    let place = place();
    let flags = "--dtype f32 --dims 40,70,90 --abs 0.001";
    for codec in ["--codec plain", "--codec lorenzo+rans", "--fast"] {
        place.fail(
            2,
            &format!("compress t.f32 a.fsz {flags} {codec} --levels 2"),
            &["--levels", "no levels"],
        );
    }
    place.succeed(&format!("compress t.f32 a.fsz {flags} --small --levels 2"));
    assert_eq!(place.json("info a.fsz --json")["levels_apart"], 2);
    place.fail(
        2,
        "decompress apart.fsz --level 2",
        &["a level", "name an output"],
    );
    place.fail(
        2,
        "decompress apart.fsz b.f32 --level 2 --elements 0..5",
        &["--elements"],
    );
}
