//! Barriers of a block that not all its threads are sure to reach together.
//!
//! A value is uniform if all threads of a block have the same one, and divergent otherwise. A basic block is divergent if
//! it is control-dependent on a branch by a divergent value, or on a branch that only some threads reach. All threads
//! come to every other basic block equally often and in the same order.

use super::blocks::{Block, Body, Instruction, bodies, code};
use super::dependence::control_dependents;
use super::values::{Value, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// How uniform a value is, or the choice to run a basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Uniformity {
    /// Any thread may differ.
    Divergent,
    /// So many of the lowest bits depend on the lane alone, as five do of a thread's number.
    LaneBits(u64),
    /// It depends on the lane alone: each warp has the same values.
    Lane,
    Uniform,
}

/// Instructions whose results follow from their operands alone: uniform ones give a uniform one. A shuffle has the
/// lane's number as a further operand, so uniform values stay uniform, and values of lanes stay those of lanes.
const PURE: &[&str] = &[
    "abs", "add", "bfe", "bfi", "bfind", "brev", "clz", "copysign", "cvt", "cvta", "div", "dp2a",
    "dp4a", "fma", "lop3", "mad", "max", "min", "mul", "neg", "not", "or", "popc", "prmt", "rcp",
    "rem", "selp", "set", "setp", "shf", "shfl", "shr", "sqrt", "sub", "xor",
];

/// The lines of the barriers of a block that only some threads may reach. They are not sure to be wrong: threads may
/// take the same way for a reason that the instructions do not show.
///
/// Not seen: a branch whose one side ends in a trap or an endless loop; threads that poll memory each by itself; two
/// barriers with different numbers.
///
/// Blocks are of whole warps in one dimension, and each collective of a warp is of all its lanes that come there. A
/// barrier in a function that is not inlined is always in the list, as any of the threads may call it.
pub(super) fn divergent_barriers(ptx: &str) -> BTreeSet<usize> {
    let code = code(ptx);
    bodies(&code)
        .iter()
        .flat_map(|body| Analysis::of(body).barriers)
        .collect()
}

fn is_barrier(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.base(), "bar" | "barrier") && !instruction.name.starts_with("bar.warp")
}

struct Analysis<'a> {
    values: Values<'a>,
    /// The values that are not uniform.
    known: BTreeMap<Value, Uniformity>,
    /// For each block, whether the threads come to it together.
    reached: Vec<Uniformity>,
    /// For each block, whether the threads leave it together and to the same block.
    left: Vec<Uniformity>,
    /// For each block, the branches at which threads that came together have parted before they leave it.
    parted: Vec<BTreeSet<usize>>,
    /// The lines of barriers that only some threads may reach.
    barriers: BTreeSet<usize>,
    /// The block that is followed, and the values that it has written so far.
    block: usize,
    written: BTreeMap<&'a str, Value>,
    has_changed: bool,
}

impl<'a> Analysis<'a> {
    /// Begins with what the hardware makes differ, and follows it until nothing changes.
    fn of(body: &Body<'a>) -> Self {
        let successors = body.blocks.iter().map(|block| block.successors.clone());
        let dependents = control_dependents(&successors.collect::<Vec<_>>());
        let start = match body.is_kernel {
            true => Uniformity::Uniform,
            false => Uniformity::Divergent,
        };
        let mut analysis = Self {
            values: Values::of(body),
            known: BTreeMap::new(),
            reached: std::vec![start; body.blocks.len()],
            left: std::vec![start; body.blocks.len()],
            parted: std::vec![BTreeSet::new(); body.blocks.len()],
            barriers: BTreeSet::new(),
            block: 0,
            written: BTreeMap::new(),
            has_changed: true,
        };
        while core::mem::take(&mut analysis.has_changed) {
            for (number, block) in body.blocks.iter().enumerate() {
                analysis.join(number);
                analysis.follow(block);
                analysis.decide(block, &dependents[number]);
            }
        }
        analysis
    }

    /// The values at the start of a block. Even constants differ if threads come by different ways.
    fn join(&mut self, block: usize) {
        (self.block, self.written) = (block, BTreeMap::new());
        let joined: Vec<_> = (self.values.joined(block))
            .map(|(value, ways)| (value, self.of_joined(&ways)))
            .collect();
        for (value, uniformity) in joined {
            self.learn(value, uniformity);
        }
    }

