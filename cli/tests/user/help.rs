//! Help, completions and manual pages.

use crate::common::Place;
use ferrosz::Codec;

/// Commands whose help is to be read on one screen.
const COMMANDS: [&str; 11] = [
    "compress",
    "decompress",
    "update",
    "compact",
    "check",
    "verify",
    "info",
    "bench",
    "report",
    "completions",
    "man",
];

/// Lines of a screen.
const SCREEN: usize = 40;

fn help(place: &Place, line: &str) -> String {
    let output = place
        .command(&line.split(' ').collect::<Vec<_>>())
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_fits_a_screen() {
    let place = Place::new();
    let mut all = vec![help(&place, "--help")];
    all.extend(COMMANDS.map(|command| help(&place, &format!("{command} --help"))));
    for text in all {
        let lines = text.lines().count();
        assert!(lines <= SCREEN, "{lines} lines:\n{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 120),
            "{text}"
        );
    }
    let text = help(&place, "compress --help");
    assert!(
        text.contains("Examples:") && text.contains("--out-dir DIR"),
        "{text}"
    );
    assert!(
        !Codec::ALL
            .iter()
            .any(|codec| text.contains(&format!("- {codec}: "))),
        "{text}"
    );
}

#[test]
fn shells_complete_commands_and_flags() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script =
            String::from_utf8(place.succeed(&format!("completions {shell}")).stdout).unwrap();
        for word in ["decompress", "salvage", "range"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn manual_pages_are_roff() {
    let place = Place::new();
    let page = help(&place, "man");
    assert!(
        page.contains(".TH ferrosz 1") && page.contains("decompress"),
        "{page}"
    );
    for command in COMMANDS {
        let page = help(&place, &format!("man {command}"));
        assert!(page.contains(&format!(".TH ferrosz-{command} 1")), "{page}");
    }
    place.fail(2, "man tea", &["'tea' is no command"]);
}
