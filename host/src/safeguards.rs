//! Safeguards of whole fields: FORMAT.md, section 30.

mod decode;
mod encode;
mod exact;
mod find;
mod settings;

use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::Scale;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::safeguard::mend::CorrectionStep;

/// Values of a task of one thread.
const TASK: usize = 1 << 16;

/// The step of the corrections of a stream.
fn step_of(header: &Header, conversion: &Conversion) -> CorrectionStep {
    match header.scale() {
        Scale::Logarithm => CorrectionStep {
            error: header.bound.value(),
            is_relative: true,
        },
        Scale::Linear => CorrectionStep {
            error: conversion
                .absolute_error()
                .unwrap_or(header.absolute_error()),
            is_relative: false,
        },
    }
}
