//! `--json` says everything.

use crate::common::{Place, npy};
use serde_json::Value;

const OF_STREAMS: [&str; 18] = [
    "command",
    "version",
    "input",
    "dtype",
    "dims",
    "axes",
    "elements",
    "codec",
    "rank",
    "bound_mode",
    "bound",
    "absolute_error",
    "lossless",
    "field_bytes",
    "stream_bytes",
    "ratio",
    "bits_per_value",
    "seconds",
];

#[test]
fn every_command_says_all_of_its_stream() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("zeros.raw", &[0; 24]);
    let all = |line: &str, more: &[&str]| -> Value {
        let found = place.json(&format!("{line} --json"));
        let has_seconds = !line.starts_with("info") && !line.starts_with("compact");
        let of_streams = OF_STREAMS
            .iter()
            .filter(|key| has_seconds || **key != "seconds");
        for key in of_streams.chain(more) {
            assert!(found.get(*key).is_some(), "{line}: no {key} in {found}");
        }
        assert_eq!(found["command"], line.split(' ').next().unwrap());
        assert_eq!(found["version"], env!("CARGO_PKG_VERSION"));
        found
    };
    let found = all(
        "compress in.npy a.fsz --range 1e-3 --fast",
        &["output", "device", "preset", "automatic", "warnings"],
    );
    assert_eq!(
        (&found["input"], &found["output"]),
        (&"in.npy".into(), &"a.fsz".into())
    );
    assert_eq!(
        (&found["device"], &found["dtype"]),
        (&"cpu".into(), &"f32".into())
    );
    assert_eq!(found["dims"], serde_json::json!([5, 40, 37]));
    let error = found["absolute_error"].as_f64().unwrap();
    assert!(error > 0.0 && found["warnings"] == serde_json::json!([]));
    let found = all("decompress a.fsz out.npy", &["output", "device", "damaged"]);
    assert_eq!(found["absolute_error"], error);
    all(
        "verify in.npy a.fsz",
        &["stream", "device", "kept", "psnr", "limit", "range"],
    );
    all("check a.fsz", &["whole", "damaged", "chunks", "file_bytes"]);
    all(
        "info a.fsz",
        &[
            "update_bytes",
            "chunk_forms",
            "data_checked",
            "trailing_zeros",
        ],
    );
    all(
        "update a.fsz zeros.raw --elements 0..6",
        &["output", "part_dims", "chunks", "device"],
    );
    all("compact a.fsz b.fsz", &["output", "input_bytes"]);
}

#[test]
fn the_device_is_the_one_used() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    let found = place.json("compress in.npy a.fsz --range 1e-3 --device auto --json");
    let device = found["device"].as_str().unwrap();
    assert!(device == "cpu" || device.starts_with("cuda"), "{device}");
}
