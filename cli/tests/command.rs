//! Runs the command itself.

use crate::common::{Place, npy, npy_header, raw, stderr};
use ferrosz::Codec;
use ferrosz::codec::container::extents::MAX_RANK;
use serde_json::Value;
use std::fs;

#[test]
fn raw_and_npy_give_the_same_stream_and_come_back() {
    for dtype in ["f32", "f64"] {
        let place = Place::new();
        place.put("in.raw", &raw(dtype));
        place.put("in.npy", &npy(dtype));
        for codec in Codec::ALL {
            for bound in ["--abs 0.01", "--range 1e-3", "--max 1e-4", "--abs 0"] {
                let flags = format!("--codec {codec} {bound}");
                let shape = format!("--dtype {dtype} --dims 5,40,37");
                place.succeed(&format!("compress in.raw a.fsz {flags} {shape}"));
                place.succeed(&format!("compress in.npy b.fsz {flags}"));
                assert_eq!(place.get("a.fsz"), place.get("b.fsz"));
                for verify in [
                    "in.npy a.fsz",
                    "in.raw a.fsz",
                    &format!("in.raw a.fsz {shape}"),
                ] {
                    let found = place.json(&format!("verify {verify} --json"));
                    assert_eq!(found["kept"], true);
                    assert_eq!(found["values_over_limit"], 0);
                    assert_eq!(found["not_finite"], 2);
                    assert!(found["largest_error"].as_f64() <= found["limit"].as_f64());
                }
                place.succeed("decompress a.fsz out.raw");
                place.succeed("decompress a.fsz out.npy");
                let (values, npy) = (place.get("out.raw"), place.get("out.npy"));
                assert_eq!(values.len(), place.get("in.raw").len());
                assert!(npy.ends_with(&values) && npy.starts_with(b"\x93NUMPY"));
                assert_eq!(values == place.get("in.raw"), bound == "--abs 0");
            }
        }
        // What comes out is an array again.
        place.succeed("compress out.npy again.fsz --abs 0");
        place.succeed("verify out.raw again.fsz");
    }
}

#[test]
fn several_gpus_make_the_same_files() {
    let place = Place::new();
    let values = (0..40_000).flat_map(|i| ((i as f32) * 0.01).sin().to_le_bytes());
    place.put("in.raw", &values.collect::<Vec<u8>>());
    let shape = "--codec plain --range 1e-3 --dtype f32 --dims 40000";
    place.succeed(&format!("compress in.raw one.fsz {shape} --device cpu"));
    place.succeed("decompress one.fsz one.raw --device cpu");
    for device in ["emulator:1", "emulator:2", "emulator:4"] {
        let line = format!("in.raw several.fsz {shape} --device {device} --json");
        let found = place.json(&format!("compress {line}"));
        let used = if device == "emulator:1" {
            "emulator"
        } else {
            device
        };
        assert_eq!(found["device"], used);
        assert!(place.get("several.fsz") == place.get("one.fsz"), "{device}");
        place.succeed(&format!(
            "decompress several.fsz several.raw --device {device}"
        ));
        assert!(place.get("several.raw") == place.get("one.raw"), "{device}");
    }
    let tiles = shape.replace("plain", "interp");
    let found = place.json(&format!(
        "compress in.raw tiles.fsz {tiles} --device emulator:2 --json"
    ));
    assert_eq!(found["device"], "emulator");
}

#[test]
fn pipes_carry_the_same_bytes() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    let file = place.succeed("compress in.npy file.fsz --range 1e-3");
    assert!(file.stdout.is_empty() && stderr(&file).contains("ratio"));
    let stream = place.get("file.fsz");

    let line = "compress - - --range 1e-3 --dtype f32 --dims 5,40,37";
    let piped = place.pipe(line, &raw("f32"));
    assert!(piped.status.success() && piped.stdout == stream);
    let piped = place.pipe("compress - - --range 1e-3 --json", &npy("f32"));
    assert!(piped.status.success() && piped.stdout == stream);
    let summary: Value = serde_json::from_slice(&piped.stderr).unwrap();
    assert_eq!(summary["stream_bytes"], stream.len());

    place.succeed("decompress file.fsz file.raw");
    let piped = place.pipe("decompress - -", &stream);
    assert!(piped.status.success() && piped.stdout == place.get("file.raw"));
    let piped = place.pipe("info - --json", &stream);
    let mut piped: Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(piped["input"], "standard input");
    piped["input"] = "file.fsz".into();
    assert_eq!(piped, place.json("info file.fsz --json"));
    assert!(place.pipe("verify in.npy -", &stream).status.success());
    assert!(
        place
            .pipe("verify - file.fsz", &npy("f32"))
            .status
            .success()
    );
    let refused = place.pipe("compress - - --abs 1", &raw("f32"));
    assert_eq!(refused.status.code(), Some(2));
    let short = place.pipe(line, &raw("f32")[..1000]);
    assert_eq!(short.status.code(), Some(1));
    assert!(stderr(&short).contains("ends before"), "{}", stderr(&short));
    place.fail(2, "verify - -", &["only one"]);
}

