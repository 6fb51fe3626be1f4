//! The tests of the kernels on the emulator, in one executable.

mod entropy;
mod extremes;
mod interp;
mod look_back;
mod lorenzo;
mod read_all;
mod tune;
