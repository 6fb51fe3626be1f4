//! `cargo xtask check package`: the packages as a registry hands them out, and a program that has nothing else.

use crate::{Failure, output, root, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The packages that are published; each depends on those before it.
const PACKAGES: [&str; 6] = [
    "ferrosz-codec",
    "ferrosz-simt",
    "ferrosz-gpu-kernels",
    "ferrosz-host",
    "ferrosz",
    "ferrosz-cli",
];

/// What every package holds.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packs all crates and builds each from its package; then runs the example of the library in a crate that depends on
/// the packages alone.
pub fn check() -> Result<(), Failure> {
    // 1. Pack. Cargo builds each package, with those before it in place of the registry's.
    let target = root().join("target/package");
    let mut pack = Command::new(env!("CARGO"));
    pack.current_dir(root())
        .args(["package", "--quiet", "--allow-dirty"]);
    for name in PACKAGES {
        pack.args(["--package", name]);
    }
    run(&mut pack)?;
    // 2. Unpack.
    let version = env!("CARGO_PKG_VERSION");
    let folder = root().join("target/consumer");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("src"))?;
    for name in PACKAGES {
        let package = format!("{name}-{version}");
        let file = target.join(format!("{package}.crate"));
        run(Command::new("tar")
            .arg("-xzf")
            .arg(&file)
            .arg("-C")
            .arg(&folder))?;
        check_files(&folder.join(&package))?;
        println!("{package}.crate: {} bytes", fs::metadata(&file)?.len());
    }
    // 3. A crate that has the packages alone.
    fs::write(folder.join("Cargo.toml"), manifest(version))?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    fs::copy(
        folder.join(format!("ferrosz-{version}/examples/compress_field.rs")),
        folder.join("src/main.rs"),
    )?;
    let mut consumer = Command::new(env!("CARGO"));
    consumer.current_dir(&folder).args(["run", "--quiet"]);
    consumer.env("CARGO_TARGET_DIR", folder.join("target"));
    let printed = output(&mut consumer)
        .ok_or("a crate that depends on the packages alone does not build and run")?;
    println!("a crate that depends on the packages alone says:\n{printed}");
    Ok(())
}

fn manifest(version: &str) -> String {
    let mut text = format!(
        "[package]\nname = \"consumer\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [profile.dev]\nopt-level = 1\n\n[dependencies]\nferrosz = \"{version}\"\n\n[patch.crates-io]\n"
    );
    for name in PACKAGES {
        text.push_str(&format!("{name} = {{ path = \"{name}-{version}\" }}\n"));
    }
    text
}

fn check_files(package: &Path) -> Result<(), Failure> {
    match FILES.iter().find(|file| !package.join(file).is_file()) {
        None => Ok(()),
        Some(file) => Err(format!("{} lacks {file}", package.display()).into()),
    }
}
