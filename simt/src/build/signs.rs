//! Signs that are set by their bits.
//!
//! Rust's `abs` and negation change the sign alone, also of a NaN. LLVM makes `abs` of `x.to_bits() & MAGNITUDE`, too, as
//! both are the same there. But `abs.f32` and `neg.f32` of PTX make any NaN of a NaN: a GPU's has other bits. That does not
//! matter where float instructions alone read the result. Where others do, this replaces the instruction.

use super::blocks::{Body, Instruction, bodies, code};
use std::borrow::ToOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::format;
use std::string::String;
use std::vec::Vec;

/// The instructions that PTX has for signs, and bit instructions that do the same with every value: the name, and the
/// last operand.
const SIGNS: [(&str, &str, &str); 4] = [
    ("abs.f32", "and.b32", "0x7fffffff"),
    ("abs.f64", "and.b64", "0x7fffffffffffffff"),
    ("neg.f32", "xor.b32", "0x80000000"),
    ("neg.f64", "xor.b64", "0x8000000000000000"),
];

/// Instructions on floats whose result does not depend on the bits of a NaN, or is a NaN of their own.
const ARITHMETIC: [&str; 12] = [
    "add", "sub", "mul", "div", "fma", "rcp", "sqrt", "min", "max", "setp", "set", "cvt",
];

/// PTX whose `abs` and `neg` change the sign alone, wherever the result leaves float arithmetic.
pub(super) fn with_exact_signs(ptx: &str) -> String {
    let code = code(ptx);
    let lines: BTreeMap<usize, _> = bodies(&code).iter().flat_map(inexact).collect();
    let exact = (1..).zip(ptx.lines()).map(|(number, line)| {
        let replaced = lines.get(&number).and_then(|(inexact, exact, operand)| {
            let (before, behind) = line.split_once(inexact)?;
            let (operands, end) = behind.split_once(';')?;
            Some(format!("{before}{exact}{operands}, {operand};{end}"))
        });
        replaced.unwrap_or_else(|| line.to_owned()) + "\n"
    });
    exact.collect()
}

/// The lines of a body to be replaced.
fn inexact(body: &Body<'_>) -> Vec<(usize, (&'static str, &'static str, &'static str))> {
    let all = || body.blocks.iter().flat_map(|block| &block.instructions);
    let mut as_bits = BTreeSet::new();
    for instruction in all().filter(|instruction| !is_arithmetic(instruction)) {
        as_bits.extend(instruction.read());
    }
    let signs = all().filter_map(|instruction| {
        let sign = SIGNS.into_iter().find(|sign| sign.0 == instruction.name)?;
        let is_read = instruction.written().any(|name| as_bits.contains(name));
        is_read.then_some((instruction.line, sign))
    });
    signs.collect()
}

fn is_arithmetic(instruction: &Instruction<'_>) -> bool {
    // The last part of the name is the type of the operands.
    let of_floats = [".f32", ".f64"]
        .iter()
        .any(|end| instruction.name.ends_with(end));
    of_floats && ARITHMETIC.contains(&instruction.base())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX of one kernel with these instructions.
    fn kernel(instructions: &[&str]) -> String {
        let head = ".visible .entry kernel(\n)\n{\n";
        format!("{head}\t{};\n\tret;\n}}\n", instructions.join(";\n\t"))
    }

    fn check(before: &[&str], after: &[&str]) {
        assert_eq!(with_exact_signs(&kernel(before)), kernel(after));
    }

    #[test]
    fn magnitudes_that_are_compared_stay() {
        for use_of_it in [
            "setp.gt.f32 %p1, %r1, %r3",
            "add.rn.f32 %r4, %r1, %r3",
            "cvt.rzi.s32.f32 %r4, %r1",
        ] {
            let same = ["abs.f32 %r1, %r2", use_of_it];
            check(&same, &same);
        }
    }

    #[test]
    fn magnitudes_that_are_used_as_bits_are_exact() {
        for use_of_it in [
            "shr.u32 %r4, %r1, 13",
            "setp.gt.u32 %p1, %r1, 2139095040",
            "st.global.u32 [%rd1], %r1",
            "selp.f32 %r4, %r1, %r5, %p1",
            "cvt.u16.u32 %rs1, %r1",
        ] {
            check(
                &["abs.f32 %r1, %r2", use_of_it],
                &["and.b32 %r1, %r2, 0x7fffffff", use_of_it],
            );
        }
    }

    #[test]
    fn signs_of_signs_are_exact() {
        check(
            &[
                "neg.f64 %rd1, %rd2",
                "abs.f64 %rd3, %rd1",
                "st.global.u64 [%rd9], %rd3",
            ],
            &[
                "xor.b64 %rd1, %rd2, 0x8000000000000000",
                "and.b64 %rd3, %rd1, 0x7fffffffffffffff",
                "st.global.u64 [%rd9], %rd3",
            ],
        );
    }

    #[test]
    fn registers_are_those_of_a_kernel() {
        let compared = kernel(&["abs.f32 %r1, %r2", "setp.gt.f32 %p1, %r1, %r3"]);
        let stored = kernel(&["add.rn.f32 %r1, %r2, %r3", "st.global.u32 [%rd1], %r1"]);
        let both = compared + &stored;
        assert_eq!(with_exact_signs(&both), both);
    }
}
