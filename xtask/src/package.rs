//! `cargo xtask check package`: the packages as a registry distributes them, and a program that depends on them alone.

use crate::{Failure, UNOPTIMISED, root, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The packages that are published; each depends on those before it.
const PACKAGES: [&str; 10] = [
    "ferrosz-codec",
    "ferrosz-simt",
    "ferrosz-gpu-kernels",
    "ferrosz-host",
    "ferrosz-cuszp",
    "ferrosz-stages",
    "ferrosz",
    "ferrosz-verify",
    "ferrosz-report",
    "ferrosz-cli",
];

/// The version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files of every package.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packs all crates; then checks all of them in a crate that depends on the packages alone and has the library's example. What
/// a package lacks is found by the compiler, so nothing is run: the same code runs in the tests of the workspace.
pub fn check() -> Result<(), Failure> {
    let folder = root().join(format!("target/packages-{}", std::process::id()));
    let consumer = root().join("target/consumer");
    let packed = pack(&folder).and_then(|()| unpack(&folder.join("package"), &consumer));
    let _ = fs::remove_dir_all(&folder);
    packed?;
    consume(&consumer)
}

/// Packs all crates. Cargo would build each from its package, which [`consume`] does once for all.
fn pack(folder: &Path) -> Result<(), Failure> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(root())
        .env("CARGO_TARGET_DIR", folder)
        .args(["package", "--quiet", "--allow-dirty", "--no-verify"]);
    for name in PACKAGES {
        cargo.args(["--package", name]);
    }
    run(&mut cargo)
}

/// Unpacks the packages of one folder into another.
fn unpack(packages: &Path, consumer: &Path) -> Result<(), Failure> {
    let _ = fs::remove_dir_all(consumer);
    fs::create_dir_all(consumer)?;
    for name in PACKAGES {
        let package = format!("{name}-{VERSION}");
        let file = packages.join(format!("{package}.crate"));
        run(Command::new("tar")
            .arg("-xzf")
            .arg(&file)
            .arg("-C")
            .arg(consumer))?;
        check_files(&consumer.join(&package))?;
        println!("{package}.crate: {} bytes", fs::metadata(&file)?.len());
    }
    Ok(())
}

/// Creates a crate beside the unpacked packages that depends on all of them and on nothing else, and checks it.
fn consume(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest())?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    fs::copy(
        folder.join(format!("ferrosz-{VERSION}/examples/compress_field.rs")),
        folder.join("src/main.rs"),
    )?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).args(["check", "--quiet"]);
    (cargo.envs(UNOPTIMISED)).env("CARGO_TARGET_DIR", root().join("target"));
    run(&mut cargo)?;
    println!("a crate that depends on the packages alone compiles");
    Ok(())
}

fn manifest() -> String {
    let mut text = "[package]\nname = \"consumer\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n"
        .to_owned();
    for name in PACKAGES {
        text.push_str(&format!("{name} = \"{VERSION}\"\n"));
    }
    text.push_str("\n[profile.dev]\ndebug = false\n\n[patch.crates-io]\n");
    for name in PACKAGES {
        text.push_str(&format!("{name} = {{ path = \"{name}-{VERSION}\" }}\n"));
    }
    text
}

fn check_files(package: &Path) -> Result<(), Failure> {
    match FILES.iter().find(|file| !package.join(file).is_file()) {
        None => Ok(()),
        Some(file) => Err(format!("{} lacks {file}", package.display()).into()),
    }
}
