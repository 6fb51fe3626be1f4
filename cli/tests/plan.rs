//! `ferrosz part plan`, `run` and `join`.

use crate::common::{Place, npy, raw, stderr};

#[test]
fn parts_make_the_stream_of_compress() {
    for options in [
        "--codec plain --rank 3 --axes z,y,x",
        "--codec interp --rank 2",
        "--codec lorenzo+rans",
    ] {
        let place = Place::new();
        place.put("t.npy", &npy("f32"));
        place.put("t.f32", &raw("f32"));
        place.succeed(&format!("compress t.npy whole.fsz --range 1e-3 {options}"));
        place.succeed(&format!(
            "part plan t.npy t.plan --parts 3 --range 1e-3 {options}"
        ));
        // The second part reads raw values, whose type and dimensions are those of the plan.
        place.succeed("part run t.plan 1 t.f32 t.1");
        place.succeed("part run t.plan 0 t.npy t.0");
        let missing = place.run("part join t.plan t.fsz t.1 t.0");
        assert!(!missing.status.success());
        assert!(
            stderr(&missing).contains("part 2 of 3 is missing"),
            "{}",
            stderr(&missing)
        );
        assert!(!place.path("t.fsz").exists());
        place.succeed("part run t.plan 2 t.npy t.2");
        place.succeed("part join t.plan t.fsz t.1 t.0 t.2");
        assert!(place.get("t.fsz") == place.get("whole.fsz"), "{options}");
    }
}

#[test]
fn parts_of_another_array_are_not_joined() {
    let place = Place::new();
    place.put("a.npy", &npy("f32"));
    // The same shape and type, other values.
    let mut other = npy("f32");
    let header = other.len() - raw("f32").len();
    other[header..].reverse();
    for bytes in other[header..].chunks_exact_mut(4) {
        bytes.reverse();
    }
    place.put("b.npy", &other);
    for codec in ["interp", "lorenzo+rans"] {
        for name in ["a", "b"] {
            let plan =
                format!("part plan {name}.npy {name}.plan --parts 2 --abs 0.01 --codec {codec}");
            place.succeed(&format!("{plan} --force"));
            for part in [0, 1] {
                place.succeed(&format!(
                    "part run {name}.plan {part} {name}.npy {name}.{part} --force"
                ));
            }
        }
        place.fail(
            1,
            "part join a.plan t.fsz a.0 b.1",
            &["part 1 is of another plan"],
        );
        place.fail(
            1,
            "part run a.plan 1 b.npy t.1",
            &["the plan is of a field with other values"],
        );
        place.succeed("part join a.plan t.fsz a.0 a.1 --force");
        std::fs::remove_file(place.path("t.fsz")).unwrap();
    }
}

#[test]
fn a_preset_chooses_for_all_parts() {
    let place = Place::new();
    place.put("t.npy", &npy("f64"));
    place.succeed("part plan t.npy t.plan --parts 2 --range 1e-3");
    place.succeed("part run t.plan 0 t.npy t.0");
    place.succeed("part run t.plan 1 t.npy t.1");
    place.succeed("part join t.plan t.fsz t.0 t.1");
    place.succeed("verify t.npy t.fsz");
}

#[test]
fn errors_name_their_cause() {
    let place = Place::new();
    place.put("t.npy", &npy("f32"));
    place.put("other.npy", &npy("f64"));
    let fail = |line: &str, text: &str| {
        let output = place.run(line);
        assert!(!output.status.success(), "{line}");
        assert!(
            stderr(&output).contains(text),
            "{line}: {}",
            stderr(&output)
        );
    };
    place.succeed("part plan t.npy t.plan --parts 2 --abs 0.01");
    fail("part plan t.npy t.plan --parts 2 --abs 0.01", "t.plan");
    fail("part plan t.npy u.plan --parts 0 --abs 0.01", "--parts");
    fail("part plan t.npy u.plan --parts 2 --psnr 80", "target");
    fail(
        "part plan t.npy u.plan --parts 2 --pwrel 1e-3",
        "relative to each value",
    );
    fail("part run t.plan 2 t.npy t.2", "there is no part 2");
    fail("part run t.plan 0 other.npy t.0", "f64");
    fail("part run t.npy 0 t.npy t.0", "no plan");
    fail("part join t.plan t.fsz t.npy", "is no part");
    assert!(!place.path("t.0").exists() && !place.path("t.fsz").exists());
}
