//! `ferrosz send` and `ferrosz receive` on loopback.

use crate::common::{DIMS, Place, npy, npy_header, raw, stderr};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Preset, ValueType};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes of a greeting, and of a reply without text.
const GREETING: usize = 92;
const REPLY: usize = 3;

/// A receiver that listens.
struct Receiver {
    child: Child,
    said: BufReader<ChildStderr>,
    address: String,
}

impl Receiver {
    fn start(place: &Place, line: &str) -> Self {
        let line = format!("receive 127.0.0.1:0 {line} --device cpu --timeout 5");
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut command = place.command(&arguments);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        said.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening on ");
        let address = address.unwrap_or_else(|| panic!("{first}")).to_owned();
        Self {
            child,
            said,
            address,
        }
    }

    /// Waits for its end; its exit status, and what it said.
    fn end(mut self) -> (Option<i32>, String, Vec<u8>) {
        let (mut said, mut printed) = (String::new(), Vec::new());
        self.said.read_to_string(&mut said).unwrap();
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_end(&mut printed).unwrap();
        assert!(!said.contains("panicked"), "{said}");
        (self.child.wait().unwrap().code(), said, printed)
    }

    fn succeed(self) -> Vec<u8> {
        let (status, said, printed) = self.end();
        assert_eq!(status, Some(0), "{said}");
        printed
    }

    fn fail(self, words: &[&str]) {
        let (status, said, _) = self.end();
        assert_eq!(status, Some(1), "{said}");
        for word in words {
            assert!(said.contains(word), "no '{word}' in: {said}");
        }
    }
}

fn send(place: &Place, receiver: &Receiver, line: &str) -> Output {
    place.run(&format!("send {} {line}", receiver.address))
}

/// Sends and receives a field; what arrived.
fn arrive(place: &Place, line: &str, output: &str) -> Vec<u8> {
    let receiver = Receiver::start(place, &format!("{output} --force"));
    let sent = send(place, &receiver, line);
    assert!(sent.status.success(), "{line}: {}", stderr(&sent));
    receiver.succeed();
    place.get(output)
}

/// The bytes of a file of the values that windows of so many indices decode to, one after the other.
fn decoded(compressor: Compressor, values: &[f64], indices: usize) -> Vec<u8> {
    let slab = DIMS[1] * DIMS[2];
    let of_window = |values: &[f64]| {
        let extents = [values.len() / slab, DIMS[1], DIMS[2]];
        let compressor = compressor.extents(&extents).unwrap().device(Device::Cpu);
        let stream = compressor.compress(values).unwrap();
        let decoded: Vec<f64> = Decompressor::new().decompress(&stream).unwrap();
        decoded
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    values.chunks(indices * slab).flat_map(of_window).collect()
}

/// The error of 1e-3 of the field's range.
fn error() -> f64 {
    let values = crate::common::field().into_iter().filter(|x| x.is_finite());
    let (min, max) = values.fold((f64::MAX, f64::MIN), |(min, max), x| {
        (min.min(x), max.max(x))
    });
    1e-3 * (max - min)
}

#[test]
fn what_arrives_is_what_windows_decode_to() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let header = npy_header("<f8", "False", "(5, 40, 37)")
        .len()
        .next_multiple_of(64);
    let bound = Bound::abs(error()).unwrap();
    let window = 2 * DIMS[1] * DIMS[2] * 8;
    for codec in Codec::ALL {
        let line = format!("in.npy --codec {codec} --abs {} --window {window}", error());
        let found = arrive(&place, &line, "out.npy");
        let compressor = Compressor::new(codec, bound);
        assert!(
            found[header..] == decoded(compressor, &crate::common::field(), 2),
            "{codec}"
        );
    }
    for preset in Preset::ALL {
        let line = format!("in.npy --{preset} --range 1e-3");
        let found = arrive(&place, &line, "out.npy");
        // The field is one window.
        let compressor = Compressor::new(preset, bound);
        assert!(
            found[header..] == decoded(compressor, &crate::common::field(), 5),
            "{preset}"
        );
    }
    assert_eq!(place.names(), ["in.npy", "out.npy"]);
}

#[test]
fn values_of_every_type_arrive_raw_and_compressed() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..24_000u32)
        .flat_map(|i| (i as u16 % 97 * 3).to_le_bytes())
        .collect();
    place.put("in.raw", &bytes);
    for value_type in ValueType::ALL {
        let elements = bytes.len() / value_type.bytes();
        let shape = format!("--dtype {value_type} --dims {},100", elements / 100);
        for how in [
            "--raw",
            "--abs 0 --fast",
            "--abs 0 --balanced",
            "--abs 0 --small",
        ] {
            let line = format!("in.raw {shape} {how} --window 5000");
            assert!(arrive(&place, &line, "out.raw") == bytes, "{line}");
        }
    }
}

