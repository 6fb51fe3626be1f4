//! `--box` and `--elements`, `ferrosz update` and `ferrosz compact`.

use crate::common::{DIMS, Place, npy, raw, stderr};
use ferrosz::Codec;
use ferrosz::codec::container::extents::MAX_RANK;
use std::fs;
use std::ops::Range;

/// The bytes of a box of an array of [`DIMS`].
fn cut(bytes: &[u8], width: usize, ranges: &[Range<usize>; 3]) -> Vec<u8> {
    let [_, rows, columns] = DIMS;
    let [z, y, x] = ranges.clone();
    let mut part = Vec::new();
    for z in z {
        for y in y.clone() {
            let start = (z * rows + y) * columns;
            part.extend(&bytes[width * (start + x.start)..width * (start + x.end)]);
        }
    }
    part
}

#[test]
fn boxes_are_parts_of_the_whole() {
    for (dtype, width) in [("f32", 4), ("f64", 8)] {
        let place = Place::new();
        place.put("in.npy", &npy(dtype));
        for layout in [
            "--rank 1",
            "--rank 2",
            "--codec lorenzo --rank 3",
            "--codec layered",
        ] {
            place.succeed(&format!("compress in.npy a.fsz --abs 0.01 {layout}"));
            place.succeed("decompress a.fsz whole.raw");
            let whole = place.get("whole.raw");
            for (text, ranges) in [
                (":,:,:", [0..5, 0..40, 0..37]),
                ("1:3,5:,:9", [1..3, 5..40, 0..9]),
                ("4:5,39:40,36:37", [4..5, 39..40, 36..37]),
                ("2:2,:,:", [2..2, 0..40, 0..37]),
            ] {
                place.succeed(&format!("decompress a.fsz part.raw --box {text}"));
                let expected = cut(&whole, width, &ranges);
                assert_eq!(place.get("part.raw"), expected, "{layout} {text}");
                place.succeed(&format!("decompress a.fsz part.npy --box {text}"));
                let npy = place.get("part.npy");
                assert!(npy.ends_with(&expected));
                let lengths = ranges.map(|range| range.len().to_string()).join(", ");
                let shape = format!("'shape': ({lengths})");
                assert!(
                    String::from_utf8_lossy(&npy[..128]).contains(&shape),
                    "{shape}"
                );
                let piped =
                    place.pipe(&format!("decompress - - --box {text}"), &place.get("a.fsz"));
                assert!(piped.status.success() && piped.stdout == expected);
            }
        }
    }
}

#[test]
fn a_part_of_a_large_file_needs_none_of_the_rest() {
    let place = Place::new();
    let values: Vec<u8> = (0..200_000u32)
        .flat_map(|i| (i.wrapping_mul(2_654_435_761) as f32).to_le_bytes())
        .collect();
    place.put("in.raw", &values);
    place.succeed(
        "compress in.raw a.fsz --dtype f32 --dims 200000 --abs 0 --codec plain --no-stats",
    );
    place.succeed("decompress a.fsz whole.raw");
    assert!(place.get("whole.raw") == values);
    // A chunk that is not touched may be damaged.
    let mut stream = place.get("a.fsz");
    let last = stream.len() - 40;
    stream[last] ^= 1;
    place.put("a.fsz", &stream);
    place.succeed("decompress a.fsz part.raw --box 1000:2000");
    assert!(place.get("part.raw") == values[4000..8000]);
    place.fail(1, "decompress a.fsz all.raw", &["a.fsz", "chunk 24"]);
}

