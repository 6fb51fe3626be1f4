//! Inputs and systems that are against the command: files that are replaced or shrink, disks that are full, pipes without an
//! end, threads that cannot start, names that a terminal would obey.

use crate::common::{Place, npy, npy_header, raw, stderr};
use std::fs::{self, File};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const FERROSZ: &str = env!("CARGO_BIN_EXE_ferrosz");

/// Waits until something is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{what} does not come"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Runs a line of a shell in which `$F` is the command.
fn shell(place: &Place, line: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(place.path(""));
    shell
        .env("F", FERROSZ)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn an_update_that_waits_changes_the_file_that_replaced_the_one() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.put("ones.raw", &[0, 0, 128, 63].repeat(9));
    place.succeed("compress in.npy a.fsz --abs 0.1 --codec plain");
    fs::copy(place.path("a.fsz"), place.path("w.fsz")).unwrap();
    // Another update has the lock.
    let held = File::options()
        .write(true)
        .read(true)
        .open(place.path("w.fsz"))
        .unwrap();
    held.lock().unwrap();
    let line = ["update", "w.fsz", "ones.raw", "--elements", "20..29"];
    let mut child = place.command(&line).stderr(Stdio::piped()).spawn().unwrap();
    // It is asleep in the call that locks.
    let stack = format!("/proc/{}/syscall", child.id());
    let flock = match cfg!(target_arch = "x86_64") {
        true => "73 ",
        false => "32 ",
    };
    match fs::read_to_string(&stack) {
        Ok(_) => wait_until("the wait for the lock", || {
            fs::read_to_string(&stack).is_ok_and(|call| call.starts_with(flock))
        }),
        Err(_) => thread::sleep(Duration::from_secs(1)),
    }
    // As `compress --force` replaces a file.
    fs::copy(place.path("a.fsz"), place.path("n.fsz")).unwrap();
    fs::rename(place.path("n.fsz"), place.path("w.fsz")).unwrap();
    drop(held);
    assert!(child.wait().unwrap().success());
    place.succeed("decompress w.fsz part.raw --elements 20..29");
    for value in place.get("part.raw").as_chunks::<4>().0 {
        assert!((f32::from_le_bytes(*value) - 1.0).abs() <= 0.1);
    }
    assert!(place.get("a.fsz").len() < place.get("w.fsz").len());
}

#[test]
fn an_update_without_room_leaves_the_old_file() {
    let place = Place::new();
    let noise = |seed: u32| -> Vec<u8> {
        let values = (0..100_000u32).map(|i| (i ^ seed).wrapping_mul(2_654_435_761) as f32);
        values.flat_map(f32::to_le_bytes).collect()
    };
    place.put("in.raw", &noise(1));
    place.put("new.raw", &noise(7));
    place.succeed("compress in.raw a.fsz --dtype f32 --dims 100000 --abs 0.1 --codec plain");
    let before = place.get("a.fsz");
    // A limit of the length of files, in KiB, stands for the full disk.
    let most = before.len() / 1024 + 40;
    let line = format!(
        "trap '' XFSZ; ulimit -f {most}; exec $F update a.fsz new.raw --elements 0..100000"
    );
    let output = shell(&place, &line);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("cannot update a.fsz"),
        "{}",
        stderr(&output)
    );
    assert!(place.get("a.fsz") == before, "bytes were left");
}

#[test]
fn an_input_that_shrinks_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let elements = 64u64 << 20;
    let file = File::create(place.path("in.raw")).unwrap();
    file.set_len(4 * elements).unwrap();
    let line = format!(
        "compress in.raw out.fsz --dtype f32 --dims {elements} --abs 1 --codec plain --device cpu"
    );
    let arguments: Vec<&str> = line.split(' ').collect();
    let child = place
        .command(&arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the unfinished file", || {
        place.names().iter().any(|name| name.ends_with(".part"))
    });
    file.set_len(0).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("became shorter"),
        "{}",
        stderr(&output)
    );
    assert_eq!(place.names(), ["in.raw"]);
}

