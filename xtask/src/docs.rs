//! `cargo xtask check docs`: the API pages build without a warning and contain only this project's items, and links of
//! documents lead to files and headings that exist, code that documents quote is that of its file, and the recipes for
//! additions name the files that their toys change.

mod excerpts;
mod links;
mod recipes;

use crate::{Failure, UNOPTIMISED, house, root, run};
use links::Documents;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds the pages. Refuses dead links of documents and of the front page, and pages of other crates.
pub fn check() -> Result<(), Failure> {
    documents()?;
    recipes::check()?;
    let pages = root().join("target/doc/ferrosz");
    let _ = fs::remove_dir_all(&pages);
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .env("RUSTDOCFLAGS", "-D warnings")
        .envs(UNOPTIMISED)
        .args(["doc", "--quiet", "--workspace", "--no-deps"]))?;
    let front = fs::read_to_string(pages.join("index.html"))?;
    let dead: Vec<&str> = (addresses(&front).into_iter())
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

/// Refuses faults of links in all tracked documents, and code that is not as in its file.
fn documents() -> Result<(), Failure> {
    let documents = Documents::read(&root(), &house::tracked()?)?;
    for (path, text) in documents.texts() {
        excerpts::check(text).map_err(|error| format!("{path}: {error}"))?;
    }
    let faults = documents.faults();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n").into()),
    }
}

/// The targets of a page's links.
fn addresses(page: &str) -> Vec<&str> {
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
        documents().unwrap();
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
    fn dead_links_are_found() {
        let page = r##"<a href="src/lib.rs#L1">a</a><a href="docs/testing.md">b</a><a href="https://x.org/y">c</a>
            <a href="#here">d</a>"##;
        let found = addresses(page);
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
