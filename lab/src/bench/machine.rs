//! The machine on which codecs are timed: the CPU or a GPU.

use super::gpu::{OnDevice, OneGpu, failed};
use super::times::{Times, by_clock};
use super::{about::About, row::Ceilings};
use ferrosz::{Device, Element};
use ferrosz_cli::failure::Failure;
use rayon::prelude::*;
use std::hint::black_box;

/// Runs on the CPU before the timed ones: the first accesses memory for the first time.
pub const WARM_UP: u32 = 1;

/// Elements that a thread copies or reads in one task.
const SHARE: usize = 1 << 16;

/// A machine.
pub struct Machine {
    /// The GPU; none for the CPU.
    pub gpu: Option<OneGpu>,
    /// Timed runs of a call.
    pub repeat: u32,
    /// Whether calls on a GPU are timed by the host's clock.
    pub by_host: bool,
    /// Its description.
    pub about: About,
}

impl Machine {
    /// The machine of a device, which runs calls `repeat` times; with `by_host` calls on a GPU are timed by the host's
    /// clock.
    ///
    /// # Errors
    ///
    /// If the device cannot be used, or times on it say nothing.
    pub fn new(device: Device, repeat: u32, by_host: bool) -> Result<Self, Failure> {
        let on_gpu = |ordinal| -> Result<_, Failure> {
            let gpu = OneGpu::new(ordinal)?;
            let about = About::gpu(&gpu, ordinal)?;
            Ok((Some(gpu), about))
        };
        let (gpu, about) = match device {
            Device::Emulator => Err(Failure::usage(
                "--device emulator: its time says nothing about a GPU's: use cuda, cuda:N or cpu",
            )),
            Device::Gpus(_) => Err(Failure::usage(
                "several GPUs are measured by `ferrosz-lab gpus`",
            )),
            Device::Cuda(ordinal) => on_gpu(ordinal),
            Device::Cpu => Ok((None, About::cpu())),
            // Prefers a GPU: in the long run it is the faster one.
            _ => on_gpu(0).or_else(|_| Ok((None, About::cpu()))),
        }?;
        Ok(Self {
            gpu,
            repeat,
            by_host,
            about,
        })
    }

    /// The times that the machine takes to copy and to read a field.
    ///
    /// # Errors
    ///
    /// The machine's errors.
    pub fn ceilings<T: Element + OnDevice>(&self, field: &[T]) -> Result<Ceilings, Failure> {
        let [copy, read] = match &self.gpu {
            None => self.on_cpu(field),
            Some(at) => self.on_gpu(at, field),
        }?;
        let bytes = size_of_val(field) as u64;
        Ok(Ceilings { bytes, copy, read })
    }

    fn on_cpu<T: Element>(&self, field: &[T]) -> Result<[Times; 2], Failure> {
        let mut to = field.to_vec();
        let copy = by_clock(WARM_UP, self.repeat, || {
            copy(field, &mut to);
            black_box(&mut to);
            Ok(())
        })?;
        let read = by_clock(WARM_UP, self.repeat, || {
            let sum = |share: &[T]| {
                let bits = share.iter().map(|value| value.to_bits64());
                bits.fold(0, u64::wrapping_add)
            };
            let shares = field.par_chunks(SHARE).map(sum);
            black_box(shares.reduce(|| 0, u64::wrapping_add));
            Ok(())
        })?;
        Ok([copy, read])
    }

    /// The kernel that only reads has read everything if it finds the CPU's sum.
    fn on_gpu<T: Element + OnDevice>(
        &self,
        at: &OneGpu,
        field: &[T],
    ) -> Result<[Times; 2], Failure> {
        let OneGpu { gpu, stream } = at;
        let input = at.upload(field)?;
        let mut to = at.allocate::<T>(field.len() as u64)?;
        let copy = at.time(self.repeat, 1, || {
            (stream.memcpy_dtod(&input, &mut to)).map_err(failed("copy on the GPU"))
        })?;
        let mut sum = at.upload(&[0u64])?;
        gpu.read_all(stream, &input, &mut sum)?;
        let found = at.download(&sum)?;
        if found.first().map(|sum| *sum as u32) != Some(sum_of_words(field)) {
            return Err(Failure::failed(
                "the GPU's sum of the field is not the CPU's",
            ));
        }
        let read = at.time(self.repeat, 1, || {
            Ok(gpu.read_all(stream, &input, &mut sum)?)
        })?;
        Ok([copy, read])
    }
}

/// Copies values with all threads.
pub fn copy<T: Element>(from: &[T], to: &mut [T]) {
    let shares = to.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE));
    shares.for_each(|(to, from)| to.copy_from_slice(from));
}

/// The sum of all 32-bit words, modulo 2^32.
fn sum_of_words<T: Element>(field: &[T]) -> u32 {
    let words = field.iter().flat_map(|value| value.to_words());
    words.fold(0, u32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_both_types_are_summed() {
        assert_eq!(
            sum_of_words(&[1.0f32, -2.0]),
            0x3f80_0000u32.wrapping_add(0xc000_0000)
        );
        assert_eq!(sum_of_words(&[f64::from_bits(0x5_0000_0007)]), 12);
    }
}
