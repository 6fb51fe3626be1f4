//! Frames without end: `compress --frames`, and the commands that read its files.

use crate::common::{Place, stderr};
use ferrosz::frames::Frames;
use ferrosz::{Bound, Compressor, Decompressor, Device, Preset};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The lengths of a frame.
const LENGTHS: [usize; 2] = [30, 40];

/// The options of the frames.
const SHAPE: &str = "--dtype f32 --dims 30,40 --abs 0.01";

/// Bytes of a frame.
const BYTES: usize = 4 * LENGTHS[0] * LENGTHS[1];

fn frame(number: usize) -> Vec<f32> {
    let value = |i| ((i as f32 * 0.01).sin() + number as f32 * 0.3).cos() * 20.0;
    (0..LENGTHS[0] * LENGTHS[1]).map(value).collect()
}

fn raw(numbers: std::ops::Range<usize>) -> Vec<u8> {
    let frames = numbers.flat_map(frame);
    frames.flat_map(f32::to_le_bytes).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| f32::from_le_bytes(*word)).collect()
}

/// A folder with `in.f32` of ten frames, and their file `a.fsf`.
fn place() -> Place {
    let place = Place::new();
    place.put("in.f32", &raw(0..10));
    let output = place.pipe(&format!("compress - a.fsf --frames {SHAPE}"), &raw(0..10));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("10 frames"), "{}", stderr(&output));
    place
}

#[test]
fn each_frame_is_a_stream_with_the_choice_of_the_first() {
    let place = place();
    let file = place.get("a.fsf");
    let frames = Frames::open(&file).unwrap();
    let compressor = Compressor::new(Preset::Small, Bound::abs(0.01).unwrap()).device(Device::Cpu);
    let chosen = compressor
        .extents(&LENGTHS)
        .unwrap()
        .choose(&frame(0))
        .unwrap();
    assert_eq!(frames.len(), 10);
    for number in 0..10 {
        let stream = chosen.compress(&frame(number)).unwrap();
        assert!(
            frames.stream(number as u64).unwrap() == stream,
            "frame {number}"
        );
    }
    // A file of raw frames, and a pipe as output, give the same.
    place.succeed(&format!("compress in.f32 --frames {SHAPE}"));
    assert!(place.get("in.f32.fsf") == file);
    let piped = place.pipe(&format!("compress - - --frames {SHAPE}"), &raw(0..10));
    assert!(piped.stdout == file);
}

#[test]
fn frames_come_back_all_or_some() {
    let place = place();
    let all = place.succeed("decompress a.fsf -").stdout;
    assert_eq!(all.len(), 10 * BYTES);
    for (x, y) in floats(&all).iter().zip(floats(&raw(0..10))) {
        assert!((x - y).abs() <= 0.0101);
    }
    place.succeed("decompress a.fsf");
    let npy = place.get("a.npy");
    assert!(npy.ends_with(&all) && npy.starts_with(b"\x93NUMPY"));
    assert!(String::from_utf8_lossy(&npy[..100]).contains("(10, 30, 40)"));
    let file = place.get("a.fsf");
    for (flags, found) in [
        ("--frame 7", &all[7 * BYTES..8 * BYTES]),
        ("--frames 3:5", &all[3 * BYTES..5 * BYTES]),
        ("--frames 8:", &all[8 * BYTES..]),
        ("--frames :2", &all[..2 * BYTES]),
        ("--frames 4:4", &[]),
        (
            "--frame 2 --elements 10..13",
            &all[2 * BYTES + 40..2 * BYTES + 52],
        ),
        (
            "--frame 2 --box 1,3:5",
            &all[2 * BYTES + 172..2 * BYTES + 180],
        ),
    ] {
        assert!(
            place.succeed(&format!("decompress a.fsf - {flags}")).stdout == found,
            "{flags}"
        );
        let piped = place.pipe(&format!("decompress - - {flags}"), &file);
        assert!(piped.stdout == found, "{flags}: {}", stderr(&piped));
    }
    assert!(place.pipe("decompress - b.npy", &file).status.success());
    assert!(place.get("b.npy") == npy);
    place.fail(
        1,
        "decompress a.fsf - --frames 3:11",
        &["3:11", "10 frames"],
    );
    place.fail(1, "decompress a.fsf - --frame 10", &["10 frames"]);
    let piped = place.pipe("decompress - - --frame 10", &file);
    assert!(!piped.status.success() && stderr(&piped).contains("10 frames"));
}