    /// Threads that come to a block by two ways have parted at a branch that both ways depend on. That does not matter
    /// if both bring the same value. Where only some threads come, as to a loop that a thread leaves by its own count, the
    /// others keep a value of an earlier time.
    fn of_joined(&self, ways: &[(usize, Value)]) -> Uniformity {
        let parts = ways.iter().map(|(_, value)| self.known(*value));
        let mut least = parts.fold(self.reached[self.block], Uniformity::min);
        for (number, (one, value)) in ways.iter().enumerate() {
            for (other, _) in ways[..number].iter().filter(|(_, other)| other != value) {
                if !self.parted[*one].is_disjoint(&self.parted[*other]) {
                    least = least.min(self.left[*one]).min(self.left[*other]);
                }
            }
        }
        least
    }

    fn follow(&mut self, block: &Block<'a>) {
        for (at, instruction) in block.instructions.iter().enumerate() {
            let choice = self.predicate(instruction);
            if is_barrier(instruction) && choice.min(self.reached[self.block]) < Uniformity::Uniform
            {
                self.barriers.insert(instruction.line);
            }
            let mut result = self.result(instruction);
            if instruction.predicate.is_some() {
                // Threads that skip the instruction keep the value from before.
                let kept = instruction.written().map(|name| self.register(name)).min();
                result = result.min(choice).min(kept.unwrap_or(Uniformity::Uniform));
            }
            let value = Value::Written(self.block, at);
            self.learn(value, result);
            self.written
                .extend(instruction.written().map(|name| (name, value)));
        }
    }

    /// Whether the threads leave a block together, which its dependents follow.
    fn decide(&mut self, block: &Block<'a>, dependents: &[usize]) {
        let mut choice = self.reached[self.block];
        if let Some(branch) = block.instructions.last() {
            choice = choice.min(self.predicate(branch));
            if branch.base() == "brx" {
                choice = choice.min(self.operands(branch).of_all_bits());
            }
        }
        self.has_changed |= choice < self.left[self.block];
        self.left[self.block] = choice;
        if choice == Uniformity::Uniform {
            return;
        }
        if self.reached[self.block] == Uniformity::Uniform {
            self.parted[self.block].insert(self.block);
        }
        let parted = self.parted[self.block].clone();
        for dependent in dependents {
            self.has_changed |= choice < self.reached[*dependent];
            self.reached[*dependent] = choice.min(self.reached[*dependent]);
            self.has_changed |= !parted.is_subset(&self.parted[*dependent]);
            self.parted[*dependent].extend(&parted);
        }
    }

    fn learn(&mut self, value: Value, uniformity: Uniformity) {
        if uniformity < self.known(value) {
            self.known.insert(value, uniformity);
            self.has_changed = true;
        }
    }

    fn known(&self, value: Value) -> Uniformity {
        (self.known.get(&value).copied()).unwrap_or(Uniformity::Uniform)
    }

    fn register(&self, name: &str) -> Uniformity {
        let written = self.written.get(name).copied();
        match written.unwrap_or_else(|| self.values.at_start(self.block, name)) {
            // No thread decides on a register that it has not written.
            Value::Unwritten if self.values.is_written(name) => Uniformity::Uniform,
            Value::Unwritten => of_hardware(name),
            value => self.known(value),
        }
    }

    fn predicate(&self, instruction: &Instruction<'_>) -> Uniformity {
        (instruction.predicate).map_or(Uniformity::Uniform, |name| self.register(name))
    }

    /// The least uniform operand.
    fn operands(&self, instruction: &Instruction<'_>) -> Uniformity {
        let operands = instruction.read().map(|name| self.register(name));
        operands.min().unwrap_or(Uniformity::Uniform)
    }

    /// Whether a shuffle gives all lanes the value of the same lane.
    fn is_of_one_lane(&self, shuffle: &Instruction<'_>) -> bool {
        let mut operands = shuffle.operands().skip(1);
        let lane = operands.next().unwrap_or_default();
        self.register(lane) == Uniformity::Uniform && operands.next() == Some("31")
    }