#[test]
fn updates_replace_what_they_name_and_nothing_else() {
    for (dtype, width) in [("f32", 4), ("f64", 8)] {
        let place = Place::new();
        place.put("in.npy", &npy(dtype));
        place.put("zeros.raw", &vec![0; 6 * width]);
        for codec in Codec::BLOCKS {
            place.succeed(&format!(
                "compress in.npy a.fsz --range 1e-3 --codec {codec} --rank 1"
            ));
            place.succeed("decompress a.fsz old.raw");
            let mut expected = place.get("old.raw");
            let found = place.json("update a.fsz zeros.raw --elements 100..106 --json");
            assert_eq!(
                (&found["elements"], &found["chunks"]),
                (&6.into(), &1.into())
            );
            assert_eq!(found["stream_bytes"], place.get("a.fsz").len());
            expected[100 * width..106 * width].fill(0);
            let said = stderr(&place.succeed("update a.fsz zeros.raw --box 2:3,7:9,30:33"));
            for words in ["6 values", "1 of 1 chunks", "appended", "absolute error"] {
                assert!(said.contains(words), "{said}");
            }
            for row in [(2 * 40 + 7) * 37 + 30, (2 * 40 + 8) * 37 + 30] {
                expected[row * width..(row + 3) * width].fill(0);
            }
            place.succeed("decompress a.fsz new.raw");
            assert!(place.get("new.raw") == expected, "{dtype} {codec}");
            place.put("expected.raw", &expected);
            assert_eq!(place.json("verify expected.raw a.fsz --json")["kept"], true);

            let info = place.json("info a.fsz --json");
            assert!(info["update_bytes"].as_u64() > found["appended_bytes"].as_u64());
            let text = String::from_utf8(place.succeed("info a.fsz").stdout).unwrap();
            assert!(
                text.contains("updates") && text.contains("`ferrosz compact`"),
                "{text}"
            );
            place.succeed("compact a.fsz b.fsz");
            assert_eq!(place.json("info b.fsz --json")["update_bytes"], 0);
            assert!(place.get("b.fsz").len() < place.get("a.fsz").len());
            place.succeed("decompress b.fsz new.raw");
            assert!(place.get("new.raw") == expected);
            let piped = place.pipe("compact - -", &place.get("a.fsz"));
            assert!(piped.status.success() && piped.stdout == place.get("b.fsz"));
        }
    }
}

#[test]
fn an_update_reads_few_bytes_of_a_large_stream() {
    let place = Place::new();
    let noise = (0..1_000_000u32).map(|i| i.wrapping_mul(2_654_435_761) as f32);
    place.put(
        "in.raw",
        &noise.flat_map(f32::to_le_bytes).collect::<Vec<_>>(),
    );
    place.put("zeros.raw", &[0; 40]);
    place.succeed("compress in.raw a.fsz --dtype f32 --dims 1000000 --abs 0.1 --codec plain");
    let all = place.get("a.fsz").len() as u64;
    let found = place.json("update a.fsz zeros.raw --elements 500000..500010 --json");
    let read = found["bytes_read"].as_u64().unwrap();
    assert!(10 * read < all, "{read} of {all}");
    place.succeed("decompress a.fsz out.raw --elements 500000..500010");
    assert!(place.get("out.raw") == [0; 40]);
}

#[test]
fn streams_of_tiles_are_not_updated() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("zeros.raw", &[0; 24]);
    for codec in ["interp", "lorenzo+huffman"] {
        place.succeed(&format!(
            "compress in.npy a.fsz --range 1e-3 --codec {codec} --rank 1"
        ));
        let before = place.get("a.fsz");
        place.fail(
            1,
            "update a.fsz zeros.raw --elements 100..106",
            &["a stream of tiles cannot be updated", "preset `fast`"],
        );
        assert!(place.get("a.fsz") == before);
        place.succeed("compact a.fsz b.fsz");
        assert!(place.get("b.fsz") == before);
    }
}

