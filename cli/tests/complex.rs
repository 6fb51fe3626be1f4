//! Arrays of complex numbers: their types and dimensions are those of the numbers, in every command.

use crate::common::{Place, npy_header};

const DIMS: [usize; 2] = [40, 37];

/// A wave packet: the real and the imaginary part of each number.
fn packet() -> Vec<[f64; 2]> {
    let number = |i: usize| {
        let (y, x) = (i / DIMS[1], i % DIMS[1]);
        let (phase, size) = (y as f64 * 0.2 + x as f64 * 0.3, 5.0 + x as f64 * 0.1);
        [size * phase.cos(), size * phase.sin()]
    };
    (0..DIMS[0] * DIMS[1]).map(number).collect()
}

fn bytes(numbers: &[[f64; 2]], is_single: bool, is_big: bool) -> Vec<u8> {
    let of_part = |part: &f64| {
        let mut bytes = match is_single {
            true => (*part as f32).to_le_bytes().to_vec(),
            false => part.to_le_bytes().to_vec(),
        };
        if is_big {
            bytes.reverse();
        }
        bytes
    };
    numbers.as_flattened().iter().flat_map(of_part).collect()
}

#[test]
fn numbers_come_back_as_numbers() {
    for (name, descr, long, parts) in [
        ("c64", "c8", "complex64", "f32"),
        ("c128", "c16", "complex128", "f64"),
    ] {
        let place = Place::new();
        let is_single = parts == "f32";
        let raw = bytes(&packet(), is_single, false);
        let header = npy_header(&format!("<{descr}"), "False", "(40, 37)");
        place.put("in.npy", &[header, raw.clone()].concat());
        place.put("in.raw", &raw);
        let big = npy_header(&format!(">{descr}"), "False", "(40, 37)");
        place.put(
            "big.npy",
            &[big, bytes(&packet(), is_single, true)].concat(),
        );
        // In Fortran order the first index runs fastest.
        let fortran: Vec<[f64; 2]> = (0..DIMS[0] * DIMS[1])
            .map(|i| packet()[i % DIMS[0] * DIMS[1] + i / DIMS[0]])
            .collect();
        let turned = npy_header(&format!("<{descr}"), "True", "(40, 37)");
        place.put(
            "turned.npy",
            &[turned, bytes(&fortran, is_single, false)].concat(),
        );
        for choice in ["--small", "--codec plain", "--codec interp"] {
            let flags = format!("{choice} --range 1e-3");
            place.succeed(&format!("compress in.npy a.fsz {flags}"));
            for other in ["big.npy", "turned.npy"] {
                place.succeed(&format!("compress {other} b.fsz {flags}"));
                assert!(place.get("a.fsz") == place.get("b.fsz"), "{other}");
            }
            for dtype in [name, long] {
                let shape = format!("--dtype {dtype} --dims 40,37");
                place.succeed(&format!("compress in.raw b.fsz {flags} {shape}"));
                assert!(place.get("a.fsz") == place.get("b.fsz"));
            }
            for original in ["in.npy", "in.raw"] {
                let found = place.json(&format!("verify {original} a.fsz --json"));
                assert_eq!(
                    (&found["kept"], &found["dtype"]),
                    (&true.into(), &long.into())
                );
            }
            let info = place.json("info a.fsz --json");
            assert_eq!(info["dims"], serde_json::json!(DIMS));
            let said = String::from_utf8(place.succeed("info a.fsz").stdout).expect("text");
            assert!(said.contains(long) && said.contains("40 x 37"), "{said}");
            place.succeed("decompress a.fsz out.npy");
            place.succeed("decompress a.fsz out.raw");
            let (npy, values) = (place.get("out.npy"), place.get("out.raw"));
            assert_eq!(values.len(), raw.len());
            assert!(npy.ends_with(&values));
            let descr = format!("'<{descr}'");
            let text = String::from_utf8_lossy(&npy[..128]).into_owned();
            assert!(text.contains(&descr) && text.contains("(40, 37)"), "{text}");
            // A box is one of numbers.
            place.succeed("decompress a.fsz part.raw --box 3:5,30:37");
            let size = raw.len() / (DIMS[0] * DIMS[1]);
            let row = |y: usize| &values[(y * DIMS[1] + 30) * size..(y + 1) * DIMS[1] * size];
            assert_eq!(place.get("part.raw"), [row(3), row(4)].concat());
            place.succeed("decompress a.fsz range.raw --elements 100..103");
            assert_eq!(place.get("range.raw"), values[100 * size..103 * size]);
        }
    }
}

#[test]
fn numbers_are_replaced_and_come_as_frames() {
    let place = Place::new();
    let raw = bytes(&packet(), true, false);
    place.put("in.raw", &raw);
    let shape = "--dtype c64 --dims 40,37";
    place.succeed(&format!(
        "compress in.raw a.fsz --codec plain --abs 1e-3 {shape}"
    ));
    let new = bytes(&[[7.0, -7.0], [8.0, -8.0]], true, false);
    place.put("new.raw", &new);
    place.succeed("update a.fsz new.raw --elements 5..7");
    place.succeed("decompress a.fsz out.raw");
    let mut wanted = raw.clone();
    wanted[40..56].copy_from_slice(&new);
    place.put("wanted.raw", &wanted);
    assert_eq!(place.json("verify wanted.raw a.fsz --json")["kept"], true);
    // Two frames are an array of one more dimension.
    place.put("two.raw", &[raw.clone(), raw].concat());
    place.succeed(&format!(
        "compress two.raw f.fsf --frames --abs 1e-3 {shape}"
    ));
    place.succeed("decompress f.fsf f.npy");
    let npy = place.get("f.npy");
    let text = String::from_utf8_lossy(&npy[..128]).into_owned();
    assert!(
        text.contains("'<c8'") && text.contains("(2, 40, 37)"),
        "{text}"
    );
    place.succeed("verify two.raw f.fsf");
    place.succeed("decompress f.fsf frame.raw --frame 1 --box 3:5,:");
    assert_eq!(place.get("frame.raw").len(), 2 * 37 * 8);
}

#[test]
fn what_takes_no_complex_numbers_says_so() {
    let place = Place::new();
    place.put("in.raw", &bytes(&packet(), true, false));
    let shape = "--dtype c64 --dims 40,37";
    let words = ["complex numbers", "a.view"];
    place.fail(
        1,
        &format!("cuszp compress in.raw a.cuszp --mode plain --abs 0.1 {shape}"),
        &words,
    );
    let axes = format!("compress in.raw a.fsz --axes y,x --abs 0.1 {shape}");
    place.fail(2, &axes, &["--axes", "parts of complex numbers"]);
    // The axis of the parts is the ninth.
    place.put("eight.raw", &[0; 256 * 8]);
    let dims = ["2"; 8].join(",");
    let line = format!("compress eight.raw a.fsz --abs 0.1 --dtype c64 --dims {dims}");
    place.fail(1, &line, &["eight lengths"]);
}
