//! `ferrosz compress --codec` and `--rank`, and what `info` says of them.

use crate::common::{Place, npy, npy_header, raw, stderr};
use ferrosz::{Codec, Preset, Shape};
use serde_json::json;

/// Blocks of each rank, as people are told of them.
const BLOCKS: [&str; 3] = ["blocks of 32", "blocks of 8 x 8", "blocks of 4 x 4 x 4"];

/// Tiles of each rank.
const TILES: [&str; 3] = [
    "tiles of 16384",
    "tiles of 256 x 64",
    "tiles of 16 x 16 x 64",
];

/// The ranks that a codec has.
fn ranks(codec: Codec) -> impl Iterator<Item = usize> {
    let shapes = Shape::ALL
        .into_iter()
        .filter(move |shape| codec.takes(*shape));
    shapes.map(|shape| usize::from(shape.rank()))
}

/// A codec and what it cuts arrays into.
fn layout(codec: Codec, rank: usize) -> String {
    let pieces = if codec.tiles().is_some() {
        TILES
    } else {
        BLOCKS
    };
    format!("{codec}, {}", pieces[rank - 1])
}

#[test]
fn every_codec_has_its_ranks() {
    for dtype in ["f32", "f64"] {
        let place = Place::new();
        place.put("in.npy", &npy(dtype));
        for codec in Codec::ALL {
            for rank in ranks(codec) {
                let line =
                    format!("compress in.npy a.fsz --codec {codec} --rank {rank} --abs 0.01");
                let said = stderr(&place.succeed(&line));
                let layout = layout(codec, rank);
                assert!(said.contains(&layout) && !said.contains("note"), "{said}");
                let summary = place.json(&format!("{line} --json"));
                assert_eq!(summary["codec"], codec.name());
                assert_eq!(summary["rank"], rank);
                assert_eq!(summary["automatic"], false);
                let info = place.json("info a.fsz --json");
                assert_eq!(
                    (&info["codec"], &info["rank"]),
                    (&json!(codec.name()), &json!(rank))
                );
                let text = String::from_utf8(place.succeed("info a.fsz").stdout).unwrap();
                assert!(
                    text.contains(&layout) && !text.contains("updates"),
                    "{text}"
                );
                assert_eq!(place.json("verify in.npy a.fsz --json")["kept"], true);
            }
        }
        // A codec by itself has blocks of as many dimensions as the array.
        for codec in ["outlier", "interp"] {
            place.succeed(&format!(
                "compress in.npy three.fsz --codec {codec} --rank 3 --abs 0.01"
            ));
            place.succeed(&format!(
                "compress in.npy default.fsz --codec {codec} --abs 0.01"
            ));
            assert_eq!(place.get("three.fsz"), place.get("default.fsz"));
        }
    }
}

#[test]
fn chunks_are_shown_as_they_lie() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    for (rank, dims, text) in [
        (1, json!([8192]), "1 of 8192 values"),
        (2, json!([8, 32, 32]), "4 of 8 x 32 x 32 values"),
        (3, json!([8, 32, 32]), "4 of 8 x 32 x 32 values"),
    ] {
        place.succeed(&format!(
            "compress in.npy a.fsz --codec plain --rank {rank} --abs 0.01"
        ));
        assert_eq!(place.json("info a.fsz --json")["chunk_dims"], dims);
        let found = String::from_utf8(place.succeed("info a.fsz").stdout).unwrap();
        assert!(found.contains(text), "{found}");
    }
}

#[test]
fn chunks_of_tiles_are_shown_as_they_lie() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    // The coarse field of the anchors is a chunk; what stands before the chunks is none.
    for (codec, rank, dims, text) in [
        ("interp", 1, json!([16_384]), "2 of 4 tiles of 16384 values"),
        (
            "interp",
            3,
            json!([16, 16, 64]),
            "2 of 4 tiles of 16 x 16 x 64 values",
        ),
        (
            "lorenzo+rans",
            2,
            json!([256, 64]),
            "2 of 4 tiles of 256 x 64 values",
        ),
    ] {
        let line = format!("compress in.npy a.fsz --codec {codec} --rank {rank} --abs 0.01");
        place.succeed(&line);
        let info = place.json("info a.fsz --json");
        assert_eq!(
            (&info["chunk_dims"], &info["chunk_tiles"]),
            (&dims, &json!(4))
        );
        assert_eq!(info["chunks"], 2);
        let forms = info["chunk_forms"].as_object().unwrap().values();
        assert_eq!(forms.map(|count| count.as_u64().unwrap()).sum::<u64>(), 2);
        let found = String::from_utf8(place.succeed("info a.fsz").stdout).unwrap();
        assert!(found.contains(text), "{found}");
    }
}

