//! The gates of CI.

use crate::{Failure, UNOPTIMISED, executable, machine_code, output};
use crate::{package, ptx, resources, root, run};
use ferrosz_simt::build::{Compiler, Error, Toolchain};
use std::fs;
use std::process::Command;
use std::thread;

/// Bytes of the shipped command at most.
const MOST_BYTES: u64 = 18_100_000;

/// Crates with features, and combinations of features; the lints of the workspace have all of them. Without features no
/// optional dependency is compiled.
const WITH_FEATURES: [(&str, &[&str]); 6] = [
    ("ferrosz-host", &FEATURES),
    ("ferrosz", &FEATURES),
    ("ferrosz-cuszp", &FEATURES_AND_HOST),
    ("ferrosz-stages", &FEATURES_AND_HOST),
    ("ferrosz-lab-kernels", &FEATURES_AND_HOST),
    // What differs with a GPU and the emulator is in the library.
    ("ferrosz-cli", &["", "cuda"]),
];
const FEATURES: [&str; 3] = ["", "cuda", "emulator"];
const FEATURES_AND_HOST: [&str; 4] = ["", "host", "cuda", "emulator"];
const OPTIONAL: [&str; 3] = ["cudarc", "lzma-rust2", "corosensei"];

/// Crates without features, targets that they compile for, and the parts of Rust's library that there are. The library is
/// compiled once for each target. That `ferrosz-simt` and `ferrosz-codec` need no more than `core` shows in the kernels.
const TARGETS: [(&str, &str, &str); 5] = [
    ("ferrosz-simt", "thumbv7em-none-eabihf", "core,alloc"),
    ("ferrosz-codec", "thumbv7em-none-eabihf", "core,alloc"),
    ("ferrosz-cuszp", "thumbv7em-none-eabihf", "core,alloc"),
    ("ferrosz-stages", "thumbv7em-none-eabihf", "core,alloc"),
    ("ferrosz", "wasm32-unknown-unknown", "std,panic_abort"),
];

/// The checks before a commit, in the order in which they fail soonest.
pub fn all() -> Result<(), Failure> {
    cargo(&["fmt", "--all", "--check"])?;
    lints()?;
    ptx()?;
    cargo(&["test", "--workspace"])
}

fn lints() -> Result<(), Failure> {
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])
}

/// Checks that each choice of features compiles, and compiles only its own optional dependencies.
pub fn features() -> Result<(), Failure> {
    for (package, choices) in WITH_FEATURES {
        for features in choices {
            println!("{package} with features '{features}'");
            run(Command::new(env!("CARGO"))
                .current_dir(root())
                .envs(UNOPTIMISED)
                .args(["clippy", "--quiet", "--package", package])
                .args(["--no-default-features", "--features", features])
                .args(["--", "-D", "warnings"]))?;
        }
        let mut tree = Command::new(env!("CARGO"));
        tree.current_dir(root());
        tree.args(["tree", "--package", package, "--no-default-features"]);
        tree.args(["--edges", "normal", "--prefix", "none"]);
        let tree = output(&mut tree).ok_or("cargo tree fails")?;
        let optional = |line: &&str| OPTIONAL.iter().any(|name| line.starts_with(name));
        if let Some(line) = tree.lines().find(optional) {
            return Err(format!("{package} without features depends on {line}").into());
        }
    }
    Ok(())
}

/// Checks that crates that need no operating system compile for targets without one.
pub fn targets() -> Result<(), Failure> {
    let compiler = (Compiler::all().into_iter())
        .find(Compiler::has_source)
        .ok_or(Error::NoCompiler)?;
    for (package, target, library) in TARGETS {
        println!("{package} for {target}, by {}", compiler.version());
        run(compiler
            .cargo()
            .current_dir(root())
            .env("CARGO_TARGET_DIR", root().join("target/other"))
            .envs(UNOPTIMISED)
            .args(["check", "--quiet", "--no-default-features"])
            .args(["--package", package, "--target", target])
            .arg(format!("-Zbuild-std={library}")))?;
    }
    Ok(())
}

/// Checks that the published crates compile with the oldest promised Rust.
pub fn msrv() -> Result<(), Failure> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let promised = (manifest.lines())
        .find_map(|line| line.strip_prefix("rust-version = \""))
        .and_then(|rest| rest.split('"').next())
        .ok_or("Cargo.toml promises no rust-version")?;
    let wanted = format!("rustc {promised}.");
    let toolchain = (Toolchain::all().into_iter())
        .find(|toolchain| toolchain.version().starts_with(&wanted))
        .ok_or_else(|| format!("Rust {promised}, which Cargo.toml promises, is not here"))?;
    println!("with {}", toolchain.version());
    run(toolchain
        .cargo()
        .current_dir(root())
        .envs(UNOPTIMISED)
        .args(["check", "--quiet", "--package", "ferrosz-cli"]))
}

/// Checks that the shipped command is small.
pub fn size() -> Result<(), Failure> {
    let path = executable::ferrosz()?;
    let bytes = fs::metadata(&path)?.len();
    println!("{}: {bytes} bytes, of {MOST_BYTES} at most", path.display());
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err("the command is too large".into()),
    }
}

/// Checks that the packages compile by themselves, and that a crate that depends only on them works.
pub fn packages() -> Result<(), Failure> {
    package::check()
}

/// Checks that the committed PTX is the output for the committed sources and keeps the rules, and that the committed table
/// of its resources and the committed machine code were made of it.
pub fn ptx() -> Result<(), Failure> {
    if resources::are_known()? {
        return ptx::check();
    }
    // The assembler reads the committed PTX, so it need not wait for the compiler, which uses one processor.
    let (checked, assembled) = thread::scope(|scope| {
        let assembled = scope.spawn(|| assembly().map_err(|error| error.to_string()));
        (ptx::check(), assembled.join())
    });
    checked?;
    assembled.map_err(|_| "the assembly of the kernels panicked")??;
    Ok(())
}

/// Checks that the assembler makes the committed table of resources and the committed machine code of the committed PTX.
pub fn assembly() -> Result<(), Failure> {
    let assembled = resources::assembled()?;
    resources::check(&assembled)?;
    machine_code::check(&assembled)
}

fn cargo(arguments: &[&str]) -> Result<(), Failure> {
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments))
}
