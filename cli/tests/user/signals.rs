//! Ctrl-C and its like leave nothing behind.

use crate::common::{Place, npy_header};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Zeros: so many that writing them takes long enough to be hit.
const ELEMENTS: u64 = 1 << 26;

/// A folder with `in.fsz`, whose array is large.
fn place() -> Place {
    let place = Place::new();
    let header = npy_header("<f4", "False", &format!("({ELEMENTS},)"));
    place.put("in.npy", &header);
    let file = File::options()
        .write(true)
        .open(place.path("in.npy"))
        .unwrap();
    file.set_len(header.len() as u64 + 4 * ELEMENTS).unwrap();
    place.succeed("compress in.npy in.fsz --abs 1 --codec plain");
    fs::remove_file(place.path("in.npy")).unwrap();
    place
}

fn is_unfinished(name: &str) -> bool {
    name.contains(".part")
}

/// Begins to decompress, and sends a signal while an unfinished file is there; none if there was none in time.
fn interrupt(place: &Place, mut command: Command, signal: &str) -> Option<Child> {
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if place.names().iter().any(|name| is_unfinished(name)) {
            let pid = child.id().to_string();
            let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
            return sent.success().then_some(child);
        }
        thread::sleep(Duration::from_micros(200));
    }
    None
}

/// Whether this process ignores a signal, as `nohup` makes it: commands that it starts ignore it, too.
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[test]
fn signals_leave_nothing() {
    let place = place();
    let signals = [("-INT", 2), ("-TERM", 15), ("-HUP", 1)];
    for (signal, number) in signals
        .into_iter()
        .filter(|(_, number)| !is_ignored(*number))
    {
        let mut hits = 0;
        for _ in 0..20 {
            let command = place.command(&["decompress", "in.fsz", "out.npy", "--device", "cpu"]);
            let Some(mut child) = interrupt(&place, command, signal) else {
                let _ = fs::remove_file(place.path("out.npy"));
                continue;
            };
            let status = child.wait().unwrap();
            assert!(
                !place.names().iter().any(|name| is_unfinished(name)),
                "{signal}"
            );
            if place.names() != ["in.fsz"] {
                // The file was complete before the signal came.
                assert!(place.get("out.npy").len() as u64 > 4 * ELEMENTS);
                fs::remove_file(place.path("out.npy")).unwrap();
                continue;
            }
            // What a shell calls 130, 143 and 129.
            assert_eq!(status.signal(), Some(number), "{signal}");
            hits += 1;
            if hits == 3 {
                break;
            }
        }
        assert!(hits > 0, "{signal} never came in time");
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let place = place();
    let line = format!(
        "trap '' HUP; exec '{}' decompress in.fsz out.npy --device cpu",
        env!("CARGO_BIN_EXE_ferrosz")
    );
    let mut command = place.command::<&str>(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &line])
        .current_dir(command.get_current_dir().unwrap());
    std::mem::swap(&mut command, &mut shell);
    let mut child = interrupt(&place, command, "-HUP").expect("a signal in time");
    assert!(child.wait().unwrap().success());
    assert_eq!(place.names(), ["in.fsz", "out.npy"]);
}
