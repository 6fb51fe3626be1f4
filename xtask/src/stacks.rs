//! The shipped command on small stacks.

use crate::{Failure, executable, root, run};
use ferrosz_codec::pipeline::Codec;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Bytes of a thread's stack: a quarter of the two million that Rust gives it.
const STACK_BYTES: &str = "524288";

/// More threads split work into more levels of recursion.
const THREADS: &str = "128";

const LENGTHS: [usize; 3] = [150, 200, 200];

/// Runs every codec on threads with small stacks. An optimiser may merge the frame of a closure, and the arrays in it,
/// with the frames of rayon's recursion; each of its levels then holds them, and where there are many processors the
/// stack overflows, now and then. Only optimised code does so: the tests of the workspace cannot see it.
pub fn check() -> Result<(), Failure> {
    let command = executable::ferrosz()?;
    let folder = root().join("target/stacks");
    fs::create_dir_all(&folder)?;
    let field = folder.join("field.f64");
    fs::write(&field, waves())?;
    for codec in Codec::ALL {
        let (stream, values) = (folder.join("stream.fsz"), folder.join("values.f64"));
        let ferrosz = |arguments: &[&str], files: &[&Path]| {
            run(Command::new(&command)
                .env("RUST_MIN_STACK", STACK_BYTES)
                .env("RAYON_NUM_THREADS", THREADS)
                .args(["--quiet", "--device", "cpu"])
                .args(arguments)
                .args(files))
        };
        let dims = LENGTHS.map(|length| length.to_string()).join(",");
        let input = ["--dtype", "f64", "--dims", &dims];
        let name = codec.name();
        let settings = ["compress", "--force", "--range", "1e-3", "--codec", name];
        ferrosz(&[&settings[..], &input].concat(), &[&field, &stream])?;
        ferrosz(&["check"], &[&stream])?;
        ferrosz(&["decompress", "--force"], &[&stream, &values])?;
        ferrosz(
            &["decompress", "--force", "--box", "1:149,1:199,1:199"],
            &[&stream, &values],
        )?;
    }
    println!(
        "{} codecs on stacks of {STACK_BYTES} bytes",
        Codec::ALL.len()
    );
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn waves() -> Vec<u8> {
    let value = |i: usize| (i as f64 * 1e-3).sin() + (i as f64 * 7e-6).cos();
    let count = LENGTHS.iter().product();
    (0..count).flat_map(|i| value(i).to_le_bytes()).collect()
}
