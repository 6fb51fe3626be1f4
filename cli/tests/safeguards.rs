//! The options of safeguards.

use crate::common::Place;

const WIDTH: usize = 50;

/// Waves around 0.3, with noise that no codec keeps.
fn field() -> Vec<f32> {
    let value = |i: u64| {
        let noise = (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as f32 / 65_536.0;
        0.3 + 0.2 * (i as f32 * 0.01).sin() + 0.01 * (noise - 0.5)
    };
    (0..80 * WIDTH as u64).map(value).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn values(bytes: &[u8]) -> Vec<f32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

#[test]
fn options_are_kept_and_judged() {
    let (place, field) = (Place::new(), field());
    place.put("t.f32", &bytes(&field));
    for codec in ["plain", "lorenzo+rans", "interp"] {
        place.succeed(&format!(
            "compress t.f32 t.fsz --dtype f32 --dims 80,50 --abs 0.02 --codec {codec} \
             --keep-above 0.3 --keep-above 0.45 --limits 0.09,0.51 --monotone 1 --abs-square 0.01"
        ));
        place.succeed("decompress t.fsz back.f32");
        let back = values(&place.get("back.f32"));
        for (value, decoded) in field.iter().zip(&back) {
            assert!((value - decoded).abs() <= 0.02);
            assert_eq!(*value >= 0.3, *decoded >= 0.3, "{codec}: {value} {decoded}");
            assert_eq!(*value >= 0.45, *decoded >= 0.45);
            assert!((0.09..=0.51).contains(decoded));
            let square = |value: f32| f64::from(value) * f64::from(value);
            assert!((square(*value) - square(*decoded)).abs() <= 0.01);
        }
        for (row, decoded) in field.chunks(WIDTH).zip(back.chunks(WIDTH)) {
            for (pair, decoded) in row.windows(2).zip(decoded.windows(2)) {
                assert!(pair[0] > pair[1] || decoded[0] <= decoded[1], "{codec}");
                assert!(pair[0] < pair[1] || decoded[0] >= decoded[1], "{codec}");
            }
        }
        let output = place.succeed("verify t.f32 t.fsz");
        let text = String::from_utf8(output.stdout).unwrap();
        for words in ["safeguards kept", "yes: ", "keep-above 0.45", "monotone 1"] {
            assert!(text.contains(words), "{text}");
        }
        let info = String::from_utf8(place.succeed("info t.fsz").stdout).unwrap();
        assert!(info.contains("keep-above 0.3"), "{info}");
    }
}

#[test]
fn what_is_not_kept_is_named() {
    let (place, mut field) = (Place::new(), field());
    place.put("t.f32", &bytes(&field));
    let shape = "--dtype f32 --dims 80,50 --abs 0.02";
    place.succeed(&format!("compress t.f32 t.fsz {shape} --keep-above 0.3"));
    // A value that was just above, as if it had been just below.
    let number = field.iter().position(|value| (0.3..0.301).contains(value));
    field[number.expect("one")] = 0.299;
    place.put("other.f32", &bytes(&field));
    let output = place.run("verify other.f32 t.fsz");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("NO: keep-above 0.3 is broken by 1 of the values"),
        "{text}"
    );
    assert!(!text.contains("safeguards kept"), "{text}");
    place.fail(
        1,
        &format!("compress t.f32 out.fsz {shape} --limits 0.2,0.4"),
        &["is outside of the limits"],
    );
    place.fail(
        2,
        &format!("compress t.f32 out.fsz {shape} --limits 0.2"),
        &["--limits needs two numbers"],
    );
}
