//! Messages about input that is no array of floats.

use crate::common::{Place, npy, npy_header, raw};

#[test]
fn other_formats_are_told_by_their_first_bytes() {
    let place = Place::new();
    for (magic, words) in [
        (&b"PK\x03\x04"[..], &["zip", ".npz", "numpy.load"][..]),
        (b"\x89HDF\r\n\x1a\n", &["HDF5 or NetCDF-4", "FILE:NAME"]),
        (b"CDF\x01", &["NetCDF-3"]),
        (b"CDF\x05", &["NetCDF-3"]),
        (b"GRIB\0\0", &["GRIB", "cfgrib"]),
        (b"SIMPLE  =    T", &["FITS", "astropy"]),
        (b"II*\0", &["TIFF"]),
        (b"\x1f\x8b\x08\0", &["gzip", "pipe"]),
        (b"\x28\xb5\x2f\xfd", &["zstd", "pipe"]),
        (
            b"\x89FSZ\r\n\x1a\n",
            &["already a ferrosz stream", "decompress"],
        ),
    ] {
        let bytes = [magic, &[0; 90]].concat();
        place.put("in.dat", &bytes);
        place.put("in.npy", &bytes);
        for line in [
            "compress in.dat out --abs 1".to_owned(),
            "compress in.npy out --abs 1".to_owned(),
            "compress in.dat out --abs 1 --dtype f32 --dims 7".to_owned(),
        ] {
            place.fail(1, &line, &[&["not an array"], words].concat());
        }
        let piped = place.pipe("compress - out --abs 1", &bytes);
        assert_eq!(piped.status.code(), Some(1));
    }
}

#[test]
fn raw_values_that_begin_like_a_short_magic_are_values() {
    let place = Place::new();
    let mut values = raw("f32");
    values[..4].copy_from_slice(b"PK\x03\x04");
    place.put("in.raw", &values);
    place.succeed("compress in.raw a.fsz --dtype f32 --dims 5,40,37 --abs 0");
}

#[test]
fn an_npy_file_of_any_name_is_one() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("in.dat", &npy("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.01");
    place.succeed("compress in.dat b.fsz --abs 0.01");
    assert_eq!(place.get("a.fsz"), place.get("b.fsz"));
}

#[test]
fn each_type_is_converted_in_its_own_way() {
    let place = Place::new();
    for (descr, words) in [
        ("'<c32'", &["complex of longdouble", "complex128"][..]),
        ("'|i1'", &["int8", "astype('int16')"]),
        ("'<i8'", &["int64", "2**53"]),
        ("'|b1'", &["bool", "packbits"]),
        ("'|O'", &["Python objects", "tolist"]),
        ("[('t', '<f4'), ('p', '<f4')]", &["records", "a['t']"]),
    ] {
        let header = npy_header("<f4", "False", "(2,)");
        let text = String::from_utf8_lossy(&header[10..]).replace("'<f4'", descr);
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        place.put("in.npy", &bytes);
        place.fail(1, "compress in.npy out --abs 1", words);
    }
    let big: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_be_bytes()).collect();
    let little: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect();
    place.put(
        "big.npy",
        &[npy_header(">f4", "False", "(2, 3)"), big].concat(),
    );
    place.succeed("compress big.npy a.fsz --abs 0");
    place.succeed("decompress a.fsz out.raw");
    assert_eq!(place.get("out.raw"), little);
}
