//! The recipes for additions in `docs/extending.md`. Each has a toy, an addition that is compiled and tested with the
//! feature `toy`. The source files that name the toy are those that an addition changes: the recipe must list just these,
//! and they must not become more.

use super::links::links;
use crate::{Failure, house, root};
use std::collections::BTreeSet;
use std::fs;

const DOCUMENT: &str = "docs/extending.md";

/// The toys in the order of their recipes, and the most existing files that may name each.
const TOYS: [(&str, usize); 6] = [
    ("ToyPredictor", 4),
    ("ToyCoder", 4),
    ("ToyGeometry", 4),
    ("ToyFitted", 10),
    ("ToyElement", 6),
    ("ToyValue", 5),
];

/// Refuses recipes that are not those of the toys.
pub fn check() -> Result<(), Failure> {
    let text = fs::read_to_string(root().join(DOCUMENT))?;
    let sources = sources()?;
    all_are_named(&sources)?;
    compare(&text, &sources)
}

/// A source file: its path, and its text.
struct Tracked {
    path: String,
    text: String,
}

/// The tracked source files outside tests.
fn sources() -> Result<Vec<Tracked>, Failure> {
    let is_source = |path: &&String| {
        path.ends_with(".rs") && format!("/{path}").contains("/src/") && !path.starts_with("xtask/")
    };
    let read = |path: &String| -> Result<Tracked, Failure> {
        let text = fs::read_to_string(root().join(path))?;
        let path = path.clone();
        Ok(Tracked { path, text })
    };
    let tracked = house::tracked()?;
    tracked.iter().filter(is_source).map(read).collect()
}

/// The file of the macro that adds all toys to lists, and names none of them.
const ALL_TOYS: &str = "codec/src/toys.rs";

/// Refuses a file that has something of a toy, and names none.
fn all_are_named(sources: &[Tracked]) -> Result<(), Failure> {
    let names_one = |text: &str| TOYS.iter().any(|(toy, _)| names(text, toy));
    for Tracked { path, text } in sources {
        if path != ALL_TOYS && text.contains("\"toy\"") && !names_one(text) {
            return Err(format!("{path} has something of a toy, and names none").into());
        }
    }
    Ok(())
}

/// Compares the files of each recipe with those that name its toy.
fn compare(text: &str, sources: &[Tracked]) -> Result<(), Failure> {
    let sections: Vec<&str> = text.split("\n## ").skip(1).collect();
    if sections.len() != TOYS.len() {
        return Err(format!("{DOCUMENT} has {} recipes", sections.len()).into());
    }
    for (section, (toy, most)) in sections.iter().zip(TOYS) {
        let listed = steps(section, sources)?;
        let named = files_that_name(toy, sources);
        println!("{toy}: {} files name it, of {most} at most", named.len());
        if listed != named {
            return Err(format!("{DOCUMENT} lists {listed:?} where {named:?} name {toy}").into());
        }
        if named.len() > most {
            let count = named.len();
            return Err(format!("{count} files name {toy}, of {most} at most: {named:?}").into());
        }
    }
    Ok(())
}

/// The files of a recipe's steps. Refuses a step whose file does not hold the text that the step names.
fn steps<'a>(section: &str, sources: &'a [Tracked]) -> Result<BTreeSet<&'a str>, Failure> {
    let mut files = BTreeSet::new();
    for step in section.lines().filter(|line| line.starts_with("| [")) {
        let link = links(step).into_iter().next().unwrap_or_default();
        let file = link.trim_start_matches("../");
        let at = step.split('`').nth(1).unwrap_or_default();
        let has_it = |source: &&Tracked| source.path == file && source.text.contains(at);
        match sources.iter().find(has_it).filter(|_| !at.is_empty()) {
            Some(source) => files.insert(source.path.as_str()),
            None => return Err(format!("{DOCUMENT}: {file} has no `{at}`").into()),
        };
    }
    Ok(files)
}

/// A text without what differs between the spellings of a name.
fn spelled(text: &str) -> String {
    text.to_lowercase().replace(['_', '-'], "")
}

/// Whether a text names a toy in any spelling.
fn names(text: &str, toy: &str) -> bool {
    spelled(text).contains(&spelled(toy))
}

/// The files that name a toy, but those that are the toy's own.
fn files_that_name<'a>(toy: &str, sources: &'a [Tracked]) -> BTreeSet<&'a str> {
    let own = format!("{}.rs", spelled(toy));
    let others = sources
        .iter()
        .filter(|source| !spelled(&source.path).ends_with(&own));
    let named = others.filter(|source| names(&source.text, toy));
    named.map(|source| source.path.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_that_are_not_those_of_the_toys_are_found() {
        let text = fs::read_to_string(root().join(DOCUMENT)).unwrap();
        let mut sources = sources().unwrap();
        compare(&text, &sources).unwrap();
        for (good, stale) in [
            ("`pub enum Geometry`", "`pub enum Geometries`"),
            ("../codec/src/predict.rs", "../codec/src/prediction.rs"),
            ("../codec/src/predict.rs", "../codec/src/pipeline.rs"),
            ("## A geometry of tiles", "# A geometry of tiles"),
        ] {
            assert!(
                compare(&text.replace(good, stale), &sources).is_err(),
                "{stale}"
            );
        }
        all_are_named(&sources).unwrap();
        let mut add = |path: &str, text: &str| {
            let [path, text] = [path, text].map(str::to_owned);
            sources.push(Tracked { path, text });
        };
        // A file that names one more toy, listed or not, and one that has something of a toy without its name.
        add("host/src/more.rs", "Predictor::ToyPredictor => {}");
        add("host/src/hidden.rs", "#[cfg(feature = \"toy\")]");
        assert!(compare(&text, &sources).is_err());
        let step = "| [group.rs](../gpu-kernels/src/predict/group.rs)";
        let more = format!("| [more.rs](../host/src/more.rs) | `Toy` | |\n{step}");
        let error = compare(&text.replacen(step, &more, 1), &sources);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("of 4 at most"), "{error}");
        assert!(all_are_named(&sources).is_err());
    }
}
