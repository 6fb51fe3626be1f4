//! The committed PTX: its build and its rules.

use crate::crates::{self, KernelCrate};
use crate::manifest::Manifest;
use crate::packed::Files;
use crate::{Failure, root};
use ferrosz_simt::Launch;
use ferrosz_simt::build::{
    Built, Compiler, Kernels, Rule, Violation, split, violations, with_directives,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Bytes of all committed PTX at most: every program that uses the library on a GPU embeds it.
const MOST_BYTES: u64 = 3_500_000;

/// Crates, and the PTX of each.
type OfCrates = Vec<(&'static KernelCrate, Kernels)>;

/// Compiles the kernels, and commits the PTX of those whose instructions have changed to their files.
pub fn rebuild() -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let (built, manifest) = build_all(&compiler)?;
    let (mut kernels, mut changed) = (0, 0);
    for (of, Kernels(texts)) in &built {
        kernels += texts.len();
        changed += Files::ptx(of).write(texts)?;
    }
    manifest.write()?;
    check_bytes()?;
    let version = compiler.version();
    println!("PTX: {kernels} kernels by {version}, {changed} files changed");
    Ok(())
}

/// The PTX that a compiler makes of the present sources of all crates, and its manifest.
fn build_all(compiler: &Compiler) -> Result<(OfCrates, Manifest), Failure> {
    let (mut built, mut sources) = (Vec::new(), Vec::new());
    for of in &crates::ALL {
        let (kernels, read) = build(compiler, of)?;
        built.push((of, kernels));
        sources.extend(read);
    }
    Ok((built, Manifest::new(compiler.version(), &sources)?))
}

/// The PTX of a crate, and the sources that it was made from.
fn build(compiler: &Compiler, of: &KernelCrate) -> Result<(Kernels, Vec<PathBuf>), Failure> {
    let Built { ptx, sources } = compiler.compile(&of.package())?;
    // Kernels that say nothing of blocks are short; the assembler is told nothing of their threads either.
    let launches = (of.launches)();
    let bounded = launches.iter().filter(|launch| launch.resident_blocks > 0);
    let text = with_directives(&ptx, bounded)?;
    // PTX that breaks a rule is not committed, but left here for the developer to read.
    let refused = root().join("target/refused.ptx");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&refused, &text)?;
    check_rules(&text)?;
    fs::remove_file(refused)?;
    let kernels = split(&text)?;
    check_names(&kernels, &launches)?;
    Ok((kernels, sources))
}

/// Refuses committed PTX that differs by a byte from the build of the sources. Only the compiler of the manifest can
/// decide this; other compilers are refused.
pub fn check() -> Result<(), Failure> {
    let committed = Manifest::read()?;
    let compiler = Compiler::of_version(&committed.compiler).map_err(|error| {
        format!("the committed PTX is by another compiler: {error}; install it, or run `cargo xtask ptx` and commit what another makes")
    })?;
    let (built, manifest) = build_all(&compiler)?;
    let mut kernels = 0;
    for (of, Kernels(texts)) in &built {
        let other = Files::ptx(of).differences(texts)?;
        if !other.is_empty() {
            return Err(format!(
                "the committed PTX of {} is not what the sources give: run `cargo xtask ptx`",
                other.join(", ")
            )
            .into());
        }
        kernels += texts.len();
    }
    if manifest != committed {
        return Err(
            "gpu-kernels/ptx/manifest.txt is not of these sources: run `cargo xtask ptx`".into(),
        );
    }
    check_bytes()?;
    let version = compiler.version();
    println!("PTX: {kernels} kernels, the same again by {version}");
    Ok(())
}

/// The committed PTX of all kernels.
pub fn committed() -> Result<Kernels, Failure> {
    let mut texts = BTreeMap::new();
    for of in &crates::ALL {
        for (name, bytes) in Files::ptx(of).read()? {
            texts.insert(name, String::from_utf8(bytes)?);
        }
    }
    Ok(Kernels(texts))
}

fn check_bytes() -> Result<(), Failure> {
    let mut bytes = 0;
    for of in &crates::ALL {
        bytes += Files::ptx(of).bytes()?;
    }
    println!("PTX: {bytes} bytes, of {MOST_BYTES} at most");
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err("the committed PTX is too large to be embedded".into()),
    }
}

/// Refuses PTX that breaks a rule.
fn check_rules(ptx: &str) -> Result<(), Failure> {
    let mut broken = violations(ptx, Rule::ALL).into_iter();
    let is_allowed = |violation: &Violation| {
        violation.rule == Rule::LocalMemory && may_use_stack(&violation.entry)
    };
    match broken.find(|violation| !is_allowed(violation)) {
        None => Ok(()),
        Some(violation) => Err(violation.to_string().into()),
    }
}

/// Refuses entry points that are not those of the list.
fn check_names(kernels: &Kernels, launches: &[Launch]) -> Result<(), Failure> {
    let listed: BTreeSet<&str> = launches.iter().map(|launch| launch.name).collect();
    let names: BTreeSet<&str> = kernels.0.keys().map(String::as_str).collect();
    if names != listed {
        return Err(format!("entry points {names:?} are not those of the list").into());
    }
    println!("PTX rules: {} entry points, none broken", names.len());
    Ok(())
}

/// Whether a kernel may use a stack: kernels that convert between layouts for other pipelines compute positions by
/// loops over dimensions, and are not hot.
pub fn may_use_stack(name: &str) -> bool {
    name.starts_with("ferrosz_export_") || name.starts_with("ferrosz_import_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_memory_is_allowed_where_it_may_be_used() {
        let ptx = |name| {
            format!(".visible .entry {name}(\n)\n{{\n\tst.local.b32 [%rd1], %r1;\n\tret;\n}}\n")
        };
        assert!(check_rules(&ptx("ferrosz_export_line_f32")).is_ok());
        let error = check_rules(&ptx("ferrosz_finish")).unwrap_err().to_string();
        assert!(error.starts_with("ferrosz_finish, line 4: an array in local memory: st.local"));
        let fused = ptx("ferrosz_export_line_f32").replace("st.local", "fma.rn");
        assert!(check_rules(&fused).is_err());
    }
}
