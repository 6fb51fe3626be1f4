#![doc = include_str!("../README.md")]

mod error;
mod on_stream;

pub use error::Error;
pub use ferrosz;
pub use on_stream::OnStream;
