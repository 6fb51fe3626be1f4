//! The first hour with the command: what is typed in other ways, named by habit, or asked too early.

use crate::common::{Place, npy, npy_header, raw, stderr};
use serde_json::json;

#[test]
fn suffixes_do_not_lie() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.1");
    for (output, format) in [
        ("o.nc", "NetCDF"),
        ("o.h5", "HDF5"),
        ("o.zarr", "Zarr"),
        ("o.fsz", "a ferrosz stream"),
        ("o.csv", "text"),
        ("o.npz", "an archive"),
    ] {
        place.fail(
            2,
            &format!("decompress a.fsz {output}"),
            &[output, format, ".npy", "'>'"],
        );
    }
    for output in ["x.npy", "x.nc", "x.H5"] {
        place.fail(
            2,
            &format!("compress in.npy {output} --abs 1"),
            &[output, ".fsz"],
        );
        place.fail(2, &format!("compact a.fsz {output}"), &[output, ".fsz"]);
    }
    place.fail(
        2,
        "cuszp compress in.npy x.npy --abs 1 --mode plain",
        &["x.npy"],
    );
    place.fail(
        2,
        "decompress a.fsz o.nc",
        &["pip install 'ferrosz[archive]'"],
    );
    // A default name is no lie, either.
    std::fs::copy(place.path("a.fsz"), place.path("b.nc.fsz")).unwrap();
    place.succeed("decompress b.nc.fsz");
    assert!(place.get("b.nc.npy").starts_with(b"\x93NUMPY"));
    place.succeed("decompress a.fsz o.f32");
    let piped = place.pipe("decompress - -", &place.get("a.fsz"));
    assert!(piped.stdout == place.get("o.f32"));
}

#[test]
fn values_of_another_type_are_remarked_and_taken() {
    let place = Place::new();
    place.put("a.raw", &raw("f64"));
    let said = stderr(&place.succeed("compress a.raw a.fsz --dtype f32 --dims 10,40,37 --abs 1"));
    assert!(
        said.contains("note: a.raw: many values") && said.contains("--dtype"),
        "{said}"
    );
    let said = stderr(&place.succeed("compress a.raw a.fsz --dtype f64 --dims 5,40,37 --abs 1"));
    assert!(!said.contains("many values"), "{said}");
}

#[test]
fn types_have_the_names_of_numpy() {
    let place = Place::new();
    place.put("a.raw", &raw("f64"));
    for (name, own, dims) in [
        ("float64", "f64", "7400"),
        ("<f8", "f64", "7400"),
        ("float32", "f32", "14800"),
        ("f4", "f32", "14800"),
        ("int16", "i16", "29600"),
        ("<u2", "u16", "29600"),
        ("uint32", "u32", "14800"),
        ("float16", "f16", "29600"),
        ("bfloat16", "bf16", "29600"),
    ] {
        let line =
            format!("compress a.raw a.fsz --dtype {name} --dims {dims} --abs 0 --fast --json");
        assert_eq!(place.json(&line)["dtype"], own, "{name}");
    }
    // Values of another byte order would be read as they are not.
    place.fail(
        2,
        "compress a.raw b.fsz --dtype >f8 --dims 7400 --abs 0",
        &["--dtype", "f64"],
    );
}

#[test]
fn an_index_is_a_box_of_length_1() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.1");
    place.succeed("decompress a.fsz one.raw --box 3:5,7,10:20");
    place.succeed("decompress a.fsz other.raw --box 3:5,7:8,10:20");
    assert_eq!(place.get("one.raw"), place.get("other.raw"));
    assert_eq!(place.get("one.raw").len(), 2 * 10 * 4);
    place.fail(
        1,
        "decompress a.fsz no.raw --box 5,7,1",
        &["--box", "5:6", "0:5"],
    );
}

#[test]
fn the_nearest_command_is_suggested() {
    let place = Place::new();
    for (typed, meant, other) in [
        ("compres", "'compress'", "'compact'"),
        ("decompres", "'decompress'", "'compress'"),
        ("chek", "'check'", "'codecs'"),
    ] {
        let said = stderr(&place.run_as_is(typed));
        assert!(said.contains(meant) && !said.contains(other), "{said}");
    }
}