    fn result(&self, instruction: &Instruction<'_>) -> Uniformity {
        let operands = self.operands(instruction);
        let constant = instruction
            .operands()
            .last()
            .and_then(|number| number.parse::<u64>().ok());
        let has = |part: &str| (instruction.name.split(['.', ':'])).any(|named| named == part);
        match (instruction.base(), operands) {
            ("bar" | "barrier", _) => Uniformity::Uniform,
            ("mov", _) if instruction.written().count() == 1 && instruction.read().count() == 1 => {
                operands
            }
            ("shl", Uniformity::LaneBits(bits)) => match constant {
                Some(more) => Uniformity::LaneBits(bits.saturating_add(more)),
                None => Uniformity::Divergent,
            },
            ("and", Uniformity::LaneBits(bits)) => match constant {
                Some(mask) if u64::from(u64::BITS - mask.leading_zeros()) <= bits => {
                    Uniformity::Lane
                }
                _ => Uniformity::Divergent,
            },
            // Each warp combines the same values.
            ("redux" | "vote", Uniformity::Lane) => Uniformity::Uniform,
            ("shfl", Uniformity::Lane) if has("idx") && self.is_of_one_lane(instruction) => {
                Uniformity::Uniform
            }
            ("redux" | "vote" | "mov" | "shl" | "and", _) => operands.of_all_bits(),
            // Threads that read at the same address read the same, unless it is written meanwhile. Between two barriers
            // of a block the emulator refuses that for shared memory. It can happen to global memory, as other blocks
            // write there. It counts as uniform all the same: a kernel that reads the result of an earlier kernel is
            // right, and has the same instructions as one whose threads wait for another block each by itself.
            ("ld", _) if has("param") || has("const") || has("global") || has("shared") => {
                operands.of_all_bits()
            }
            (name, _) if PURE.contains(&name) => operands.of_all_bits(),
            // Atomics, local memory, calls, and any that is not known.
            _ => Uniformity::Divergent,
        }
    }
}

impl Uniformity {
    /// That of a value that depends on all bits of this one.
    fn of_all_bits(self) -> Self {
        match self {
            Self::LaneBits(_) => Self::Divergent,
            _ => self,
        }
    }
}

