//! Variables of NetCDF and HDF5 files as inputs. `variables/make.py` made the files, with the libraries of NetCDF and HDF5.

use crate::common::Place;
use ferrosz::{F16, Value};
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};

const NETCDF: [&str; 3] = ["classic.nc", "cdf5.nc", "netcdf4.nc"];

/// A committed file.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/variables")
        .join(name)
}

/// The field of `make.py`: a value for each position.
fn field(z: usize, y: usize, x: usize) -> f64 {
    280.0 + ((7 * z + 3 * y + x) % 32) as f64 * 0.25
}

fn is_missing(y: usize, x: usize) -> bool {
    (4..7).contains(&y) && x >= 5
}

/// Values of the positions of `planes` planes.
fn values(planes: usize, value: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
    let mut all = Vec::new();
    for at in 0..planes * 120 {
        all.push(value(at / 120, at / 12 % 10, at % 12));
    }
    all
}

/// Compresses a variable without loss, and returns its values and what `info` says about the stream.
fn read(place: &Place, variable: &str, flags: &str) -> (Vec<f64>, Json) {
    place.succeed(&format!(
        "compress {variable} a.fsz --abs 0 --quiet {flags}"
    ));
    place.succeed("decompress a.fsz a.raw --quiet");
    let info = place.json("info a.fsz --json");
    let bytes = place.get("a.raw");
    let values = match info["dtype"].as_str() {
        Some("f32") => numbers(&bytes, |b| f64::from(f32::from_le_bytes(b))),
        Some("f64") => numbers(&bytes, f64::from_le_bytes),
        Some("i32") => numbers(&bytes, |b| f64::from(i32::from_le_bytes(b))),
        Some("i16") => numbers(&bytes, |b| f64::from(i16::from_le_bytes(b))),
        Some("u16") => numbers(&bytes, |b| f64::from(u16::from_le_bytes(b))),
        Some("f16") => numbers(&bytes, |b| {
            let bits = u16::from_le_bytes(b);
            F16::from_value_bits(bits.into()).to_number()
        }),
        other => panic!("{other:?}"),
    };
    (values, info)
}

fn numbers<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    let (values, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    values.iter().map(|bytes| number(*bytes)).collect()
}

/// Equality in which NaN is equal to itself.
fn is_same(one: &[f64], other: &[f64]) -> bool {
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits() << 1).collect::<Vec<_>>();
    bits(one) == bits(other)
}

#[test]
fn values_and_fill_values_are_those_of_the_file() {
    let place = Place::new();
    for name in NETCDF {
        let name = file(name).display().to_string();
        // 281 lies within the other values, so nothing but the attribute tells that it stands for missing elements.
        let (found, info) = read(&place, &format!("{name}:t"), "");
        let expected = values(3, |z, y, x| match is_missing(y, x) {
            true => 281.0,
            false => field(z, y, x) + 2.0,
        });
        assert!(is_same(&found, &expected), "{name}");
        assert_eq!(info["dtype"], json!("f32"));
        assert_eq!(info["dims"], json!([3, 10, 12]));
        assert_eq!(info["fill_values"][0], json!(281.0), "{name} {info}");

        let (found, info) = read(&place, &format!("{name}:/two"), "");
        let expected = values(1, |_, y, x| match (y, x) {
            (3, _) => -5.0,
            (_, 4) => -6.0,
            _ => field(0, y, x),
        });
        assert!(is_same(&found, &expected), "{name}");
        assert_eq!(info["dtype"], json!("f64"));
        assert_eq!(
            info["fill_values"].as_array().map(Vec::len),
            Some(3),
            "{info}"
        );

        let (found, info) = read(&place, &format!("{name}:t"), "--fill none");
        assert_eq!((found.len(), &info["fill_values"]), (360, &json!([])));
    }
}

#[test]
fn packed_integers_become_the_values_that_they_stand_for() {
    let place = Place::new();
    for name in NETCDF {
        let name = file(name).display().to_string();
        let (found, info) = read(&place, &format!("{name}:packed"), "");
        let expected = values(3, |z, y, x| match is_missing(y, x) {
            true => f64::NAN,
            false => field(z, y, x),
        });
        assert!(is_same(&found, &expected), "{name}");
        assert_eq!(info["dtype"], json!("f32"));
        assert_eq!(info["fill_values"][0], json!("nan"), "{info}");

        let (found, info) = read(&place, &format!("{name}:packed"), "--packed");
        let expected = values(3, |z, y, x| match is_missing(y, x) {
            true => -32767.0,
            false => (field(z, y, x) - 280.0) * 4.0,
        });
        assert!(is_same(&found, &expected), "{name}");
        assert_eq!(info["dtype"], json!("i16"));
        assert_eq!(info["fill_values"][0], json!(-32767.0), "{info}");

        let (found, info) = read(&place, &format!("{name}:double"), "");
        let expected = values(1, |z, y, x| (field(z, y, x) - 280.0) * 4.0 + 280.0);
        assert!(is_same(&found, &expected), "{name}");
        assert_eq!(info["dtype"], json!("f64"));

        let (found, info) = read(&place, &format!("{name}:unsigned"), "");
        let expected = values(1, |_, y, x| 500.0 * (12 * y + x) as f64);
        assert!(is_same(&found, &expected), "{name}");
        assert_eq!(info["dtype"], json!("u16"));
    }
    let note = place.succeed(&format!(
        "compress {}:packed a.fsz --abs 1",
        file("classic.nc").display()
    ));
    assert!(crate::common::stderr(&note).contains("unpacked to f32"));
}

