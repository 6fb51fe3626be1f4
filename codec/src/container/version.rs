//! Versions of the format, and which of them are read. FORMAT.md, section 20.

use core::fmt;

/// The version that is written, and the first one of its major number that is read.
pub const VERSION: Version = Version(256);

/// A version of the format: 256 times its major number and its minor number, as in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u16);

impl Version {
    /// Whether this library reads streams of this version that have nothing that it does not know.
    pub const fn is_read(self) -> bool {
        self.0 / 256 == VERSION.0 / 256 && self.0 >= VERSION.0
    }

    /// Whether streams of this version may have what this library does not know.
    pub fn is_newer(self) -> bool {
        self > VERSION
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 256, self.0 % 256)
    }
}

/// The rest of a sentence about something unknown in a stream of this version; empty if the version is no newer one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need(pub(crate) Version);

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_newer() {
            true => write!(
                f,
                ": it needs format {}, and this library reads format {VERSION}",
                self.0
            ),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_text_describes_the_version_that_is_written() {
        let text = include_str!("../../FORMAT.md");
        let sentence = alloc::format!(
            "This text describes format {VERSION}, number {}.",
            VERSION.0
        );
        assert!(text.contains(&sentence), "{sentence}");
    }

    #[test]
    fn later_minor_numbers_are_read() {
        let major = VERSION.0 & 0xff00;
        for number in 0..=u16::MAX {
            let is_read = number >= VERSION.0 && number < major + 256;
            assert_eq!(Version(number).is_read(), is_read, "{number}");
        }
        assert_eq!(Version(0x0103).to_string(), "1.3");
    }
}
