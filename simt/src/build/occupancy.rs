//! Occupancy: the number of blocks of a kernel that a multiprocessor holds at the same time, by NVIDIA's rules.

/// Registers of a multiprocessor, and the parts among which they are divided, on all chips from sm_80 on.
const REGISTERS: u32 = 65_536;
const PARTS: u32 = 4;

/// Registers are allocated to a warp in multiples of this.
const REGISTER_PIECE: u32 = 256;

/// Shared memory is allocated to a block in multiples of this, and each block needs some for the system; both in bytes.
const SHARED_PIECE: u32 = 128;
const SHARED_FOR_SYSTEM: u32 = 1024;

/// Threads and blocks of a multiprocessor at most.
const THREADS: u32 = 2048;
const BLOCKS: u32 = 32;

/// Bytes of a multiprocessor's shared memory; none if the chip is unknown.
fn shared_of(chip: &str) -> Option<u32> {
    match chip {
        "sm_80" => Some(164 << 10),
        "sm_90" | "sm_100" => Some(228 << 10),
        _ => None,
    }
}

/// The resources that a block needs.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Threads.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared: u32,
}

impl Block {
    /// Blocks on a multiprocessor that registers allow.
    pub fn by_registers(self) -> u32 {
        let of_warp = (32 * self.registers).next_multiple_of(REGISTER_PIECE);
        let warps = PARTS * (REGISTERS / PARTS / of_warp.max(1));
        warps / self.warps()
    }

    /// Blocks that a multiprocessor of a chip holds at the same time; none if the chip is unknown.
    pub fn resident(self, chip: &str) -> Option<u32> {
        let shared = (self.shared + SHARED_FOR_SYSTEM).next_multiple_of(SHARED_PIECE);
        let by_shared = shared_of(chip)? / shared;
        let by_threads = THREADS / (32 * self.warps());
        Some(
            self.by_registers()
                .min(by_shared)
                .min(by_threads)
                .min(BLOCKS),
        )
    }

    fn warps(self) -> u32 {
        self.threads.div_ceil(32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(registers: u32, shared: u32) -> Block {
        Block {
            threads: 256,
            registers,
            shared,
        }
    }

    #[test]
    fn each_limit_counts() {
        for (registers, blocks) in [
            (32, 8),
            (33, 6),
            (40, 6),
            (64, 4),
            (80, 3),
            (84, 2),
            (128, 2),
        ] {
            assert_eq!(
                block(registers, 0).resident("sm_80"),
                Some(blocks),
                "{registers}"
            );
        }
        // Each block needs 1 KiB more than it declares.
        assert_eq!(block(32, 40 << 10).resident("sm_80"), Some(4));
        assert_eq!(block(32, 41 << 10).resident("sm_80"), Some(3));
        assert_eq!(block(32, 41 << 10).resident("sm_90"), Some(5));
        let warp = Block {
            threads: 32,
            ..block(16, 0)
        };
        assert_eq!(warp.resident("sm_90"), Some(32));
        assert_eq!(warp.resident("sm_35"), None);
    }
}
