//! Data sets: fields with one name.

use super::super::flags::File;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::OsString;

/// A field of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The name of the set; none for a field that is a set by itself.
    pub set: Option<String>,
    /// The field.
    pub file: File,
}

/// The parser of `[SET=]FIELD[:Z,Y,X]`.
pub fn member() -> impl TypedValueParser<Value = Member> {
    OsStringValueParser::new().map(|argument| {
        let named = argument.to_str().and_then(|text| {
            let (set, field) = text.split_once('=')?;
            Some((set.to_owned(), OsString::from(field)))
        });
        let (set, field) = named.map_or((None, argument), |(set, field)| (Some(set), field));
        Member {
            set,
            file: File::of(field),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrosz_cli::args::Dims;
    use ferrosz_cli::location::Location;

    #[test]
    fn a_field_may_name_its_set() {
        let parse = |text: &str| {
            let command = clap::Command::new("test");
            member().parse_ref(&command, None, text.as_ref()).unwrap()
        };
        let named = parse("NYX=a/b.f32:2,3,4");
        assert_eq!(named.set.as_deref(), Some("NYX"));
        assert_eq!(named.file.location, Location::File("a/b.f32".into()));
        assert_eq!(named.file.dims, Some(Dims(vec![2, 3, 4])));
        assert_eq!(parse("b.npy").set, None);
    }
}
