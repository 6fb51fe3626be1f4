//! The committed PTX: its build and its rules.

use crate::manifest::Manifest;
use crate::packed::Files;
use crate::{Failure, root};
use ferrosz_gpu_kernels::list::launches;
use ferrosz_simt::build::{
    Built, Compiler, Kernels, Package, Rule, Violation, split, violations, with_directives,
};
use std::collections::BTreeSet;
use std::fs;

/// Bytes of all committed PTX at most: every program that uses the library on a GPU embeds it.
const MOST_BYTES: u64 = 2_000_000;

/// Compiles the kernels, and writes the PTX of kernels whose instructions have changed.
pub fn rebuild() -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let (kernels, manifest) = build(&compiler)?;
    let changed = Files::ptx().write(&kernels.0)?;
    manifest.write()?;
    check_bytes()?;
    println!(
        "PTX: {} kernels by {}, {changed} files changed",
        kernels.0.len(),
        compiler.version()
    );
    Ok(())
}

/// Builds the PTX of the present sources with a compiler; returns it with its manifest.
pub fn build(compiler: &Compiler) -> Result<(Kernels, Manifest), Failure> {
    let package = Package::new(root(), "ferrosz-gpu-kernels");
    let Built { ptx, sources } = compiler.compile(&package)?;
    // Kernels without a number of resident blocks are short; the assembler is not told their threads either.
    let launches = launches();
    let bounded = launches.iter().filter(|launch| launch.resident_blocks > 0);
    let text = with_directives(&ptx, bounded)?;
    // PTX that breaks a rule is not committed, but left here for the developer to read.
    let refused = root().join("target/refused.ptx");
    fs::create_dir_all(root().join("target"))?;
    fs::write(&refused, &text)?;
    check_rules(&text)?;
    fs::remove_file(refused)?;
    let kernels = split(&text)?;
    check_names(&kernels)?;
    Ok((kernels, Manifest::new(compiler.version(), &sources)?))
}

/// Refuses committed PTX that differs by a byte from the build of the sources. Only the compiler of the manifest can
/// decide this; other compilers are refused.
pub fn check() -> Result<(), Failure> {
    let committed = Manifest::read()?;
    let compiler = Compiler::of_version(&committed.compiler).map_err(|error| {
        format!("the committed PTX is by another compiler: {error}; install it, or run `cargo xtask ptx` and commit what another makes")
    })?;
    let (built, manifest) = build(&compiler)?;
    let other = Files::ptx().differences(&built.0)?;
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
        built.0.len(),
        compiler.version()
    );
    Ok(())
}

/// The committed PTX of all kernels.
pub fn committed() -> Result<Kernels, Failure> {
    let text = |(name, bytes)| Ok((name, String::from_utf8(bytes)?));
    let texts = Files::ptx().read()?.into_iter().map(text);
    Ok(Kernels(texts.collect::<Result<_, Failure>>()?))
}

fn check_bytes() -> Result<(), Failure> {
    let bytes = Files::ptx().bytes()?;
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

/// Refuses entry points that differ from those of the list.
fn check_names(kernels: &Kernels) -> Result<(), Failure> {
    let launches = launches();
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
