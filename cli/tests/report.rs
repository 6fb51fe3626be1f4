//! `ferrosz report`, and the picture of `ferrosz verify`.

use crate::common::{DIMS, Place, field, npy, npy_header, raw, stderr};
use std::path::Path;

/// The page that a line writes.
fn page(place: &Place, line: &str) -> String {
    place.succeed(&format!("report {line} --force -o page.html"));
    String::from_utf8(place.get("page.html")).unwrap()
}

/// The commands in a page.
fn commands(page: &str) -> Vec<String> {
    let pieces = page.split("<pre>").skip(1);
    let texts = pieces.map(|piece| piece.split_once("</pre>").unwrap().0);
    texts.map(str::to_owned).collect()
}

#[test]
fn a_field_is_compressed_within_some_bounds() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let html = page(&place, "in.npy");
    for part in [
        "<h1>in.npy</h1>",
        "<h2>range 1e-2</h2>",
        "<h2>range 1e-3</h2>",
        "<h2>range 1e-4</h2>",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    assert_eq!(html.matches(r#"<p class="good">"#).count(), 3);
    let html = page(&place, "in.npy --abs 0.25 --fast");
    assert_eq!(html.matches("<h2>").count(), 1);
    assert!(html.contains("<h2>abs 2.5e-1</h2>"));
    let found = place.json("report in.npy --pwrel 1e-2 -o b.html --json");
    assert_eq!(found["command"], "report");
    assert_eq!(found["output"], "b.html");
    let [stream] = &found["streams"].as_array().unwrap()[..] else {
        panic!("{found}")
    };
    assert_eq!(
        (&stream["kept"], &stream["bound_mode"]),
        (&true.into(), &"pwrel".into())
    );
}

#[test]
fn figures_are_those_of_verify() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.succeed("compress in.npy a.fsz --range 1e-2 --balanced");
    place.succeed("compress in.npy b.fsz --range 1e-4");
    let html = page(&place, "in.npy a.fsz b.fsz");
    assert!(html.contains(r##"<td><a href="#stream-1">b.fsz</a></td>"##));
    for name in ["a.fsz", "b.fsz"] {
        let found = place.json(&format!("verify in.npy {name} --json"));
        let psnr = found["psnr"].as_f64().unwrap();
        assert!(html.contains(&format!("<b>{psnr:.2}</b>")), "{name}");
        let ratio = found["ratio"].as_f64().unwrap();
        assert!(html.contains(&format!("<b>{ratio:.2}</b>")), "{name}");
        let index: Vec<String> = (found["largest_error_index"].as_array().unwrap().iter())
            .map(ToString::to_string)
            .collect();
        // The first of the worst errors.
        let row = format!("<tbody><tr><td>[{}]</td>", index.join(", "));
        assert!(html.contains(&row), "{name}: no {row}");
    }
}

#[test]
fn commands_of_a_page_make_its_streams() {
    let place = Place::new();
    let mut filled = field();
    filled[500..900].fill(-9999.0);
    let bytes = filled.iter().flat_map(|x| x.to_le_bytes());
    let bytes: Vec<u8> = bytes.collect();
    place.put(
        "in.npy",
        &[npy_header("<f8", "False", "(5, 40, 37)"), bytes].concat(),
    );
    place.put("in.f32", &raw("f32"));
    for (field, line) in [
        ("in.npy", "--range 1e-2"),
        ("in.npy", "--abs 0.5 --keep zero --codec stencil"),
        ("in.npy", "--pwrel 1e-3"),
        ("in.npy", "--max 1e-3 --codec lorenzo --axes s,y,x"),
        ("in.f32", "--dtype f32 --dims 5,40,37 --range 1e-3"),
    ] {
        place.succeed(&format!("compress {field} a.fsz {line} --no-stats"));
        let html = page(&place, &format!("{field} a.fsz"));
        let [command] = &commands(&html)[..] else {
            panic!("{line}: not one command")
        };
        let again = command.strip_prefix("ferrosz ").unwrap();
        place.succeed(&format!("{} --no-stats", again.replace("OUT.fsz", "b.fsz")));
        assert!(
            place.get("a.fsz") == place.get("b.fsz"),
            "{line}: {command}"
        );
    }
}

#[test]
fn all_kinds_of_inputs_have_pages() {
    let place = Place::new();
    place.put("in.f32", &raw("f32"));
    let html = page(&place, "in.f32 --dtype f32 --dims 5,40,37 --abs 0.1");
    assert!(html.contains("<dd>5 x 40 x 37 f32</dd>"));
    for (descr, bytes) in [("<i2", 2), ("<f2", 2), ("<c8", 8)] {
        let count: usize = 30 * 20;
        let values: Vec<u8> = (0..count * bytes).map(|i| (i % 51) as u8).collect();
        place.put(
            "t.npy",
            &[npy_header(descr, "False", "(30, 20)"), values].concat(),
        );
        let html = page(&place, "t.npy --abs 4");
        assert!(html.contains(r#"<p class="good">"#), "{descr}");
        assert!(html.contains("<dd>30 x 20 "), "{descr}");
    }
    let line = "report - --dtype f32 --dims 5,40,37 --abs 0.1 -o pipe.html";
    let output = place.pipe(line, &raw("f32"));
    assert!(output.status.success(), "{}", stderr(&output));
    let piped = place.succeed("report in.f32 --dtype f32 --dims 5,40,37 --abs 0.1 -o -");
    assert!(piped.stdout.starts_with(b"<!DOCTYPE html>"));
}

#[test]
fn variables_have_pages() {
    let place = Place::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/variables/netcdf4.nc");
    let html = page(&place, &format!("{}:packed --abs 0.5", file.display()));
    assert!(html.contains("netcdf4.nc:packed</h1>"));
    assert!(!html.contains("<dt>missing or not finite</dt><dd>0</dd>"));
}

#[test]
fn what_is_no_pair_is_refused() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.put("other.npy", &npy("f32"));
    place.put("old.html", b"mine");
    place.put("in.f32", &raw("f32"));
    place.succeed("compress in.npy a.fsz --range 1e-2");
    place.fail(
        1,
        "report in.npy a.fsz -o old.html",
        &["old.html", "--force"],
    );
    place.fail(
        2,
        "report in.npy a.fsz --range 1e-2",
        &["omit them, or the streams"],
    );
    place.fail(
        2,
        "report in.npy a.fsz --fast",
        &["omit them, or the streams"],
    );
    place.fail(
        1,
        "report other.npy a.fsz",
        &["they are not the same array"],
    );
    place.fail(
        1,
        "report in.npy other.npy",
        &["other.npy", "not a ferrosz stream"],
    );
    place.fail(2, "report in.f32 --range 1e-2", &["--dtype", "--dims"]);
    place.fail(1, "report none.npy", &["none.npy"]);
    place.fail(2, "report in.npy --range -1", &["--range"]);
    let mut damaged = place.get("a.fsz");
    let last = damaged.len() - 40;
    damaged[last] ^= 1;
    place.put("bad.fsz", &damaged);
    place.fail(1, "report in.npy bad.fsz", &["bad.fsz"]);
    place.put("empty.npy", &npy_header("<f4", "False", "(0, 5)"));
    place.fail(1, "report empty.npy", &["empty.npy has no values"]);
}

#[test]
fn a_broken_bound_fails() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.succeed("compress in.npy a.fsz --abs 1e-2");
    let mut values = field();
    values[99] += 1.0;
    let bytes = values.iter().flat_map(|x| x.to_le_bytes());
    place.put(
        "moved.npy",
        &[npy_header("<f8", "False", "(5, 40, 37)"), bytes.collect()].concat(),
    );
    let output = place.run("report moved.npy a.fsz");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("BOUND NOT KEPT by 1 of them"));
    let html = String::from_utf8(place.get("report.html")).unwrap();
    assert!(html.contains("NOT KEPT: 1 of"));
}

#[test]
fn verify_draws_a_picture() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.succeed("compress in.npy a.fsz --range 1e-2");
    let with = place.succeed("verify in.npy a.fsz --picture t.png");
    assert_eq!(with.stdout, place.succeed("verify in.npy a.fsz").stdout);
    let png = place.get("t.png");
    assert!(png.starts_with(b"\x89PNG"));
    // Three panels of planes with 37 columns, each at least 440 pixels wide.
    let width = u32::from_be_bytes(*png[16..].first_chunk().unwrap());
    assert_eq!(width, 3 * (37 * 12 + 28) + 28);
    place.fail(
        1,
        "verify in.npy a.fsz --picture t.png",
        &["t.png", "--force"],
    );
    place.succeed("verify in.npy a.fsz --picture t.png --force");
    let frame: usize = DIMS[1] * DIMS[2];
    place.put("frames.f32", &vec![0; 8 * frame]);
    place.succeed("compress frames.f32 a.fsf --frames --dtype f32 --dims 40,37 --abs 1");
    place.fail(
        2,
        "verify frames.f32 a.fsf --picture u.png",
        &["--picture", "frames"],
    );
}
