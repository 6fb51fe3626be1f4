//! The committed PTX: its build and its rules.

use crate::crates::{self, KernelCrate};
use crate::packed::Files;
use crate::{Failure, machine_code, root};
use ferrosz_simt::Launch;
use ferrosz_simt::build::{
    Built, Compiler, Kernels, Manifest, Rule, Violation, split, violations, with_directives,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};

/// Bytes of all committed PTX for users at most: every program that uses the library on a GPU embeds it.
const MOST_BYTES: u64 = 3_760_000;

/// What a compiler makes of a crate.
struct Compiled {
    of: &'static KernelCrate,
    kernels: Kernels,
    manifest: Manifest,
}

/// Compiles the kernels, and commits the PTX of those whose instructions have changed to their files. The machine code of
/// these is removed, as a GPU would run it.
pub fn rebuild() -> Result<(), Failure> {
    let compiler = Compiler::find()?;
    let (mut kernels, mut changed) = (0, 0);
    for compiled in build_all(&compiler)? {
        let of = compiled.of;
        let Kernels(texts) = compiled.kernels;
        let names = Files::ptx(of).write(&texts)?;
        machine_code::remove(of, &names)?;
        compiled.manifest.write(&of.folder())?;
        kernels += texts.len();
        changed += names.len();
    }
    check_bytes()?;
    let version = compiler.version();
    println!("PTX: {kernels} kernels by {version}, {changed} files changed");
    Ok(())
}

/// What a compiler makes of the present sources of all crates.
fn build_all(compiler: &Compiler) -> Result<Vec<Compiled>, Failure> {
    crates::ALL.iter().map(|of| build(compiler, of)).collect()
}

/// What a compiler makes of the present sources of a crate.
fn build(compiler: &Compiler, of: &'static KernelCrate) -> Result<Compiled, Failure> {
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
    Ok(Compiled {
        of,
        kernels,
        manifest: Manifest::new(compiler.version(), &root(), &sources)?,
    })
}

/// The committed manifest of a crate.
fn manifest_of(of: &KernelCrate) -> Result<Manifest, Failure> {
    Manifest::read(&of.folder()).map_err(|error| format!("{error}: run `cargo xtask ptx`").into())
}

/// Refuses sources that have changed since the committed PTX was built.
pub fn check_sources() -> Result<(), Failure> {
    for of in &crates::ALL {
        if let Some(source) = manifest_of(of)?.changed_source(&root()) {
            let reason = "has changed since the PTX was built: run `cargo xtask ptx`";
            return Err(format!("{source} {reason}").into());
        }
    }
    Ok(())
}

/// Refuses committed PTX that differs by a byte from the build of the sources. Only the compiler of the manifest can
/// decide this; other compilers are refused.
pub fn check() -> Result<(), Failure> {
    let committed = manifest_of(&crates::ALL[0])?;
    let compiler = Compiler::of_version(&committed.compiler).map_err(|error| {
        format!("the committed PTX is by another compiler: {error}; install it, or run `cargo xtask ptx` and commit what another makes")
    })?;
    let mut kernels = 0;
    for compiled in build_all(&compiler)? {
        let of = compiled.of;
        let Kernels(texts) = compiled.kernels;
        let other = Files::ptx(of).differences(&texts)?;
        if !other.is_empty() {
            return Err(format!(
                "the committed PTX of {} is not what the sources give: run `cargo xtask ptx`",
                other.join(", ")
            )
            .into());
        }
        if compiled.manifest != manifest_of(of)? {
            let folder = of.folder();
            return Err(format!(
                "the manifest of the PTX in {} is not of these sources: run `cargo xtask ptx`",
                folder.display()
            )
            .into());
        }
        kernels += texts.len();
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

/// Prints the committed PTX of the kernel with a name, or of the only one whose name has this part; lists those that have it
/// if they are several.
pub fn show(part: &str) -> Result<(), Failure> {
    let Kernels(texts) = committed()?;
    let shown = named(&texts, part)? + "\n";
    match io::stdout().write_all(shown.as_bytes()) {
        // Who reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// The text of the kernel with a name or with a part of it, or the names that have this part, each on a line.
fn named(texts: &BTreeMap<String, String>, part: &str) -> Result<String, Failure> {
    let has_part: Vec<_> = (texts.iter())
        .filter(|(name, _)| name.contains(part))
        .collect();
    let only = match has_part[..] {
        [(_, text)] => Some(text),
        _ => None,
    };
    match (texts.get(part).or(only), &has_part[..]) {
        (Some(text), _) => Ok(text.trim_end().to_owned()),
        (None, []) => Err(format!("no kernel has a name with {part}").into()),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            Ok(names.join("\n"))
        }
    }
}

fn check_bytes() -> Result<(), Failure> {
    let mut bytes = 0;
    for of in crates::ALL.iter().filter(|of| of.is_for_users) {
        bytes += Files::ptx(of).bytes()?;
    }
    println!("PTX for users: {bytes} bytes, of {MOST_BYTES} at most");
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
    fn a_kernel_is_shown_by_its_name_or_by_a_part_of_it() {
        let texts = ["sum", "sum_f32", "sum_f64", "scan"]
            .map(|name| (name.to_owned(), format!(".entry {name}\n")));
        let texts = BTreeMap::from(texts);
        // A whole name is no part of others; one kernel has this part; several have it; none has it.
        assert_eq!(named(&texts, "sum").unwrap(), ".entry sum");
        assert_eq!(named(&texts, "32").unwrap(), ".entry sum_f32");
        assert_eq!(named(&texts, "um_").unwrap(), "sum_f32\nsum_f64");
        let error = named(&texts, "max").unwrap_err().to_string();
        assert_eq!(error, "no kernel has a name with max");
    }

    #[test]
    fn the_committed_ptx_has_the_entry_of_its_name() {
        let Kernels(texts) = committed().unwrap();
        let text = named(&texts, "ferrosz_interp_prepare_f32").unwrap();
        assert!(text.contains(".entry ferrosz_interp_prepare_f32("));
    }

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
