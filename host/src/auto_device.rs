//! The device that [`Device::Auto`](crate::Device::Auto) chooses for a call on data in host memory.
//!
//! A GPU must be started, and the data must travel to it and back. So small fields stay on the CPU, as does all work
//! that the cores do as fast as the data travels; large fields of codecs that need much CPU time go to a GPU. The rates
//! are those of [`rate_of_a_core`] and of the constants below; `docs/measurements/presets.md` has their
//! measurements.

use ferrosz_codec::Codec;
use ferrosz_codec::pipeline::TilePredictor;

/// Seconds that a process with a GPU takes longer: until the GPU has its context and its kernels, if the driver has compiled the
/// kernels before, and until the driver has let the process end.
const START_UP: f64 = 0.3;

/// Bytes of the field a second that a GPU processes, whatever the codec. The limits are the transfer to it and back
/// through pageable memory, and new memory for the result.
const TRANSFER: f64 = 12e9;

/// The most bytes of the field a second that all cores together process. The limit is the host's memory.
const MEMORY: f64 = 10e9;

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a field to a stream.
    Compress,
    /// Back.
    Decompress,
}

/// The workload of a call on host slices: how many bytes, and how fast a core gets through them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    /// Bytes of the field that a core processes in a second.
    rate: f64,
    /// Bytes of the elements that are compressed, or that are to be decoded.
    field_bytes: u64,
}

impl Workload {
    /// That of a codec.
    pub fn new(direction: Direction, codec: Codec, field_bytes: u64) -> Self {
        Self::at_rate(rate_of_a_core(direction, codec), field_bytes)
    }

    /// That of code with which a core gets through so many bytes of the field a second.
    pub const fn at_rate(rate: f64, field_bytes: u64) -> Self {
        Self { rate, field_bytes }
    }

    /// Whether a GPU that is not yet started would finish before this many cores of the CPU.
    pub(crate) fn is_faster_on_a_gpu(&self, cores: usize) -> bool {
        let bytes = self.field_bytes as f64;
        let rate = (self.rate * cores as f64).min(MEMORY);
        START_UP + bytes / TRANSFER < bytes / rate
    }
}

/// Bytes of the field that a core processes in a second.
fn rate_of_a_core(direction: Direction, codec: Codec) -> f64 {
    let predictor = codec.tiles().map(|tiles| tiles.predictor);
    let [compress, decompress] = match predictor {
        None => [2.5e9, 2.5e9],
        Some(TilePredictor::Lorenzo | TilePredictor::Direct) => [0.49e9, 1.15e9],
        Some(predictor) if predictor.fitted().is_some() => [0.2e9, 0.55e9],
        Some(_) => [0.38e9, 0.72e9],
    };
    match direction {
        Direction::Compress => compress,
        Direction::Decompress => decompress,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_for_much_work_that_keeps_few_cores_busy() {
        use Direction::{Compress, Decompress};
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        for (direction, codec, field_bytes, cores, on_gpu) in [
            // The CPU finishes within the start-up time of a GPU.
            (Compress, Codec::INTERP, MIB, 1, false),
            (Compress, Codec::INTERP, 32 * MIB, 1, false),
            (Compress, Codec::INTERP, 128 * MIB, 1, true),
            (Compress, Codec::INTERP, 128 * MIB, 2, false),
            (Compress, Codec::INTERP, 512 * MIB, 2, true),
            (Compress, Codec::INTERP, 512 * MIB, 8, false),
            (Compress, Codec::INTERP, 2 * GIB, 8, true),
            (Compress, Codec::STENCIL, 512 * MIB, 16, false),
            (Compress, Codec::STENCIL, 2 * GIB, 16, true),
            (Decompress, Codec::STENCIL, 4 * GIB, 16, false),
            (Decompress, Codec::STENCIL, 2 * GIB, 4, true),
            (Decompress, Codec::INTERP, 2 * GIB, 4, true),
            (Decompress, Codec::INTERP, 512 * MIB, 4, false),
            (Compress, Codec::LORENZO_RANS, 128 * MIB, 2, false),
            (Compress, Codec::LORENZO_RANS, GIB, 2, true),
            (Compress, Codec::LORENZO_RANS, 4 * GIB, 16, false),
            (Decompress, Codec::LORENZO_RANS, 4 * GIB, 16, false),
            // The cores are about as fast as the transfer.
            (Compress, Codec::PLAIN, 16 * GIB, 16, false),
            (Compress, Codec::PLAIN, GIB, 2, false),
            (Decompress, Codec::OUTLIER, GIB, 2, false),
            (Compress, Codec::PLAIN, GIB, 1, true),
            (Compress, Codec::PLAIN, 0, 1, false),
        ] {
            let workload = Workload::new(direction, codec, field_bytes);
            assert_eq!(
                workload.is_faster_on_a_gpu(cores),
                on_gpu,
                "{workload:?} on {cores} cores"
            );
        }
    }
}