#[test]
fn without_threads_the_calling_one_does_the_work() {
    let place = Place::new();
    place.put("in.raw", &raw("f32"));
    place.succeed("compress in.raw a.fsz --dtype f32 --dims 5,40,37 --range 1e-3");
    let expected = place.get("a.fsz");
    fs::set_permissions(
        place.path(""),
        std::os::unix::fs::PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    // The user nobody: a limit of processes does not bind root.
    let limited = |line: &str| {
        let run = "import os, resource, sys\n\
                   if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n\
                   resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))\n\
                   os.execv(sys.argv[1], sys.argv[1:])";
        let mut python = Command::new("python3");
        python.args(["-c", run, FERROSZ]).args(line.split(' '));
        python.current_dir(place.path("")).output()
    };
    for line in [
        "compress in.raw b.fsz --dtype f32 --dims 5,40,37 --range 1e-3 --device cpu",
        "check b.fsz",
        "verify in.raw b.fsz",
        "decompress b.fsz b.raw",
    ] {
        let Ok(output) = limited(line) else {
            return;
        };
        let said = stderr(&output);
        // Where the folder of the tests is closed to others, nothing can be tested.
        if said.contains("Permission denied") || said.contains("PermissionError") {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
    }
    assert!(place.get("b.fsz") == expected);
    let output = limited("receive 127.0.0.1:0 out.raw").unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("needs a thread"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn of_a_pipe_no_more_is_read_than_its_start_names() {
    let place = Place::new();
    place.put("in.npy", &npy("f32"));
    place.succeed("compress in.npy a.fsz --abs 0.1");
    for command in ["info", "check", "decompress"] {
        let output = if command == "decompress" {
            "- out.npy"
        } else {
            "-"
        };
        // What is no stream ends with its first bytes, and what follows one with a few.
        for (input, words) in [
            ("yes", "not a ferrosz stream"),
            (
                "cat a.fsz <(yes)",
                if command == "info" {
                    "its header says"
                } else {
                    "follow the end"
                },
            ),
        ] {
            let line = format!(
                "ulimit -f 1024; export TMPDIR=$PWD; timeout 60 $F {command} {output} --device cpu < <({input})"
            );
            let found = shell(&place, &line);
            let said = stderr(&found);
            assert!(said.contains(words), "{line}: no '{words}' in {said}");
        }
        assert_eq!(place.names(), ["a.fsz", "in.npy"]);
    }
    // A stream in a pipe, whole.
    let info = place.pipe("info - --json", &place.get("a.fsz"));
    assert!(info.status.success(), "{}", stderr(&info));
}

#[test]
fn a_reader_that_has_enough_ends_the_command_without_a_word() {
    let place = Place::new();
    let elements = 1usize << 18;
    place.put(
        "in.npy",
        &[
            npy_header("<f4", "False", &format!("({elements},)")),
            vec![0; 4 * elements],
        ]
        .concat(),
    );
    place.succeed("compress in.npy a.fsz --abs 1");
    for line in [
        "decompress a.fsz -",
        "cuszp compress in.npy - --abs 1e-9 --mode plain",
    ] {
        let piped = format!("$F {line} --quiet | head -c 9 > start; echo ${{PIPESTATUS[0]}}");
        let output = shell(&place, &piped);
        assert_eq!(stderr(&output), "", "{line}");
        let status = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(["0", "141"].contains(&&status[..]), "{line}: {status}");
        assert_eq!(place.get("start").len(), 9);
    }
}

#[test]
fn terminals_do_not_obey_names_and_programs_get_all_of_them() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let name = "a\u{1b}]0;x\u{7}.npy";
    place.put(name, &npy("f32"));
    let said = stderr(
        &place
            .command(&["compress", name, "--abs", "1"])
            .output()
            .unwrap(),
    );
    assert!(
        !said.contains('\u{1b}') && said.contains(r"a\u{1b}]0;x\u{7}.npy.fsz"),
        "{said}"
    );
    let missing = stderr(
        &place
            .command(&["check", "gone\u{1b}[31m"])
            .output()
            .unwrap(),
    );
    assert!(
        !missing.contains('\u{1b}') && missing.contains("gone"),
        "{missing}"
    );
    let bytes = [&b"b\xff\\"[..], b".fsz"].concat();
    let stream = format!("{name}.fsz");
    fs::copy(
        place.path(&stream),
        place.path("").join(OsStr::from_bytes(&bytes)),
    )
    .unwrap();
    let line = [
        OsStr::new("info"),
        OsStr::from_bytes(&bytes),
        OsStr::new("--json"),
    ];
    let output = place.command(&line).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["input"], r"b\xff\\.fsz");
    assert_eq!(found["input_escaped"], true);
    let found = place
        .command(&["info", &stream, "--json"])
        .output()
        .unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(
        (&found["input"], &found["input_escaped"]),
        (&stream.into(), &serde_json::Value::Null)
    );
}

#[test]
fn force_does_not_replace_what_an_output_is_made_from() {
    let place = Place::new();
    place.put("t.npy", &npy("f32"));
    place.succeed("part plan t.npy t.plan --parts 1 --abs 0.01 --codec plain");
    place.succeed("part run t.plan 0 t.npy t.0");
    for line in [
        "part run t.plan 0 t.npy t.plan --force",
        "part join t.plan t.plan t.0 --force",
        "part join t.plan t.0 t.0 --force",
    ] {
        let before = ["t.plan", "t.0"].map(|name| place.get(name));
        place.fail(2, line, &["is an input", "another output"]);
        assert!(
            before == ["t.plan", "t.0"].map(|name| place.get(name)),
            "{line}"
        );
    }
    for line in ["part run t.plan 0 t.npy -", "part join t.plan - t.0"] {
        place.fail(2, line, &["standard output", "is a file"]);
    }
}
