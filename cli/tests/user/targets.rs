//! Targets instead of bounds: `--psnr`, `--rmse`, `--mae` and `--ratio`.

use crate::common::{Place, npy, npy_header, stderr};

#[test]
fn a_target_is_reached_and_said() {
    let place = Place::new();
    for dtype in ["f32", "f64"] {
        place.put("in.npy", &npy(dtype));
        for (name, value, low, high) in [
            ("psnr", "70", 70.0, 70.5),
            ("rmse", "0.01", 0.0095, 0.01),
            ("mae", "0.01", 0.0095, 0.01),
            ("ratio", "5", 5.0, 5.25),
        ] {
            // With a preset a figure may jump over the limits, where another codec is the shortest.
            let line = format!("compress in.npy a.fsz --codec interp --{name} {value}");
            let found = place.json(&format!("{line} --json"));
            let target = &found["target"];
            assert_eq!(target["name"], name);
            let reached = target[name].as_f64().unwrap();
            assert!((low..=high).contains(&reached), "{name}: {reached}");
            // The bound that was found makes the same stream, unless the levels have bounds of their own for a mean error.
            assert_eq!(found["bound_mode"], "abs");
            if name == "ratio" {
                let (stream, bound) = (place.get("a.fsz"), &found["bound"]);
                place.succeed(&format!(
                    "compress in.npy b.fsz --codec interp --abs {bound}"
                ));
                assert_eq!(place.get("b.fsz"), stream);
            }
            let verified = place.json("verify in.npy a.fsz --json");
            assert_eq!(verified["kept"], true);
            let psnr = verified["psnr"].as_f64().unwrap();
            assert!((psnr - target["psnr"].as_f64().unwrap()).abs() < 1e-6);
            let said = stderr(&place.succeed(&line));
            let words = [
                &format!("target {name} {value}: PSNR "),
                "dB; RMSE ",
                "; abs ",
            ];
            for word in words {
                assert!(said.contains(word), "no '{word}' in {said}");
            }
        }
    }
    let found = place.json("compress in.npy a.fsz --abs 0.1 --json");
    assert_eq!(found["target"], serde_json::Value::Null);
}

#[test]
fn a_target_that_is_out_of_reach_names_its_option_and_the_best() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    let words = ["--ratio 100000 cannot be reached", "the best is"];
    place.fail(1, "compress in.npy a.fsz --ratio 100000", &words);
    place.put("empty.npy", &npy_header("<f4", "False", "(0,)"));
    place.fail(
        1,
        "compress empty.npy a.fsz --ratio 2",
        &["--ratio 2 cannot be reached: the best is 0.00"],
    );
    place.succeed("compress empty.npy a.fsz --psnr 60");
    let found = place.json("compress in.npy a.fsz --psnr inf --json");
    assert_eq!(
        (&found["lossless"], &found["target"]["psnr"]),
        (&true.into(), &serde_json::Value::Null)
    );
}

#[test]
fn exactly_one_bound_or_target_is_given() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    for line in [
        "compress in.npy a.fsz --psnr 60 --abs 1",
        "compress in.npy a.fsz --ratio 9 --range 1e-3",
        "compress in.npy a.fsz --ratio 9 --rmse 1",
    ] {
        place.fail(2, line, &["cannot be used with"]);
    }
    place.fail(
        2,
        "compress in.npy a.fsz",
        &["--psnr", "--rmse", "--ratio", "--abs"],
    );
    for (line, words) in [
        ("--psnr nan", ["--psnr", "decibels"]),
        ("--psnr high", ["--psnr", "a number"]),
        ("--rmse -1", ["--rmse", "not negative"]),
        ("--ratio 0", ["--ratio", "above 0"]),
    ] {
        place.fail(2, &format!("compress in.npy a.fsz {line}"), &words);
    }
}
