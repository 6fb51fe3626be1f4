//! The stage that changes nothing.

use crate::error::Error;
use crate::stage::{CodeFormat, Codes, Stage};

/// The codes as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

impl Stage for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        Ok(codes.bytes().to_vec())
    }

    fn decode(&self, bytes: &[u8], _: &CodeFormat) -> Result<Vec<u8>, Error> {
        Ok(bytes.to_vec())
    }
}
