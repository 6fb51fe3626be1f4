//! Adds a million numbers on an NVIDIA GPU, and compares the sums with those of a loop.

use cudarc::driver::{CudaContext, DevicePtrMut, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use ferrosz_simt::{Kernel, View};
use first_kernel::{BlockSum, Params};
use std::process::ExitCode;

/// The output of `build-ptx`.
const PTX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/block_sum.ptx");

const NUMBERS: usize = 1_000_000;

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| PTX.to_owned());
    match run(&path) {
        Ok(0) => {
            println!("{NUMBERS} numbers: all sums are right");
            ExitCode::SUCCESS
        }
        Ok(wrong) => {
            println!("{wrong} sums are wrong");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("run-on-gpu: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The number of wrong sums.
fn run(path: &str) -> Result<usize, DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let function = context
        .load_module(Ptx::from_file(path))?
        .load_function(BlockSum::<true>::NAME)?;

    let numbers: Vec<f32> = (0..NUMBERS).map(|i| (i * 7 % 101) as f32 - 50.0).collect();
    let blocks = NUMBERS.div_ceil(BlockSum::<true>::THREADS as usize);
    let mut on_device = stream.clone_htod(&numbers)?;
    let mut sums = stream.clone_htod(&vec![f32::NAN; blocks])?;
    {
        let (numbers, _numbers) = on_device.device_ptr_mut(&stream);
        let (sums, _sums) = sums.device_ptr_mut(&stream);
        // SAFETY: both are allocations of these lengths, which live until the copy below has waited for the kernel.
        let params = unsafe {
            Params {
                numbers: View::new(numbers as *mut f32, NUMBERS as u64),
                sums: View::new(sums as *mut f32, blocks as u64),
            }
        };
        let config = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (BlockSum::<true>::THREADS, 1, 1),
            shared_mem_bytes: 4 * BlockSum::<true>::SHARED_WORDS,
        };
        let argument = Argument(params);
        let mut launch = stream.launch_builder(&function);
        launch.arg(&argument);
        // SAFETY: the kernel's only parameter is `Params`, by value.
        unsafe { launch.launch(config) }?;
    }
    let found = stream.clone_dtoh(&sums)?;
    let expected = numbers
        .chunks(BlockSum::<true>::THREADS as usize)
        .map(|part| part.iter().sum::<f32>());
    Ok(found
        .iter()
        .zip(expected)
        .filter(|(found, expected)| **found != *expected)
        .count())
}

/// A kernel's parameter.
#[repr(transparent)]
struct Argument(Params);

// SAFETY: the layout is C's, as the kernel's own.
unsafe impl cudarc::driver::DeviceRepr for Argument {}