#[test]
fn presets_say_what_they_chose_and_make_the_same_stream() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let shape = "--dtype f64 --dims 5,40,37";
    place.put("in.raw", &raw("f64"));
    for preset in Preset::ALL {
        let mut sizes = Vec::new();
        for codec in preset.codecs() {
            for rank in ranks(*codec) {
                place.succeed(&format!(
                    "compress in.npy a.fsz --codec {codec} --rank {rank} --range 1e-3"
                ));
                sizes.push(place.get("a.fsz").len());
            }
        }
        let line = format!("compress in.npy chosen.fsz --{preset} --range 1e-3");
        let said = stderr(&place.succeed(&line));
        let summary = place.json(&format!("{line} --json"));
        assert_eq!(summary["automatic"], true);
        assert_eq!(summary["preset"], preset.name());
        assert_eq!(summary["dims"], json!([5, 40, 37]));
        let (codec, rank) = (&summary["codec"], &summary["rank"]);
        let (codec, rank) = (codec.as_str().unwrap(), rank.as_u64().unwrap());
        let of_name = Codec::from_name(codec).unwrap();
        let chosen = format!("preset {preset}: {}", layout(of_name, rank as usize));
        assert!(said.contains(&chosen), "{said}");
        let info = place.json("info chosen.fsz --json");
        assert_eq!(
            (&info["codec"], &info["rank"]),
            (&json!(codec), &json!(rank))
        );
        place.succeed(&format!(
            "compress in.raw named.fsz --codec {codec} --rank {rank} --range 1e-3 {shape}"
        ));
        assert_eq!(place.get("chosen.fsz"), place.get("named.fsz"));
        // All of so small a field is the sample.
        let (bytes, best) = (place.get("chosen.fsz").len(), *sizes.iter().min().unwrap());
        let most = if preset == Preset::Small { 102 } else { 100 };
        assert!(
            bytes * 100 <= best * most,
            "{preset}: {bytes}, and {best} would do"
        );
        assert_eq!(place.json("verify in.npy chosen.fsz --json")["kept"], true);
    }
}

#[test]
fn without_a_codec_the_shortest_is_taken() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy small.fsz --small --range 1e-3");
    for flags in ["", "--codec auto"] {
        place.succeed(&format!("compress in.npy a.fsz --range 1e-3 {flags}"));
        assert_eq!(place.get("a.fsz"), place.get("small.fsz"));
    }
    // A rank is kept to.
    for rank in 1..=3 {
        let line = format!("compress in.npy a.fsz --range 1e-3 --rank {rank} --json");
        assert_eq!(place.json(&line)["rank"], rank);
        assert!(place.get("a.fsz").len() >= place.get("small.fsz").len());
    }
}

#[test]
fn the_summary_says_bound_and_device() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    let line = "compress in.npy a.fsz --range 1e-3";
    let summary = place.json(&format!("{line} --json"));
    let error = summary["absolute_error"].as_f64().unwrap();
    // The range of the field of `common` is below 94 and above 90.
    assert!((0.09..0.094).contains(&error), "{error}");
    let info = place.json("info a.fsz --json");
    assert_eq!(info["absolute_error"], summary["absolute_error"]);
    assert_eq!(
        (&summary["device"], &summary["dtype"]),
        (&json!("cpu"), &json!("f32"))
    );
    let said = stderr(&place.succeed(line));
    for words in ["s on cpu", "range 1e-3, absolute error 0.09", "ratio"] {
        assert!(said.contains(words), "{said}");
    }
    // So small an array is never worth a GPU's start.
    let summary = place.json(&format!("{line} --device auto --json"));
    assert_eq!(summary["device"], "cpu");
    let lossless = stderr(&place.succeed("compress in.npy a.fsz --abs 0"));
    assert!(lossless.contains("lossless"), "{lossless}");
}

/// A cube of waves that differ from place to place by about the bound.
fn cube() -> Vec<u8> {
    let at = |i: usize| [i / 4096, i / 64 % 64, i % 64].map(|at| at as f32);
    let value = |[z, y, x]: [f32; 3]| (z * 0.11).sin() + (y * 0.17).cos() + (x * 0.07).sin();
    let values = (0..64 * 64 * 64).flat_map(|i| value(at(i)).to_le_bytes());
    [npy_header("<f4", "False", "(64, 64, 64)"), values.collect()].concat()
}

#[test]
fn a_codec_by_itself_codes_a_cube_as_a_cube() {
    let place = Place::new();
    place.put("cube.npy", &cube());
    place.succeed("compress cube.npy line.fsz --codec interp --rank 1 --range 1e-3");
    place.succeed("compress cube.npy cube.fsz --codec interp --range 1e-3");
    let [line, cube] = ["line.fsz", "cube.fsz"].map(|name| place.get(name).len());
    assert!(3 * cube <= line, "{cube} bytes, and {line} as a line");
    assert_eq!(place.json("info cube.fsz --json")["rank"], 3);
}