#[test]
fn missing_values_arrive() {
    let place = Place::new();
    let mut field: Vec<f32> = (0..20_000).map(|i| (i as f32 * 1e-3).sin()).collect();
    field[3000..5000].fill(-9999.0);
    field[8000..9000].fill(f32::NAN);
    let bytes: Vec<u8> = field.iter().flat_map(|x| x.to_le_bytes()).collect();
    place.put("in.f32", &bytes);
    let line = "in.f32 --dtype f32 --dims 200,100 --range 1e-3 --window 16KiB";
    let arrived = arrive(&place, line, "out.f32");
    for (value, bytes) in field.iter().zip(arrived.chunks(4)) {
        let found = f32::from_le_bytes(bytes.try_into().unwrap());
        match *value == -9999.0 || value.is_nan() {
            true => assert_eq!(found.to_bits(), value.to_bits()),
            // The range is that of the others.
            false => assert!((found - value).abs() <= 2.1e-3, "{found} {value}"),
        }
    }
}

#[test]
fn fields_come_one_after_the_other() {
    let place = Place::new();
    place.put("a.npy", &npy("f64"));
    place.put("b.raw", &raw("f32"));
    let receiver = Receiver::start(&place, "x.npy y.raw --json");
    let shape = "--dtype f32 --dims 5,40,37";
    let first = send(&place, &receiver, "a.npy --abs 0.5 --json");
    // The receiver need not be told that another one comes.
    thread::sleep(Duration::from_millis(30));
    let second = send(&place, &receiver, &format!("b.raw {shape} --raw --json"));
    let lines = String::from_utf8(receiver.succeed()).unwrap();
    let objects: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (sent, received) in [first, second].iter().zip(&objects) {
        let sent: Value = serde_json::from_slice(&sent.stdout).unwrap();
        for key in ["checksum", "dims", "dtype", "field_bytes", "windows", "raw"] {
            assert_eq!(sent[key], received[key], "{key}");
        }
        assert_eq!(sent["sent_bytes"], received["received_bytes"]);
        assert_eq!(
            (&sent["verified"], &received["verified"]),
            (&true.into(), &true.into())
        );
    }
    assert_eq!(objects.len(), 2);
    assert!(objects[1]["field_bytes"] == objects[1]["received_bytes"]);
    assert_eq!(place.get("y.raw"), raw("f32"));
}

#[test]
fn streams_are_kept_on_request() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let receiver = Receiver::start(&place, "windows --streams");
    let window = 2 * DIMS[1] * DIMS[2] * 8;
    let sent = send(
        &place,
        &receiver,
        &format!("in.npy --range 1e-3 --window {window}"),
    );
    assert!(sent.status.success(), "{}", stderr(&sent));
    receiver.succeed();
    let mut values = Vec::new();
    for number in 0..3 {
        let name = format!("windows/window-{number:06}.fsz");
        place.succeed(&format!("decompress {name} part.raw"));
        values.extend(place.get("part.raw"));
    }
    let whole = arrive(
        &place,
        &format!("in.npy --range 1e-3 --window {window}"),
        "out.raw",
    );
    assert!(values == whole);
    assert_eq!(place.names(), ["in.npy", "out.raw", "part.raw", "windows"]);
    place.fail(
        1,
        "receive 127.0.0.1:0 windows --streams",
        &["windows exists"],
    );
}

#[test]
fn pipes_carry_values() {
    let place = Place::new();
    place.put("in.raw", &raw("f32"));
    let receiver = Receiver::start(&place, "-");
    let sent = send(
        &place,
        &receiver,
        "in.raw --dtype f32 --dims 5,40,37 --abs 0",
    );
    assert!(sent.status.success(), "{}", stderr(&sent));
    assert_eq!(receiver.succeed(), raw("f32"));
}

