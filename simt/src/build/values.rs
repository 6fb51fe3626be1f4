//! The values that registers hold: LLVM's virtual registers are written at several places, and each write is a value of
//! its own, as in static single assignment. Where ways meet on which a register has different values, it has a joined
//! one.

use super::blocks::Body;
use super::dependence::{meeting_writers, postorder, reversed};
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// Nothing has been written: the register is the hardware's, or its value does not matter.
    Unwritten,
    /// By an instruction of a block.
    Written(usize, usize),
    /// At the start of a block, of a register.
    Joined(usize, usize),
}

/// The values at the borders of all blocks.
pub(super) struct Values<'a> {
    /// The registers that a block reads and another one may have written.
    registers: BTreeMap<&'a str, usize>,
    predecessors: Vec<Vec<usize>>,
    /// The value of each register at the start of each block.
    at_start: Vec<Vec<Value>>,
    /// The last write of each block to each register.
    written: Vec<BTreeMap<usize, Value>>,
    /// The registers that some instruction writes.
    names: BTreeSet<&'a str>,
}

impl<'a> Values<'a> {
    pub fn of(body: &Body<'a>) -> Self {
        let registers = registers(body);
        let written = (body.blocks.iter().enumerate()).map(|(number, block)| {
            let names = (block.instructions.iter().enumerate())
                .flat_map(|(at, code)| code.written().map(move |name| (name, at)));
            (names
                .filter_map(|(name, at)| Some((*registers.get(name)?, Value::Written(number, at)))))
            .collect()
        });
        let written: Vec<_> = written.collect();
        let mut successors: Vec<_> = (body.blocks.iter())
            .map(|block| block.successors.clone())
            .collect();
        let meetings = reversed(&meeting_writers(&successors), body.blocks.len() + 1);
        let predecessors = reversed(&successors, body.blocks.len() + 1);
        let mut values = Self {
            at_start: std::vec![Vec::new(); body.blocks.len() + 1],
            registers,
            predecessors,
            written,
            names: names(body).collect(),
        };
        let joined = values.joined_registers(&meetings);
        successors.push(Vec::new());
        values.written.push(BTreeMap::new());
        // Each block comes behind one of those before it, whose values are those of all where none meet.
        for &block in postorder(&successors, 0).iter().rev() {
            let known = |from: &&usize| !values.at_start[**from].is_empty();
            let before = values.predecessors[block].iter().find(known).copied();
            let start = (0..values.registers.len()).map(|register| match before {
                _ if joined[block].contains(&register) => Value::Joined(block, register),
                Some(before) => values.at_end(before, register),
                None => Value::Unwritten,
            });
            values.at_start[block] = start.collect();
        }
        values
    }

    /// For each block, the registers of which several values meet at its start. A joined value is a write, too.
    fn joined_registers(&self, meetings: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
        let mut joined = std::vec![BTreeSet::new(); meetings.len()];
        let writes = (self.written.iter().enumerate()).flat_map(|(block, registers)| {
            registers.keys().map(move |register| (block, *register))
        });
        let mut waiting: Vec<(usize, usize)> = writes.collect();
        while let Some((block, register)) = waiting.pop() {
            for &meeting in &meetings[block] {
                if joined[meeting].insert(register) {
                    waiting.push((meeting, register));
                }
            }
        }
        joined
    }

    fn at_end(&self, block: usize, register: usize) -> Value {
        let written = self.written[block].get(&register).copied();
        written.unwrap_or_else(|| self.value_at_start(block, register))
    }

    /// Whether some instruction writes a register. Others are the hardware's.
    pub fn is_written(&self, register: &str) -> bool {
        self.names.contains(register)
    }

    /// The value of a register at the start of a block.
    pub fn at_start(&self, block: usize, register: &str) -> Value {
        let number = self.registers.get(register);
        number.map_or(Value::Unwritten, |number| {
            self.value_at_start(block, *number)
        })
    }

    fn value_at_start(&self, block: usize, register: usize) -> Value {
        (self.at_start[block].get(register).copied()).unwrap_or(Value::Unwritten)
    }

    /// The joined values at the start of a block, and what each is made of: a block before, and its value.
    pub fn joined(&self, block: usize) -> impl Iterator<Item = (Value, Vec<(usize, Value)>)> {
        let values = self.at_start[block].iter().copied().enumerate();
        let joined = values.filter(move |(number, value)| *value == Value::Joined(block, *number));
        joined.map(move |(register, value)| {
            let ways = self.predecessors[block].iter();
            (
                value,
                ways.map(|from| (*from, self.at_end(*from, register)))
                    .collect(),
            )
        })
    }
}

/// The registers that some block reads before it writes them.
fn registers<'a>(body: &Body<'a>) -> BTreeMap<&'a str, usize> {
    let mut registers = BTreeSet::new();
    for block in &body.blocks {
        let mut written = BTreeSet::new();
        for code in &block.instructions {
            // An instruction that is skipped leaves the register as it is.
            let kept = code.written().filter(|_| code.predicate.is_some());
            let read = code.read().chain(code.predicate).chain(kept);
            registers.extend(read.filter(|name| !written.contains(name)));
            written.extend(code.written());
        }
    }
    registers.into_iter().zip(0..).collect()
}

fn names<'a>(body: &Body<'a>) -> impl Iterator<Item = &'a str> {
    let instructions = body.blocks.iter().flat_map(|block| &block.instructions);
    instructions.flat_map(|code| code.written())
}