#[test]
fn a_relative_bound_stays_that_of_the_first_array() {
    let place = Place::new();
    let line: Vec<u8> = (0..1000).flat_map(|i| (i as f32).to_le_bytes()).collect();
    place.put("in.raw", &line);
    place.succeed("compress in.raw a.fsz --dtype f32 --dims 1000 --range 1e-3 --codec plain");
    // A range of 1 would make this bound 1e-3, and the stream keeps about 1.
    let small: Vec<u8> = (0..1000)
        .flat_map(|i| (i as f32 * 1e-3).to_le_bytes())
        .collect();
    place.put("small.raw", &small);
    let found = place.json("update a.fsz small.raw --elements 0..1000 --json");
    assert!((found["absolute_error"].as_f64().unwrap() - 0.999).abs() < 1e-3);
    let found = place.json("verify small.raw a.fsz --json");
    assert_eq!(found["kept"], true);
    let text = String::from_utf8(place.succeed("verify small.raw a.fsz").stdout).unwrap();
    assert!(text.contains("before its updates"), "{text}");
    // Not everything is within it.
    assert_eq!(place.run("verify in.raw a.fsz").status.code(), Some(1));
}

#[test]
fn updates_at_the_same_time_wait_for_each_other() {
    let place = Place::new();
    place.put("in.raw", &[0; 4 * 80_000]);
    place.put("ones.raw", &1f32.to_le_bytes().repeat(10));
    place.succeed("compress in.raw a.fsz --dtype f32 --dims 80000 --abs 0 --codec plain");
    // All in the first chunk, and so each must see what the others did.
    let children: Vec<_> = (0..16)
        .map(|i| {
            let line = format!(
                "update a.fsz ones.raw --elements {}..{}",
                20 * i,
                20 * i + 10
            );
            let arguments: Vec<&str> = line.split_whitespace().collect();
            place.command(&arguments).arg("--quiet").spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    place.succeed("decompress a.fsz out.raw");
    let ones = 1f32.to_le_bytes().repeat(10);
    let expected = [
        [&ones[..], &[0; 40]].concat().repeat(16),
        vec![0; 4 * (80_000 - 320)],
    ];
    assert!(place.get("out.raw") == expected.concat());
}

#[test]
fn new_values_come_from_npy_and_pipes_too() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("zeros.raw", &[0; 4 * 7400]);
    place.succeed("compress in.npy start.fsz --abs 0.01 --codec plain --rank 2");
    let update = |name: &str, line: &str| {
        fs::copy(place.path("start.fsz"), place.path(name)).unwrap();
        place.succeed(line);
        place.get(name)
    };
    let raw = update("a.fsz", "update a.fsz zeros.raw --box :,:,:");
    place.succeed("compress zeros.raw z.fsz --dtype f32 --dims 7400 --abs 0 --codec plain");
    place.succeed("decompress z.fsz zeros.npy");
    assert!(raw == update("b.fsz", "update b.fsz zeros.npy --elements 0..7400"));
    fs::copy(place.path("start.fsz"), place.path("c.fsz")).unwrap();
    let piped = place.pipe("update c.fsz - --elements 0..7400 --quiet", &[0; 4 * 7400]);
    assert!(piped.status.success() && piped.stderr.is_empty());
    assert!(raw == place.get("c.fsz"));
}

#[test]
fn an_unfinished_update_is_passed_over() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("zeros.raw", &[0; 400]);
    place.succeed("compress in.npy a.fsz --abs 0.01 --codec plain --rank 1");
    let old = place.get("a.fsz");
    place.succeed("decompress a.fsz old.raw");
    place.succeed("update a.fsz zeros.raw --elements 0..100");
    let new = place.get("a.fsz");
    for cut in [1, 8, 40, 400] {
        let unfinished = [&old[..], &new[old.len()..old.len() + cut]].concat();
        place.put("cut.fsz", &unfinished);
        let output = place.succeed("info cut.fsz");
        let said = stderr(&output);
        assert!(
            said.contains("not finished") && said.contains("ignored"),
            "{said}"
        );
        assert!(!said.contains("will not decompress"), "{said}");
        assert_eq!(place.json("info cut.fsz --json")["unfinished_update"], true);
        let piped = place.pipe("info -", &unfinished);
        assert!(stderr(&piped).contains("not finished"));
        place.succeed("decompress cut.fsz out.raw");
        assert!(place.get("out.raw") == place.get("old.raw"));
        // The next update finishes what that one began.
        place.succeed("update cut.fsz zeros.raw --elements 0..100");
        assert!(place.get("cut.fsz") == new);
    }
    place.put("cut.fsz", &[&old[..], b"other"].concat());
    assert!(stderr(&place.succeed("info cut.fsz")).contains("will not decompress"));
    place.fail(
        1,
        "update cut.fsz zeros.raw --elements 0..100",
        &["cut.fsz", "follow"],
    );
}

