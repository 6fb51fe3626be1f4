//! What `verify` says beyond the bound.

use crate::common::{Place, npy_header};

/// A plane with zeros, values of both signs around them, NaNs and an infinity.
fn plane() -> Vec<f32> {
    let mut values: Vec<f32> = (0..40 * 50)
        .map(|i| match i % 7 {
            0 => 0.0,
            _ => (i as f32 * 0.05).sin() * 3.0,
        })
        .collect();
    values[100] = f32::NAN;
    values[101] = f32::NAN;
    values[1500] = f32::INFINITY;
    values
}

fn put(place: &Place, name: &str, values: &[f32]) {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    place.put(
        name,
        &[npy_header("<f4", "False", "(40, 50)"), bytes].concat(),
    );
}

#[test]
fn figures_are_those_of_the_values() {
    let place = Place::new();
    let x = plane();
    put(&place, "in.npy", &x);
    place.succeed("compress in.npy a.fsz --abs 0.01 --codec lorenzo");
    place.succeed("decompress a.fsz out.raw");
    let bytes = place.get("out.raw");
    let y: Vec<f32> = (bytes.as_chunks().0.iter())
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    let found = place.json("verify in.npy a.fsz --json");
    let finite = || (x.iter().zip(&y)).filter(|(x, _)| x.is_finite());
    let errors: Vec<f64> = finite()
        .map(|(x, y)| f64::from(*y) - f64::from(*x))
        .collect();
    let n = errors.len() as f64;
    let rmse = (errors.iter().map(|e| e * e).sum::<f64>() / n).sqrt();
    let range = found["range"].as_f64().unwrap();
    let near = |name: &str, wanted: f64| {
        let found = found[name].as_f64().unwrap();
        assert!(
            (found / wanted - 1.0).abs() < 1e-9,
            "{name}: {found} {wanted}"
        );
    };
    near("rmse", rmse);
    near("nrmse", rmse / range);
    let relative = finite()
        .filter(|(x, _)| **x != 0.0)
        .map(|(x, y)| (f64::from(*x) - f64::from(*y)).abs() / f64::from(x.abs()));
    near("largest_relative_error", relative.fold(0.0, f64::max));
    let zeros = x.iter().filter(|x| **x == 0.0).count();
    assert_eq!(found["zeros"], zeros);
    assert_eq!(found["zeros_kept"], zeros);
    assert_eq!(found["signs_flipped"], 0);
    let ssim = found["ssim"].as_f64().unwrap();
    assert!((0.9..1.0).contains(&ssim), "{ssim}");
    let correlation = found["error_autocorrelation"].as_f64().unwrap();
    assert!(correlation.abs() < 0.5, "{correlation}");
    assert_eq!(
        found["bit_for_bit"],
        serde_json::json!([
            { "class": "nan", "count": 2, "kept": 2 },
            { "class": "infinity", "count": 1, "kept": 1 },
        ])
    );
    let text = String::from_utf8(place.succeed("verify in.npy a.fsz").stdout).unwrap();
    for line in [
        "NRMSE               8.947e-4\n",
        "SSIM                0.9999",
        "relative error      ",
        "autocorrelation     ",
        "signs flipped       0\n",
    ] {
        assert!(text.contains(line), "no '{line}' in {text}");
    }
    assert!(
        text.contains(&format!("zeros kept          {zeros} of {zeros}\n")),
        "{text}"
    );
}

#[test]
fn figures_that_do_not_exist_say_why() {
    let place = Place::new();
    put(&place, "nan.npy", &[f32::NAN; 2000]);
    place.succeed("compress nan.npy a.fsz --abs 0.01");
    let text = String::from_utf8(place.succeed("verify nan.npy a.fsz").stdout).unwrap();
    for words in [
        "none: the range is 0",
        "none: no window is finite",
        "none: all errors are equal",
        "none in the original",
    ] {
        assert!(text.contains(words), "no '{words}' in {text}");
    }
    let found = place.json("verify nan.npy a.fsz --json");
    for name in ["ssim", "nrmse", "error_autocorrelation"] {
        assert!(found[name].is_null(), "{name}");
    }
}
