//! The crate of kernels to compile.

use std::path::PathBuf;
use std::string::{String, ToString};
use std::vec::Vec;

/// A crate of kernels and the options of its build. [`Package::new`] sets the usual options; change fields for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The folder of its `Cargo.toml`, or of the `Cargo.toml` of its workspace.
    pub folder: PathBuf,
    /// The package's name.
    pub name: String,
    /// The name of its library: the package's name with `_` for `-`, unless `Cargo.toml` sets another.
    pub library: String,
    /// Features to switch on.
    pub features: Vec<String>,
    /// Whether the package's default features are on.
    pub default_features: bool,
    /// The oldest chip that the kernels run on: `sm_80`.
    pub chip: String,
    /// The target folder of cargo, by default `target/ptx` in `folder`. It must not be the target folder of the build
    /// program: cargo locks its target folder, and the build program may run under cargo itself.
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
