//! The committed PTX: making it, and the rules that it must keep.

use crate::compiler::{Built, Compiler};
use crate::manifest::Manifest;
use crate::packed::Files;
use crate::split::{Kernels, entry_name, split};
use crate::{Failure, root};
use ferrosz_gpu_kernels::list::NAMES;
use std::fs;

/// Bytes of all committed PTX at most: it is embedded in every program that uses the library on a GPU.
const MOST_BYTES: u64 = 2_000_000;

/// Launch bounds of the entry points whose names begin and end like this, the first that fits: threads
/// in a block, and blocks that a multiprocessor should hold at once. Rust has no attribute for them, so
/// they are added to the text.
const LAUNCH_BOUNDS: [(&str, &str, u32, u32); 15] = [
    ("ferrosz_entropy_statistics", "", 256, 4),
    ("ferrosz_entropy_tables", "", 512, 1),
    ("ferrosz_entropy_encode", "", 256, 2),
    ("ferrosz_entropy_place", "", 256, 3),
    ("ferrosz_entropy_planes", "", 256, 2),
    ("ferrosz_entropy_decode_tables", "", 512, 1),
    ("ferrosz_entropy_decode", "", 256, 2),
    ("ferrosz_interp_prepare_", "", 128, 1),
    ("ferrosz_interp_scores_", "f32", 256, 3),
    ("ferrosz_interp_", "f32", 256, 2),
    ("ferrosz_interp_", "f64", 256, 1),
    ("ferrosz_lorenzo_reconstruct_", "", 256, 3),
    ("ferrosz_read_all", "", 256, 8),
    ("ferrosz_", "f32", 256, 4),
    ("ferrosz_", "f64", 256, 3),
];

/// LLVM has unrolled what must be; NVIDIA's assembler would go on with loops for rare cases, at the price
/// of registers and of the instruction cache.
const NO_UNROLLING: &str = ".pragma \"nounroll\";\n";

/// Compiles the kernels, and commits the PTX of those whose instructions have changed to their files.
pub fn rebuild() -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let (kernels, manifest) = build(&compiler)?;
    let changed = Files::ptx().write(&kernels)?;
    manifest.write()?;
    check_bytes()?;
    println!(
        "PTX: {} kernels by {}, {changed} files changed",
        kernels.len(),
        compiler.version
    );
    Ok(())
}

/// The PTX of the sources as they are, by a compiler, and what says so.
pub fn build(compiler: &Compiler) -> Result<(Kernels, Manifest), Failure> {
    let Built { ptx, sources } = compiler.compile()?;
    let text = with_directives(&ptx);
    // What breaks a rule is not committed, but whoever broke it wants to see it.
    let refused = root().join("target/refused.ptx");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&refused, &text)?;
    check_rules(&text)?;
    fs::remove_file(refused)?;
    Ok((split(&text)?, Manifest::new(&compiler.version, &sources)?))
}

/// Refuses committed PTX that is not what the sources give, byte for byte. Another compiler than that which made it cannot
/// tell, and is refused.
pub fn check() -> Result<(), Failure> {
    let committed = Manifest::read()?;
    let compiler = Compiler::of_version(&committed.compiler)?;
    let (built, manifest) = build(&compiler)?;
    let other = Files::ptx().differences(&built)?;
    if !other.is_empty() {
        return Err(format!(
            "the committed PTX of {} is not what the sources give: run `cargo xtask ptx`",
            other.join(", ")
        )
        .into());
    }
    if manifest != committed {
        return Err(
            "gpu-kernels/ptx/manifest.txt is not of these sources: run `cargo xtask ptx`".into(),
        );
    }
    check_bytes()?;
    println!(
        "PTX: {} kernels, the same again by {}",
        built.len(),
        compiler.version
    );
    Ok(())
}

/// The committed texts.
pub fn committed() -> Result<Kernels, Failure> {
    let text = |(name, bytes)| Ok((name, String::from_utf8(bytes)?));
    Files::ptx().read()?.into_iter().map(text).collect()
}

fn check_bytes() -> Result<(), Failure> {
    let bytes = Files::ptx().bytes()?;
    println!("PTX: {bytes} bytes, of {MOST_BYTES} at most");
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err("the committed PTX is too large to be embedded".into()),
    }
}

/// Blocks that a multiprocessor should hold at once of an entry point, if that is said.
pub fn resident_blocks(name: &str) -> Option<u32> {
    launch_bounds(name).map(|(_, blocks)| blocks)
}

/// Threads and resident blocks of an entry point.
fn launch_bounds(name: &str) -> Option<(u32, u32)> {
    let fits = |start: &str, end: &str| name.starts_with(start) && name.ends_with(end);
    (LAUNCH_BOUNDS.iter())
        .find(|(start, end, ..)| fits(start, end))
        .map(|(_, _, threads, blocks)| (*threads, *blocks))
}

