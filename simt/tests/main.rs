//! The tests of the emulator and of the build of kernels, in one executable.

#[cfg(feature = "build")]
mod build;
mod copies;
mod faults;
mod global;
mod shared;
