//! Fields, ways to take them apart, and the judge of the bound.
#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../../../tests/common/fields.rs"]
pub mod fields;
#[cfg(feature = "cuda")]
#[path = "../../../tests/common/graph.rs"]
pub mod graph;
#[path = "../../../tests/common/judge.rs"]
pub mod judge;
pub mod parts;