/// Bytes that a sender writes, as a receiver that agrees gets them.
fn recorded(place: &Place, line: &str) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let recorder: JoinHandle<Vec<u8>> = thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut bytes = vec![0; GREETING];
        connection.read_exact(&mut bytes).unwrap();
        connection.write_all(&[0; REPLY]).unwrap();
        while !bytes.windows(4).any(|tag| tag == b"DONE") || !ends(&bytes) {
            let mut more = [0; 4096];
            let count = connection.read(&mut more).unwrap();
            assert!(count > 0, "the sender ended early");
            bytes.extend(&more[..count]);
        }
        // The receipt repeats the sum.
        let sum = bytes[bytes.len() - 4..].to_vec();
        connection
            .write_all(&[&[0; REPLY], &sum[..]].concat())
            .unwrap();
        bytes
    });
    let sent = place.run(&format!("send {address} {line}"));
    assert!(sent.status.success(), "{}", stderr(&sent));
    recorder.join().unwrap()
}

/// Whether the last message is the end.
fn ends(bytes: &[u8]) -> bool {
    bytes.len() >= 16 && bytes[bytes.len() - 16..].starts_with(b"DONE")
}

/// Writes bytes to a receiver, which must refuse them and leave no file.
fn refused(place: &Place, bytes: &[u8], words: &[&str]) {
    let before = place.names();
    let receiver = Receiver::start(place, "out.npy");
    let mut connection = TcpStream::connect(&receiver.address).unwrap();
    // The receiver may have refused the first of them.
    let _ = connection.write_all(bytes);
    let _ = connection.shutdown(Shutdown::Write);
    let mut reply = Vec::new();
    let _ = connection.read_to_end(&mut reply);
    receiver.fail(words);
    assert_eq!(place.names(), before, "a file was left");
}

#[test]
fn connections_that_end_leave_no_file() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let window = 2 * DIMS[1] * DIMS[2] * 8;
    let whole = recorded(
        &place,
        &format!("in.npy --fast --range 1e-3 --window {window}"),
    );
    let second = GREETING
        + 20
        + u64::from_le_bytes(whole[GREETING + 12..][..8].try_into().unwrap()) as usize;
    assert!(whole[second..].starts_with(b"WIND"));
    for length in [
        GREETING,
        GREETING + 3,
        GREETING + 19,
        GREETING + 20,
        second - 1,
        second,
        second + 500,
        whole.len() - 17,
        whole.len() - 16,
        whole.len() - 1,
    ] {
        refused(&place, &whole[..length], &["ended before all had arrived"]);
    }
    // The whole of it is accepted.
    let receiver = Receiver::start(&place, "out.npy");
    let mut connection = TcpStream::connect(&receiver.address).unwrap();
    connection.write_all(&whole).unwrap();
    receiver.succeed();
    assert_eq!(place.names(), ["in.npy", "out.npy"]);
}

#[test]
fn damage_on_the_way_is_found() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let whole = recorded(&place, "in.npy --fast --range 1e-3");
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        bytes
    };
    refused(
        &place,
        &flipped(GREETING),
        &["in place of the message WIND"],
    );
    refused(
        &place,
        &flipped(GREETING + 4),
        &["window 4 in place of window 0"],
    );
    refused(
        &place,
        &flipped(GREETING + 19),
        &["bytes for values of 59200"],
    );
    refused(&place, &flipped(GREETING + 20 + 3000), &["window 0: "]);
    refused(
        &place,
        &flipped(whole.len() - 1),
        &["checksum of other values"],
    );
    refused(&place, &flipped(whole.len() - 5), &["the end of"]);
    let other = recorded(&place, "in.npy --raw");
    refused(
        &place,
        &[&other[..GREETING], &whole[GREETING..]].concat(),
        &["for values of"],
    );
    refused(
        &place,
        &[&whole[..GREETING], &other[GREETING..]].concat(),
        &["window 0: "],
    );
}

/// Writes bytes to a receiver; what it replies.
fn knock(receiver: &Receiver, bytes: &[u8]) -> Vec<u8> {
    let mut connection = TcpStream::connect(&receiver.address).unwrap();
    // The receiver may have refused the first of them.
    let _ = connection.write_all(bytes);
    let _ = connection.shutdown(Shutdown::Write);
    let mut reply = Vec::new();
    let _ = connection.read_to_end(&mut reply);
    reply
}

