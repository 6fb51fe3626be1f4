//! Messages about a bound: the absolute error that follows from it, and warnings about likely mistakes.

use crate::common::{Place, npy, npy_header, stderr};

/// Temperatures, of which some are this value, or none.
fn masked(mark: Option<f32>) -> Vec<u8> {
    let values = (0..4096).map(|i| match mark {
        Some(mark) if i % 50 == 3 => mark,
        _ => 280.0 + (i as f32 * 0.01).sin() * 10.0,
    });
    let values: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    [npy_header("<f4", "False", "(64, 64)"), values].concat()
}

#[test]
fn a_mark_that_decides_the_range_is_warned_of() {
    let place = Place::new();
    for (mark, name) in [
        (1e20f32, "1e20"),
        (9.969_21e36, "9.96921e36"),
        (-9999.0, "-9999"),
    ] {
        place.put("in.npy", &masked(Some(mark)));
        for mode in ["range", "max"] {
            let said =
                stderr(&place.succeed(&format!("compress in.npy a.fsz --fill none --{mode} 1e-3")));
            let words = [
                &format!("warning: {name} occurs 82 times"),
                "--fill",
                "20.00 without",
                "absolute error",
            ];
            for word in words {
                assert!(said.contains(word), "{mark}: no '{word}' in {said}");
            }
            let found = place.json(&format!(
                "compress in.npy a.fsz --fill none --{mode} 1e-3 --json"
            ));
            let warning = &found["warnings"][0];
            assert_eq!(warning["kind"], "outlying_value");
            // The reader of these objects may be off by a bit.
            let value = warning["value"].as_f64().unwrap();
            assert!((value / f64::from(mark) - 1.0).abs() < 1e-15, "{value}");
            assert_eq!(warning["count"], 82);
            assert!((warning["range_without"].as_f64().unwrap() - 20.0).abs() < 0.01);
        }
        for line in [
            "compress in.npy a.fsz --fill none --abs 0.1",
            "compress in.npy a.fsz --fill none --range 1e-3 --quiet",
            "compress in.npy a.fsz --range 1e-3",
        ] {
            assert!(!stderr(&place.succeed(line)).contains("warning"), "{line}");
        }
    }
    for ordinary in [
        masked(None),
        masked(Some(290.0)),
        masked(Some(f32::NAN)),
        npy("f32"),
    ] {
        place.put("in.npy", &ordinary);
        let said = stderr(&place.succeed("compress in.npy a.fsz --range 1e-3"));
        assert!(!said.contains("warning"), "{said}");
    }
}

#[test]
fn what_a_bound_comes_to_is_always_said() {
    let place = Place::new();
    place.put("in.npy", &masked(None));
    for (bound, words) in [
        ("--range 1e-3", "range 1e-3, absolute error 0.02000"),
        ("--max 1e-3", "max 1e-3, absolute error 0.2900"),
        ("--abs 0.5", "abs 5e-1, absolute error 0.5000"),
    ] {
        let said = stderr(&place.succeed(&format!("compress in.npy a.fsz {bound}")));
        assert!(said.contains(words), "{said}");
        assert!(
            said.contains("s on cpu") && said.contains("ratio"),
            "{said}"
        );
        let said = stderr(&place.succeed("decompress a.fsz out.npy"));
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_bound_of_zero_says_that_it_is_lossless() {
    let place = Place::new();
    place.put("in.npy", &masked(None));
    for bound in ["--abs 0", "--range 0"] {
        let said = stderr(&place.succeed(&format!("compress in.npy a.fsz {bound}")));
        assert!(said.contains("note: a bound of 0 is lossless"), "{said}");
        assert!(said.contains("absolute error 0: lossless"), "{said}");
        assert_eq!(place.json("info a.fsz --json")["lossless"], true);
    }
}

#[test]
fn numbers_for_people_are_short_and_never_nan() {
    let place = Place::new();
    place.put("in.npy", &masked(None));
    place.put(
        "constant.npy",
        &[
            npy_header("<f4", "False", "(64,)"),
            7f32.to_le_bytes().repeat(64),
        ]
        .concat(),
    );
    place.put("empty.npy", &npy_header("<f4", "False", "(0,)"));
    for name in ["in", "constant", "empty"] {
        for bound in ["--range 1e-3", "--abs 0", "--abs 0.1"] {
            place.succeed(&format!("compress {name}.npy a.fsz {bound}"));
            for line in [format!("verify {name}.npy a.fsz"), "info a.fsz".to_owned()] {
                let text = String::from_utf8(place.succeed(&line).stdout).unwrap();
                assert!(
                    !text.contains("NaN dB") && !text.contains("inf dB") && !text.contains("inf\n"),
                    "{name} {bound}: {text}"
                );
                let digits = text.split(|c: char| !c.is_ascii_digit() && c != '.');
                for number in digits.filter(|number| number.contains('.')) {
                    assert!(number.len() <= 9, "{number} in {text}");
                }
            }
        }
    }
    place.succeed("compress constant.npy a.fsz --range 1e-3");
    let found = place.json("verify constant.npy a.fsz --json");
    assert_eq!(
        (&found["exact"], &found["psnr"]),
        (&true.into(), &serde_json::Value::Null)
    );
    let text = String::from_utf8(place.succeed("verify constant.npy a.fsz").stdout).unwrap();
    assert!(text.contains("infinite: every value is exact"), "{text}");
}
