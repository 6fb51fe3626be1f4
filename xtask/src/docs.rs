//! `cargo xtask check docs`: the API pages build without a warning and contain only this project's items, and links of
//! documents lead to existing files, code that documents quote is that of its file, and the recipes for additions name the
//! files that their toys change.

mod excerpts;
mod recipes;

use crate::{Failure, root, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Folders of documents.
const DOCUMENTS: [&str; 13] = [
    "",
    "bindings/cust",
    "codec",
    "cuszp",
    "docs",
    "docs/decisions",
    "docs/measurements",
    "examples/first-kernel",
    "examples/rust-cuda",
    "gpu-kernels",
    "host",
    "simt",
    "stages",
];

/// Builds the pages. Refuses dead links of documents and of the front page, and pages of other crates.
pub fn check() -> Result<(), Failure> {
    for folder in DOCUMENTS {
        documents(&root().join(folder))?;
    }
    recipes::check()?;
    let pages = root().join("target/doc/ferrosz");
    let _ = fs::remove_dir_all(&pages);
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--quiet", "--workspace", "--no-deps"]))?;
    let front = fs::read_to_string(pages.join("index.html"))?;
    let dead: Vec<&str> = (links(&front).into_iter())
        .filter(|link| is_dead(&pages, link))
        .collect();
    if !dead.is_empty() {
        return Err(format!("the front page has dead links: {}", dead.join(", ")).into());
    }
    if pages.join("cuda/cudarc").exists() {
        return Err("the pages of cudarc are among those of ferrosz".into());
    }
    Ok(())
}

/// Refuses links of a folder's documents to missing files, and code that is not as in its file.
fn documents(folder: &Path) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        excerpts::check(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let dead: Vec<&str> = (markdown_links(&text).into_iter())
            .filter(|link| is_dead(folder, link))
            .collect();
        if !dead.is_empty() {
            let dead = dead.join(", ");
            return Err(format!("{} has dead links: {dead}", path.display()).into());
        }
    }
    Ok(())
}

/// The targets of a document's links, except links to Rust items.
fn markdown_links(text: &str) -> Vec<&str> {
    (text.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("::") && !link.contains(char::is_whitespace))
        .collect()
}

/// The targets of a page's links.
fn links(page: &str) -> Vec<&str> {
    (page.split("href=\"").skip(1))
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// Whether a relative link leads to no file. Scripts of rustdoc compose links with `${`, which are not checked.
fn is_dead(folder: &Path, link: &str) -> bool {
    let file = link.split('#').next().unwrap_or_default();
    let is_elsewhere = file.contains("://") || file.contains("${");
    !is_elsewhere && !folder.join(file).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_no_dead_links_and_quote_their_files() {
        for folder in DOCUMENTS {
            documents(&root().join(folder)).unwrap();
        }
        for page in [
            "README.md",
            "gpu-kernels/README.md",
            "bindings/cust/README.md",
        ] {
            let text = fs::read_to_string(root().join(page)).unwrap();
            assert!(excerpts::check(&text).unwrap() > 0, "{page} quotes nothing");
        }
    }

    #[test]
    fn dead_links_of_documents_are_found() {
        let text = "[a](src/lib.rs) [b](gone.md#top) `x[1](2 3)` [c](https://x.org) [d](a::B)";
        let found = markdown_links(text);
        assert_eq!(found, ["src/lib.rs", "gone.md#top", "https://x.org"]);
        let dead = |link: &&&str| is_dead(&root().join("host"), link);
        assert_eq!(
            found.iter().filter(dead).collect::<Vec<_>>(),
            [&"gone.md#top"]
        );
    }

    #[test]
    fn dead_links_are_found() {
        let page = r##"<a href="src/lib.rs#L1">a</a><a href="docs/testing.md">b</a><a href="https://x.org/y">c</a>
            <a href="#here">d</a>"##;
        let found = links(page);
        assert_eq!(
            found,
            [
                "src/lib.rs#L1",
                "docs/testing.md",
                "https://x.org/y",
                "#here"
            ]
        );
        let dead = |link: &&&str| is_dead(&root().join("host"), link);
        assert_eq!(
            found.iter().filter(dead).collect::<Vec<_>>(),
            [&"docs/testing.md"]
        );
    }
}
