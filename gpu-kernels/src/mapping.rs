//! Mappings: from the user's field to the coded field, and back.
//!
//! [`forward`] and [`backward`] have a place for what happens to each element. They go through the field by the parts of
//! its mask, whether it has one or not.

pub mod backward;
pub mod close;
pub mod complete;
pub mod conversion;
pub mod forward;
pub mod mask;
pub mod parts;
pub mod places;
pub(crate) mod records;
