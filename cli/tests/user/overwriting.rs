//! No file is replaced unasked, and none is left half-written.

use crate::common::{Place, npy, stderr};
use std::fs;

/// A folder with `in.npy` and its stream `in.fsz`, and an output `out` that is precious.
fn place() -> Place {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy in.fsz --abs 0.01");
    place.put("out", b"precious");
    place
}

const WRITING: [&str; 4] = [
    "compress in.npy out --abs 0.01",
    "decompress in.fsz out",
    "compact in.fsz out",
    "cuszp compress in.npy out --abs 0.01 --mode plain",
];

fn fail(place: &Place, line: &str, words: &[&str]) {
    let before = place.names();
    let output = place.run_as_is(line);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{line}: {said}");
    for word in words {
        assert!(said.contains(word), "{line}: no '{word}' in: {said}");
    }
    assert!(!said.contains(".part"), "{said}");
    assert_eq!(place.names(), before);
}

#[test]
fn files_are_replaced_only_if_asked() {
    let place = place();
    for line in WRITING {
        fail(&place, line, &["the file out exists", "--force"]);
        assert_eq!(place.get("out"), b"precious");
        let output = place.run_as_is(&format!("{line} --force"));
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        assert_ne!(place.get("out"), b"precious");
        place.put("out", b"precious");
    }
}

#[cfg(unix)]
#[test]
fn links_and_files_that_are_read_only_are_not_replaced() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = place();
    symlink("out", place.path("live")).unwrap();
    symlink("gone", place.path("dangling")).unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    for force in ["", " --force"] {
        let line = |out: &str| format!("decompress in.fsz {out}{force}");
        fail(
            &place,
            &line("dangling"),
            &["dangling is a link to gone", "remove the link"],
        );
        assert!(
            fs::symlink_metadata(place.path("dangling"))
                .unwrap()
                .is_symlink()
        );
        fail(&place, &line("folder"), &["folder is a folder"]);
    }
    fail(
        &place,
        "decompress in.fsz live",
        &["the link live exists", "--force"],
    );
    assert_eq!(place.get("out"), b"precious");
    fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o444)).unwrap();
    fail(
        &place,
        "decompress in.fsz out --force",
        &["out is read-only"],
    );
    fail(
        &place,
        "decompress in.fsz live --force",
        &["live is read-only"],
    );
    assert_eq!(place.get("out"), b"precious");
}

#[cfg(target_os = "linux")]
#[test]
fn errors_name_the_output_and_no_other_file() {
    let place = place();
    // A file system that no process can write to, whoever runs it.
    let output = place.run_as_is("decompress in.fsz /proc/ferrosz");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write /proc/ferrosz"), "{said}");
    assert!(
        !said.contains(".part") && !said.contains(".ferrosz-"),
        "{said}"
    );
}
