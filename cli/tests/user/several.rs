//! Several inputs, and outputs that are not named.

use crate::common::{Place, npy, raw, stderr};
use serde_json::Value;
use std::fs;

#[test]
fn an_output_has_a_name_of_its_own() {
    let place = Place::new();
    place.put("t.npy", &npy("f32"));
    place.put("t.f32", &raw("f32"));
    place.succeed("compress t.npy --range 1e-3");
    place.succeed("compress t.f32 --dtype f32 --dims 5,40,37 --range 1e-3");
    assert_eq!(place.names(), ["t.f32", "t.f32.fsz", "t.npy", "t.npy.fsz"]);
    assert_eq!(place.get("t.npy.fsz"), place.get("t.f32.fsz"));
    // Back to the names that were.
    fs::remove_file(place.path("t.npy")).unwrap();
    fs::remove_file(place.path("t.f32")).unwrap();
    place.succeed("decompress t.npy.fsz");
    place.succeed("decompress t.f32.fsz");
    place.succeed("verify t.npy t.f32.fsz");
    assert!(place.get("t.npy").ends_with(&place.get("t.f32")));
    fs::rename(place.path("t.npy.fsz"), place.path("u.fsz")).unwrap();
    place.succeed("decompress u.fsz");
    assert_eq!(place.get("u.npy"), place.get("t.npy"));
    // Without a name, standard input goes to standard output.
    let piped = place.pipe("compress - --range 1e-3 --quiet", &npy("f32"));
    assert_eq!(piped.stdout, place.get("u.fsz"));

    place.fail(
        2,
        "decompress t.npy",
        &["t.npy does not end in .fsz", "name an output"],
    );
    place.fail(2, "decompress u.fsz --box :,:,0:1", &["name an output"]);
    place.fail(2, "compact u.fsz", &["another output"]);
    place.fail(
        2,
        "compress t.npy t.f32 u.npy --abs 1",
        &["3 files", "--out-dir"],
    );
}

#[test]
fn several_inputs_go_into_a_folder() {
    let place = Place::new();
    fs::create_dir(place.path("out")).unwrap();
    fs::create_dir(place.path("back")).unwrap();
    place.put("a.npy", &npy("f32"));
    place.put("b.npy", &npy("f64"));
    place.succeed("compress a.npy b.npy --out-dir out --range 1e-3");
    place.succeed("verify a.npy out/a.npy.fsz");
    place.succeed("verify b.npy out/b.npy.fsz");
    place.succeed("decompress out/a.npy.fsz out/b.npy.fsz --out-dir back");
    place.succeed("verify back/b.npy out/b.npy.fsz");
    place.succeed("compact out/a.npy.fsz out/b.npy.fsz --out-dir back");
    assert_eq!(place.get("back/a.npy.fsz"), place.get("out/a.npy.fsz"));
    assert!(
        place
            .succeed("check out/a.npy.fsz out/b.npy.fsz")
            .stderr
            .is_empty()
    );
    let text = String::from_utf8(place.succeed("info out/a.npy.fsz out/b.npy.fsz").stdout).unwrap();
    assert!(
        text.contains("out/a.npy.fsz:\n") && text.contains("out/b.npy.fsz:\n"),
        "{text}"
    );
    place.fail(
        2,
        "compress a.npy out/../a.npy --out-dir back --abs 1",
        &["both be written"],
    );
    place.fail(
        1,
        "compress a.npy b.npy --out-dir a.npy --abs 1",
        &["cannot make the folder a.npy"],
    );
}

#[test]
fn the_failure_of_one_input_is_told_and_the_others_go_on() {
    let place = Place::new();
    fs::create_dir(place.path("out")).unwrap();
    place.put("a.npy", &npy("f32"));
    place.put("b.npy", b"no array");
    place.put("c.npy", &npy("f64"));
    let line = "compress a.npy b.npy gone.npy c.npy --out-dir out --range 1e-3";
    let output = place.run(line);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("error: cannot read b.npy") && said.contains("gone.npy"),
        "{said}"
    );
    for name in ["a", "c"] {
        place.succeed(&format!("verify {name}.npy out/{name}.npy.fsz"));
    }
    assert!(!place.path("out/b.npy.fsz").exists());

    let output = place.run(&format!("{line} --json"));
    let lines = String::from_utf8(output.stdout).unwrap();
    let objects: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let inputs: Vec<&Value> = objects.iter().map(|object| &object["input"]).collect();
    assert_eq!(inputs, ["a.npy", "b.npy", "gone.npy", "c.npy"]);
    assert!(objects[1]["error"].as_str().unwrap().contains("b.npy"));
    assert_eq!(objects[3]["dtype"], "f64");
}
