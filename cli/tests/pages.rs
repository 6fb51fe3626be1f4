//! The blocks of the shell in the book's pages run: those of a page before its first block of Python, one after the other,
//! in a folder of their own. `bindings/python/tests/test_pages.py` runs the others. A block of text behind one of them is
//! compared with the output, except for times.

use crate::common::{Place, stderr};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A block of shell commands, and its output as the page shows it.
#[derive(Debug, PartialEq)]
struct Block<'a> {
    script: &'a str,
    printed: Option<&'a str>,
}

/// The blocks of a page, up to the first one of Python.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let before = page.split("\n```python\n").next().unwrap_or_default();
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut is_next = false;
    for fenced in before.split("\n```").skip(1).step_by(2) {
        let (language, text) = fenced.split_once('\n').unwrap_or_default();
        match (language, found.last_mut()) {
            ("sh", _) => found.push(Block {
                script: text,
                printed: None,
            }),
            ("text", Some(block)) if is_next => block.printed = Some(text),
            _ => {}
        }
        is_next = language == "sh";
    }
    found
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

/// The words of an output, without times, rates and punctuation.
fn words(printed: &str) -> Vec<&str> {
    let words: Vec<&str> = (printed.split_whitespace())
        .map(|word| word.trim_end_matches([',', ';']))
        .collect();
    let is_unit = |word: &&str| ["s", "ms", "MB/s", "GB/s"].contains(word);
    let is_time = |at: usize| is_unit(&words[at]) || words.get(at + 1).is_some_and(is_unit);
    let others = (0..words.len()).filter(|at| !is_time(*at));
    others.map(|at| words[at]).collect()
}

#[test]
fn the_blocks_of_pages_run_and_print_what_the_pages_say() {
    let pages = pages();
    assert!(pages.len() >= 3, "{pages:?}");
    let mut compared = 0;
    for (path, text) in pages {
        let place = Place::new();
        // The field of the demo, as in a clone.
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
        symlink(demo, place.path("demo")).unwrap();
        for Block { script, printed } in blocks(&text) {
            let output = place.shell(script);
            let at = format!("{}:\n{script}\n{}", path.display(), stderr(&output));
            assert!(output.status.success(), "{at}");
            let said = String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output);
            if let Some(printed) = printed {
                assert_eq!(words(&said), words(printed), "{at}\n{said}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 3, "{compared}");
}

#[test]
fn blocks_end_at_the_first_one_of_python() {
    let page = "a\n```text\nno\n```\n```sh\none\ntwo\n```\n\n```text\nsaid\n```\n```sh,ignore\nno\n```\n```text\nno\n```\n\
        ```sh\nthree\n```\n```python\nno\n```\n```sh\nno\n```\n";
    let found = blocks(page);
    let scripts = found.iter().map(|block| block.script);
    assert!(scripts.eq(["one\ntwo", "three"]), "{found:?}");
    assert_eq!(found[0].printed, Some("said"));
    assert_eq!(found[1].printed, None);
    assert_eq!(
        words("a 1 B; 11 MB/s, 0.02 s on cpu"),
        ["a", "1", "B", "on", "cpu"]
    );
    let place = Place::new();
    assert!(!place.shell("ferrosz info gone.fsz\ntrue").status.success());
}