#[test]
fn connections_without_a_greeting_do_not_end_a_receiver() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let whole = recorded(&place, "in.npy --fast --range 1e-3");
    let flipped = |at: usize| {
        let mut bytes = whole[..GREETING].to_vec();
        bytes[at] ^= 4;
        bytes
    };
    let garbage: Vec<u8> = (0..1u32 << 20)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8)
        .collect();
    let receiver = Receiver::start(&place, "out.npy");
    for (bytes, words) in [
        (Vec::new(), ""),
        (whole[..5].to_vec(), ""),
        (whole[..GREETING - 1].to_vec(), ""),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
            "first bytes are not",
        ),
        (garbage, "first bytes are not"),
        (flipped(8), "version 6 of the protocol"),
        (flipped(30), "damaged greeting"),
    ] {
        let reply = String::from_utf8_lossy(&knock(&receiver, &bytes)).into_owned();
        assert!(reply.contains(words), "no '{words}' in {reply}");
    }
    let sent = send(&place, &receiver, "in.npy --abs 0");
    assert!(sent.status.success(), "{}", stderr(&sent));
    let (status, said, _) = receiver.end();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("still listening").count(), 7, "{said}");
    assert!(place.get("out.npy").ends_with(&raw("f64")));
}

#[test]
fn a_greeting_that_trickles_is_not_waited_for() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let whole = recorded(&place, "in.npy --raw");
    // `--timeout 5` is a time for all of it.
    let receiver = Receiver::start(&place, "out.npy");
    let mut connection = TcpStream::connect(&receiver.address).unwrap();
    let trickle = thread::spawn(move || {
        for byte in &whole[..60] {
            if connection.write_all(&[*byte]).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(200));
        }
    });
    let start = Instant::now();
    let sent = send(&place, &receiver, "in.npy --abs 0");
    assert!(sent.status.success(), "{}", stderr(&sent));
    assert!(
        start.elapsed() < Duration::from_secs(9),
        "{:?}",
        start.elapsed()
    );
    receiver.succeed();
    trickle.join().unwrap();
}

/// A greeting of f32 values of these extents, as `ferrosz send` writes it.
fn greeting(extents: &[u64], most: u64) -> Vec<u8> {
    let mut bytes = b"FERROSZ>".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend([ValueType::F32.id(), 0, extents.len() as u8, 0]);
    for axis in 0..8 {
        bytes.extend(extents.get(axis).unwrap_or(&1).to_le_bytes());
    }
    bytes.extend(most.to_le_bytes());
    bytes.extend(crc32(&bytes).to_le_bytes());
    bytes
}

/// CRC-32 bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !sum
}

#[test]
fn a_receiver_takes_no_more_than_it_has_room_for_or_was_told() {
    let place = Place::new();
    let (tebi, mebi) = (1u64 << 40, 1u64 << 20);
    for (options, extents, most, words) in [
        // No disk has room for 2^60 bytes; windows of 64 MiB are taken.
        ("", &[tebi >> 4, mebi][..], 16 * mebi, "no room"),
        ("", &[1024, mebi], 64 * mebi, "windows of 268435456 bytes"),
        (
            "--window 128MiB",
            &[1024, mebi],
            64 * mebi,
            "than the 134217728",
        ),
        (
            "--most 1MiB",
            &[512, 513],
            mebi,
            "1050624 bytes is larger than the 1048576 of --most",
        ),
    ] {
        let receiver = Receiver::start(&place, &format!("out.npy {options}"));
        let reply = knock(&receiver, &greeting(extents, most));
        let told = String::from_utf8_lossy(&reply).into_owned();
        assert_eq!(reply[0], 1, "{told}");
        assert!(told.contains(words), "no '{words}' in {told}");
        assert!(!told.contains("out.npy"), "{told}");
        receiver.fail(&[]);
        assert_eq!(place.names(), [""; 0]);
    }
    // Larger windows come where both sides want them.
    let bytes: Vec<u8> = vec![7; 66 << 20];
    place.put("in.raw", &bytes);
    let line = "in.raw --raw --dtype u16 --dims 66,524288 --window 66MiB";
    let receiver = Receiver::start(&place, "out.raw");
    let sent = send(&place, &receiver, line);
    assert!(stderr(&sent).contains("--window"), "{}", stderr(&sent));
    receiver.fail(&["--window"]);
    let receiver = Receiver::start(&place, "out.raw --window 66MiB --most 66MiB");
    let sent = send(&place, &receiver, line);
    assert!(sent.status.success(), "{}", stderr(&sent));
    receiver.succeed();
    assert!(place.get("out.raw") == bytes);
}

#[test]
fn an_early_yes_is_no_receipt() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    for (replies, words) in [
        (vec![0; 2 * REPLY], "ended before all had arrived"),
        (vec![0; 2 * REPLY + 4], "the checksum of other values"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let liar = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.read_exact(&mut [0; GREETING]).unwrap();
            connection.write_all(&replies).unwrap();
            let _ = connection.shutdown(Shutdown::Write);
            let _ = connection.read_to_end(&mut Vec::new());
        });
        place.fail(1, &format!("send {address} in.npy --raw"), &[words]);
        liar.join().unwrap();
    }
}