/// The field of the demo, in blocks of lines, planes and cubes.
const REAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../demo/data/um_colpex_theta.npy"
);

#[test]
fn no_codec_is_much_shorter_than_the_default() {
    let place = Place::new();
    place.put("real.npy", &std::fs::read(REAL).unwrap());
    place.put("waves.npy", &npy("f64"));
    place.put("cube.npy", &cube());
    for name in ["real", "waves", "cube"] {
        for range in ["1e-2", "1e-4"] {
            place.succeed(&format!("compress {name}.npy a.fsz --range {range}"));
            let bytes = place.get("a.fsz").len();
            for codec in Codec::ALL {
                let flags = format!("--range {range} --codec {codec}");
                place.succeed(&format!("compress {name}.npy b.fsz {flags}"));
                let of_codec = place.get("b.fsz").len();
                assert!(
                    bytes * 100 <= of_codec * 104,
                    "{name} {flags}: {of_codec} bytes, and {bytes} by default"
                );
            }
        }
    }
}

#[test]
fn names_of_papers_stand_for_codecs() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    for (alias, codec) in Codec::ALIASES {
        let line = |name| format!("compress in.npy a.fsz --abs 0.01 --codec {name} --json");
        let summary = place.json(&line(alias));
        assert_eq!(summary["codec"], codec.name());
        assert_eq!(summary["preset"], serde_json::Value::Null);
    }
}

#[test]
fn blocks_have_no_more_dimensions_than_the_array() {
    let place = Place::new();
    let npy = [npy_header("<f4", "False", "(1, 20, 30)"), vec![0x3f; 2400]].concat();
    place.put("flat.npy", &npy);
    let line = "compress flat.npy a.fsz --codec plain --rank 3 --abs 0.01";
    let said = stderr(&place.succeed(line));
    for words in [
        "note: --rank 3",
        "1 x 20 x 30",
        "blocks of 8 x 8",
        "plain, blocks of 8 x 8",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(stderr(&place.succeed(&format!("{line} --quiet"))), "");
    assert_eq!(place.json("info a.fsz --json")["rank"], 2);
}

#[test]
fn codecs_and_ranks_that_do_not_go_together_are_refused() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    for (line, words) in [
        ("--codec plain --small", &["--codec", "--small"][..]),
        ("--codec auto --fast", &["--codec", "--fast"]),
        ("--fast --balanced", &["--fast", "--balanced"]),
        ("--small --balanced", &["--small", "--balanced"]),
        (
            "--codec layered --rank 2",
            &["--rank", "layered", "only of rank 1"],
        ),
        (
            "--codec layered --rank 3",
            &["--rank", "layered", "only of rank 1"],
        ),
        ("--rank 0", &["--rank", "1..=3"]),
        ("--rank 4", &["--rank", "1..=3"]),
        ("--rank two", &["--rank"]),
        (
            "--codec best",
            &["--codec", "layered, lorenzo+rans, ", "ferrosz codecs"],
        ),
        (
            "--codec plain --prefer quality",
            &["--prefer", "codec plain has no levels"],
        ),
        (
            "--fast --prefer quality",
            &["--prefer", "preset fast have no levels"],
        ),
        ("--prefer beauty", &["--prefer", "ratio and quality"]),
        ("--axes all", &["--axes"]),
    ] {
        place.fail(2, &format!("compress in.npy out --abs 1 {line}"), words);
    }
}

#[test]
fn the_help_fits_a_screen_and_the_catalogue_is_elsewhere() {
    let place = Place::new();
    let text = |line| String::from_utf8(place.succeed(line).stdout).unwrap();
    for line in ["compress --help", "compress -h", "--help"] {
        let help = text(line);
        assert!(help.lines().count() <= 40, "{line}: {help}");
        assert!(!help.contains("lorenzo+rans"), "{help}");
    }
    let help = text("compress --help");
    for words in ["--fast", "--balanced", "--small", "ferrosz codecs"] {
        assert!(help.contains(words), "{help}");
    }
    let codecs = text("codecs");
    let listed = place.json("codecs --json");
    let listed = listed["codecs"].as_array().unwrap();
    assert_eq!(listed.len(), Codec::ALL.len());
    for (codec, about) in Codec::ALL.into_iter().zip(listed) {
        assert!(codecs.contains(&format!("\n  {codec}")), "{codecs}");
        assert_eq!(about["name"], codec.name());
    }
    let papers = text("codecs --papers");
    for (alias, codec) in Codec::ALIASES {
        assert!(codecs.contains(&format!(", {alias}")), "{codecs}");
        let line = format!("\n  {alias} is {codec}\n      shares: ");
        assert!(papers.contains(&line), "{papers}");
    }
    for preset in Preset::ALL {
        assert!(codecs.contains(&format!("\n  --{preset} ")), "{codecs}");
    }
}
