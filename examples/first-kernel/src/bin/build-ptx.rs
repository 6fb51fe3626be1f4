//! Compiles the kernel.
fn main() {}
