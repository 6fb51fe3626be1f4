//! `ferrosz bench` on the CPU.

use crate::common::{Place, npy, npy_header, raw, stderr};
use ferrosz::Preset;
use serde_json::Value;

fn rows(found: &Value) -> &[Value] {
    found["rows"].as_array().unwrap()
}

#[test]
fn each_preset_is_measured_within_each_bound() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let found = place.json("bench in.npy --range 1e-2,1e-4 --abs 0.5 --repeat 2 --json");
    assert_eq!(
        (&found["command"], &found["input"], &found["repeat"]),
        (&"bench".into(), &"in.npy".into(), &2.into())
    );
    let bounds = ["--abs 0.5", "--range 1e-2", "--range 1e-4"];
    let mut rows = rows(&found).iter();
    for bound in bounds {
        for preset in Preset::ALL {
            let row = rows.next().unwrap();
            assert_eq!(row["preset"], preset.name());
            // `compress` with the same preset must choose the same codec and rank, and write the same number of bytes.
            let line = format!("compress in.npy a.fsz --{preset} {bound} --json");
            let compressed = place.json(&line);
            for key in ["codec", "rank", "bound_mode", "bound", "stream_bytes"] {
                assert_eq!(row[key], compressed[key], "{line}: {key}");
            }
            let verified = place.json("verify in.npy a.fsz --json");
            assert_eq!(row["largest_error"], verified["largest_error"], "{line}");
            assert_eq!(row["kept"], true);
            for direction in ["compress", "decompress"] {
                assert_eq!(row[format!("{direction}_device")], "cpu");
                let speed = &row[format!("{direction}_megabytes_per_second")];
                assert!(speed.as_f64().unwrap() > 0.0, "{row}");
            }
        }
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn the_table_is_for_people() {
    let place = Place::new();
    place.put("in.raw", &raw("f32"));
    let line = "bench in.raw --dtype f32 --dims 5,40,37 --repeat 1";
    let printed = String::from_utf8(place.succeed(line).stdout).unwrap();
    let words = ["in.raw: 5 x 40 x 37 f32, 29.6 kB", "within its bound"];
    assert!(words.iter().all(|word| printed.contains(word)), "{printed}");
    for preset in Preset::ALL {
        let mut lines = printed.lines();
        let row = lines.find(|line| line.starts_with(preset.name())).unwrap();
        // Name, codec, ratio, two speeds, error, PSNR and SSIM.
        assert_eq!(row.split_whitespace().count(), 8, "{row}");
    }
    assert!(printed.contains("range 1e-3, absolute error"), "{printed}");
    assert!(
        printed.lines().all(|line| line.chars().count() <= 80),
        "{printed}"
    );
}

#[test]
fn links_have_a_fastest_way() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    let line = "bench in.npy --range 1e-2,1e-4 --repeat 1 --link 1kB/s,11.4,1000000";
    let found = place.json(&format!("{line} --json"));
    assert_eq!(found["windows"], 1);
    let links = found["links"].as_array().unwrap();
    assert_eq!(links.len(), 3);
    let bytes = rows(&found)[0]["field_bytes"].as_f64().unwrap();
    for (link, rate) in links.iter().zip([1e3, 11.4e9, 1e15]) {
        let raw = link["raw_seconds"].as_f64().unwrap();
        assert!((raw * rate / bytes - 1.0).abs() < 1e-9, "{link}");
        let of_link = rows(link);
        assert_eq!(of_link.len(), 2 * Preset::ALL.len());
        for (row, stream) in of_link.iter().zip(rows(&found)) {
            assert_eq!(row["preset"], stream["preset"]);
            // The field is one window, and its stream has other bytes in its header alone.
            let ratio = [row, stream].map(|row| row["ratio"].as_f64().unwrap());
            assert!((ratio[0] / ratio[1] - 1.0).abs() < 0.01, "{row} {stream}");
            let travel = bytes / ratio[0] / rate;
            assert!(row["seconds"].as_f64().unwrap() >= travel * 0.999);
        }
        let shortest = |bound: f64| {
            let of_bound = of_link.iter().filter(|row| row["bound"] == bound);
            let seconds = |row: &&Value| row["seconds"].as_f64().unwrap();
            of_bound
                .min_by(|one, other| seconds(one).total_cmp(&seconds(other)))
                .unwrap()
        };
        for fastest in link["fastest"].as_array().unwrap() {
            let best = shortest(fastest["bound"].as_f64().unwrap());
            match rate > 1e12 {
                true => assert_eq!(fastest["preset"], "raw"),
                false if rate < 1e6 => assert_eq!(fastest["preset"], best["preset"]),
                false => {}
            }
        }
    }
    let printed = String::from_utf8(place.succeed(line).stdout).unwrap();
    assert!(
        printed.lines().all(|line| line.chars().count() <= 80),
        "{printed}"
    );
    for words in [
        "0.000001 GB/s",
        "11.4 GB/s",
        "Fastest with range 1e-2:",
        "1000000 GB/s raw",
    ] {
        assert!(printed.contains(words), "no '{words}' in {printed}");
    }
    place.fail(2, "bench in.npy --link 0", &["a rate is a positive number"]);
}

