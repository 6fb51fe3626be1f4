//! The setting of axes by name: their roles, or a search for them.

use ferrosz_codec::error::AxesError;
use ferrosz_codec::mapping::axes::Axes;
use std::fmt;
use std::str::FromStr;

/// The name of the search.
const AUTO: &str = "auto";

/// What a command, a binding or a configuration says of the axes of a field, for
/// [`Compressor::with_axes`](crate::Compressor::with_axes).
///
/// ```
/// use ferrosz_host::AxesSetting;
///
/// assert_eq!("auto".parse(), Ok(AxesSetting::Auto));
/// assert_eq!("s,z,y,x".parse(), "s,z,y,x".parse().map(AxesSetting::Roles));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxesSetting {
    /// A sample of each field decides.
    Auto,
    /// They have these roles.
    Roles(Axes),
}

impl AxesSetting {
    /// The number of axes that have roles; none if the roles are searched.
    pub fn count(self) -> Option<usize> {
        match self {
            Self::Auto => None,
            Self::Roles(axes) => Some(axes.roles().len()),
        }
    }
}

impl fmt::Display for AxesSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(AUTO),
            Self::Roles(axes) => write!(f, "{axes}"),
        }
    }
}

impl FromStr for AxesSetting {
    type Err = AxesError;

    fn from_str(text: &str) -> Result<Self, AxesError> {
        match text {
            AUTO => Ok(Self::Auto),
            roles => roles.parse().map(Self::Roles),
        }
    }
}