#[test]
fn a_sender_hears_nothing_of_the_receivers_files() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    std::fs::create_dir(place.path("secret")).unwrap();
    let receiver = Receiver::start(&place, "secret/out.npy");
    // The folder vanishes while the sender is waited for.
    std::fs::remove_dir(place.path("secret")).unwrap();
    let sent = send(&place, &receiver, "in.npy --abs 1");
    let said = stderr(&sent);
    assert_eq!(sent.status.code(), Some(1));
    assert!(
        said.contains("could not write its output") && !said.contains("secret"),
        "{said}"
    );
    receiver.fail(&["secret"]);
}

#[test]
fn folders_of_killed_receivers_and_missing_ones_do_not_surprise() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let receiver = Receiver::start(&place, "windows --streams");
    // As a receiver with the same number left it.
    let left = format!(".ferrosz-{}-0.part", receiver.child.id());
    std::fs::create_dir(place.path(&left)).unwrap();
    let sent = send(&place, &receiver, "in.npy --abs 1");
    assert!(sent.status.success(), "{}", stderr(&sent));
    receiver.succeed();
    assert_eq!(place.names(), [&left[..], "in.npy", "windows"]);
    for line in ["gone/windows --streams", "gone/out.npy"] {
        let line = format!("receive 127.0.0.1:0 {line}");
        place.fail(1, &line, &["there is no folder gone"]);
    }
    place.fail(2, "receive 127.0.0.1:0 out.nc", &["NetCDF"]);
}

#[test]
fn senders_hear_why_they_are_refused() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let receiver = Receiver::start(&place, "windows --streams");
    let sent = send(&place, &receiver, "in.npy --raw");
    assert_eq!(sent.status.code(), Some(1));
    assert!(
        stderr(&sent).contains("refused: --streams"),
        "{}",
        stderr(&sent)
    );
    receiver.fail(&["not compressed"]);
    // A receiver of another version, and one that ends.
    for (reply, words) in [
        (&b"\x01\x02\x00no"[..], "refused: no"),
        (b"\x00", "ended before"),
        (b"HTTP", "a reply that is none"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let other = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.read_exact(&mut [0; GREETING]).unwrap();
            connection.write_all(reply).unwrap();
        });
        place.fail(1, &format!("send {address} in.npy --abs 1"), &[words]);
        other.join().unwrap();
    }
}

#[test]
fn a_silent_peer_is_not_waited_for_longer_than_asked() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let start = Instant::now();
    place.fail(
        1,
        &format!("send {address} in.npy --abs 1 --timeout 1"),
        &["is silent"],
    );
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_link_can_be_slow() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..500_000u32)
        .flat_map(|i| (i as f32).to_le_bytes())
        .collect();
    place.put("in.f32", &bytes);
    let start = Instant::now();
    let line = "in.f32 --dtype f32 --dims 500,1000 --raw --limit 4MB/s --window 64KiB";
    assert!(arrive(&place, line, "out.f32") == bytes);
    assert!(
        start.elapsed() >= Duration::from_millis(490),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn what_cannot_be_sent_is_said() {
    let place = Place::new();
    place.put("in.npy", &npy("f64"));
    place.fail(2, "send localhost:1 in.npy", &["--abs", "--raw"]);
    place.fail(2, "send localhost:1 in.npy --abs 1 --raw", &["--raw"]);
    place.fail(
        2,
        "send localhost:1 in.npy --psnr 60",
        &["a bound, not a target"],
    );
    place.fail(2, "send localhost:1 in.npy --abs 1 --limit 0", &["a rate"]);
    place.fail(
        2,
        "send localhost:1 in.npy --abs 1 --window 2GiB",
        &["1 GiB at most"],
    );
    place.fail(1, "send localhost:1 missing.npy --abs 1", &["missing.npy"]);
    place.fail(
        1,
        "send 127.0.0.1:1 in.npy --abs 1 --wait 0",
        &["cannot connect to 127.0.0.1:1"],
    );
    place.fail(
        1,
        "send nowhere in.npy --abs 1",
        &["cannot connect to nowhere"],
    );
    place.fail(1, "receive 127.0.0.1:0 in.npy", &["exists", "--force"]);
    place.fail(1, "receive 127.0.0.1:99999 out.npy", &["cannot listen on"]);
    place.fail(2, "receive 7000", &["<OUT>"]);
}