fn with_directives(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len() + 4096);
    let mut entry = None;
    for line in ptx.lines() {
        if let Some(name) = entry_name(line) {
            entry = launch_bounds(name);
        }
        text.push_str(line);
        text.push('\n');
        if line.starts_with(".address_size") {
            text.push_str(NO_UNROLLING);
        }
        // The end of the parameter list, where directives go.
        if line == ")"
            && let Some((threads, blocks)) = entry.take()
        {
            text.push_str(&format!(
                ".maxntid {threads}, 1, 1\n.minnctapersm {blocks}\n"
            ));
        }
    }
    text
}

/// The rules: the entry points are those of the list, nothing is fused or approximated, nothing is
/// called, and no array has left the registers.
fn check_rules(ptx: &str) -> Result<(), Failure> {
    let mut entries: Vec<&str> = ptx.lines().filter_map(entry_name).collect();
    let mut listed = NAMES.to_vec();
    entries.sort_unstable();
    listed.sort_unstable();
    if entries != listed {
        return Err(format!("entry points {entries:?} are not those of the list").into());
    }
    let mut entry = "";
    let mut is_assembly = false;
    for (number, line) in (1..).zip(ptx.lines()) {
        entry = entry_name(line).unwrap_or(entry);
        is_assembly = match line.trim() {
            "// begin inline asm" => true,
            "// end inline asm" => false,
            _ => is_assembly,
        };
        let rule = broken_rule(line).or_else(|| broken_assembly_rule(line).filter(|_| is_assembly));
        let rule = rule.filter(|rule| *rule != IN_LOCAL_MEMORY || !may_use_stack(entry));
        if let Some(rule) = rule {
            return Err(format!("{entry}, line {number}: {rule}: {}", line.trim()).into());
        }
    }
    println!("PTX rules: {} entry points, none broken", entries.len());
    Ok(())
}

const IN_LOCAL_MEMORY: &str = "an array in local memory";

/// Kernels that convert between layouts for others' pipelines find places by loops over dimensions; they are not hot.
pub fn may_use_stack(name: &str) -> bool {
    name.starts_with("ferrosz_export_") || name.starts_with("ferrosz_import_")
}

fn broken_rule(line: &str) -> Option<&'static str> {
    let code = line.split("//").next().unwrap_or_default().trim();
    let operation = code
        .split_whitespace()
        .find(|word| !word.starts_with('@'))?;
    let parts: Vec<&str> = operation.trim_end_matches(';').split('.').collect();
    let has = |part: &str| parts.contains(&part);
    if parts[0] == "fma" || parts[0] == "mad" && (has("f32") || has("f64")) {
        Some("a fused operation rounds once where the CPU rounds twice")
    } else if has("ftz") {
        Some("subnormals must not be flushed")
    } else if has("approx") {
        Some("an approximation differs between chips")
    } else if parts[0] == "call" {
        Some("a call")
    } else if has("local") {
        Some(IN_LOCAL_MEMORY)
    } else {
        None
    }
}

/// LLVM does not know that assembly can be a collective, and may move it into a branch.
fn broken_assembly_rule(line: &str) -> Option<&'static str> {
    ["shfl.", "vote.", "redux.", "bar.", "barrier.", "match."]
        .iter()
        .any(|collective| line.trim_start().starts_with(collective))
        .then_some("a collective in inline assembly")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_rules_are_found() {
        for line in [
            "\tfma.rn.f32 \t%f1, %f2, %f3, %f4;",
            "\t@%p1 mad.rn.f64 %fd1, %fd2, %fd3, %fd4;",
            "\tadd.rn.ftz.f32 %f1, %f2, %f3;",
            "\tdiv.approx.f32 %f1, %f2, %f3;",
            "\tcall.uni (retval0), memcpy, (param0);",
            "\tst.local.u32 [%rd1], %r1;",
            "\t.local .align 4 .b8 \t__local_depot0[128];",
        ] {
            assert!(broken_rule(line).is_some(), "{line}");
        }
        for line in [
            "\tmul.rn.f32 \t%f1, %f2, %f3;",
            "\tmad.lo.s32 %r1, %r2, %r3, %r4;",
            "$L__BB0_1:",
            "",
            "// call fma local",
        ] {
            assert!(broken_rule(line).is_none(), "{line}");
        }
    }

    #[test]
    fn collectives_in_assembly_are_found() {
        assert!(broken_assembly_rule("\tshfl.sync.up.b32 %r1, %r2, 1, 0, -1;").is_some());
        assert!(broken_assembly_rule("\tld.shared.u32 %r1, [%r2];").is_none());
    }

    #[test]
    fn launch_bounds_stand_behind_the_parameters() {
        let ptx = ".visible .entry ferrosz_extremes_f32(\n\t.param .b8 p[8]\n)\n{\n}\n";
        let text = with_directives(ptx);
        assert!(text.contains(")\n.maxntid 256, 1, 1\n.minnctapersm 4\n{"));
    }
}