#[test]
fn verify_finds_a_changed_value() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.succeed("compress in.npy a.fsz --abs 0.01 --codec outlier");
    let good = npy("f64");
    let start = good.len() - raw("f64").len();
    for (element, value) in [(5000, 1e6), (123, 60.0), (17, 0.0), (17, -f64::NAN)] {
        let mut bytes = good.clone();
        let at = start + 8 * element;
        bytes[at..at + 8].copy_from_slice(&f64::to_le_bytes(value));
        place.put("changed.npy", &bytes);
        let output = place.run("verify changed.npy a.fsz --json");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["kept"], false);
        let output = place.run("verify changed.npy a.fsz");
        assert!(String::from_utf8_lossy(&output.stdout).contains("NO: "));
    }
    place.put("other.f64", &raw("f64")[8..]);
    place.fail(1, "verify other.f64 a.fsz", &["59192 bytes", "need 59200"]);
    place.put("other.npy", &npy("f32"));
    place.fail(
        1,
        "verify other.npy a.fsz",
        &["f32", "f64", "not the same array"],
    );
}

#[test]
fn ranges_are_parts_of_the_whole() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy a.fsz --range 1e-3");
    place.succeed("decompress a.fsz whole.raw");
    let whole = place.get("whole.raw");
    for (from, to) in [(0, 7400), (0, 0), (7400, 7400), (1000, 5003), (7399, 7400)] {
        place.succeed(&format!(
            "decompress a.fsz part.raw --elements {from}..{to}"
        ));
        assert_eq!(place.get("part.raw"), whole[4 * from..4 * to]);
        place.succeed(&format!(
            "decompress a.fsz part.npy --elements {from}..{to}"
        ));
        let npy = place.get("part.npy");
        assert!(npy.ends_with(&whole[4 * from..4 * to]));
        let shape = format!("'shape': ({},)", to - from);
        assert!(String::from_utf8_lossy(&npy[..128]).contains(&shape));
    }
    place.fail(
        1,
        "decompress a.fsz b --elements 0..7401",
        &["7401", "7400"],
    );
    place.fail(
        2,
        "decompress a.fsz b --elements 9..3",
        &["before its start"],
    );
    place.fail(2, "decompress a.fsz b --elements all", &["0..1000"]);
}

#[test]
fn info_tells_what_was_asked_for() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.succeed("compress in.npy a.fsz --max 1e-5 --codec fixed");
    let info = place.json("info a.fsz --json");
    assert_eq!(info["dtype"], "f64");
    assert_eq!(info["dims"], serde_json::json!([5, 40, 37]));
    assert_eq!(info["codec"], "fixed");
    assert_eq!(info["bound_mode"], "max");
    assert_eq!(info["bound"], 1e-5);
    assert_eq!(info["stream_bytes"], place.get("a.fsz").len());
    let text = String::from_utf8(place.succeed("info a.fsz").stdout).unwrap();
    assert!(
        text.contains("5 x 40 x 37") && text.contains("max 1e-5"),
        "{text}"
    );

    // Header and table suffice, but it is said that the rest is missing.
    let stream = place.get("a.fsz");
    place.put("cut.fsz", &stream[..stream.len() - 16]);
    let output = place.succeed("info cut.fsz");
    assert!(stderr(&output).contains("will not decompress"));
}

#[test]
fn rel_is_range_and_says_so() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy range.fsz --range 1e-3");
    let output = place.succeed("compress in.npy rel.fsz --rel 1e-3");
    assert!(stderr(&output).contains("--range"));
    assert_eq!(place.get("rel.fsz"), place.get("range.fsz"));
    let quiet = place.succeed("compress in.npy rel.fsz --rel 1e-3 --quiet");
    assert_eq!(stderr(&quiet), "");
}

