//! Safeguards of whole fields: FORMAT.md, section 30.

mod decode;
mod encode;
mod exact;
mod find;
mod settings;

use crate::stream_ref::StreamRef;
use ferrosz_codec::mapping::Scale;
use ferrosz_codec::safeguard::mend::CorrectionStep;

/// Values of a task of one thread.
const TASK: usize = 1 << 16;

/// The step of the corrections of a stream.
fn step_of(stream: &StreamRef<'_>) -> CorrectionStep {
    match stream.header.scale() {
        Scale::Logarithm => CorrectionStep {
            error: stream.header.bound.value(),
            is_relative: true,
        },
        Scale::Linear => CorrectionStep {
            error: stream.absolute_error(),
            is_relative: false,
        },
    }
}
