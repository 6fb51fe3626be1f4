//! `ferrosz-demo demo`.

#[path = "../../cli/tests/common/mod.rs"]
mod common;

use common::{Place, stderr};
use serde_json::Value;

#[test]
fn the_demo_prints_a_table_and_writes_a_picture() {
    let place = Place::new();
    let text = String::from_utf8(place.succeed("demo").stdout).unwrap();
    for words in [
        "auto: ",
        "4 x 4 x 4",
        "Open Government Licence",
        "iris-sample-data 2.5.2",
        "within its bound",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let picture = place.get("ferrosz-demo.png");
    let decoder = png::Decoder::new(std::io::Cursor::new(picture));
    let reader = decoder.read_info().unwrap();
    assert!(reader.info().width >= 1200 && reader.info().height >= 400);

    let found = place.json("demo --out p.png --json");
    let rows = found["rows"].as_array().unwrap();
    // Nine codecs in lines, seven of them in planes and cubes; and the one chosen.
    let ways = 9 + 2 * 7 + 1;
    assert_eq!(rows.len(), 3 * ways);
    for rows in rows.chunks(ways) {
        let bytes = |row: &Value| row["stream_bytes"].as_u64().unwrap();
        let best = rows.iter().map(bytes).min().unwrap();
        let chosen = &rows[ways - 1];
        assert_eq!(chosen["automatic"], true);
        // All of this field is the sample; its lengths are computed from counts, without the coders' rounding.
        assert!(100 * bytes(chosen) <= 101 * best);
    }
    for row in rows {
        assert_eq!(row["kept"], true);
        assert!(row["largest_error_over_absolute_error"].as_f64().unwrap() <= 1.0);
    }
    let drawn = place.get("p.png");
    assert!(drawn.starts_with(b"\x89PNG"));
    place.fail(1, "demo --out no/p.png", &["no folder"]);

    let refused = place.run_as_is("demo --out p.png");
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("the file p.png exists"));
    assert_eq!(place.get("p.png"), drawn);
}
