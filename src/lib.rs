//! Error-bounded lossy compression of scientific float arrays, with the same bytes on CPU and GPU.
pub use ferrosz_host::*;
