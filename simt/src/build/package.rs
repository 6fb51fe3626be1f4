//! The crate of kernels that is compiled.

use std::path::PathBuf;
use std::string::{String, ToString};
use std::vec::Vec;

/// A crate of kernels, and how it is compiled. [`Package::new`] fills in the usual; the fields are there to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The folder of its `Cargo.toml`, or of the `Cargo.toml` of its workspace.
    pub folder: PathBuf,
    /// The package's name.
    pub name: String,
    /// The name of its library: that of the package, with `_` for `-`, if `Cargo.toml` says no other.
    pub library: String,
    /// Features to switch on.
    pub features: Vec<String>,
    /// Whether the package's default features are on.
    pub default_features: bool,
    /// The oldest chip that the kernels run on: `sm_80`.
    pub chip: String,
    /// Where cargo puts what it makes: `target/ptx` in the folder. A folder of its own, as cargo lets no two of its
    /// processes into the same one, and a build program may be one itself.
    pub target: PathBuf,
}

impl Package {
    /// A package with its default features, for chips from `sm_80` on.
    pub fn new(folder: impl Into<PathBuf>, name: &str) -> Self {
        let folder = folder.into();
        Self {
            name: name.to_string(),
            library: name.replace('-', "_"),
            features: Vec::new(),
            default_features: true,
            chip: "sm_80".to_string(),
            target: folder.join("target/ptx"),
            folder,
        }
    }
}