#[test]
fn groups_and_datasets_without_netcdf_are_read() {
    let place = Place::new();
    let (netcdf, plain) = (file("netcdf4.nc"), file("plain.h5"));
    let whole = values(3, field);
    for (variable, expected) in [
        (format!("{}:inner/long", netcdf.display()), vec![1.0; 120]),
        (
            format!("{}:inner/t", netcdf.display()),
            values(1, |_, y, x| field(1, y, x)),
        ),
        (format!("{}:/whole", plain.display()), whole.clone()),
        (format!("{}:group/big", plain.display()), whole.clone()),
        (format!("{}:half", plain.display()), whole),
        (
            format!("{}:filled", plain.display()),
            values(3, |z, y, x| match is_missing(y, x) {
                true => 281.0,
                false => field(z, y, x) + 2.0,
            }),
        ),
        (format!("{}:number", plain.display()), vec![3.5]),
        (format!("{}:empty", plain.display()), vec![]),
    ] {
        let (found, info) = read(&place, &variable, "");
        assert!(is_same(&found, &expected), "{variable}");
        let fills = match variable.ends_with("filled") {
            true => json!([281.0, "nan"]),
            false => json!([]),
        };
        assert_eq!(info["fill_values"], fills, "{variable}");
    }
}

#[test]
fn outputs_have_the_names_of_variables() {
    let place = Place::new();
    fs::copy(file("netcdf4.nc"), place.path("t.nc")).expect("a file");
    place.succeed("compress t.nc:inner/t t.nc:packed --range 1e-2 --out-dir . --quiet");
    let kept = place.json("verify t.nc:packed t-packed.fsz --json");
    assert_eq!(kept["kept"], true);
    place.succeed("decompress t-inner-t.fsz --quiet");
    assert!(place.names().contains(&"t-inner-t.npy".to_owned()));
    place.succeed("bench t.nc:t --repeat 1 --range 1e-2");
}

#[test]
fn refusals_name_the_cause() {
    let place = Place::new();
    fs::copy(file("netcdf4.nc"), place.path("t.nc")).expect("a file");
    fs::copy(file("plain.h5"), place.path("p.h5")).expect("a file");
    place.put("not.nc", b"no variables here");
    for (status, line, words) in [
        (
            1,
            "compress t.nc a --abs 1",
            &["t.nc is", "FILE:NAME", "inner/t (f64, 10 x 12)"][..],
        ),
        (
            1,
            "compress t.nc:nope a --abs 1",
            &["no variable 'nope'", "two (f64, 10 x 12)"],
        ),
        (1, "compress p.h5:text a --abs 1", &["text"]),
        (1, "compress p.h5:group a --abs 1", &["no variable 'group'"]),
        (
            1,
            "compress not.nc:t a --abs 1",
            &["not.nc:t", "none of NetCDF or HDF5"],
        ),
        (
            1,
            "compress none.nc:t a --abs 1",
            &["none.nc:t", "No such file"],
        ),
        (2, "compress t.nc:t a --abs 1 --dtype f64", &["--dtype"]),
        (2, "compress t.nc:t a --abs 1 --dims 7", &["--dims"]),
        (
            2,
            "compress t.nc:t x.nc:t --abs 1",
            &["x.nc:t", "an output is"],
        ),
        (2, "info t.nc:t", &["a stream is"]),
    ] {
        place.fail(status, line, words);
    }
}

/// A reader of damaged files reports an error or other values; it must not panic or ask for memory that nobody has.
#[test]
fn damaged_files_are_no_panic() {
    let place = Place::new();
    for (name, variables) in [
        ("classic.nc", ["t", "packed"]),
        ("netcdf4.nc", ["t", "inner/t"]),
        ("plain.h5", ["group/big", "half"]),
    ] {
        let sound = fs::read(file(name)).expect("a committed file");
        // Every seventh byte, so that the test takes seconds; the metadata repeat.
        for at in (0..sound.len()).step_by(7) {
            let mut damaged = sound.clone();
            damaged[at] ^= 0xff;
            fs::write(place.path(name), &damaged).expect("a temporary file");
            for variable in variables {
                let _ = ferrosz_cli::variable::read(&place.path(name), variable, false);
            }
        }
        for length in (0..sound.len()).step_by(97) {
            fs::write(place.path(name), &sound[..length]).expect("a temporary file");
            let _ = ferrosz_cli::variable::read(&place.path(name), variables[0], false);
        }
    }
}