#[test]
fn wrong_command_lines_are_explained() {
    let place = Place::new();
    place.put("in.raw", &raw("f32"));
    place.put("in.npy", &npy("f32"));
    let many = ["2"; MAX_RANK + 1].join(",");
    for (line, words) in [
        ("compress in.raw out --abs 1", &["--dtype and --dims"][..]),
        ("compress in.raw out --abs 1 --dims 7400", &["--dtype"]),
        ("compress in.raw out --abs 1 --dtype f32", &["--dims"]),
        ("compress in.raw out --dtype f32 --dims 7400", &["--abs"]),
        (
            "compress in.raw out --dtype f5 --dims 7400 --abs 1",
            &["f32, f64, f16, bf16, i16, u16, i32, u32"],
        ),
        (
            &format!("compress in.raw out --dtype f32 --abs 1 --dims {many}"),
            &["too many"],
        ),
        (
            "compress in.raw out --dtype f32 --dims 5x40 --abs 1",
            &["10,83,83"],
        ),
        ("compress in.npy out --abs -1", &["negative"]),
        ("compress in.npy out --abs=nan", &["finite"]),
        ("compress in.npy out --range x", &["1e-3"]),
        (
            "compress in.npy out --abs 1 --range 1",
            &["cannot be used with"],
        ),
        (
            "compress in.npy out --abs 1 --codec best",
            &["is not a codec: fixed, plain"],
        ),
        ("compress in.npy out --abs 1 --dtype f64", &["omit --dtype"]),
        ("compress in.npy out --abs 1 --dims 40,5,37", &["5,40,37"]),
        ("compress in.npy in.npy --abs 1", &["another output"]),
        ("compress in.npy ./in.npy --abs 1", &["another output"]),
        ("compress in.npy out --abs 1 --device tpu", &["cuda:N"]),
        (
            "compress in.npy out --abs 1 --device cuda:1,0,1",
            &["GPU 1 is named twice"],
        ),
    ] {
        place.fail(2, line, words);
    }
}

#[test]
fn wrong_inputs_are_explained() {
    let place = Place::new();
    place.put("in.raw", &raw("f32"));
    place.put("cut.npy", &npy("f32")[..1000]);
    place.put("raw.npy", &raw("f32"));
    let two = |descr, fortran| [npy_header(descr, fortran, "(2,)"), vec![0; 16]].concat();
    place.put("int.npy", &two("<i8", "False"));
    fs::create_dir(place.path("folder")).unwrap();
    for (line, words) in [
        (
            "compress in.raw out --dtype f32 --dims 5,40,36 --abs 1",
            &["29600 bytes", "need 28800", "--dims"][..],
        ),
        (
            "compress gone.npy out --abs 1",
            &["gone.npy", "No such file"],
        ),
        (
            "compress folder out --abs 1 --dtype f32 --dims 4",
            &["folder"],
        ),
        ("compress cut.npy out --abs 1", &["1000 bytes", "damaged"]),
        ("compress raw.npy out --abs 1", &["does not begin as"]),
        ("compress int.npy out --abs 1", &["int64", "astype"]),
        (
            "compress in.raw folder --dtype f32 --dims 7400 --abs 1",
            &["is a folder"],
        ),
        (
            "compress in.raw no/out --dtype f32 --dims 7400 --abs 1",
            &["no folder no"],
        ),
        ("decompress in.raw out", &["not a ferrosz stream"]),
        ("decompress gone out", &["No such file"]),
        ("info in.raw", &["not a ferrosz stream"]),
        ("info gone", &["No such file"]),
        ("info folder", &["folder"]),
        ("verify in.raw gone", &["No such file"]),
        ("verify in.raw in.raw", &["not a ferrosz stream"]),
    ] {
        place.fail(1, line, words);
    }
}

