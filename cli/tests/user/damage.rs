//! `check`, `decompress --salvage`, and what `compact` and `info` say of damage.

use crate::common::{DIMS, Place, npy, npy_header, stderr};
use ferrosz::Codec;
use serde_json::Value;

/// Edges of a cube of several chunks and tiles.
const EDGES: [usize; 3] = [40, 50, 130];

/// A folder with `in.npy`, smooth.
fn place() -> Place {
    let place = Place::new();
    let [z, y, x] = EDGES;
    let values = (0..z * y * x).map(|i| {
        let at = [i / x / y, i / x % y, i % x].map(|at| at as f32 * 0.1);
        at[0].sin() + at[1].cos() * at[2].sin()
    });
    let values: Vec<u8> = values.flat_map(|value: f32| value.to_le_bytes()).collect();
    let header = npy_header("<f4", "False", "(40, 50, 130)");
    place.put("in.npy", &[header, values].concat());
    place
}

fn values(bytes: &[u8]) -> Vec<f32> {
    let [z, y, x] = EDGES;
    let start = bytes.len() - 4 * z * y * x;
    (bytes[start..].chunks_exact(4))
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

/// Whether an element is in a part as `--json` lists it.
fn holds(part: &Value, element: u64) -> bool {
    let is_in = |range: &Value, at: u64| {
        range[0].as_u64().unwrap() <= at && at < range[1].as_u64().unwrap()
    };
    let [_, y, x] = EDGES.map(|edge| edge as u64);
    match part.get("box") {
        Some(ranges) => [element / x / y, element / x % y, element % x]
            .into_iter()
            .enumerate()
            .all(|(axis, at)| is_in(&ranges[axis], at)),
        None => is_in(&part["elements"], element),
    }
}

#[test]
fn what_is_not_lost_comes_back_as_it_was() {
    let place = place();
    let original = values(&place.get("in.npy"));
    for layout in [
        "--codec plain --rank 1",
        "--codec lorenzo --rank 2",
        "--codec outlier --rank 3",
        "--codec layered",
        "--codec lorenzo+rans --rank 3",
        "--codec lorenzo+huffman --rank 1",
        "--codec interp --rank 3",
        "--codec interp --rank 2",
        "--codec interp --rank 1",
    ] {
        place.succeed(&format!("compress in.npy a.fsz --abs 1e-4 {layout}"));
        place.succeed("decompress a.fsz whole.npy");
        let whole = values(&place.get("whole.npy"));
        place.succeed("check a.fsz");
        let sound = place.get("a.fsz");
        // The prologue of a stream of tiles is at the start of what follows the table; without it nothing comes back.
        let chunks = place.json("info a.fsz --json")["chunks"].as_u64().unwrap() as usize;
        let table = 128 + 16 * (chunks + 1);
        let mut partly = 0;
        for place_of_byte in (1..8).map(|i| sound.len() - 9 - (sound.len() - table) * i / 9) {
            let mut bad = sound.clone();
            bad[place_of_byte] ^= 0x10;
            place.put("bad.fsz", &bad);
            let output = place.run("check bad.fsz --json");
            assert_eq!(output.status.code(), Some(1), "{layout}");
            if output.stdout.is_empty() {
                assert!(stderr(&output).contains("chunk 0"), "{}", stderr(&output));
                continue;
            }
            let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(checked["whole"], false);
            let output = place.run("decompress bad.fsz out.npy --salvage --json");
            assert_eq!(output.status.code(), Some(1));
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(found["damaged"], checked["damaged"], "{layout}");
            let said = stderr(&output);
            assert!(
                said.contains("error: bad.fsz is damaged") && said.contains("out.npy"),
                "{said}"
            );

            let damaged = found["damaged"].as_array().unwrap();
            assert_eq!(damaged.len(), 1);
            let parts = damaged[0]["lost"].as_array().unwrap();
            let out = values(&place.get("out.npy"));
            let mut lost = 0;
            for (element, (x, y)) in out.iter().zip(&whole).enumerate() {
                let holds: Vec<_> = parts
                    .iter()
                    .filter(|part| holds(part, element as u64))
                    .collect();
                assert!(holds.len() <= 1, "{layout}: {element} is lost twice");
                match holds.len() {
                    0 => assert_eq!(x.to_bits(), y.to_bits(), "{layout}: element {element}"),
                    _ => assert!(x.is_nan()),
                }
                lost += holds.len();
            }
            assert_eq!(damaged[0]["elements"], lost);
            partly += usize::from(lost > 0 && lost < original.len());
        }
        assert!(partly > 0, "{layout}");
    }
}

#[test]
fn the_rest_of_a_stream_that_is_cut_off_is_salvaged() {
    let place = place();
    place.succeed("compress in.npy a.fsz --abs 1e-4 --codec plain --rank 1");
    place.succeed("decompress a.fsz whole.npy");
    let stream = place.get("a.fsz");
    place.put("cut.fsz", &stream[..stream.len() * 2 / 3]);
    place.fail(1, "decompress cut.fsz out.npy", &["cut off"]);
    let output = place.run("check cut.fsz");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("DAMAGED") && text.contains("the stream is cut off"),
        "{text}"
    );
    assert!(
        text.contains("is cut off; lost") && !text.contains("impossible"),
        "{text}"
    );
    assert_eq!(
        place
            .run("decompress cut.fsz out.npy --salvage")
            .status
            .code(),
        Some(1)
    );
    let (whole, out) = (
        values(&place.get("whole.npy")),
        values(&place.get("out.npy")),
    );
    let first_lost = out.iter().position(|x| x.is_nan()).unwrap();
    assert!(first_lost > whole.len() / 2 && first_lost % 8192 == 0);
    assert!(out[..first_lost] == whole[..first_lost]);
    assert!(out[first_lost..].iter().all(|x| x.is_nan()));
}

