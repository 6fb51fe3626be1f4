//! Rules for PTX: kinds of instructions that a project does not want.

use super::split::{entry_name, function_name};
use super::uniform::divergent_barriers;
use std::borrow::ToOwned;
use std::collections::BTreeSet;
use std::fmt;
use std::string::String;
use std::vec::Vec;

/// A kind of unwanted instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A fused multiplication and addition of floats.
    Fused,
    /// An operation that flushes subnormal numbers to zero.
    FlushToZero,
    /// An operation on floats with another result than IEEE 754 prescribes.
    Approximation,
    /// A call of a function that was not inlined: most often a panic.
    Call,
    /// A thread's local memory, which lies in the GPU's memory: most often an array with an index that is not a
    /// constant.
    LocalMemory,
    /// A collective instruction of a warp or block in inline assembly. LLVM does not know that assembly can be
    /// collective, and may move it into a branch.
    CollectiveInAssembly,
    /// A barrier of a block that only some of its threads may reach: the compiler has moved it into a branch or copied it,
    /// which the emulator does not see, as it runs the source. A barrier that only some threads are meant to come to
    /// (`bar.sync 1, 64`) counts as one, too.
    DivergentBarrier,
}

/// An instruction that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The entry point of the instruction, or the function that an entry point calls; empty before the first one.
    pub entry: String,
    /// Its line in the PTX, counted from 1.
    pub line: usize,
    /// The line's text.
    pub text: String,
    /// The rule.
    pub rule: Rule,
}

impl Rule {
    /// All rules. Code that follows them computes the same bits as the CPU, and uses no local memory.
    pub const ALL: &[Self] = &[
        Self::Fused,
        Self::FlushToZero,
        Self::Approximation,
        Self::Call,
        Self::LocalMemory,
        Self::CollectiveInAssembly,
        Self::DivergentBarrier,
    ];

    /// The reason for the rule.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Fused => "a fused operation rounds once where the CPU rounds twice",
            Self::FlushToZero => "subnormals must not be flushed",
            Self::Approximation => "an approximation differs between chips",
            Self::Call => "a call",
            Self::LocalMemory => "an array in local memory",
            Self::CollectiveInAssembly => "a collective in inline assembly",
            Self::DivergentBarrier => "a barrier that only some threads of the block reach",
        }
    }

    fn refuses(self, instruction: &Instruction<'_>) -> bool {
        let name = instruction.name();
        let has = |part: &str| instruction.parts.contains(&part);
        match self {
            Self::Fused => name == "fma" || name == "mad" && (has("f32") || has("f64")),
            Self::FlushToZero => has("ftz"),
            Self::Approximation => has("approx"),
            Self::Call => name == "call",
            Self::LocalMemory => has("local"),
            Self::CollectiveInAssembly => {
                let is_old = ["shfl", "vote", "redux", "match", "bar", "barrier"].contains(&name);
                instruction.is_in_assembly && (is_old || has("sync"))
            }
            // It depends on the instructions around.
            Self::DivergentBarrier => false,
        }
    }
}

/// The instructions of PTX that break one of these rules, in the order of the text.
pub fn violations(ptx: &str, rules: &[Rule]) -> Vec<Violation> {
    let barriers = match rules.contains(&Rule::DivergentBarrier) {
        true => divergent_barriers(ptx),
        false => BTreeSet::new(),
    };
    let mut found = Vec::new();
    let mut entry = "";
    let mut is_in_assembly = false;
    for (number, line) in (1..).zip(ptx.lines()) {
        let begins = entry_name(line).or_else(|| function_name(line));
        entry = begins.unwrap_or(entry);
        is_in_assembly = match line.trim() {
            "// begin inline asm" => true,
            "// end inline asm" => false,
            _ => is_in_assembly,
        };
        let instructions: Vec<_> = instructions(line, is_in_assembly).collect();
        let is_broken = |rule: &Rule| match rule {
            Rule::DivergentBarrier => barriers.contains(&number),
            _ => instructions.iter().any(|code| rule.refuses(code)),
        };
        let broken = rules.iter().filter(|rule| is_broken(rule));
        found.extend(broken.map(|rule| Violation {
            entry: entry.to_owned(),
            line: number,
            text: line.trim().to_owned(),
            rule: *rule,
        }));
    }
    found
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry, line, text, ..
        } = self;
        write!(f, "{entry}, line {line}: {}: {text}", self.rule.reason())
    }
}