#[test]
fn damaged_streams_are_refused_and_leave_nothing() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy good.fsz --range 1e-3");
    let good = place.get("good.fsz");
    for length in [0, 7, 127, 128, 150, good.len() - 1] {
        place.put("bad.fsz", &good[..length]);
        place.fail(1, "decompress bad.fsz out.npy", &["bad.fsz"]);
    }
    place.put("bad.fsz", &[&good[..], &[1]].concat());
    place.fail(1, "decompress bad.fsz out.npy", &["follow the end"]);
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        place.put("bad.fsz", &bad);
        place.fail(1, "decompress bad.fsz out.npy", &["bad.fsz"]);
    }
    // An output that was there stays as it was.
    place.put("out.npy", b"precious");
    place.fail(1, "decompress bad.fsz out.npy", &["bad.fsz"]);
    assert_eq!(place.get("out.npy"), b"precious");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_to_and_never_replaced() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.fail(1, "compress in.npy /dev/full --abs 1", &["No space left"]);
    place.succeed("compress in.npy /dev/null --abs 1");
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );

    // A file that is replaced keeps its permissions, and a link its target.
    place.put("target", b"");
    fs::set_permissions(place.path("target"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("target", place.path("link")).unwrap();
    place.succeed("compress in.npy link --abs 1");
    assert!(
        fs::symlink_metadata(place.path("link"))
            .unwrap()
            .is_symlink()
    );
    let found = fs::metadata(place.path("target")).unwrap();
    assert!(found.len() > 0);
    assert_eq!(found.permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    // No machine has so many.
    place.fail(
        1,
        "compress in.npy out --abs 1 --device cuda:999",
        &["no device"],
    );
}

#[test]
fn arrays_without_values_or_with_one_come_back() {
    let place = Place::new();
    place.put("empty.npy", &npy_header("<f4", "False", "(0,)"));
    place.put(
        "one.npy",
        &[
            npy_header(">f8", "False", "()"),
            2.5f64.to_be_bytes().to_vec(),
        ]
        .concat(),
    );
    let four = [npy_header("<f4", "False", "(2, 1, 1, 3)"), vec![0; 24]].concat();
    place.put("four.npy", &four);
    for (name, dims) in [
        ("empty", "[0]"),
        ("one", "[]"),
        ("four", if MAX_RANK < 4 { "[2,1,3]" } else { "[2,1,1,3]" }),
    ] {
        place.succeed(&format!("compress {name}.npy a.fsz --range 1e-3"));
        assert_eq!(place.json("info a.fsz --json")["dims"].to_string(), dims);
        assert_eq!(
            place.json(&format!("verify {name}.npy a.fsz --json"))["kept"],
            true
        );
        place.succeed("decompress a.fsz out.npy");
        place.succeed("verify out.npy a.fsz");
        let shape = |file: &str| {
            let header = String::from_utf8_lossy(&place.get(file)).into_owned();
            let of_shape = header.split("'shape': ").nth(1).unwrap_or_default();
            of_shape.split_once(')').map(|(shape, _)| shape.to_owned())
        };
        assert_eq!(shape("out.npy"), shape(&format!("{name}.npy")));
    }
}

#[test]
fn axes_are_searched_and_quality_is_preferred_with_a_codec_that_is_named() {
    let place = Place::new();
    // Rough along the second axis.
    let value = |i: u64| (i / 48 % 48 * 7919 % 1009) as f32 + (i as f32 * 1e-4).sin();
    let mut array = npy_header("<f4", "False", "(48, 48, 48)");
    array.extend((0..48 * 48 * 48).map(value).flat_map(f32::to_le_bytes));
    place.put("in.npy", &array);
    let mut smooth = npy_header("<f4", "False", "(96, 96)");
    let values = (0..96 * 96).map(|i| (i as f32 * 1e-3).sin());
    smooth.extend(values.flat_map(f32::to_le_bytes));
    place.put("smooth.npy", &smooth);
    for (input, output, flags) in [
        ("in", "a.fsz", "--abs 0.01"),
        ("in", "b.fsz", "--abs 0.01 --axes auto"),
        ("smooth", "c.fsz", "--abs 0.02"),
        ("smooth", "d.fsz", "--abs 0.02 --prefer quality"),
    ] {
        place.succeed(&format!(
            "compress {input}.npy {output} --codec cusz-i {flags}"
        ));
    }
    let [plain, turned] = ["a.fsz", "b.fsz"].map(|file| place.json(&format!("info {file} --json")));
    assert_eq!(plain["codec"], turned["codec"]);
    assert_ne!(plain["axes"], turned["axes"]);
    assert!(place.get("b.fsz").len() < place.get("a.fsz").len());
    let [plain, better] = ["c.fsz", "d.fsz"].map(|file| {
        let found = place.json(&format!("verify smooth.npy {file} --json"));
        assert_eq!(found["kept"], true);
        found["psnr"].as_f64().unwrap()
    });
    assert!(better > plain, "{better} {plain}");
    // A plan has the same bytes.
    place.succeed("part plan in.npy p --parts 1 --abs 0.01 --codec cusz-i --axes auto");
    place.succeed("part run p 0 in.npy p.0");
    place.succeed("part join p e.fsz p.0");
    assert!(place.get("e.fsz") == place.get("b.fsz"));
}

#[test]
fn what_a_preset_chose_can_be_named() {
    let place = Place::new();
    let values = (0..40 * 100 * 120).map(|i| (i as f32 * 1e-5).sin());
    let mut array = npy_header("<f4", "False", "(40, 100, 120)");
    array.extend(values.flat_map(f32::to_le_bytes));
    place.put("in.npy", &array);
    place.succeed("compress in.npy a.fsz --abs 1e-3 --small");
    let info = place.json("info a.fsz --json");
    let flags = ["codec", "rank", "axes", "chunk_tiles"].map(|name| {
        let value = info[name].to_string();
        format!("--{} {}", name.replace('_', "-"), value.trim_matches('"'))
    });
    place.succeed(&format!(
        "compress in.npy b.fsz --abs 1e-3 {}",
        flags.join(" ")
    ));
    assert!(place.get("a.fsz") == place.get("b.fsz"), "{flags:?}");
    assert_eq!(info["chunk_tiles"], 64, "the test is of long chunks");
    place.fail(
        2,
        "compress in.npy c.fsz --abs 1 --chunk-tiles 5",
        &["--chunk-tiles", "4, 16 or 64"],
    );
}
