//! `cargo xtask check house`: what the house must not outgrow. Each measure is counted in the tracked files, printed, and
//! compared with its limit. A limit is raised only in a commit of its own that says why.

mod imports;
mod source;

use crate::{Failure, root};
use source::{Crate, Function, Source};
use std::collections::BTreeMap;
use std::process::Command;

/// The most lines of code outside tests, of all crates and of some.
const MOST_LINES: usize = 119_900;
const MOST_LINES_OF: [(&str, usize); 1] = [("host", 36_300)];

/// The most lines of a function outside tests.
const LONGEST_FUNCTION: usize = 80;

/// The most files of a crate that import each other with `use`.
const LARGEST_CIRCLE: usize = 10;

/// The most names that several types of one crate have. Kernels may each have a [`SHARED_NAME`].
const MOST_SHARED_NAMES: usize = 109;
const SHARED_NAME: &str = "Scratch";

/// The most executables of integration tests: one of each crate, and that of the toys, which `cargo test --workspace` leaves
/// out.
const MOST_TEST_EXECUTABLES: usize = 10;

/// The most lines of Markdown of more than [`LONGEST_LINE`] characters.
const MOST_LONG_LINES: usize = 0;
const LONGEST_LINE: usize = 120;

/// A measure: its name, what was counted, its limit, and where most of it is.
struct Measure {
    name: String,
    found: usize,
    limit: usize,
    place: String,
}

/// Counts and prints all measures; refuses those above their limits.
pub fn check() -> Result<(), Failure> {
    let files = tracked()?;
    let crates = Crate::all(&files)?;
    let mut measures = lines(&crates);
    measures.extend([
        functions(&crates),
        circles(&crates),
        names(&crates),
        executables()?,
        markdown(&files)?,
    ]);
    let mut above = Vec::new();
    for Measure {
        name,
        found,
        limit,
        place,
    } in &measures
    {
        println!("{name}: {found}, of {limit} at most; {place}");
        if found > limit {
            above.push(name.as_str());
        }
    }
    match above.is_empty() {
        true => Ok(()),
        false => Err(format!("above their limits: {}", above.join(", ")).into()),
    }
}

/// The files that git tracks, relative to the root.
pub fn tracked() -> Result<Vec<String>, Failure> {
    let listed = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "-z"])
        .output()?;
    if !listed.status.success() {
        return Err("git cannot list the tracked files".into());
    }
    let names = String::from_utf8(listed.stdout)?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

fn lines(crates: &[Crate]) -> Vec<Measure> {
    let of = |one: &Crate| one.sources.iter().map(|source| source.code_lines).sum();
    let counted: Vec<(&str, usize)> = (crates.iter())
        .map(|one| (one.folder.as_str(), of(one)))
        .collect();
    let mut largest = counted.clone();
    largest.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    let shares = largest
        .iter()
        .map(|(name, lines)| format!("{name} {lines}"));
    let mut measures = vec![Measure {
        name: "lines of code outside tests".to_owned(),
        found: counted.iter().map(|(_, lines)| lines).sum(),
        limit: MOST_LINES,
        place: shares.collect::<Vec<_>>().join(", "),
    }];
    for (name, limit) in MOST_LINES_OF {
        let found = counted.iter().find(|(folder, _)| *folder == name);
        measures.push(Measure {
            name: format!("lines of {name}"),
            found: found.map_or(0, |(_, lines)| *lines),
            limit,
            place: format!("{name}/src"),
        });
    }
    measures
}

fn functions(crates: &[Crate]) -> Measure {
    let all = crates.iter().flat_map(|one| &one.sources);
    let of_source = |source: &'_ Source| -> Vec<(Function, String)> {
        let named = |function: &Function| (function.clone(), source.path.clone());
        source.functions.iter().map(named).collect()
    };
    let mut all: Vec<(Function, String)> = all.flat_map(of_source).collect();
    all.sort_by_key(|(function, _)| std::cmp::Reverse(function.lines));
    let places = all.iter().take(5).map(|(function, path)| {
        let Function { name, lines } = function;
        format!("{name} {lines} ({path})")
    });
    Measure {
        name: "lines of the longest function".to_owned(),
        found: all.first().map_or(0, |(function, _)| function.lines),
        limit: LONGEST_FUNCTION,
        place: places.collect::<Vec<_>>().join(", "),
    }
}

fn circles(crates: &[Crate]) -> Measure {
    let all = crates.iter().flat_map(imports::circles);
    let largest = all.max_by_key(Vec::len).unwrap_or_default();
    Measure {
        name: "files of the largest import circle".to_owned(),
        found: largest.len(),
        limit: LARGEST_CIRCLE,
        place: largest.join(", "),
    }
}

fn names(crates: &[Crate]) -> Measure {
    let mut shared = Vec::new();
    for one in crates {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in one.sources.iter().flat_map(|source| &source.types) {
            *counts.entry(name).or_default() += 1;
        }
        let of_several = counts
            .into_iter()
            .filter(|(name, count)| *count > 1 && *name != SHARED_NAME);
        shared.extend(of_several.map(|(name, count)| format!("{}: {name} {count}", one.folder)));
    }
    Measure {
        name: "names of several types of a crate".to_owned(),
        found: shared.len(),
        limit: MOST_SHARED_NAMES,
        place: shared.join(", "),
    }
}

/// The executables of integration tests. The bindings are workspaces of their own.
fn executables() -> Result<Measure, Failure> {
    let described = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .output()?;
    if !described.status.success() {
        return Err("cargo cannot describe the workspace".into());
    }
    let described = String::from_utf8(described.stdout)?;
    Ok(Measure {
        name: "executables of integration tests".to_owned(),
        found: described.matches(r#""kind":["test"]"#).count(),
        limit: MOST_TEST_EXECUTABLES,
        place: "the workspace".to_owned(),
    })
}

fn markdown(files: &[String]) -> Result<Measure, Failure> {
    let mut counts = Vec::new();
    for file in files.iter().filter(|file| file.ends_with(".md")) {
        let text = std::fs::read_to_string(root().join(file))?;
        let is_long = |line: &&str| line.chars().count() > LONGEST_LINE && !is_unbreakable(line);
        let long = text.lines().filter(is_long).count();
        if long > 0 {
            counts.push((long, file));
        }
    }
    counts.sort();
    let places = counts.iter().rev().take(5);
    let places = places.map(|(long, file)| format!("{file} {long}"));
    Ok(Measure {
        name: format!("lines of Markdown over {LONGEST_LINE} characters"),
        found: counts.iter().map(|(long, _)| long).sum(),
        limit: MOST_LONG_LINES,
        place: places.collect::<Vec<_>>().join(", "),
    })
}

/// Whether a line cannot be broken: a row of a table, a picture, or one address.
fn is_unbreakable(line: &str) -> bool {
    line.starts_with('|') || line.starts_with("![") || !line.trim().contains(' ')
}
