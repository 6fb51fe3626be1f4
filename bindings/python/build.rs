//! Builds the HDF5 plugin that the wheel has. It is a library of its own, as it must not need Python: HDF5 loads it in
//! other programs, too. pyproject.toml has maturin take it from `OUT_DIR`.

use std::env;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The plugin's package, and the packages of the library that it is made of.
const PLUGIN: &str = "../hdf5";
const SOURCES: [&str; 5] = [
    "../hdf5/src",
    "../hdf5/Cargo.toml",
    "../../src",
    "../../host/src",
    "../../codec/src",
];

/// A variable that cargo sets for build scripts.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

fn main() {
    let manifest = Path::new(PLUGIN).join("Cargo.toml");
    assert!(
        manifest.exists(),
        "{} is not there: the wheel is built from a whole copy of the repository, as it has the HDF5 plugin",
        manifest.display()
    );
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    // The folder of this build is locked while it runs.
    let target_directory = out.join("target");
    let target = variable("TARGET");
    let (profile, folder) = match variable("PROFILE").as_str() {
        "release" => ("release", "release"),
        _ => ("dev", "debug"),
    };
    let built = Command::new(variable("CARGO"))
        .args(["build", "--locked", "--profile", profile])
        .args(["--target", &target])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target_directory)
        .status()
        .unwrap_or_else(|error| panic!("cargo cannot be run for {}: {error}", manifest.display()));
    assert!(built.success(), "{} was not built", manifest.display());

    let library = format!("{DLL_PREFIX}ferrosz_hdf5{DLL_SUFFIX}");
    let plugins = out.join("plugins");
    fs::create_dir_all(&plugins).expect("OUT_DIR can be written");
    let made = target_directory.join(target).join(folder).join(&library);
    fs::copy(&made, plugins.join(library))
        .unwrap_or_else(|error| panic!("{} cannot be copied: {error}", made.display()));
}
