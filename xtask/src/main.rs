//! Development tasks.
//!
//! ```text
//! cargo xtask ptx           rebuild gpu-kernels/ptx, and the files made from it
//! cargo xtask ptx --show X  the PTX of a kernel; a part of several names lists them
//! cargo xtask resources     rewrite the files made from gpu-kernels/ptx: gpu-kernels/machine-code, and the table in
//!                           docs/measurements/kernel-resources.md
//! cargo xtask check         formatting, lints, PTX gates, tests
//! cargo xtask check NAME    one gate of CI: ptx | resources | features | targets | msrv | docs | house | package | size | stacks
//! cargo xtask campaign NAME all cases of a test, of which `cargo test` takes some; --list names them
//! cargo xtask bench ...     `ferrosz-lab bench ...`, built for release
//! cargo xtask gpu-bundle    a folder that tests and times a GPU machine without Rust
//! cargo xtask golden        adds new golden streams to tests/golden; `--rewrite REASON` changes those that differ, too, and
//!                           prints the reason for CHANGELOG.md
//! ```

mod bundle;
mod campaign;
mod check;
mod crates;
mod docs;
mod executable;
mod house;
mod machine_code;
mod package;
mod packed;
mod ptx;
mod resources;
mod stacks;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The error of a task.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["ptx"] => ptx::rebuild().and_then(|()| resources()),
        ["ptx", "--show", name] => ptx::show(name),
        ["resources"] => resources(),
        ["check"] => check::all(),
        ["check", "ptx"] => check::ptx(),
        ["check", "resources"] => check::assembly(),
        ["check", "features"] => check::features(),
        ["check", "targets"] => check::targets(),
        ["check", "docs"] => docs::check(),
        ["check", "house"] => house::check(),
        ["check", "msrv"] => check::msrv(),
        ["check", "package"] => check::packages(),
        ["check", "size"] => check::size(),
        ["check", "stacks"] => stacks::check(),
        ["campaign", ref words @ ..] => campaign::start(words),
        ["bench", ref arguments @ ..] => bench(arguments),
        ["gpu-bundle"] => bundle::make(),
        ["golden"] => golden(None),
        ["golden", "--rewrite", reason] if !reason.is_empty() => golden(Some(reason)),
        _ => {
            let gates = "check ptx | resources | features | targets | msrv | docs | house | package | size | stacks";
            let others = "campaign NAME | bench ARGUMENTS | gpu-bundle | golden [--rewrite REASON]";
            Err(
                format!("tasks: ptx | ptx --show NAME | resources | check | {gates} | {others}")
                    .into(),
            )
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Rewrites the files that are made from the committed PTX.
fn resources() -> Result<(), Failure> {
    let assembled = resources::assembled()?;
    // The table has a hash of the machine code.
    machine_code::write(&assembled)?;
    resources::write(&assembled)
}

/// Runs `ferrosz-lab bench` with these arguments, built for release.
fn bench(arguments: &[&str]) -> Result<(), Failure> {
    run(Command::new(executable::lab()?)
        .arg("bench")
        .args(arguments))
}

/// Adds new golden streams; with a reason for it, rewrites those that differ.
fn golden(reason: Option<&str>) -> Result<(), Failure> {
    let mut cargo = Command::new("cargo");
    cargo.env_remove("FERROSZ_GOLDEN_REASON");
    cargo.envs(reason.map(|reason| ("FERROSZ_GOLDEN_REASON", reason)));
    cargo
        .current_dir(root())
        .args(["test", "--quiet", "--package", "ferrosz", "--test", "all"]);
    run(cargo.args([
        "--",
        "--ignored",
        "--exact",
        "golden::rewrite",
        "vectors::rewrite",
        "--nocapture",
    ]))
}

/// The root folder of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// For cargo where nothing is run: as CI's lints, so that dependencies are compiled once for all.
const UNOPTIMISED: [(&str, &str); 1] = [("CARGO_PROFILE_DEV_OPT_LEVEL", "0")];

/// Runs a command to its end; an error contains the command.
fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}

/// The standard output of a command; none if the command fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}