#[test]
fn a_partial_frame_is_named_behind_the_whole_ones() {
    let place = Place::new();
    let input = &raw(0..4)[..3 * BYTES + 1000];
    let output = place.pipe(&format!("compress - a.fsf --frames {SHAPE}"), input);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    for word in [
        "within frame 3",
        "1000 of its 4800 bytes",
        "3 whole frames",
        "a.fsf",
    ] {
        assert!(said.contains(word), "no '{word}' in {said}");
    }
    place.succeed("check a.fsf");
    assert_eq!(place.json("info a.fsf --json")["frames"], 3);
    // No frame at all is no error.
    let output = place.pipe(&format!("compress - b.fsf --frames {SHAPE}"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    place.succeed("check b.fsf");
    assert_eq!(place.json("info b.fsf --json")["frames"], 0);
}

#[test]
fn info_check_and_verify_know_frames() {
    let place = place();
    let found = place.json("info a.fsf --json");
    assert_eq!(
        (&found["frames"], &found["complete"]),
        (&10.into(), &true.into())
    );
    assert_eq!(found["dims"], serde_json::json!([30, 40]));
    let ratio = |name: &str| found[name].as_f64().unwrap();
    assert!(1.0 < ratio("least_ratio") && ratio("least_ratio") <= ratio("ratio"));
    assert!(ratio("ratio") <= ratio("largest_ratio"));
    let text = String::from_utf8(place.succeed("info a.fsf").stdout).unwrap();
    assert!(
        text.contains("30 x 40 of a frame") && text.contains("complete"),
        "{text}"
    );
    let piped = place.pipe("check -", &place.get("a.fsf"));
    assert!(String::from_utf8_lossy(&piped.stdout).contains("10 whole frames"));

    assert_eq!(place.json("verify in.f32 a.fsf --json")["kept"], true);
    let mut other = raw(0..10);
    other[5 * BYTES + 3] ^= 0x40;
    place.put("other.f32", &other);
    let output = place.run("verify other.f32 a.fsf");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !output.status.success() && said.contains("first by frame 5"),
        "{said}"
    );
    place.put("short.f32", &raw(0..9));
    place.fail(1, "verify short.f32 a.fsf", &["short.f32", "10,30,40"]);
}

#[test]
fn damage_in_a_frame_leaves_the_others() {
    let place = place();
    let mut file = place.get("a.fsf");
    let frames = Frames::open(&file).unwrap();
    let stream = frames.stream(6).unwrap();
    let at = stream.as_ptr() as usize - file.as_ptr() as usize;
    let end = at + stream.len() - 40;
    file[end] ^= 1;
    place.put("a.fsf", &file);
    let output = place.run("check a.fsf");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !output.status.success() && said.contains("DAMAGED: 1 of 10"),
        "{said}"
    );
    assert!(said.contains("frame 6: "), "{said}");
    place.fail(1, "decompress a.fsf b.npy", &["frame 6: "]);
    place.succeed("decompress a.fsf c.npy --frames 7:");
    // The head of the stream of one, and the head of the record of another.
    file[at + 20] ^= 1;
    file[40] ^= 1;
    place.put("a.fsf", &file);
    let output = place.run("decompress a.fsf d.raw --salvage");
    assert!(!output.status.success() && stderr(&output).contains("frame 6 is damaged"));
    let (found, original) = (floats(&place.get("d.raw")), floats(&raw(0..10)));
    for (i, (x, y)) in found.iter().zip(&original).enumerate() {
        match [0, 6].contains(&(4 * i / BYTES)) {
            true => assert!(x.is_nan()),
            false => assert!((x - y).abs() <= 0.0101),
        }
    }
    assert_eq!(found.len(), original.len());
}