/// The hardware's registers, and other names that nothing writes.
fn of_hardware(name: &str) -> Uniformity {
    const OF_BLOCK: &[&str] = &["%ctaid", "%nctaid", "%ntid", "%gridid"];
    let base = name.split('.').next().unwrap_or_default();
    match name {
        "%tid.x" => Uniformity::LaneBits(5),
        "%laneid" => Uniformity::Lane,
        _ if name.starts_with('%') && !OF_BLOCK.contains(&base) => Uniformity::Divergent,
        _ => Uniformity::Uniform,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// The lines of divergent barriers in a kernel, counted from 1 at its first instruction.
    fn found(code: &str) -> Vec<usize> {
        let head = ".visible .entry a(\n.param .b64 a_param_0\n)\n{\n";
        let lines = divergent_barriers(&format!("{head}{code}\nret;\n}}\n"));
        lines.into_iter().map(|line| line - 4).collect()
    }

    const TID: &str = "mov.u32 %r1, %tid.x;\nsetp.eq.b32 %p1, %r1, 0;\n";

    #[test]
    fn barriers_that_all_threads_reach_are_right() {
        for code in [
            "bar.sync 0;",
            "mov.b32 %r1, 0;\n$L1: barrier.sync.aligned 0;\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 bra $L1;",
            "mov.u32 %r1, %ctaid.x;\nsetp.eq.b32 %p1, %r1, 0;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:",
            "ld.param.b64 %rd1, [a_param_0];\nsetp.eq.b64 %p1, %rd1, 0;\n@!%p1 bra $L1;\nbar.red.or.pred %p2, 0, %p3;\n$L1:",
            // A switch.
            "ld.param.b32 %r1, [a_param_0];\n$T: .branchtargets\n$L1,\n$L2;\nbrx.idx %r1, $T;\n$L1: bar.sync 0;\n$L2:",
            // The first instruction that all threads reach again.
            &format!("{TID}@%p1 bra $L1;\nst.shared.u32 [%r2], 1;\n$L1: bar.sync 0;"),
            // One thread's value, read by all.
            &format!(
                "{TID}@!%p1 bra $L1;\natom.global.add.u32 %r2, [%rd1], 1;\nst.shared.u32 [s], %r2;\n$L1: bar.sync 0;\n\
                ld.shared.u32 %r3, [s];\nsetp.eq.b32 %p2, %r3, 0;\n@%p2 bra $L2;\nbar.sync 0;\n$L2:"
            ),
            // The sums of all warps, added by each warp.
            &format!(
                "{TID}and.b32 %r2, %r1, 31;\nshl.b32 %r2, %r2, 2;\nld.shared.u32 %r3, [%r2];\n\
                redux.sync.add.s32 %r4, %r3, -1;\nsetp.eq.b32 %p2, %r4, 0;\n@%p2 bra $L2;\nbar.sync 0;\n$L2:"
            ),
            // Another use of a register.
            &format!(
                "{TID}mov.b32 %r1, 5;\nsetp.eq.b32 %p1, %r1, 0;\n@%p1 bra $L2;\nbar.sync 0;\n$L2:"
            ),
            // A bounds check: a trap ends the kernel.
            &format!("{TID}@%p1 bra $L2;\nbra.uni $L1;\n$L2: trap;\n$L1: bar.sync 0;"),
            "bar.warp.sync -1;",
        ] {
            assert_eq!(found(code), [], "{code}");
        }
    }

    #[test]
    fn barriers_that_some_threads_reach_are_found() {
        for (code, lines) in [
            // As rustc compiled a barrier before something that is dropped in one branch.
            (
                "@%p1 bra $L1;\nbar.sync 0;\nbra.uni $L2;\n$L1:\nbar.sync 0;\n$L2:",
                &[4, 7][..],
            ),
            ("@%p1 bar.sync 0;", &[3]),
            ("@%p1 bra $L1;\nbar.red.or.pred %p2, 0, %p3;\n$L1:", &[4]),
            ("@%p1 ret;\nbarrier.cta.sync 0;", &[4]),
            // A loop whose trips a thread counts.
            (
                "$L1: add.s32 %r1, %r1, -1;\nbar.sync 0;\nsetp.gt.s32 %p2, %r1, 0;\n@%p2 bra $L1;",
                &[4],
            ),
            // A constant that depends on the way.
            (
                "mov.b32 %r2, 0;\n@%p1 bra $L1;\nmov.b32 %r2, 1;\n$L1: setp.eq.b32 %p2, %r2, 0;\n@%p2 bra $L2;\nbar.sync 0;\n$L2:",
                &[8],
            ),
            (
                "mov.b32 %r2, 0;\n@%p1 mov.b32 %r2, 1;\nsetp.eq.b32 %p2, %r2, 0;\n@%p2 bra $L2;\nbar.sync 0;\n$L2:",
                &[7],
            ),
            // A count of trips, behind the loop.
            (
                "mov.b32 %r2, 0;\n$L1: add.s32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, %r1;\n@%p2 bra $L1;\n\
                setp.eq.b32 %p3, %r2, 5;\n@%p3 bra $L2;\nbar.sync 0;\n$L2:",
                &[9],
            ),
            // A branch inside of one that only some threads take.
            (
                "@%p1 bra $L2;\nld.param.b32 %r2, [a_param_0];\nsetp.eq.b32 %p2, %r2, 0;\n@%p2 bra $L1;\nbar.sync 0;\n$L1:\n$L2:",
                &[7],
            ),
            // Warps differ, though the lanes of each agree.
            (
                "vote.sync.any.pred %p2, %p1, -1;\n@%p2 bra $L1;\nbar.sync 0;\n$L1:",
                &[5],
            ),
            (
                "shr.u32 %r2, %r1, 5;\nshfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\nsetp.eq.b32 %p2, %r3, 0;\n@%p2 bra $L1;\nbar.sync 0;\n$L1:",
                &[7],
            ),
            (
                "and.b32 %r2, %r1, 63;\nredux.sync.add.s32 %r3, %r2, -1;\nsetp.eq.b32 %p2, %r3, 0;\n@%p2 bra $L1;\nbar.sync 0;\n$L1:",
                &[7],
            ),
            (
                "atom.shared.add.u32 %r2, [s], 1;\nsetp.eq.b32 %p2, %r2, 0;\n@%p2 bra $L1;\nbar.sync 0;\n$L1:",
                &[6],
            ),
            (
                "unheard.of.u32 %r2, 1;\nsetp.eq.b32 %p2, %r2, 0;\n@%p2 bra $L1;\nbar.sync 0;\n$L1:",
                &[6],
            ),
            (
                "$T: .branchtargets $L1, $L2;\nbrx.idx %r1, $T;\n$L1: bar.sync 0;\n$L2:",
                &[5],
            ),
        ] {
            assert_eq!(found(&format!("{TID}{code}")), lines, "{code}");
        }
    }

    #[test]
    fn any_of_the_threads_may_call_a_function() {
        assert_eq!(
            Vec::from_iter(divergent_barriers(".func f()\n{\nbar.sync 0;\nret;\n}\n")),
            [3]
        );
    }

    #[test]
    fn any_text_has_an_answer() {
        let text = "a:{b:}{;@;@%p1;@%p1 bra $L9;brx.idx %r1;{{}:::;$L1: bra $L1;trap;.branchtargets x;}}é{.entry {@p bar";
        for (end, _) in text.char_indices() {
            let cut = &text[..end];
            assert_eq!(found(cut), [], "{cut}");
            divergent_barriers(cut);
            divergent_barriers(&format!(".entry a() {{ {} {cut}", &text[end..]));
        }
    }
}