struct Instruction<'a> {
    /// The parts of a name such as `add.rn.f32`.
    parts: Vec<&'a str>,
    is_in_assembly: bool,
}

impl Instruction<'_> {
    fn name(&self) -> &str {
        self.parts.first().copied().unwrap_or_default()
    }
}

/// The instructions of a line. LLVM writes one a line; inline assembly may have several, and a block of registers in
/// braces.
fn instructions(line: &str, is_in_assembly: bool) -> impl Iterator<Item = Instruction<'_>> {
    let code = line.split("//").next().unwrap_or_default();
    (code.split([';', '{', '}'])).filter_map(move |code| {
        let is_operation = |word: &&str| !word.starts_with('@') && !word.ends_with(':');
        let operation = code.split_whitespace().find(is_operation)?;
        Some(Instruction {
            parts: operation.split('.').collect(),
            is_in_assembly,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(line: &str) -> Vec<Rule> {
        (violations(line, Rule::ALL).iter())
            .map(|violation| violation.rule)
            .collect()
    }

    #[test]
    fn broken_rules_are_found() {
        for (line, rule) in [
            ("\tfma.rn.f32 \t%f1, %f2, %f3, %f4;", Rule::Fused),
            ("\t@%p1 mad.rn.f64 %fd1, %fd2, %fd3, %fd4;", Rule::Fused),
            ("\tadd.rn.ftz.f32 %f1, %f2, %f3;", Rule::FlushToZero),
            ("\tdiv.approx.f32 %f1, %f2, %f3;", Rule::Approximation),
            ("\tcall.uni (retval0), memcpy, (param0);", Rule::Call),
            ("\tst.local.u32 [%rd1], %r1;", Rule::LocalMemory),
            (
                "\t.local .align 4 .b8 \t__local_depot0[128];",
                Rule::LocalMemory,
            ),
            ("{ .reg .f32 t; fma.rn.f32 t, %f1, %f2, %f3; }", Rule::Fused),
            ("L1: @%p1 call.uni f, ();", Rule::Call),
            ("{fma.rn.f32 %f1, %f2, %f3, %f4;}", Rule::Fused),
        ] {
            assert_eq!(broken(line), [rule], "{line}");
        }
        for line in [
            "\tmul.rn.f32 \t%f1, %f2, %f3;",
            "\tmad.lo.s32 %r1, %r2, %r3, %r4;",
            "\tmov.b64 {%r1, %r2}, %rd1;",
            "\tshfl.sync.up.b32 %r1, %r2, 1, 0, -1;",
            "$L__BB0_1:",
            "",
            "// call fma local",
        ] {
            assert_eq!(broken(line), [], "{line}");
        }
    }

    #[test]
    fn collectives_are_found_in_assembly_alone() {
        let ptx = ".visible .entry a(\n)\n{\n\tbar.sync 0;\n\t// begin inline asm\n\t{ .reg .b32 t; bar.sync 0; }\n\
            \tldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%r2];\n\tld.shared.u32 %r1, [%r2];\n\t// end inline asm\n\
            \tbar.sync 0;\n}\n";
        let found = violations(ptx, Rule::ALL);
        let lines: Vec<_> = found.iter().map(|violation| violation.line).collect();
        assert_eq!(lines, [6, 7]);
        assert_eq!(
            found[0],
            Violation {
                entry: "a".to_owned(),
                line: 6,
                text: "{ .reg .b32 t; bar.sync 0; }".to_owned(),
                rule: Rule::CollectiveInAssembly,
            }
        );
    }

    #[test]
    fn only_the_chosen_rules_count() {
        let ptx = ".visible .entry a(\n)\n{\n\tfma.rn.ftz.f32 %f1, %f2, %f3, %f4;\n\tcall.uni f, ();\n}\n";
        assert_eq!(violations(ptx, &[]), []);
        let found = violations(ptx, &[Rule::Call, Rule::FlushToZero]);
        let rules: Vec<_> = found.iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, [Rule::FlushToZero, Rule::Call]);
        let function = ptx.replace(".visible .entry a(", ".func  (.param .b64 retval0) b(");
        assert_eq!(violations(&function, &[Rule::Call])[0].entry, "b");
        assert_eq!(
            std::format!("{}", found[1]),
            "a, line 5: a call: call.uni f, ();"
        );
    }
}
