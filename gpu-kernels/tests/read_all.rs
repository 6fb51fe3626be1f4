//! The kernel that reads all of a buffer, against a plain sum.

use ferrosz_gpu_kernels::primitives::read_all::{IN_FLIGHT, ReadAll, ReadAllParams, THREADS};
use ferrosz_simt::View;
use ferrosz_simt::emulator::Emulator;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Unit([u32; 4]);

/// The lower half of what a cell that held `before` holds afterwards.
fn sum_on_emulator(units: &mut [Unit], words: u64, blocks: u32, before: u64) -> u32 {
    let mut cell = [before];
    let params = ReadAllParams {
        // SAFETY: the units outlive the launch and hold as many words.
        input: unsafe { View::new(units.as_mut_ptr().cast(), words) },
        // SAFETY: the cell outlives the launch.
        sum: unsafe { View::new(cell.as_mut_ptr(), 1) },
    };
    let emulator = Emulator::new().seed(words);
    emulator
        .launch::<ReadAll>(blocks, &params)
        .expect("no fault");
    cell[0] as u32
}

#[test]
fn every_word_is_read_once() {
    let round = 4 * IN_FLIGHT as u64 * u64::from(THREADS);
    for words in [0, 1, 3, 4, 5, 1023, 1024, round - 1, round, 3 * round + 7] {
        let word = |i: u32| i.wrapping_mul(0x9E37_79B9) ^ 0x5bd1_e995;
        let mut units: Vec<Unit> = (0..words.div_ceil(4) as u32)
            .map(|unit| Unit([0, 1, 2, 3].map(|i| word(4 * unit + i))))
            .collect();
        let all = units.iter().flat_map(|unit| unit.0);
        let expected = all.take(words as usize).fold(0, u32::wrapping_add);
        for blocks in [1, 2, 5] {
            let found = sum_on_emulator(&mut units, words, blocks, 0);
            assert_eq!(found, expected, "{words} words, {blocks} blocks");
            let on_top = sum_on_emulator(&mut units, words, blocks, 1000);
            assert_eq!(on_top, expected.wrapping_add(1000));
        }
    }
}
