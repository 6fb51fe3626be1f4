#![doc = include_str!("../README.md")]

mod chunk;
mod codec;
mod configuration;
mod error;
mod partial_decoder;
mod reading;

pub use codec::FerroszCodec;
pub use configuration::FerroszCodecConfiguration;
