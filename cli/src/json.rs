//! The members that the `--json` objects of all commands share.

use crate::{fills, location::Location, safeguards};
use ferrosz::Info;
use serde_json::{Map, Value, json};

/// An object that begins with the command, this program's version, and the input.
pub fn begin(command: &str, input: &Location) -> Value {
    let command = json!({ "command": command, "version": env!("CARGO_PKG_VERSION") });
    join([command, place("input", input)])
}

/// A member with the name of an input or an output, and one that says so if the name is escaped.
pub fn place(member: &str, location: &Location) -> Value {
    let name = match (member, location) {
        ("output", Location::Pipe) => location.output_name(),
        _ => location.json_name(),
    };
    let mut members = Map::new();
    members.insert(member.to_owned(), name.into());
    if location.is_escaped() {
        members.insert(format!("{member}_escaped"), true.into());
    }
    Value::Object(members)
}

/// The members that describe a stream.
pub fn stream(info: &Info) -> Value {
    json!({
        "dtype": info.type_name(),
        "dims": info.number_extents(),
        "axes": info.axes.to_string(),
        "elements": info.elements,
        "codec": info.codec.name(),
        "rank": info.rank,
        "bound_mode": info.bound.mode().name(),
        "bound": info.bound.value(),
        "absolute_error": info.absolute_error,
        "lossless": info.absolute_error == 0.0,
        "safeguards": safeguards::describe(info),
        "fill_values": fills::to_json(&info.fills),
        "field_bytes": info.field_bytes,
        "stream_bytes": info.stream_bytes,
        "ratio": info.ratio(),
        "bits_per_value": info.bits_per_value(),
    })
}

/// One object with the members of all.
pub fn join(objects: impl IntoIterator<Item = Value>) -> Value {
    let mut all = Map::new();
    for object in objects {
        if let Value::Object(members) = object {
            all.extend(members);
        }
    }
    Value::Object(all)
}
