//! Arrays of many dimensions, and in Fortran order; updates of the right shape.

use crate::common::{Place, npy, npy_header, raw};
use ferrosz::codec::container::extents::MAX_RANK;

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|i| (i as f32).to_le_bytes()).collect()
}

#[test]
fn four_dimensions_and_more_are_kept() {
    let place = Place::new();
    for (shape, dims) in [
        ("(2, 3, 4, 5)", "2,3,4,5"),
        ("(2, 3, 4, 5, 6)", "2,3,4,5,6"),
        ("(2, 1, 2, 3, 2, 2, 3, 2)", "2,1,2,3,2,2,3,2"),
    ] {
        let lengths: Vec<usize> = dims
            .split(',')
            .map(|length| length.parse().unwrap())
            .collect();
        let values = numbers(lengths.iter().product());
        place.put(
            "in.npy",
            &[npy_header("<f4", "False", shape), values.clone()].concat(),
        );
        place.put("in.raw", &values);
        place.succeed("compress in.npy a.fsz --abs 0.1");
        place.succeed(&format!(
            "compress in.raw b.fsz --abs 0.1 --dtype f32 --dims {dims}"
        ));
        assert_eq!(place.get("a.fsz"), place.get("b.fsz"));
        assert_eq!(
            place.json("info a.fsz --json")["dims"],
            serde_json::json!(lengths)
        );
        place.succeed("decompress a.fsz out.npy");
        assert!(String::from_utf8_lossy(&place.get("out.npy")[..128]).contains(shape));
        assert_eq!(place.json("verify in.npy a.fsz --json")["kept"], true);
        // The last place of each dimension: the last element.
        let last: Vec<String> = lengths
            .iter()
            .map(|length| format!("{}:", length - 1))
            .collect();
        place.succeed(&format!(
            "decompress a.fsz part.raw --box {}",
            last.join(",")
        ));
        place.succeed("decompress a.fsz whole.raw");
        let whole = place.get("whole.raw");
        assert_eq!(place.get("part.raw"), whole[whole.len() - 4..]);
    }
}

#[test]
fn more_dimensions_than_there_can_be_are_merged() {
    let place = Place::new();
    let lengths = ["2"; MAX_RANK + 1];
    let shape = format!("({})", lengths.join(", "));
    let values = numbers(1 << lengths.len());
    place.put(
        "in.npy",
        &[npy_header("<f4", "False", &shape), values].concat(),
    );
    place.succeed("compress in.npy a.fsz --abs 0.1");
    let mut dims = [2; MAX_RANK];
    dims[0] = 4;
    assert_eq!(
        place.json("info a.fsz --json")["dims"],
        serde_json::json!(dims)
    );
    place.succeed("verify in.npy a.fsz");
}

#[test]
fn fortran_order_is_the_same_array() {
    let place = Place::new();
    // Element [z][y][x] is 100 z + 10 y + x; in Fortran order z runs fastest.
    let value = |z: usize, y: usize, x: usize| ((100 * z + 10 * y + x) as f32).to_le_bytes();
    let (mut c, mut fortran) = (Vec::new(), Vec::new());
    for z in 0..3 {
        for y in 0..4 {
            (0..5).for_each(|x| c.extend(value(z, y, x)));
        }
    }
    for x in 0..5 {
        for y in 0..4 {
            (0..3).for_each(|z| fortran.extend(value(z, y, x)));
        }
    }
    let file = |order, values: &[u8]| [&npy_header("<f4", order, "(3, 4, 5)")[..], values].concat();
    place.put("c.npy", &file("False", &c));
    place.put("fortran.npy", &file("True", &fortran));
    place.succeed("compress c.npy c.fsz --abs 0");
    place.succeed("compress fortran.npy fortran.fsz --abs 0");
    assert_eq!(place.get("c.fsz"), place.get("fortran.fsz"));
    place.succeed("verify fortran.npy c.fsz");
    // What comes out is in C order.
    place.succeed("decompress fortran.fsz out.npy");
    assert!(place.get("out.npy").ends_with(&c));
    assert!(
        String::from_utf8_lossy(&place.get("out.npy")[..128]).contains("'fortran_order': False")
    );
}

#[test]
fn an_update_has_the_shape_of_what_it_replaces() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.01 --codec plain");
    let before = place.get("a.fsz");
    let file = |shape: &str, count| [npy_header("<f4", "False", shape), numbers(count)].concat();
    place.put("turned.npy", &file("(3, 2)", 6));
    place.put("line.npy", &file("(6,)", 6));
    place.put("right.npy", &file("(2, 1, 3)", 6));
    place.put("also.npy", &file("(2, 3)", 6));
    for name in ["turned", "line"] {
        let words = ["3 values", "their order would be another", "transpose"];
        let line = format!("update a.fsz {name}.npy --box 2:4,7:8,30:33");
        let words: &[&str] = &words[1..];
        place.fail(1, &line, words);
    }
    place.fail(1, "update a.fsz turned.npy --elements 0..6", &["3,2", "6"]);
    assert!(place.get("a.fsz") == before);
    for name in ["right.npy", "also.npy"] {
        place.put("a.fsz", &before);
        place.succeed(&format!("update a.fsz {name} --box 2:4,7:8,30:33"));
        assert!(place.get("a.fsz") != before);
    }
    // All elements are the array itself.
    place.succeed("update a.fsz in.npy --elements 0..7400");
    // Raw values have no shape.
    place.put("in.raw", &raw("f32")[..24]);
    place.succeed("update a.fsz in.raw --box 2:4,7:8,30:33");
}
