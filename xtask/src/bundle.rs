//! `cargo xtask gpu-bundle`: a folder of tests and benchmarks for a GPU machine without Rust.
//!
//! It holds the GPU tests and the `ferrosz-lab` command as executables, the golden streams, the generator of the fields
//! for `ferrosz-lab bench` (Python with PyTorch), and `run.sh`, which runs all of it.

use crate::{Failure, executable, ptx, root};
use std::fs;
use std::path::Path;

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
for tests in gpu-tests cuszp-tests stages-tests; do
    (cd "$here" && timeout 600 "./$tests" gpu:: the_gpu --ignored --nocapture --test-threads=1) 2>&1 | tee "$out/$tests.log"
    [ "${PIPESTATUS[0]}" = 0 ] || status=1
done
[ -f "$fields/grf.f32" ] || python3 "$here/make_fields.py" "$fields" || status=1
cubes=()
for name in grf nyx rtm sparse; do cubes+=("$fields/$name.f32:512,512,512"); done
bench() { # NAME ARGUMENTS: a table in NAME.log, an object in NAME.json
    local name=$1
    shift
    timeout 1800 "$here/ferrosz-lab" bench --device cuda --json --dtype f32 "$@" 2> "$out/$name.log" > "$out/$name.json" || status=1
    cat "$out/$name.log"
}
bench bench "${cubes[@]}" "$fields/hacc.f32:268435456"
bench bench-f64 --f64 --repeat 10 "${cubes[0]}"
bench bench-small --bytes 64KiB --bytes 1MiB --bytes 8MiB "${cubes[@]}"
bench bench-bare --bare --repeat 10 "${cubes[0]}"
# Bounds relative to each value, beside the same fields without one.
for bound in pwrel range; do
    bench "bench-$bound" "--$bound" 1e-3 --repeat 20 --codec plain,outlier --rank 1,3 "${cubes[0]}" "${cubes[1]}"
done
for name in short mask batch ablations; do
    timeout 600 "$here/ferrosz-lab" "$name" --device cuda 2>&1 | tee "$out/$name.log"
    [ "${PIPESTATUS[0]}" = 0 ] || status=1
done
exit $status
"#;

/// Packages, and the names of their tests in the folder.
const TESTS: [(&str, &str); 3] = [
    ("ferrosz", "gpu-tests"),
    ("ferrosz-cuszp", "cuszp-tests"),
    ("ferrosz-stages", "stages-tests"),
];

/// Makes the folder `gpu-bundle`.
pub fn make() -> Result<(), Failure> {
    ptx::check_sources()?;
    let folder = root().join("gpu-bundle");
    fs::create_dir_all(&folder)?;
    for (package, name) in TESTS {
        let arguments = ["test", "--no-run", "--release", "--package", package];
        let built = executable::build(&[&arguments[..], &["--test", "all"]].concat())?;
        fs::copy(built, folder.join(name))?;
    }
    copy_folder("tests/golden", &folder)?;
    fs::copy(executable::lab()?, folder.join("ferrosz-lab"))?;
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

/// Copies the files of a folder of the repository to the same relative path below another folder.
fn copy_folder(name: &str, to: &Path) -> Result<(), Failure> {
    let to = to.join(name);
    fs::create_dir_all(&to)?;
    for file in fs::read_dir(root().join(name))? {
        let file = file?;
        fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
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
