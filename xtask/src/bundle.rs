//! `cargo xtask gpu-bundle`: a folder that tests and times a GPU machine without Rust.
//!
//! It holds the GPU tests, the GPU bench and the `ferrosz` command as executables, the generator
//! of the bench fields (Python with PyTorch), and `run.sh`, which runs all of it.

use crate::{Failure, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RUN: &str = r#"#!/usr/bin/env bash
# Tests and times ferrosz on the NVIDIA GPU of this machine; results go to the folder $OUT or
# ./results. Fields are made in $FIELDS or ./fields. Needs python3 with PyTorch for the fields.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/results}
fields=${FIELDS:-$here/fields}
mkdir -p "$out"
status=0
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv | tee "$out/machine.csv"
timeout 600 "$here/gpu-tests" --ignored --nocapture --test-threads=1 2>&1 | tee "$out/tests.log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
[ -f "$fields/grf.f32" ] || python3 "$here/make_fields.py" "$fields" || status=1
timeout 600 "$here/gpu-bench" --json "$out/bench.json" "$fields"/*.f32 2>&1 | tee "$out/bench.log"
[ "${PIPESTATUS[0]}" = 0 ] || status=1
exit $status
"#;

/// Makes the folder `gpu-bundle`.
pub fn make() -> Result<(), Failure> {
    let folder = root().join("gpu-bundle");
    fs::create_dir_all(&folder)?;
    let tests = build(&["test", "--no-run", "--release", "--test", "gpu"])?;
    fs::copy(tests, folder.join("gpu-tests"))?;
    let bench = build(&["bench", "--no-run", "--bench", "gpu"])?;
    fs::copy(bench, folder.join("gpu-bench"))?;
    let command = build(&["build", "--release", "--package", "ferrosz-cli"])?;
    fs::copy(command, folder.join("ferrosz"))?;
    fs::copy(
        root().join("benches/make_fields.py"),
        folder.join("make_fields.py"),
    )?;
    write_script(&folder.join("run.sh"))?;
    println!(
        "{}: copy it to a GPU machine and run run.sh there",
        folder.display()
    );
    Ok(())
}

/// Builds one executable; its path.
fn build(arguments: &[&str]) -> Result<PathBuf, Failure> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments)
        .arg("--message-format=json")
        .stderr(Stdio::inherit())
        .output()?;
    let messages = String::from_utf8(output.stdout)?;
    let path = messages
        .lines()
        .filter_map(|line| line.split_once("\"executable\":\""))
        .filter_map(|(_, rest)| rest.split('"').next())
        .next_back();
    match path {
        Some(path) if output.status.success() => Ok(PathBuf::from(path)),
        _ => Err(format!("cargo {arguments:?} made no executable").into()),
    }
}

fn write_script(path: &Path) -> Result<(), Failure> {
    fs::write(path, RUN)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
