//! Code that documents quote: behind a line `<!-- from FILE -->` a block has lines of this file. `// ...` stands for lines
//! that are left out.

use crate::{Failure, root};
use std::fs;

const FROM: &str = "<!-- from ";
const LEFT_OUT: &str = "// ...";

/// Refuses quotes of a document that are not in their files; returns how many there are.
pub fn check(document: &str) -> Result<usize, Failure> {
    let mut quotes = 0;
    for rest in document.split(FROM).skip(1) {
        let (file, rest) = rest.split_once(" -->").ok_or("a quote of no file")?;
        let source = fs::read_to_string(root().join(file));
        let source = source.map_err(|error| format!("{file} is quoted: {error}"))?;
        let block = rest.trim_start().strip_prefix("```").unwrap_or_default();
        let quote = block.split("```").next().unwrap_or_default();
        // Behind the language.
        let (_, quote) = quote.split_once('\n').unwrap_or_default();
        match missing(quote, &source) {
            None => quotes += 1,
            Some(part) => return Err(format!("{file} has not the quoted lines\n{part}").into()),
        }
    }
    Ok(quotes)
}

/// The first part of a quote that is not in the source, behind the parts before it. Indentation does not count.
fn missing(quote: &str, source: &str) -> Option<String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let quoted: Vec<&str> = quote.lines().map(str::trim).collect();
    let mut from = 0;
    for part in quoted.split(|line| *line == LEFT_OUT) {
        let found = lines[from..]
            .windows(part.len().max(1))
            .position(|lines| lines == part);
        match found {
            Some(at) => from += at + part.len(),
            None => return Some(part.join("\n")),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn a() {\n    b();\n    c();\n    d();\n}\n";

    #[test]
    fn lines_that_a_source_has_not_are_found() {
        assert_eq!(missing("b();\nc();\n", SOURCE), None);
        assert_eq!(missing("fn a() {\n// ...\n  d();\n}\n", SOURCE), None);
        // Another line, other neighbours, and another order.
        for quote in ["b(1);\n", "b();\nd();\n", "d();\n// ...\nb();\n", ""] {
            assert!(missing(quote, SOURCE).is_some(), "{quote}");
        }
    }

    #[test]
    fn quotes_of_a_document_are_compared_with_their_files() {
        let quote = |file: &str, line: &str| format!("{FROM}{file} -->\n\n```rust\n{line}\n```\n");
        let good = quote("xtask/src/docs/excerpts.rs", "use std::fs;");
        assert_eq!(check(&format!("Text.\n\n{good}\n{good}")).unwrap(), 2);
        assert!(check(&quote("xtask/src/docs/excerpts.rs", "use std::io;")).is_err());
        let error = check(&quote("gone.rs", "use std::fs;")).unwrap_err();
        assert!(error.to_string().starts_with("gone.rs is quoted"));
    }
}
