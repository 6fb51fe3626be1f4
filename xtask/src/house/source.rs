//! What is counted in one source file.

use crate::{Failure, root};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A crate: a folder with sources in `src`.
pub struct Crate {
    /// Its folder; empty for the crate of the root.
    pub folder: String,
    pub sources: Vec<Source>,
}

/// A source file outside tests.
pub struct Source {
    pub path: String,
    /// Lines that have code, outside tests. Comments and attributes of documentation are none.
    pub code_lines: usize,
    pub functions: Vec<Function>,
    /// The names of the types that it defines.
    pub types: Vec<String>,
    /// What it imports.
    pub imports: Vec<Import>,
    /// What it imports for others: what they import from it is there.
    pub exports: Vec<Import>,
}

/// An imported path, and the name that it has here; none for all names of a module.
pub struct Import {
    pub path: Vec<String>,
    pub name: Option<String>,
}

/// A function with a body.
#[derive(Clone)]
pub struct Function {
    pub name: String,
    pub lines: usize,
}

impl Crate {
    /// All crates whose sources are tracked.
    pub fn all(files: &[String]) -> Result<Vec<Self>, Failure> {
        let mut crates: Vec<Self> = Vec::new();
        for path in files.iter().filter(|path| is_source(path)) {
            let folder = match path.split_once("/src/") {
                Some((folder, _)) => folder.to_owned(),
                None => String::new(),
            };
            let source = Source::read(path)?;
            match crates.iter_mut().find(|one| one.folder == folder) {
                Some(one) => one.sources.push(source),
                None => crates.push(Self {
                    folder,
                    sources: vec![source],
                }),
            }
        }
        Ok(crates)
    }
}

/// Whether a file has code that is not of tests. Toys are: only their test compiles them.
fn is_source(path: &str) -> bool {
    let is_in_src = path.starts_with("src/") || path.contains("/src/");
    let is_of_tests =
        path.contains("/tests/") || path.contains("/toy_") || path.ends_with("/tests.rs");
    is_in_src && path.ends_with(".rs") && !is_of_tests
}

impl Source {
    fn read(path: &str) -> Result<Self, Failure> {
        Self::of_text(path, &std::fs::read_to_string(root().join(path))?)
    }

    /// What is counted in the text of a file.
    pub fn of_text(path: &str, text: &str) -> Result<Self, Failure> {
        let file = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
        let mut found = Found::default();
        for item in &file.items {
            found.visit_item(item);
        }
        let mut lines = BTreeSet::new();
        for tokens in &found.code {
            add_lines(tokens.clone(), &mut lines);
        }
        Ok(Self {
            path: path.to_owned(),
            code_lines: lines.len(),
            functions: found.functions,
            types: found.types,
            imports: found.imports,
            exports: found.exports,
        })
    }
}

/// Adds the lines of tokens. An attribute of documentation is a comment in the source.
fn add_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let (TokenTree::Punct(punct), Some(TokenTree::Group(group))) = (&token, tokens.peek())
            && punct.as_char() == '#'
            && group.stream().to_string().starts_with("doc =")
        {
            tokens.next();
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                lines.extend([group.span_open(), group.span_close()].map(first_line));
                add_lines(group.stream(), lines);
            }
            other => {
                let span = other.span();
                lines.extend(first_line(span)..=last_line(span));
            }
        }
    }
}

fn first_line(span: Span) -> usize {
    span.start().line
}

fn last_line(span: Span) -> usize {
    span.end().line
}

/// What a file has outside tests.
#[derive(Default)]
struct Found {
    code: Vec<TokenStream>,
    functions: Vec<Function>,
    types: Vec<String>,
    imports: Vec<Import>,
    exports: Vec<Import>,
    /// How many items and functions are around the one that is visited.
    depth: usize,
}

impl Found {
    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = last_line(block.span()) + 1 - first_line(signature.span());
        let name = signature.ident.to_string();
        self.functions.push(Function { name, lines });
    }
}

/// Whether an item is compiled for tests alone.
fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let words = attribute
            .meta
            .to_token_stream()
            .to_string()
            .replace(' ', "");
        words == "test" || words.starts_with("cfg(test") || words.starts_with("cfg(all(test")
    })
}

/// The attributes of an item that may be of tests.
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(it) => &it.attrs,
        syn::Item::Enum(it) => &it.attrs,
        syn::Item::Fn(it) => &it.attrs,
        syn::Item::Impl(it) => &it.attrs,
        syn::Item::Macro(it) => &it.attrs,
        syn::Item::Mod(it) => &it.attrs,
        syn::Item::Static(it) => &it.attrs,
        syn::Item::Struct(it) => &it.attrs,
        syn::Item::Trait(it) => &it.attrs,
        syn::Item::Type(it) => &it.attrs,
        syn::Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_of_tests(attributes(item)) {
            return;
        }
        if self.depth == 0 {
            self.code.push(item.to_token_stream());
        }
        match item {
            syn::Item::Struct(it) => self.types.push(it.ident.to_string()),
            syn::Item::Enum(it) => self.types.push(it.ident.to_string()),
            syn::Item::Trait(it) => self.types.push(it.ident.to_string()),
            syn::Item::Type(it) => self.types.push(it.ident.to_string()),
            _ => {}
        }
        self.depth += 1;
        visit::visit_item(self, item);
        self.depth -= 1;
    }

    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.function(&it.sig, &it.block);
        visit::visit_item_fn(self, it);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        if !is_of_tests(&it.attrs) {
            self.function(&it.sig, &it.block);
            visit::visit_impl_item_fn(self, it);
        }
    }

    fn visit_item_use(&mut self, it: &'ast syn::ItemUse) {
        let found = match it.vis {
            syn::Visibility::Inherited => &mut self.imports,
            _ => &mut self.exports,
        };
        add_imports(&it.tree, &mut Vec::new(), found);
    }
}

/// Adds the imports of a tree.
fn add_imports(tree: &syn::UseTree, before: &mut Vec<String>, found: &mut Vec<Import>) {
    let mut add = |last: Option<&syn::Ident>, name: Option<&syn::Ident>| {
        let last = last.map(ToString::to_string);
        found.push(Import {
            path: before.iter().cloned().chain(last).collect(),
            name: name.map(ToString::to_string),
        });
    };
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            add_imports(&path.tree, before, found);
            before.pop();
        }
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                add_imports(tree, before, found);
            }
        }
        syn::UseTree::Name(it) => add(Some(&it.ident), Some(&it.ident)),
        syn::UseTree::Rename(it) => add(Some(&it.ident), Some(&it.rename)),
        syn::UseTree::Glob(_) => add(None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_outside_tests_is_counted() {
        let text = "//! A file.\n\n/// A type.\nstruct A {\n    x: u8,\n}\n\nimpl A {\n    // A comment.\n    fn f() -> u8 {\n        \
                    1\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    struct B;\n    fn g() {}\n}\n";
        let found = Source::of_text("src/a.rs", text).unwrap();
        assert_eq!(found.code_lines, 8);
        assert_eq!(found.types, ["A"]);
        let functions: Vec<_> = found
            .functions
            .iter()
            .map(|it| (&it.name[..], it.lines))
            .collect();
        assert_eq!(functions, [("f", 3)]);
    }
}
