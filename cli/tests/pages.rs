//! The blocks of the shell in the book's pages run: those of a page before its first block of Python, one after the other,
//! in a folder of their own. `bindings/python/tests/test_pages.py` runs the others.

use crate::common::{Place, stderr};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The blocks of a page, up to the first one of Python.
fn blocks(page: &str) -> Vec<&str> {
    let before = page.split("\n```python\n").next().unwrap_or_default();
    let blocks = before.split("\n```sh\n").skip(1);
    blocks
        .filter_map(|rest| rest.split("\n```").next())
        .collect()
}

/// The pages that have such blocks.
fn pages() -> Vec<(PathBuf, String)> {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book");
    let entries = fs::read_dir(book).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let of_text = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let read = of_text.map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    });
    read.filter(|(_, text)| !blocks(text).is_empty()).collect()
}

#[test]
fn the_blocks_of_pages_run() {
    let pages = pages();
    assert!(pages.len() >= 3, "{pages:?}");
    for (path, text) in pages {
        let place = Place::new();
        // The field of the demo, as in a clone.
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
        symlink(demo, place.path("demo")).unwrap();
        for block in blocks(&text) {
            let output = place.shell(block);
            let page = path.display();
            assert!(
                output.status.success(),
                "{page}:\n{block}\n{}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn blocks_end_at_the_first_one_of_python() {
    let page = "a\n```sh\none\ntwo\n```\n```sh,ignore\nno\n```\n```sh\nthree\n```\n```python\nno\n```\n```sh\nno\n```\n";
    assert_eq!(blocks(page), ["one\ntwo", "three"]);
    let place = Place::new();
    assert!(!place.shell("ferrosz info gone.fsz\ntrue").status.success());
}
