//! The tests of bare streams, in one executable.

mod aatrox;
mod common;
mod cuszp;
#[cfg(feature = "emulator")]
mod emulator;
#[cfg(feature = "cuda")]
mod gpu;
mod outline;
mod parts;
