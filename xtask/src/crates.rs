//! The crates of kernels, each with its committed code.

use crate::root;
use ferrosz_simt::Launch;
use ferrosz_simt::build::Package;
use std::path::PathBuf;

/// A crate of kernels.
pub struct KernelCrate {
    /// The package's name.
    name: &'static str,
    /// Its folder.
    folder: &'static str,
    /// Features that make its entry points.
    features: &'static [&'static str],
    /// Whether libraries and commands of users embed its code.
    pub is_for_users: bool,
    /// Its kernels.
    pub launches: fn() -> Vec<Launch>,
}

/// All of them.
pub const ALL: [KernelCrate; 4] = [
    KernelCrate {
        name: "ferrosz-gpu-kernels",
        folder: "gpu-kernels",
        features: &["entries"],
        is_for_users: true,
        launches: ferrosz_gpu_kernels::list::launches,
    },
    KernelCrate {
        name: "ferrosz-cuszp",
        folder: "cuszp",
        features: &["entries"],
        is_for_users: true,
        launches: ferrosz_cuszp::list::launches,
    },
    KernelCrate {
        name: "ferrosz-stages",
        folder: "stages",
        features: &[],
        is_for_users: true,
        launches: ferrosz_stages::list::launches,
    },
    KernelCrate {
        name: "ferrosz-lab-kernels",
        folder: "lab/kernels",
        features: &[],
        is_for_users: false,
        launches: ferrosz_lab_kernels::list::launches,
    },
];

impl KernelCrate {
    /// Its folder.
    pub fn folder(&self) -> PathBuf {
        root().join(self.folder)
    }

    /// Its package, for the compiler.
    pub fn package(&self) -> Package {
        let mut package = Package::new(root(), self.name);
        package.default_features = false;
        package.features = self.features.iter().map(ToString::to_string).collect();
        package
    }

    /// Whether it has a kernel of this name.
    pub fn has(&self, kernel: &str) -> bool {
        (self.launches)().iter().any(|launch| launch.name == kernel)
    }
}

/// The kernels of all crates.
pub fn launches() -> Vec<Launch> {
    ALL.iter().flat_map(|of| (of.launches)()).collect()
}