#[test]
fn a_field_is_seen_as_by_compress() {
    let place = Place::new();
    let values: Vec<f32> = (0..6000)
        .map(|i| match i % 50 {
            0..15 => 1e20,
            _ => 280.0 + (i as f32 * 0.01).sin(),
        })
        .collect();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    place.put(
        "in.npy",
        &[npy_header("<f4", "False", "(120, 50)"), bytes].concat(),
    );
    for options in ["", "--fill 1e20", "--fill none", "--fill 280"] {
        let found = place.json(&format!("bench in.npy --repeat 1 --json {options}"));
        for row in rows(&found) {
            let preset = row["preset"].as_str().unwrap();
            let line = format!("compress in.npy a.fsz --{preset} --range 1e-3 --json {options}");
            let compressed = place.json(&line);
            for key in ["stream_bytes", "absolute_error", "fill_values"] {
                assert_eq!(row[key], compressed[key], "{line}: {key}");
            }
            let verified = place.json("verify in.npy a.fsz --json");
            for key in ["kept", "largest_error", "psnr", "ssim"] {
                assert_eq!(row[key], verified[key], "{line}: {key}");
            }
        }
    }
    let printed = String::from_utf8(place.succeed("bench in.npy --repeat 1").stdout).unwrap();
    assert!(printed.contains("fill values 1e20"), "{printed}");
}

#[test]
fn several_fields_are_measured_and_none_stops_the_others() {
    let place = Place::new();
    place.put("a.npy", &npy("f32"));
    place.put("b.npy", &npy("f64"));
    let output = place.run("bench a.npy missing.npy b.npy --repeat 1 --json");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("missing.npy"));
    let lines = String::from_utf8(output.stdout).unwrap();
    let objects: Vec<Value> = (lines.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [a, missing, b] = &objects[..] else {
        panic!("{lines}");
    };
    assert!(missing["error"].is_string());
    assert_eq!(
        (&rows(a)[0]["dtype"], &rows(b)[0]["dtype"]),
        (&"f32".into(), &"f64".into())
    );
}

#[test]
fn what_cannot_be_measured_is_said() {
    let place = Place::new();
    place.fail(2, "bench", &["needs an array", "numpy.save", "--dtype"]);
    place.fail(1, "bench missing.npy", &["missing.npy"]);
    place.put("in.raw", &raw("f32"));
    place.fail(2, "bench in.raw", &["--dtype", "--dims"]);
    place.fail(2, "bench in.raw --range 1e-3,x", &["a bound is a number"]);
    place.fail(2, "bench in.raw --repeat 0", &["--repeat"]);
    place.put("none.npy", &npy_header("<f4", "False", "(0, 3)"));
    place.fail(1, "bench none.npy", &["none.npy has no values"]);
    place.put("in.npy", &npy("f32"));
    place.fail(1, "bench in.npy --device cuda:99", &["no device 'cuda'"]);
}
