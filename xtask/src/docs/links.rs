//! Links of documents. A link leads to a file, and to a heading where it names one; so does an address of this repository.
//! The book has the chapters that [`CONTENTS`] lists: its pages on the web have no other files, so a chapter links all else
//! by its address.

use crate::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The list of the book's chapters, and the folders whose pages must all be among them.
const CONTENTS: &str = "docs/SUMMARY.md";
const CHAPTERS: [&str; 2] = ["docs/book/", "docs/measurements/"];

/// Addresses of files of this repository.
const REPOSITORY: [&str; 3] = [
    "https://github.com/ferrosz/ferrosz/blob/main/",
    "https://github.com/ferrosz/ferrosz/tree/main/",
    "https://raw.githubusercontent.com/ferrosz/ferrosz/main/",
];

/// The documents of the repository, by their paths.
pub struct Documents {
    root: PathBuf,
    texts: BTreeMap<String, String>,
    chapters: BTreeSet<String>,
}

impl Documents {
    /// Reads the documents among these files. A page that includes another file has its text.
    pub fn read(root: &Path, files: &[String]) -> Result<Self, Failure> {
        let mut texts = BTreeMap::new();
        for path in files.iter().filter(|file| file.ends_with(".md")) {
            let text = fs::read_to_string(root.join(path))?;
            let text = match included(&text) {
                Some(file) => fs::read_to_string(root.join(from(path, file)))?,
                None => text,
            };
            texts.insert(path.clone(), text);
        }
        let contents = texts.get(CONTENTS).map(String::as_str).unwrap_or_default();
        let listed = links(contents)
            .into_iter()
            .map(|link| from(CONTENTS, &link));
        Ok(Self {
            root: root.to_owned(),
            chapters: listed.collect(),
            texts,
        })
    }

    /// Paths and texts of all documents.
    pub fn texts(&self) -> impl Iterator<Item = (&String, &String)> {
        self.texts.iter()
    }

    /// A line for each fault.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, text) in &self.texts {
            let of_page = |fault: String| format!("{path}: {fault}");
            faults.extend(
                (links(text).iter()).filter_map(|link| self.fault(path, link).map(of_page)),
            );
            let is_page_of_book = CHAPTERS.iter().any(|folder| path.starts_with(folder));
            if is_page_of_book && !self.chapters.contains(path) {
                faults.push(format!("{CONTENTS} does not list {path}"));
            }
        }
        faults
    }

    /// What is wrong with a link of a document.
    fn fault(&self, document: &str, link: &str) -> Option<String> {
        let at = REPOSITORY.iter().find_map(|base| link.strip_prefix(base));
        if at.is_none() && link.contains("://") {
            return None;
        }
        let (file, heading) = at
            .unwrap_or(link)
            .split_once('#')
            .unwrap_or((at.unwrap_or(link), ""));
        let target = match (at, file) {
            (Some(_), file) => from("", file),
            (None, "") => document.to_owned(),
            (None, file) => from(document, file),
        };
        if !self.root.join(&target).exists() {
            return Some(format!("nothing is at {link}"));
        }
        let leaves_the_book =
            at.is_none() && self.chapters.contains(document) && !self.is_of_book(&target);
        if leaves_the_book {
            return Some(format!("{link} is no chapter: link its address"));
        }
        let text = self.texts.get(&target)?;
        let is_there = heading.is_empty() || headings(text).contains(heading);
        (!is_there).then(|| format!("no heading is at {link}"))
    }

    /// Whether the book has a file: a chapter, or one that is no document, such as a picture.
    fn is_of_book(&self, file: &str) -> bool {
        let is_beside =
            file.starts_with("docs/") && !file.ends_with(".md") && self.root.join(file).is_file();
        self.chapters.contains(file) || is_beside
    }
}

/// The file that is all of a page: `{{#include FILE}}`.
fn included(text: &str) -> Option<&str> {
    let file = text
        .trim()
        .strip_prefix("{{#include ")?
        .strip_suffix("}}")?;
    Some(file.trim())
}

/// The path of what a document links.
fn from(document: &str, link: &str) -> String {
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}

