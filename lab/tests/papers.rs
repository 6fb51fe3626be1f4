//! `ferrosz-lab papers` on the CPU.

use crate::common::{Place, field, npy};
use ferrosz_cuszp::aatrox;
use serde_json::Value;

fn points(found: &Value) -> &[Value] {
    found["points"].as_array().unwrap()
}

#[test]
fn points_have_the_length_and_the_psnr_of_their_streams() {
    let place = Place::new();
    place.put("a.npy", &npy("f32"));
    let found = place.json("papers NYX=a.npy --range 1e-2,1e-3 --repeat 1 --json --quiet");
    assert_eq!(points(&found).len(), 11 * 2);
    let values: Vec<f32> = field().into_iter().map(|value| value as f32).collect();
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (min, max) = (
        finite().fold(f32::MAX, f32::min),
        finite().fold(f32::MIN, f32::max),
    );
    let range = max - min;
    for of_range in [1e-2f32, 1e-3] {
        let params = aatrox::Params {
            elements: values.len() as u64,
            error: of_range * range,
        };
        let stream = aatrox::compress(&params, &values).unwrap();
        let decoded: Vec<f32> = aatrox::decompress(&params, &stream).unwrap();
        let pairs = values.iter().zip(&decoded).filter(|(x, _)| x.is_finite());
        let squares = pairs.map(|(x, y)| f64::from(x - y).powi(2));
        let mean = squares.sum::<f64>() / finite().count() as f64;
        let psnr = 20.0 * f64::from(range).log10() - 10.0 * mean.log10();
        let of_aatrox = |point: &&Value| {
            point["stream"] == "AATROX"
                && (point["range"].as_f64().unwrap() / f64::from(of_range) - 1.0).abs() < 1e-6
        };
        let point = points(&found).iter().find(of_aatrox).unwrap();
        assert_eq!(point["stream_bytes"], stream.len());
        assert!(
            (point["psnr"].as_f64().unwrap() - psnr).abs() < 1e-3,
            "{point} {psnr}"
        );
    }
}

#[test]
fn the_numbers_of_a_paper_stand_below_ours() {
    let place = Place::new();
    place.put("a.npy", &npy("f32"));
    let run = "papers NYX=a.npy NYX=a.npy --streams AATROX,cuSZp --repeat 1 --only ratios,gains";
    let text = String::from_utf8(place.succeed(run).stdout).unwrap();
    assert!(text.contains("| NYX | AATROX | ours | "), "{text}");
    let theirs =
        "| NYX | AATROX | paper | 15.83 to 127.30, mean 71.13 | 11.27 to 125.01, mean 43.10 | ";
    assert!(text.contains(theirs), "{text}");
    // 71.13 / 66.73, 43.10 / 38.44 and 24.28 / 22.14.
    assert!(
        text.contains("| NYX | AATROX over cuSZp | paper | 1.07 | 1.12 | 1.10 |"),
        "{text}"
    );
    assert!(!text.contains("throughput"), "{text}");
}
