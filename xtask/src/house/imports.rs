//! Which files of a crate import each other.

use crate::house::source::{Crate, Import, Source};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate by their modules.
type Modules<'a> = BTreeMap<Vec<String>, &'a Source>;

/// The circles of a crate: the files that can be reached from each other. An import leads to the file that defines the name,
/// also if another file exports it.
pub fn circles(one: &Crate) -> Vec<Vec<String>> {
    let files: Modules<'_> = (one.sources.iter())
        .map(|source| (module(&source.path), source))
        .collect();
    let imported: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> = (files.iter())
        .map(|(own, source)| (own, imports(own, source, &files)))
        .collect();
    let reached: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> = (files.keys())
        .map(|own| (own, reached_from(own, &imported)))
        .collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut known = BTreeSet::new();
    for own in files.keys().filter(|own| !own.is_empty()) {
        if known.contains(own) || !reached[own].contains(own) {
            continue;
        }
        let circle = reached[own]
            .iter()
            .filter(|other| reached[*other].contains(own));
        let circle: Vec<_> = circle.copied().collect();
        found.push(circle.iter().map(|file| file.join("::")).collect());
        known.extend(circle);
    }
    found
}

/// The module of a source file; empty for a crate's root.
fn module(path: &str) -> Vec<String> {
    let inner = path.split_once("src/").map_or(path, |(_, inner)| inner);
    let name = inner.trim_end_matches(".rs").trim_end_matches("/mod");
    match name {
        "lib" | "main" => Vec::new(),
        _ => name.split('/').map(str::to_owned).collect(),
    }
}

/// The files that a file imports from.
fn imports<'a>(
    own: &[String],
    source: &Source,
    files: &'a Modules<'_>,
) -> BTreeSet<&'a Vec<String>> {
    let defining =
        |import: &Import| defining(&whole(own, &import.path, files)?, files, MOST_EXPORTS);
    let found = source.imports.iter().filter_map(defining);
    found.filter(|module| *module != own).collect()
}

/// A name is exported by so many files at most, one after the other.
const MOST_EXPORTS: usize = 8;

/// A path from the crate's root; none if it leads to another crate.
fn whole(own: &[String], path: &[String], files: &Modules<'_>) -> Option<Vec<String>> {
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([own, &path[1..]].concat()),
        "super" => {
            let ups = path.iter().take_while(|name| *name == "super").count();
            let kept = own.len().saturating_sub(ups);
            Some([&own[..kept], &path[ups..]].concat())
        }
        module => {
            let of_child = [own, &[module.to_owned()]].concat();
            files.contains_key(&of_child).then(|| [own, path].concat())
        }
    }
}

/// The file that defines what a path names.
fn defining<'a>(path: &[String], files: &'a Modules<'_>, left: usize) -> Option<&'a Vec<String>> {
    let prefixes = (0..=path.len()).rev();
    let (module, source) = prefixes
        .filter_map(|length| files.get_key_value(&path[..length]))
        .next()?;
    let name = path.get(module.len());
    let is_own = |export: &&Import| export.name.as_ref() == name;
    let exported = source.exports.iter().find(is_own);
    let exported = exported.filter(|_| name.is_some() && left > 0);
    let there =
        exported.and_then(|export| defining(&whole(module, &export.path, files)?, files, left - 1));
    // What the root defines by itself is little.
    there.or_else(|| Some(module).filter(|module| !module.is_empty()))
}

/// All files that can be reached by one import or more.
fn reached_from<'a>(
    own: &Vec<String>,
    imported: &BTreeMap<&'a Vec<String>, BTreeSet<&'a Vec<String>>>,
) -> BTreeSet<&'a Vec<String>> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&Vec<String>> = imported[own].iter().copied().collect();
    while let Some(file) = next.pop() {
        if reached.insert(file) {
            next.extend(imported[file].iter().copied());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let source = |(path, text): &(&str, &str)| Source::of_text(path, text).unwrap();
        circles(&Crate {
            folder: String::new(),
            sources: files.iter().map(source).collect(),
        })
    }

    #[test]
    fn a_circle_may_lead_through_another_export() {
        let files = [
            ("src/lib.rs", "mod a;\nmod b;"),
            ("src/a.rs", "mod inner;\npub use inner::Inner;"),
            ("src/a/inner.rs", "use crate::b::Of;\npub struct Inner(Of);"),
        ];
        let imports_back = ("src/b.rs", "use crate::a::Inner;\npub struct Of;");
        let imports_nothing = ("src/b.rs", "pub struct Of;");
        let [circle] = &circles_of(&[&files[..], &[imports_back]].concat())[..] else {
            panic!("not one circle");
        };
        assert_eq!(circle[..], ["a::inner", "b"]);
        assert!(circles_of(&[&files[..], &[imports_nothing]].concat()).is_empty());
    }
}
