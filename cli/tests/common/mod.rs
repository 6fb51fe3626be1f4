//! A folder to run the command in, and a field.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::Value;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Dimensions of the field.
pub const DIMS: [usize; 3] = [5, 40, 37];

/// The command of the package whose tests these are.
const COMMAND: &str = match (
    option_env!("CARGO_BIN_EXE_ferrosz"),
    option_env!("CARGO_BIN_EXE_ferrosz-demo"),
    option_env!("CARGO_BIN_EXE_ferrosz-lab"),
) {
    (Some(command), _, _) | (_, Some(command), _) | (_, _, Some(command)) => command,
    (None, None, None) => panic!("this package has no command"),
};

/// A folder to run the command in.
pub struct Place(TempDir);

impl Place {
    /// An empty folder, gone when dropped.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Reads a file.
    pub fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Names of all files, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The command, to be run in the folder.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(COMMAND);
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs a script of the shell that finds the command by its name, up to the first line that fails.
    pub fn shell(&self, script: &str) -> Output {
        let folder = Path::new(COMMAND).parent().unwrap().to_owned();
        let others = env::var_os("PATH").unwrap_or_default();
        let folders = iter::once(folder).chain(env::split_paths(&others));
        Command::new("bash")
            .current_dir(self.0.path())
            .args(["-euo", "pipefail", "-c", script])
            .env("PATH", env::join_paths(folders).unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Runs a line of arguments on the CPU; outputs may replace files.
    pub fn run(&self, line: &str) -> Output {
        let replaces = ["compress ", "decompress ", "compact ", "demo "];
        match replaces.iter().any(|command| line.starts_with(command)) {
            true => self.run_as_is(&format!("{line} --force")),
            false => self.run_as_is(line),
        }
    }

    /// Runs a line of arguments on the CPU.
    pub fn run_as_is(&self, line: &str) -> Output {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut command = self.command(&arguments);
        if !line.contains("--device") && !line.starts_with("completions") {
            command.args(["--device", "cpu"]);
        }
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a line that must succeed.
    pub fn succeed(&self, line: &str) -> Output {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        output
    }

    /// Runs a line that must fail with this status, and with all of these words.
    pub fn fail(&self, status: i32, line: &str, words: &[&str]) {
        let before = self.names();
        let output = self.run(line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{line}: {said}");
        for word in words {
            assert!(said.contains(word), "{line}: no '{word}' in: {said}");
        }
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(output.stdout, b"", "{line}");
        assert_eq!(self.names(), before, "{line} left a file");
    }

    /// Runs a line with this standard input.
    pub fn pipe(&self, line: &str, input: &[u8]) -> Output {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut child = self
            .command(&arguments)
            .args(["--device", "cpu"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The inputs are smaller than a pipe holds. A command that refuses them may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// What a line that must succeed prints.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_slice(&self.succeed(line).stdout).unwrap()
    }
}

/// What a command said.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A field of waves, with values that are not finite.
pub fn field() -> Vec<f64> {
    let elements = DIMS.iter().product();
    let mut values: Vec<f64> = (0..elements)
        .map(|i| (i as f64 * 0.05).sin() * 40.0 + (i as f64 * 1e-3).cos() * 7.0)
        .collect();
    values[17] = f64::NAN;
    values[4000] = f64::NEG_INFINITY;
    values
}

/// The field's values, little-endian.
pub fn raw(dtype: &str) -> Vec<u8> {
    match dtype {
        "f32" => field()
            .iter()
            .flat_map(|x| (*x as f32).to_le_bytes())
            .collect(),
        _ => field().iter().flat_map(|x| x.to_le_bytes()).collect(),
    }
}

/// The first bytes of a `.npy` file.
pub fn npy_header(descr: &str, fortran: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// The field as a `.npy` file.
pub fn npy(dtype: &str) -> Vec<u8> {
    let descr = if dtype == "f32" { "<f4" } else { "<f8" };
    [npy_header(descr, "False", "(5, 40, 37)"), raw(dtype)].concat()
}
