//! Tests the kernel on the emulator, against a plain sum. That cuda_std has what it needs shows in that this compiles.

use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};
use rust_cuda_kernel::{CudaStdThread, Params, TreeSum};

#[test]
fn sums_are_those_of_a_loop() {
    for count in [1, 255, 256, 257, 10_000] {
        let mut numbers: Vec<f32> = (0..count).map(|i| (i * i % 101) as f32 - 50.0).collect();
        let expected: Vec<f32> = (numbers.chunks(TreeSum::THREADS as usize))
            .map(|part| part.iter().sum())
            .collect();
        let mut sums = vec![f32::NAN; expected.len()];
        // SAFETY: both live until the launch has ended, and nobody else uses them.
        let params = unsafe {
            Params {
                numbers: View::new(numbers.as_mut_ptr(), numbers.len() as u64),
                sums: View::new(sums.as_mut_ptr(), sums.len() as u64),
            }
        };
        let emulator = Emulator::new().seed(count as u64);
        (emulator.launch::<TreeSum>(sums.len() as u32, &params)).unwrap();
        assert_eq!(sums, expected, "{count} numbers");
    }
}

#[test]
fn a_thread_of_cuda_std_runs_any_kernel() {
    fn code_of<T: ferrosz_simt::Thread>() -> fn(T, &Params) {
        TreeSum::run
    }
    let _: fn(CudaStdThread, &Params) = code_of();
}