/// The lines of a text outside of blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of a document's links, except links to Rust items.
pub fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<&str> = prose(text).collect();
    for paragraph in lines.join("\n").split("\n\n") {
        // What is between two backquotes is code.
        let words: String = paragraph.split('`').step_by(2).collect();
        let targets = words
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let is_link = |link: &&str| !link.contains("::") && !link.contains(char::is_whitespace);
        found.extend(targets.filter(is_link).map(str::to_owned));
    }
    found
}

/// The names of a document's headings, as GitHub and mdBook make them of their words.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let titles = prose(text).filter_map(|line| {
        line.trim_start_matches('#')
            .strip_prefix(' ')
            .filter(|_| line.starts_with('#'))
    });
    for title in titles {
        let letters = title.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
        let name: String = letters.flat_map(char::to_lowercase).collect();
        let again = |count: usize| {
            if count == 0 {
                name.clone()
            } else {
                format!("{name}-{count}")
            }
        };
        let free = (0..).map(again).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faults of documents in a folder of their own.
    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let root =
            std::env::temp_dir().join(format!("ferrosz-links-{}-{:p}", std::process::id(), files));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let names: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let faults = Documents::read(&root, &names).map(|documents| documents.faults());
        fs::remove_dir_all(root).unwrap();
        faults.unwrap()
    }

    #[test]
    fn targets_are_those_of_links_outside_of_code() {
        let text = "[a](src/lib.rs) [`b`](gone.md#top) `x[1](2 3)` [c](https://x.org) [d](a::B) `e\nf` ![](p.png)\n\
            ```text\n[e](f.md)\n```\n";
        assert_eq!(
            links(text),
            ["src/lib.rs", "gone.md#top", "https://x.org", "p.png"]
        );
    }

    #[test]
    fn names_of_headings_are_those_of_github() {
        let text = "# What `verify` says\n## Files of NetCDF, HDF5 and Zarr\n## Why?\n## Why?\n#no\n```sh\n# no\n```\n";
        let names = [
            "files-of-netcdf-hdf5-and-zarr",
            "what-verify-says",
            "why",
            "why-1",
        ];
        assert!(headings(text).iter().eq(names));
    }

    #[test]
    fn good_links_have_no_faults() {
        let book = "[b](b.md#here) [c](format/c.md#there) [d](../p.svg) [self](#top) \
            [e](https://github.com/ferrosz/ferrosz/blob/main/src/x.md#deep)\n# Top\n";
        let files = [
            (
                CONTENTS,
                "[a](book/a.md) [b](book/b.md) [c](book/format/c.md)",
            ),
            ("docs/book/a.md", book),
            ("docs/book/b.md", "# Here"),
            ("docs/book/format/c.md", "{{#include ../../../src/x.md}}\n"),
            ("docs/p.svg", "<svg/>"),
            ("src/x.md", "# There\n## Deep\n"),
            ("README.md", "[a](docs/book/a.md#top) [folder](docs/book)"),
        ];
        assert_eq!(faults(&files), [""; 0]);
    }

    #[test]
    fn each_fault_is_found() {
        let repository = "https://github.com/ferrosz/ferrosz/blob/main";
        let book = format!(
            "[1](gone.md) [2](#gone) [3](../../src/x.md) [4]({repository}/gone.md) [5]({repository}/src/x.md#gone)"
        );
        let files = [
            (CONTENTS, "[a](book/a.md)"),
            ("docs/book/a.md", book.as_str()),
            ("docs/book/b.md", "# Here"),
            ("src/x.md", "# There"),
        ];
        let found = faults(&files);
        let expected = [
            "docs/book/a.md: nothing is at gone.md",
            "docs/book/a.md: no heading is at #gone",
            "docs/book/a.md: ../../src/x.md is no chapter: link its address",
            &format!("docs/book/a.md: nothing is at {repository}/gone.md"),
            &format!("docs/book/a.md: no heading is at {repository}/src/x.md#gone"),
            "docs/SUMMARY.md does not list docs/book/b.md",
        ];
        assert_eq!(found, expected);
    }
}