#[test]
fn folders_of_outputs_are_made() {
    let place = Place::new();
    place.put("a.npy", &npy("f32"));
    place.put("b.npy", &npy("f64"));
    place.succeed("compress a.npy b.npy --abs 1 --out-dir new/streams");
    place.succeed("decompress new/streams/a.npy.fsz new/streams/b.npy.fsz --out-dir back");
    assert!(place.path("back/b.npy").is_file());
}

/// A field around 0, with its coordinates.
fn rain() -> (Vec<f32>, Vec<u8>) {
    let values = (0..20 * 30 * 40).map(|i| ((i as f32 * 0.013).sin() * 3.0 - 1.0).max(0.0));
    let values: Vec<f32> = values.collect();
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    (
        values,
        [npy_header("<f4", "False", "(20, 30, 40)"), bytes].concat(),
    )
}

#[test]
fn verify_counts_what_became_negative_and_where_the_worst_is() {
    let place = Place::new();
    let (values, file) = rain();
    place.put("in.npy", &file);
    place.succeed("compress in.npy a.fsz --abs 0.1 --codec interp");
    place.succeed("decompress a.fsz out.raw");
    let decoded: Vec<f32> = (place.get("out.raw").as_chunks::<4>().0.iter())
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    let pairs = || values.iter().zip(&decoded);
    let negative = pairs().filter(|(x, y)| **x >= 0.0 && **y < 0.0).count();
    let lost = pairs().filter(|(x, y)| **x == 0.0 && **y != 0.0).count();
    let found = place.json("verify in.npy a.fsz --json");
    assert_eq!(found["became_negative"], negative);
    assert_eq!(found["zeros_lost"], lost);
    let errors: Vec<f64> = pairs()
        .map(|(x, y)| (f64::from(*x) - f64::from(*y)).abs())
        .collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let at = errors.iter().position(|error| *error == worst).unwrap();
    let index = [at / 1200, at / 40 % 30, at % 40];
    assert_eq!(found["largest_error_index"], json!(index));
    let printed = String::from_utf8(place.succeed("verify in.npy a.fsz").stdout).unwrap();
    let [z, y, x] = index;
    for words in [
        format!("at [{z}, {y}, {x}], element {at}"),
        match negative {
            0 => "became negative     none".to_owned(),
            _ => format!("{negative} of 24000 values of 0 and above"),
        },
    ] {
        assert!(printed.contains(&words), "no '{words}' in {printed}");
    }
}

#[test]
fn a_bound_of_each_value_has_no_absolute_error() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.succeed("compress in.npy a.fsz --pwrel 1e-3");
    for line in [
        "info a.fsz",
        "verify in.npy a.fsz",
        "bench in.npy --pwrel 1e-3 --repeat 1",
    ] {
        let printed = String::from_utf8(place.succeed(line).stdout).unwrap();
        assert!(
            !printed.contains("inf\n") && !printed.contains("error inf"),
            "{printed}"
        );
        assert!(!printed.contains("its own promised"), "{printed}");
    }
}

#[test]
fn plans_say_what_to_do_about_fill_values() {
    let place = Place::new();
    let mut values = rain().0;
    values[..4000].fill(1e20);
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    place.put(
        "in.npy",
        &[npy_header("<f4", "False", "(20, 30, 40)"), bytes].concat(),
    );
    place.fail(
        1,
        "part plan in.npy t.plan --parts 2 --abs 1",
        &["fill values", "--fill none"],
    );
    place.succeed("part plan in.npy t.plan --parts 2 --abs 1 --fill none");
    let said = stderr(&place.succeed("compress in.npy a.fsz --abs 1"));
    assert!(said.contains("fill values 1e20, any nan"), "{said}");
}

#[test]
fn streams_of_others_name_their_command() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("cuszp compress in.npy a.cuszp --abs 1 --mode plain");
    for line in [
        "info a.cuszp",
        "check a.cuszp",
        "verify in.npy a.cuszp",
        "decompress a.cuszp o.npy",
        "update a.cuszp in.npy --elements 0..1",
    ] {
        let (command, _) = line.split_once(' ').unwrap();
        let advice = format!("`ferrosz cuszp {command}`");
        place.fail(1, line, &["a.cuszp", &advice, "no ferrosz header"]);
    }
}

#[test]
fn devices_are_those_of_the_build() {
    let place = Place::new();
    let help = String::from_utf8(place.run_as_is("compress --help").stdout).unwrap();
    assert!(
        help.contains("cuda:all") && !help.contains("emulator"),
        "{help}"
    );
}