#[test]
fn wrong_parts_are_explained() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.01 --codec plain --rank 1");
    let many = [":"; MAX_RANK + 1].join(",");
    for (status, flags, words) in [
        (
            2,
            "--box 0:1,0:1,0:1 --elements 0..1",
            &["--box", "--elements"][..],
        ),
        (2, "--box 3:1,:,:", &["--box", "ends at 1"]),
        (2, "--box 1,2,x", &["--box", "0:5,7,:,10:"]),
        (2, &format!("--box {many}"), &["--box", "too many"]),
        (1, "--box :,:", &["--box has 2 ranges", "5 x 40 x 37"]),
        (1, "--box :,:41,:", &["--box", "0:41", "0:40"]),
        (1, "--box 6:,:,:", &["--box", "6:", "0:5"]),
        (1, "--box :,:,:18446744073709551615", &["--box", "0:37"]),
        (1, "--elements 7400..7401", &["--elements", "7400"]),
    ] {
        place.fail(status, &format!("decompress a.fsz b.raw {flags}"), words);
        let before = place.get("a.fsz");
        place.fail(status, &format!("update a.fsz in.npy {flags}"), words);
        assert!(place.get("a.fsz") == before);
    }
}

#[test]
fn updates_that_cannot_be_leave_the_stream_alone() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("other.npy", &npy("f64"));
    place.put("in.raw", &raw("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.01 --codec plain --rank 1");
    place.put("cut.fsz", &place.get("a.fsz")[..200]);
    let mut damaged = place.get("a.fsz");
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    place.put("damaged.fsz", &damaged);
    let whole = "--elements 0..7400";
    for (status, line, words) in [
        (
            2,
            "update a.fsz in.npy".to_owned(),
            &["--elements", "--box"][..],
        ),
        (2, format!("update - in.npy {whole}"), &["STREAM", "'-'"]),
        (2, format!("update a.fsz a.fsz {whole}"), &["a.fsz"]),
        (
            1,
            format!("update gone.fsz in.npy {whole}"),
            &["gone.fsz", "No such file"],
        ),
        (
            1,
            format!("update a.fsz gone.npy {whole}"),
            &["gone.npy", "No such file"],
        ),
        (
            1,
            format!("update in.raw in.npy {whole}"),
            &["in.raw", "not a ferrosz stream"],
        ),
        (
            1,
            format!("update cut.fsz in.npy {whole}"),
            &["cut.fsz", "cut off"],
        ),
        (
            1,
            format!("update damaged.fsz in.npy {whole}"),
            &["damaged.fsz", "chunk 0"],
        ),
        (
            1,
            format!("update a.fsz other.npy {whole}"),
            &["other.npy", "f64", "f32"],
        ),
        (
            1,
            "update a.fsz in.npy --elements 0..7".to_owned(),
            &["in.npy", "5,40,37", "7"],
        ),
        (
            1,
            "update a.fsz in.raw --box 0:1,:,:".to_owned(),
            &["in.raw", "29600 bytes", "need 5920", "--box"],
        ),
        (2, "compact a.fsz a.fsz".to_owned(), &["another output"]),
        (
            1,
            "compact in.raw b.fsz".to_owned(),
            &["in.raw", "not a ferrosz stream"],
        ),
        (
            1,
            "compact cut.fsz b.fsz".to_owned(),
            &["cut.fsz", "cut off"],
        ),
    ] {
        let before = ["a.fsz", "cut.fsz", "damaged.fsz", "in.raw"].map(|name| place.get(name));
        place.fail(status, &line, words);
        let after = ["a.fsz", "cut.fsz", "damaged.fsz", "in.raw"].map(|name| place.get(name));
        assert!(before == after, "{line}");
    }
}
