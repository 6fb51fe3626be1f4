//! The basic blocks of PTX: runs of instructions that a thread executes from the first to the last, and the blocks that
//! may follow each.

use std::borrow::ToOwned;
use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

/// A kernel, or a function that is not inlined.
pub(super) struct Body<'a> {
    pub is_kernel: bool,
    pub blocks: Vec<Block<'a>>,
}

#[derive(Default)]
pub(super) struct Block<'a> {
    pub instructions: Vec<Instruction<'a>>,
    /// The blocks that may follow; the number of all blocks stands for the end of the thread. None follows a trap, which
    /// ends the whole kernel.
    pub successors: Vec<usize>,
}

pub(super) struct Instruction<'a> {
    /// Its line in the PTX, counted from 1.
    pub line: usize,
    /// The predicate: `%p1` of `@!%p1 bra $L1`.
    pub predicate: Option<&'a str>,
    /// Its name with all parts: `add.rn.f32`.
    pub name: &'a str,
    /// The text of the registers that it writes.
    written: &'a str,
    /// The text of the other operands, addresses and labels included.
    read: &'a str,
}

impl<'a> Instruction<'a> {
    fn new(line: usize, text: &'a str) -> Self {
        let (predicate, text) = match text.strip_prefix('@') {
            Some(text) => word_and_rest(text),
            None => ("", text),
        };
        let (name, operands) = word_and_rest(text);
        // The destination is the first operand. These have none; nor has a store, which begins with an address.
        let end = match (base(name), operands.chars().next()) {
            ("bra" | "brx" | "nanosleep", _) | (_, Some('[')) => Some(0),
            (_, Some('{')) => operands.find('}'),
            (_, Some('(')) => operands.find(')'),
            _ => operands.find(','),
        };
        let (written, read) = operands.split_at(end.unwrap_or(operands.len()));
        Self {
            line,
            predicate: words(predicate).next(),
            name,
            written,
            read,
        }
    }

    /// The first part of its name: `bar` of `bar.sync`.
    pub fn base(&self) -> &'a str {
        base(self.name)
    }

    /// The registers that it writes.
    pub fn written(&self) -> impl Iterator<Item = &'a str> {
        words(self.written)
    }

    /// The registers and other names that it reads, without the predicate.
    pub fn read(&self) -> impl Iterator<Item = &'a str> {
        words(self.read)
    }

    /// The operands that it reads, as they are written.
    pub fn operands(&self) -> impl Iterator<Item = &'a str> {
        self.read.trim_start_matches(',').split(',').map(str::trim)
    }

    /// The blocks that may follow, if it ends a block.
    fn successors(&self, next: usize, labels: &Labels<'_>) -> Option<Vec<usize>> {
        let mut successors = match self.base() {
            "bra" => self.read().map(|label| labels.block(label)).collect(),
            "brx" => (self.read().filter_map(|name| labels.tables.get(name)))
                .flat_map(|table| words(table).map(|label| labels.block(label)))
                .collect(),
            "ret" | "exit" => Vec::from([labels.end]),
            "trap" => Vec::new(),
            _ => return None,
        };
        if self.predicate.is_some() {
            successors.push(next);
        }
        Some(successors)
    }
}

/// The blocks of labels, and the labels of the tables of `brx.idx`.
struct Labels<'a> {
    blocks: BTreeMap<&'a str, usize>,
    tables: BTreeMap<&'a str, &'a str>,
    end: usize,
}

impl Labels<'_> {
    /// PTX that names a missing label does not assemble; the end of the thread stands for it.
    fn block(&self, label: &str) -> usize {
        self.blocks.get(label).copied().unwrap_or(self.end)
    }
}

/// PTX without comments and the positions in the source, which end without a semicolon. Lines keep their numbers.
pub(super) fn code(ptx: &str) -> String {
    let lines = ptx.lines().map(|line| {
        let code = line.split("//").next().unwrap_or_default().trim();
        let is_position = code.starts_with(".loc") && !code.starts_with(".local");
        (if is_position { "" } else { code }).to_owned() + "\n"
    });
    lines.collect()
}

/// The kernels and functions of PTX without comments.
pub(super) fn bodies(code: &str) -> Vec<Body<'_>> {
    let mut texts: Vec<(bool, Vec<Statement<'_>>)> = Vec::new();
    for statement in statements(code) {
        match (statement.end, texts.last_mut()) {
            ('{', _) => texts.push((statement.text.contains(".entry"), Vec::new())),
            (_, Some((_, body))) => body.push(statement),
            (_, None) => {}
        }
    }
    (texts.into_iter())
        .map(|(is_kernel, text)| Body {
            is_kernel,
            blocks: blocks(&text),
        })
        .collect()
}

fn blocks<'a>(statements: &[Statement<'a>]) -> Vec<Block<'a>> {
    // 1. A block begins at a label, and behind an instruction that may go elsewhere.
    let mut blocks = Vec::from([Block::default()]);
    let mut labels = Labels {
        blocks: BTreeMap::new(),
        tables: BTreeMap::new(),
        end: usize::MAX,
    };
    let mut label = "";
    for &Statement { line, text, end } in statements {
        if end == ':' {
            labels.blocks.insert(text, blocks.len());
            label = text;
            blocks.push(Block::default());
        } else if let Some(table) = text.strip_prefix(".branchtargets") {
            labels.tables.insert(label, table);
        } else if !text.starts_with('.')
            && let Some(block) = blocks.last_mut()
        {
            let instruction = Instruction::new(line, text);
            let is_last = instruction.successors(0, &labels).is_some();
            block.instructions.push(instruction);
            if is_last {
                blocks.push(Block::default());
            }
        }
    }
    // 2. All labels are known.
    labels.end = blocks.len();
    for (next, block) in (1..).zip(&mut blocks) {
        let of_last = (block.instructions.last()).and_then(|last| last.successors(next, &labels));
        block.successors = of_last.unwrap_or_else(|| Vec::from([next]));
    }
    blocks
}

#[derive(Clone, Copy)]
struct Statement<'a> {
    line: usize,
    text: &'a str,
    /// The character that ends it: `:` behind a label, `{` behind the head of a body.
    end: char,
}

fn statements(code: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let (mut line, mut start) = (1, 0);
    for (at, end) in code.char_indices() {
        if end == '\n' {
            line += 1;
        }
        if !matches!(end, ';' | ':' | '{' | '}') {
            continue;
        }
        let text = code[start..at].trim();
        let is_end = match end {
            // Not `shared::cta`.
            ':' => !text.is_empty() && !text.contains(is_not_of_label),
            // Braces around operands are of the statement; others are around statements.
            '{' => text.is_empty() || text.starts_with('.') && !text.ends_with('='),
            '}' => text.is_empty(),
            _ => true,
        };
        if is_end {
            start = at + 1;
        }
        if is_end && !text.is_empty() {
            found.push(Statement { line, text, end });
        }
    }
    found
}

fn is_not_of_label(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%'))
}

/// The registers and other names in a text, without numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_not_of_word = |c| is_not_of_label(c) && c != '.';
    (text.split(is_not_of_word))
        .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()) && !word.is_empty())
}

fn word_and_rest(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

fn base(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}
