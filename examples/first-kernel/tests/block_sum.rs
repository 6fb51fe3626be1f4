//! Tests the kernel without a GPU: against a plain sum, and without its barrier.

use ferrosz_simt::emulator::{Emulator, Fault, FaultKind};
use ferrosz_simt::{Kernel, View};
use first_kernel::{BlockSum, Params};

/// The sums by a kernel, with an order of threads that the seed determines.
fn sums<K: Kernel<Params = Params>>(numbers: &mut [f32], seed: u64) -> Result<Vec<f32>, Fault> {
    let blocks = numbers.len().div_ceil(K::THREADS as usize);
    let mut sums = vec![f32::NAN; blocks];
    // SAFETY: both live until the launch has ended, and nobody else uses them.
    let params = unsafe {
        Params {
            numbers: View::new(numbers.as_mut_ptr(), numbers.len() as u64),
            sums: View::new(sums.as_mut_ptr(), blocks as u64),
        }
    };
    let emulator = Emulator::new().seed(seed);
    emulator.launch::<K>(blocks as u32, &params)?;
    Ok(sums)
}

/// Small integers, whose sums are exact in any order.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * i % 101) as f32 - 50.0).collect()
}

#[test]
fn sums_are_those_of_a_loop() {
    for count in [1, 31, 32, 255, 256, 257, 10_000] {
        for seed in 0..5 {
            let mut numbers = numbers(count);
            let expected: Vec<f32> = (numbers.chunks(256))
                .map(|part| part.iter().sum())
                .collect();
            let found = sums::<BlockSum>(&mut numbers, seed).unwrap();
            assert_eq!(found, expected, "{count} numbers, seed {seed}");
        }
    }
}

#[test]
fn without_its_barrier_it_is_stopped() {
    for seed in 0..20 {
        let fault = sums::<BlockSum<false>>(&mut numbers(256), seed).unwrap_err();
        // Depending on the order: a sum that is not written yet, or an access that nothing orders with its reader.
        assert!(
            matches!(
                fault.kind,
                FaultKind::UninitialisedShared | FaultKind::SharedRace
            ),
            "{fault}"
        );
        assert!(fault.to_string().contains("src/lib.rs"), "{fault}");
    }
}