#[test]
fn all_commands_say_the_same_of_a_stream_that_is_cut_off() {
    let place = place();
    for preset in ["fast", "balanced", "small"] {
        place.succeed(&format!("compress in.npy a.fsz --abs 1e-4 --{preset}"));
        let stream = place.get("a.fsz");
        for length in [10, 150, 400, 1000, stream.len() / 2, stream.len() - 1] {
            place.put("cut.fsz", &stream[..length]);
            let mut all = Vec::new();
            for line in [
                "check cut.fsz",
                "decompress cut.fsz o.npy",
                "decompress cut.fsz s.npy --salvage",
            ] {
                let output = place.run(line);
                assert_eq!(output.status.code(), Some(1), "{preset} {length} {line}");
                let text = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
                assert!(
                    !text.contains("impossible"),
                    "{preset} {length} {line}: {text}"
                );
                let words = text
                    .find("cut off: ")
                    .map(|at| text[at..].split(" of ").next().unwrap().to_owned());
                all.push(words.unwrap_or_else(|| panic!("{preset} {length} {line}: {text}")));
            }
            let expected = format!("cut off: {length} bytes");
            assert!(all.iter().all(|words| *words == expected), "{all:?}");
        }
    }
}

#[test]
fn a_whole_stream_is_salvaged_without_a_word_of_damage() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    for codec in Codec::ALL {
        place.succeed(&format!(
            "compress in.npy a.fsz --range 1e-3 --codec {codec}"
        ));
        place.succeed("decompress a.fsz whole.npy");
        let salvaged = place.json("decompress a.fsz out.npy --salvage --json");
        assert_eq!(salvaged["damaged"], serde_json::json!([]));
        assert_eq!(place.get("out.npy"), place.get("whole.npy"), "{codec}");
        let checked = place.json("check a.fsz --json");
        assert_eq!(
            (&checked["whole"], &checked["elements"]),
            (&true.into(), &DIMS.iter().product::<usize>().into())
        );
    }
    let text = String::from_utf8(place.succeed("check a.fsz").stdout).unwrap();
    assert!(text.starts_with("a.fsz: whole: "), "{text}");
    place.fail(
        2,
        "decompress a.fsz out.npy --salvage --box :,:,:",
        &["--salvage", "cannot be used with"],
    );
}

#[test]
fn damage_is_not_compacted_away() {
    let place = place();
    place.put("zeros.raw", &[0; 400]);
    place.succeed("compress in.npy a.fsz --abs 1e-4 --codec plain");
    place.succeed("update a.fsz zeros.raw --elements 0..100");
    let mut bad = place.get("a.fsz");
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    place.put("bad.fsz", &bad);
    place.fail(
        1,
        "compact bad.fsz b.fsz",
        &["bad.fsz", "chunk", "is damaged"],
    );
    place.succeed("compact a.fsz b.fsz");
    place.succeed("check b.fsz");
    let info = place.json("info bad.fsz --json");
    assert_eq!(info["data_checked"], false);
    let text = String::from_utf8(place.succeed("info bad.fsz").stdout).unwrap();
    assert!(text.contains("not checked; `ferrosz check`"), "{text}");
}

#[test]
fn check_names_what_is_no_stream() {
    let place = place();
    place.succeed("compress in.npy a.fsz --abs 1e-4");
    let stream = place.get("a.fsz");
    place.put("more.fsz", &[&stream[..], b"more"].concat());
    place.fail(1, "check more.fsz", &["more.fsz", "4 bytes follow"]);
    place.fail(1, "check in.npy", &["in.npy", "not a ferrosz stream"]);
    let mut bad = stream;
    bad[60] ^= 1;
    place.put("bad.fsz", &bad);
    place.fail(1, "check bad.fsz", &["bad.fsz", "the header is damaged"]);
}

#[test]
fn zeros_behind_a_stream_are_told() {
    let place = place();
    place.succeed("compress in.npy a.fsz --abs 1e-4");
    place.put("zeros.fsz", &[place.get("a.fsz"), vec![0; 4096]].concat());
    let said = stderr(&place.succeed("info zeros.fsz"));
    assert!(
        said.contains("4.1 kB of zeros") && said.contains("ignored"),
        "{said}"
    );
    place.succeed("check zeros.fsz");
    place.succeed("decompress zeros.fsz out.npy");
}
