//! `ferrosz compress --codec` and `--rank`, and what `info` says of them.

mod common;

use common::{Place, npy, npy_header, raw, stderr};
use ferrosz::{Codec, Compressor};
use serde_json::json;

/// Blocks of each rank, as people are told of them.
const BLOCKS: [&str; 3] = ["blocks of 32", "blocks of 8 x 8", "blocks of 4 x 4 x 4"];

/// Tiles of each rank.
const TILES: [&str; 3] = [
    "tiles of 16384",
    "tiles of 256 x 64",
    "tiles of 16 x 16 x 64",
];

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
            for rank in 1..=if codec == Codec::Layered { 1 } else { 3 } {
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
        place.succeed("compress in.npy one.fsz --codec outlier --rank 1 --abs 0.01");
        place.succeed("compress in.npy default.fsz --codec outlier --abs 0.01");
        assert_eq!(place.get("one.fsz"), place.get("default.fsz"));
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
        place.succeed(&format!("compress in.npy a.fsz --rank {rank} --abs 0.01"));
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
fn auto_says_what_it_chose_and_makes_the_same_stream() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let shape = "--dtype f64 --dims 5,40,37";
    place.put("in.raw", &raw("f64"));
    let mut sizes = Vec::new();
    for codec in Compressor::CANDIDATES {
        for rank in 1..=if codec == Codec::Layered { 1 } else { 3 } {
            place.succeed(&format!(
                "compress in.npy a.fsz --codec {codec} --rank {rank} --range 1e-3"
            ));
            sizes.push(place.get("a.fsz").len());
        }
    }
    let said = stderr(&place.succeed("compress in.npy auto.fsz --codec auto --range 1e-3"));
    let summary = place.json("compress in.npy auto.fsz --codec auto --range 1e-3 --json");
    assert_eq!(summary["automatic"], true);
    let (codec, rank) = (&summary["codec"], &summary["rank"]);
    let (codec, rank) = (codec.as_str().unwrap(), rank.as_u64().unwrap());
    let of_name = Codec::from_name(codec).unwrap();
    let chosen = format!("chosen: {}", layout(of_name, rank as usize));
    assert!(said.contains(&chosen), "{said}");
    let info = place.json("info auto.fsz --json");
    assert_eq!(
        (&info["codec"], &info["rank"]),
        (&json!(codec), &json!(rank))
    );
    place.succeed(&format!(
        "compress in.raw named.fsz --codec {codec} --rank {rank} --range 1e-3 {shape}"
    ));
    assert_eq!(place.get("auto.fsz"), place.get("named.fsz"));
    // All of so small a field is the sample.
    assert_eq!(Some(&place.get("auto.fsz").len()), sizes.iter().min());
}

#[test]
fn blocks_have_no_more_dimensions_than_the_array() {
    let place = Place::new();
    let npy = [npy_header("<f4", "False", "(1, 20, 30)"), vec![0x3f; 2400]].concat();
    place.put("flat.npy", &npy);
    let line = "compress flat.npy a.fsz --rank 3 --abs 0.01";
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
        ("--codec auto --rank 1", &["--rank", "--codec auto"][..]),
        ("--codec auto --rank 3", &["--rank", "--codec auto"]),
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
            &["--codec", "layered, lorenzo+rans, ", "auto"],
        ),
    ] {
        place.fail(2, &format!("compress in.npy out --abs 1 {line}"), words);
    }
}
