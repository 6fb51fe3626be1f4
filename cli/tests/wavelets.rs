//! `compress --wavelets`, and streams of wavelets that a target finds.

use crate::common::Place;

fn place() -> Place {
    let place = Place::new();
    let value = |i: usize| {
        let (z, y, x) = (i / 64 / 48, i / 64 % 48, i % 64);
        (0.31 * x as f32 + 0.05 * z as f32).sin() + (0.23 * y as f32).cos()
    };
    let bytes: Vec<u8> = (0..40 * 48 * 64)
        .flat_map(|i| value(i).to_le_bytes())
        .collect();
    place.put("t.f32", &bytes);
    place
}

#[test]
fn a_bound_with_wavelets_is_kept() {
    let place = place();
    let flags = "--dtype f32 --dims 40,48,64 --abs 0.01";
    place.succeed(&format!("compress t.f32 w.fsz {flags} --wavelets 0.02"));
    place.succeed("verify t.f32 w.fsz --dtype f32 --dims 40,48,64");
    let info = place.json("info w.fsz --json");
    assert_eq!(info["codec"], "direct+rans");
    let error = info["coefficient_error"].as_f64().expect("a number");
    assert!((error - 0.02).abs() < 1e-8, "{error}");
    let text = place.succeed("info w.fsz");
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("wavelets, coefficients within"), "{text}");
    place.succeed("decompress w.fsz some.f32 --box 7:9,:,11:64");
    place.succeed("decompress w.fsz all.f32");
    let (all, some) = (place.get("all.f32"), place.get("some.f32"));
    let row = |z: usize, y: usize| 4 * ((z * 48 + y) * 64 + 11)..4 * (z * 48 + y + 1) * 64;
    let wanted: Vec<u8> = (7..9)
        .flat_map(|z| (0..48).flat_map(move |y| row(z, y)))
        .map(|at| all[at])
        .collect();
    assert!(some == wanted);
}

#[test]
fn wavelets_have_a_bound_and_one_codec() {
    let place = place();
    let flags = "t.f32 w.fsz --dtype f32 --dims 40,48,64 --wavelets 0.02";
    for other in ["--codec interp", "--fast", "--small"] {
        let words = ["--wavelets", "the codec is direct+rans"];
        place.fail(2, &format!("compress {flags} --abs 0.01 {other}"), &words);
    }
    let words = ["--wavelets", "give a bound"];
    place.fail(2, &format!("compress {flags} --psnr 45"), &words);
    place.succeed(&format!("compress {flags} --abs 0.01 --codec direct+rans"));
}

#[test]
fn a_psnr_takes_wavelets_where_they_are_shorter() {
    let place = place();
    let flags = "--dtype f32 --dims 40,48,64 --psnr 45";
    let found = place.json(&format!("compress t.f32 w.fsz {flags} --small --json"));
    let other = place.json(&format!(
        "compress t.f32 o.fsz {flags} --codec stencil --json"
    ));
    let bytes = |report: &serde_json::Value| report["stream_bytes"].as_u64().expect("bytes");
    assert!(bytes(&found) < bytes(&other), "{found} {other}");
    assert!(place.json("info w.fsz --json")["coefficient_error"].is_number());
}
