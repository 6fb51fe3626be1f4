//! Cases that other programs made, and fields.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod bare;
#[path = "../../../tests/common/cases.rs"]
pub mod cases;
#[path = "../../../tests/common/digest.rs"]
pub mod digest;
#[path = "../../../tests/common/fields.rs"]
pub mod fields;
#[cfg(feature = "cuda")]
#[path = "../../../tests/common/graph.rs"]
pub mod graph;
pub mod vectors;
