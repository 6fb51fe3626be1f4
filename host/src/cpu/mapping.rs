//! Mappings between the field and the coded field on the CPU.

pub(crate) mod axes;
mod cells;
pub(crate) mod coded;
pub(crate) mod conversion;
mod fill;
pub(crate) mod mask;
mod shell;
mod signs;
