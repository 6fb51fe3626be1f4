//! The rule of libmagic for streams, by the command `file`.

use ferrosz::codec::container::version::VERSION;
use ferrosz::{Bound, Codec, Compressor, Device, Value};
use std::io::Write;
use std::process::{Command, Stdio};

/// What `file` says of a stream with this rule; none if there is no such command.
fn description(rule: &std::path::Path, stream: &[u8]) -> Option<String> {
    let mut command = Command::new("file");
    command
        .arg("--brief")
        .arg("--magic-file")
        .arg(rule)
        .arg("-");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let written = child.stdin.take().map(|mut input| input.write_all(stream));
    written.expect("a pipe").expect("the stream is short");
    let output = child.wait_with_output().expect("it ends");
    Some(String::from_utf8(output.stdout).expect("text"))
}

fn check<V: Value>(rule: &std::path::Path, codec: Codec, extents: &[u64]) -> bool {
    let compressor = Compressor::new(codec, Bound::abs(1.0).expect("a bound"));
    let compressor = compressor.device(Device::Cpu).extents(extents);
    let field = vec![V::default(); extents.iter().product::<u64>() as usize];
    let stream = compressor.and_then(|compressor| compressor.compress(&field));
    let Some(found) = description(rule, &stream.expect("compresses")) else {
        println!("skipped: the command `file` is not installed");
        return false;
    };
    let lengths: Vec<String> = extents.iter().map(u64::to_string).collect();
    let lengths = match lengths.is_empty() {
        true => "one value".to_owned(),
        false => format!("extents {}", lengths.join(" x ")),
    };
    let kind = ["blocks", "tiles"][usize::from(codec.tiles().is_some())];
    let value_type = V::TYPE;
    let wanted =
        format!("ferrosz stream, format {VERSION}, {value_type}, {lengths}, codec of {kind}\n");
    assert_eq!(found, wanted);
    true
}

#[test]
fn file_names_type_extents_and_kind_of_codec() {
    let rule = std::env::temp_dir().join(format!("ferrosz-{}.magic", std::process::id()));
    let text = include_str!("../codec/ferrosz.magic");
    std::fs::write(&rule, text).expect("writes");
    let extents = [2, 3, 1, 2, 1, 2, 3, 4];
    let all = (0..=extents.len()).map(|rank| &extents[..rank]);
    let _ = all
        .clone()
        .all(|extents| check::<f32>(&rule, Codec::PLAIN, extents))
        && check::<f64>(&rule, Codec::LORENZO_RANS, &[0, 7])
        && check::<ferrosz::F16>(&rule, Codec::INTERP, &[40, 70])
        && check::<ferrosz::Bf16>(&rule, Codec::PLAIN, &[9])
        && check::<i16>(&rule, Codec::STENCIL, &[9])
        && check::<u16>(&rule, Codec::FIXED, &[9])
        && check::<i32>(&rule, Codec::FIXED, &[9])
        && check::<u32>(&rule, Codec::FIXED, &[9]);
    std::fs::remove_file(rule).expect("removes");
}