#[test]
fn what_cannot_be_done_is_said() {
    let place = place();
    place.put(
        "t.npy",
        &[
            crate::common::npy_header("<f4", "False", "(30, 40)"),
            raw(0..1),
        ]
        .concat(),
    );
    place.succeed("compress t.npy t.fsz --abs 0.01");
    for (line, words) in [
        (
            "compress in.f32 b.fsf --frames --dtype f32 --abs 1",
            &["--dims"][..],
        ),
        (
            "compress in.f32 b.fsf --frames --dtype f32 --dims 30,40 --psnr 50",
            &["--psnr", "bound"],
        ),
        (
            &format!("compress in.f32 b.fsz --frames {SHAPE}"),
            &["b.fsz", ".fsf"],
        ),
        (&format!("compress in.f32 b.fsf {SHAPE}"), &["b.fsf"]),
        (
            "compress in.f32 b.fsf --frames --dtype f32 --dims 30,0 --abs 1",
            &["without values"],
        ),
        (
            "compress t.npy b.fsf --frames --dtype f32 --dims 30,40 --abs 1",
            &["t.npy"],
        ),
        ("decompress a.fsf b.fsf", &["b.fsf"]),
        ("decompress t.fsz b.npy --frame 1", &["one array"]),
    ] {
        place.fail(2, line, words);
    }
    place.fail(1, "update a.fsf in.f32 --elements 0..5", &["holds frames"]);
    place.fail(1, "compact a.fsf b.fsz", &["holds frames"]);
    // A file is replaced only if that is asked for.
    let output = place.run_as_is(&format!("compress in.f32 a.fsf --frames {SHAPE}"));
    assert!(!output.status.success() && stderr(&output).contains("--force"));
}

/// A command that waits for frames.
fn begin(place: &Place, output: &str) -> (Child, ChildStdin) {
    let line = format!("compress - {output} --frames {SHAPE} --device cpu");
    let mut child = place
        .command(&line.split(' ').collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    (child, input)
}

#[test]
fn a_frame_leaves_before_the_next_one_comes() {
    let place = Place::new();
    let (mut child, mut input) = begin(&place, "-");
    let mut decoder = place
        .command(&["decompress", "-", "-", "--quiet"])
        .stdin(child.stdout.take().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut values = decoder.stdout.take().unwrap();
    for number in 0..5 {
        input.write_all(&raw(number..number + 1)).unwrap();
        // Without the next frame.
        let mut found = vec![0; BYTES];
        values.read_exact(&mut found).unwrap();
        for (x, y) in floats(&found).iter().zip(frame(number)) {
            assert!((x - y).abs() <= 0.0101, "frame {number}");
        }
    }
    drop(input);
    assert!(child.wait().unwrap().success() && decoder.wait().unwrap().success());
    assert_eq!(values.read(&mut [0]).unwrap(), 0);
}

/// However the command is ended, the file has the frames that came.
#[cfg(unix)]
#[test]
fn a_killed_command_leaves_whole_frames() {
    for signal in ["-KILL", "-TERM"] {
        let place = Place::new();
        let (mut child, mut input) = begin(&place, "a.fsf");
        input.write_all(&raw(0..3)).unwrap();
        let start = Instant::now();
        let frames = || {
            let file = std::fs::read(place.path("a.fsf")).unwrap_or_default();
            Frames::open(&file).map_or(0, |frames| frames.len())
        };
        while frames() < 3 {
            assert!(start.elapsed() < Duration::from_secs(60), "no frames come");
            thread::sleep(Duration::from_millis(5));
        }
        // Part of the next frame has come, too.
        input.write_all(&raw(3..4)[..2000]).unwrap();
        let mut kill = std::process::Command::new("kill");
        kill.args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(place.names(), ["a.fsf"], "{signal}");
        let found = place.json("info a.fsf --json");
        assert_eq!(
            (&found["frames"], &found["complete"]),
            (&3.into(), &false.into())
        );
        let output = place.succeed("decompress a.fsf -");
        assert_eq!(output.stdout.len(), 3 * BYTES);
        assert!(
            stderr(&output).contains("was stopped"),
            "{}",
            stderr(&output)
        );
        assert!(!place.run("check a.fsf").status.success());
        let stream = place.get("a.fsf");
        let stream = Frames::open(&stream).unwrap().stream(2).unwrap().to_vec();
        assert!(Decompressor::new().decompress::<f32>(&stream).is_ok());
    }
}

/// 400 MB of frames of a megapixel, with less memory than half of them.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded() {
    let place = Place::new();
    let line = format!(
        "ulimit -d {}; head -c 400M /dev/zero | tr '\\0' '7' | '{}' --device cpu compress - a.fsf --frames --dtype f32 \
         --dims 1024,1024 --range 1e-3 --fast",
        190 << 10,
        env!("CARGO_BIN_EXE_ferrosz")
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).current_dir(place.path(""));
    let output = shell.env("RAYON_NUM_THREADS", "2").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(place.json("info a.fsf --json")["frames"], 100);
}
