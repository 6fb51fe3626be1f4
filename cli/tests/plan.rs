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
